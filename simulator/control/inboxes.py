"""The inbox: `/_sim/sandboxes/{id}/inbox/{name}` reads and programs it, `/_sim/inbox/{id}/{name}` receives."""

import asyncio
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from simulator.contract.body import BadJson, decode_any
from simulator.control import render
from simulator.control.http import (
    InvalidInput,
    body_of,
    bytes_of,
    error,
    no_content,
    refuse_other_parameters,
    reply,
    sandbox_of,
    sandboxes_of,
    wait_of,
)
from simulator.control.sandboxes import base_url
from simulator.delivery.targets import BadTarget, parse_target
from simulator.domain.model.http_statuses import WITHOUT_BODY
from simulator.domain.model.inboxes import INBOX_SCHEME, InboxReply
from simulator.runtime.inboxes import BODY_BYTES_MAX, INBOX_PATH, Inbox, Received

FRAMING_HEADERS = ("content-length", "transfer-encoding", "connection")


def _inbox(request: Request) -> tuple[Inbox, str]:
    name = request.path_params["name"]
    parse_target(INBOX_SCHEME + name)
    inboxes = sandbox_of(request).inboxes
    is_only_looked_at = request.method in ("GET", "DELETE") and "wait_for" not in request.query_params
    return inboxes.peek(name) if is_only_looked_at else inboxes[name], name


def on_bad_target(request: Request, exc: Exception) -> Response:
    """400 for an invalid inbox name."""
    assert isinstance(exc, BadTarget)
    return error(400, "bad_inbox_name", exc.reason, "name")


async def show(request: Request) -> Response:
    """Its received requests, oldest first; with `wait_for`, once that many arrived or the timeout passes."""
    wait_for, timeout_s = wait_of(request)
    refuse_other_parameters(request, "wait_for", "timeout")
    inbox, name = _inbox(request)
    complete = await inbox.received.notifier.wait_until(lambda: len(inbox.received) >= wait_for, timeout_s)
    return reply(
        {
            "name": name,
            "url": f"{base_url(request)}{INBOX_PATH}{request.path_params['sandbox']}/{name}",
            "count": len(inbox.received),
            "left_out": inbox.received.left_out,
            "complete": complete,
            "items": [_item(one) for one in inbox.received],
        }
    )


def _item(one: Received) -> dict[str, Any]:
    try:
        value = decode_any(one.body) if one.body else None
    except BadJson:
        value = None
    return {
        "n": one.n,
        "at": render.moment(one.at),
        "method": one.method,
        "query": dict(parse_qsl(one.query.decode("latin-1"), keep_blank_values=True)),
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in one.headers],
        "body": one.body.decode("utf-8", "replace"),
        "json": value,
        "status": one.status,
    }


async def set_replies(request: Request) -> Response:
    """Set the replies to the next requests."""
    name = request.path_params["name"]
    parse_target(INBOX_SCHEME + name)
    inboxes = sandbox_of(request).inboxes
    wanted = await body_of(request, "inbox-replies-request")
    for place, one in enumerate(wanted["replies"]):
        _refuse_impossible(one, f"replies.{place}")
    inboxes[name].set_replies(
        InboxReply(
            status=one.get("status", 200),
            delay=timedelta(seconds=float(one.get("delay", 0))),
            body=one.get("body", ""),
            headers=tuple(one.get("headers", {}).items()),
        )
        for one in wanted["replies"]
    )
    return reply({"replies": wanted["replies"]})


def _refuse_impossible(reply: dict[str, Any], path: str) -> None:
    """Raise `InvalidInput` for a reply that HTTP cannot represent."""
    if reply.get("status") in WITHOUT_BODY and reply.get("body"):
        raise InvalidInput(f"an answer with status {reply['status']} has no body", f"{path}.body")
    for name in reply.get("headers", {}):
        if name.lower() in FRAMING_HEADERS:
            raise InvalidInput(f"the header {name} follows from the body and cannot be set", f"{path}.headers")


async def clear(request: Request) -> Response:
    """Delete received requests and programmed replies."""
    _, name = _inbox(request)
    sandbox_of(request).inboxes.forget(name)
    return no_content()


async def receive(request: Request) -> Response:
    """Accept any request, and answer as programmed."""
    name = request.path_params["name"]
    parse_target(INBOX_SCHEME + name)
    live = sandboxes_of(request).get(request.path_params["sandbox"])
    request.state.sandbox = live, live.core
    body = await bytes_of(request, BODY_BYTES_MAX)
    query = request.scope["query_string"]
    headers = tuple(request.headers.raw)
    taken = live.inboxes[name].take(live.clock.now(), request.method, query, headers, body)
    if taken.delay:
        await asyncio.sleep(live.clock.wall_seconds(taken.delay))
    return Response(taken.body, taken.status, dict(taken.headers))
