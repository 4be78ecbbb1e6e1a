"""The inbox: `/_sim/sandboxes/{id}/inbox/{name}` reads and programs it, `/_sim/inbox/{id}/{name}` receives."""

from collections.abc import Iterable
from itertools import accumulate, takewhile
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from simulator.contract.body import BadJson, decode_any
from simulator.control import render
from simulator.control.http import (
    PageRequest,
    base_url,
    body_of,
    bytes_of,
    error,
    no_content,
    page,
    refuse_lost_sandbox,
    reply,
    sandbox_of,
    sandboxes_of,
)
from simulator.control.parameters import page_of, query_of, wait_of
from simulator.control.received import Messages
from simulator.control.replies import LISTS, document_of, left, program_of
from simulator.domain.model.inboxes import INBOX_SCHEME, InboxProgram
from simulator.http_client.targets import BadTarget, parse_target
from simulator.runtime import inbox_inputs
from simulator.runtime.background import in_background, place
from simulator.runtime.inbox_budget import Received
from simulator.runtime.inbox_messages import Inbox
from simulator.runtime.inboxes import BODY_BYTES_MAX, INBOX_PATH

PAGE_BYTES = 256 * 1024
VALUE_BYTES = 100  # of a value, a parameter or an escaped character: what it takes to decode and encode one

# Of a message: what is more is not decoded.
JSON_BYTES_MAX = 64 * 1024
JSON_VALUES_MAX = 5000
JSON_DEPTH_MAX = 32
PARAMETERS_MAX = 1000

VALUES_AT_ONCE_MAX = 100  # of a program: making more of them takes longer than others should wait


def _name_of(request: Request) -> str:
    name: str = request.path_params["name"]
    parse_target(INBOX_SCHEME + name)
    return name


def on_bad_target(request: Request, exc: Exception) -> Response:
    """400 for an invalid inbox name."""
    assert isinstance(exc, BadTarget)
    return error(400, "bad_inbox_name", exc.reason, "name")


def _url(request: Request, name: str) -> str:
    return f"{base_url(request)}{INBOX_PATH}{request.path_params['sandbox']}/{name}"


async def list_all(request: Request) -> Response:
    """The inboxes that have messages or a program, by name."""
    asked = page_of(query_of(request, "inboxes-query"))
    inboxes = sandbox_of(request).inboxes
    return reply(await page("inboxes", asked, inboxes, lambda one: _row(one, _url(request, one.name))))


def _row(one: Inbox, url: str) -> dict[str, Any]:
    return {
        "name": one.name,
        "url": url,
        "count": len(one.received),
        "left_out": one.left_out,
        "latest": render.moment(one.received[-1].at) if one.received else None,
        "replies": left(one),
    }


async def show(request: Request) -> Response:
    """A page of its received requests, oldest first; with `wait_for`, once that many arrived behind the cursor or the
    timeout passes."""
    query = query_of(request, "inbox-query")
    asked = page_of(query)
    wait_for, timeout_s = wait_of(query)
    name = _name_of(request)
    live = sandbox_of(request)
    inboxes = live.inboxes
    inbox, complete = inboxes.peek(name), True
    if wait_for:
        inbox, complete = await live.waiting.wait(lambda: inboxes.wait(name, wait_for, asked.cursor, timeout_s))
    shorter = PageRequest(min(asked.limit, _fitting(inbox.after(asked.cursor))), asked.cursor)
    answer = {
        "name": name,
        "url": _url(request, name),
        "count": len(inbox.received),
        "left_out": inbox.left_out,
        "complete": complete,
    }
    messages = Messages(live)
    found = page("items", shorter, inbox.after(asked.cursor), lambda one: _item(one, messages), lambda one: one.n)
    return reply(answer | await found)


def _fitting(received: Iterable[Received]) -> int:
    """How many of these make a page that is rendered within milliseconds; always one at least."""
    weights = accumulate(map(_weight, received))
    return max(1, sum(1 for _ in takewhile(PAGE_BYTES.__ge__, weights)))


def _weight(one: Received) -> int:
    """What it takes to render a message, in bytes: long numbers take the longest of what is decoded."""
    weight = one.size + VALUE_BYTES * (one.query.count(b"&") + one.query.count(b"%"))
    if b"message=" in one.query:
        weight += 3 * len(one.query)
    if _may_be_decoded(one.body):
        weight += 3 * len(one.body) + VALUE_BYTES * _values(one.body)
    return weight


def _values(body: bytes) -> int:
    """How many values the body has if it is JSON, or a few more."""
    return body.count(b",") + body.count(b"[") + body.count(b"{") + 1


def _may_be_decoded(body: bytes) -> bool:
    return 0 < len(body) <= JSON_BYTES_MAX and _values(body) <= JSON_VALUES_MAX


def _item(one: Received, messages: Messages) -> dict[str, Any]:
    """A received request, and what it is. Its body is decoded here, if it is small enough."""
    parameters = b"&".join(one.query.split(b"&", PARAMETERS_MAX)[:PARAMETERS_MAX]).decode("latin-1")
    query = dict(parse_qsl(parameters, keep_blank_values=True))
    json = _json(one.body)
    message = _json(query["message"].encode("utf-8", "surrogatepass")) if "message" in query else None
    return {
        "n": one.n,
        "at": render.moment(one.at),
        "method": one.method,
        "query": query,
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in one.headers],
        "body": one.body.decode("utf-8", "replace"),
        "json": json,
        "status": one.status,
    } | messages.about(one, query, json, message)


def _json(body: bytes) -> Any:
    """The value of a text; None when it is not JSON, too long or nested too deep."""
    if not _may_be_decoded(body):
        return None
    try:
        value = decode_any(body)
    except BadJson:
        return None
    level = [value]
    for _ in range(JSON_DEPTH_MAX + 1):
        level = [one for one in level if isinstance(one, dict | list)]
        if not level:
            return value
        level = [child for one in level for child in (one.values() if isinstance(one, dict) else one)]
    return None


async def set_replies(request: Request) -> Response:
    """Program the replies to the next requests, as a scenario does."""
    name = _name_of(request)
    live = sandbox_of(request)
    wanted = await body_of(request, "inbox-replies-request")
    document = document_of(wanted)
    inbox_inputs.program(live, name, document, await _program_of(request, document))
    return reply(wanted)


async def _program_of(request: Request, document: dict[str, Any]) -> InboxProgram:
    """The program of a document, a long one made beside the event loop. Raises `InvalidInput`, and `Busy` as
    `body_of`."""
    values = sum(len(one) + len(one.get("headers", ())) for key in LISTS for one in document.get(key, ()))
    if values <= VALUES_AT_ONCE_MAX:
        return program_of(document)
    with place(VALUE_BYTES * values):
        program = await in_background(program_of, document)
    refuse_lost_sandbox(request)
    return program


async def clear(request: Request) -> Response:
    """Delete received requests and programmed replies."""
    name = _name_of(request)
    inbox_inputs.clear(sandbox_of(request), name)
    return no_content()


# Who may program an inbox must not have scripts run in the console's origin.
_NO_PAGE = {"content-security-policy": "sandbox", "x-content-type-options": "nosniff"}


async def receive(request: Request) -> Response:
    """Accept any request, and answer as programmed."""
    name = _name_of(request)
    live = sandboxes_of(request).get(request.path_params["sandbox"])
    request.state.sandbox = live, live.core
    body = await bytes_of(request, BODY_BYTES_MAX)
    query, headers = request.scope["query_string"], tuple(request.headers.raw)
    taken = inbox_inputs.receive(live, name, request.method, query, headers, body)
    if taken.delay:
        request.scope.get("cancel_when_left", lambda: None)()
        await live.delays.sleep(live.clock.wall_seconds(taken.delay))
    if taken.disconnect:
        return Disconnect()
    return Response(taken.body, taken.status, dict(taken.headers) | _NO_PAGE)


class Disconnect(Response):
    """The connection is closed without an answer, as far as the server can do that."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Close the connection."""
        scope.get("abort", lambda: None)()
