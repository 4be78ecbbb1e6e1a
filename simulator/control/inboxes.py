"""The inbox: `/_sim/sandboxes/{id}/inbox/{name}` reads and programs it, `/_sim/inbox/{id}/{name}` receives."""

import asyncio
import re
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
    InvalidInput,
    PageRequest,
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
from simulator.control.sandboxes import base_url
from simulator.delivery.targets import BadTarget, parse_target
from simulator.domain.model.inboxes import INBOX_SCHEME, InboxProgram
from simulator.runtime.background import in_background, place
from simulator.runtime.inbox_budget import Received
from simulator.runtime.inboxes import BODY_BYTES_MAX, INBOX_PATH
from simulator.scenario.reading.document import ScenarioError
from simulator.scenario.sections.inboxes import build_inbox

PAGE_BYTES = 256 * 1024
VALUE_BYTES = 100  # of a value, a parameter or an escaped character: what it takes to decode and encode one

# Of a message: what is more is not decoded.
JSON_BYTES_MAX = 64 * 1024
JSON_VALUES_MAX = 5000
JSON_DEPTH_MAX = 32
PARAMETERS_MAX = 1000

# Of a program.
LISTS = ("replies", "during")
VALUES_AT_ONCE_MAX = 100  # making more of them takes longer than others should wait

_INDEX = re.compile(r"\[([0-9]+)\]")


def _name_of(request: Request) -> str:
    name: str = request.path_params["name"]
    parse_target(INBOX_SCHEME + name)
    return name


def on_bad_target(request: Request, exc: Exception) -> Response:
    """400 for an invalid inbox name."""
    assert isinstance(exc, BadTarget)
    return error(400, "bad_inbox_name", exc.reason, "name")


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
        "url": f"{base_url(request)}{INBOX_PATH}{request.path_params['sandbox']}/{name}",
        "count": len(inbox.received),
        "left_out": inbox.left_out,
        "complete": complete,
    }
    return reply(answer | await page("items", shorter, inbox.after(asked.cursor), _item, lambda one: one.n))


def _fitting(received: Iterable[Received]) -> int:
    """How many of these make a page that is rendered within milliseconds; always one at least."""
    weights = accumulate(map(_weight, received))
    return max(1, sum(1 for _ in takewhile(PAGE_BYTES.__ge__, weights)))


def _weight(one: Received) -> int:
    """What it takes to render a message, in bytes: long numbers take the longest of what is decoded."""
    weight = one.size + VALUE_BYTES * (one.query.count(b"&") + one.query.count(b"%"))
    if _may_be_decoded(one.body):
        weight += 3 * len(one.body) + VALUE_BYTES * _values(one.body)
    return weight


def _values(body: bytes) -> int:
    """How many values the body has if it is JSON, or a few more."""
    return body.count(b",") + body.count(b"[") + body.count(b"{") + 1


def _may_be_decoded(body: bytes) -> bool:
    return 0 < len(body) <= JSON_BYTES_MAX and _values(body) <= JSON_VALUES_MAX


def _item(one: Received) -> dict[str, Any]:
    """A received request. Its body is decoded here, if it is small enough."""
    parameters = b"&".join(one.query.split(b"&", PARAMETERS_MAX)[:PARAMETERS_MAX]).decode("latin-1")
    return {
        "n": one.n,
        "at": render.moment(one.at),
        "method": one.method,
        "query": dict(parse_qsl(parameters, keep_blank_values=True)),
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in one.headers],
        "body": one.body.decode("utf-8", "replace"),
        "json": _json(one.body) if _may_be_decoded(one.body) else None,
        "status": one.status,
    }


def _json(body: bytes) -> Any:
    """The value of a body; None when it is not JSON or nested too deep."""
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
    inboxes = sandbox_of(request).inboxes
    wanted = await body_of(request, "inbox-replies-request")
    inboxes.set_program(name, await _program_of(request, wanted))
    return reply(wanted)


async def _program_of(request: Request, wanted: dict[str, Any]) -> InboxProgram:
    """The program of a body, a long one made beside the event loop. Raises `InvalidInput`, and `Busy` as `body_of`."""
    values = sum(len(one) + len(one.get("headers", ())) for key in LISTS for one in wanted.get(key, ()))
    if values <= VALUES_AT_ONCE_MAX:
        return _program(wanted)
    with place(VALUE_BYTES * values):
        program = await in_background(_program, wanted)
    refuse_lost_sandbox(request)
    return program


def _program(wanted: dict[str, Any]) -> InboxProgram:
    """The program in a request's body, whose delays may be seconds. Raises `InvalidInput`."""
    written: dict[str, Any] = {key: value for key, value in wanted.items() if value != []}
    for key in LISTS:
        if key in written:
            written[key] = [_with_duration(one) for one in written[key]]
    if not written:
        return InboxProgram()
    try:
        return build_inbox(written)
    except ScenarioError as error:
        first = error.problems[0]
        raise InvalidInput(first.message, _INDEX.sub(r".\1", first.path)) from None


def _with_duration(one: dict[str, Any]) -> dict[str, Any]:
    delay = one.get("delay", "")
    return one if isinstance(delay, str) else one | {"delay": f"{round(delay * 1000)}ms"}


async def clear(request: Request) -> Response:
    """Delete received requests and programmed replies."""
    name = _name_of(request)
    sandbox_of(request).inboxes.forget(name)
    return no_content()


async def receive(request: Request) -> Response:
    """Accept any request, and answer as programmed."""
    name = _name_of(request)
    live = sandboxes_of(request).get(request.path_params["sandbox"])
    request.state.sandbox = live, live.core
    body = await bytes_of(request, BODY_BYTES_MAX)
    query = request.scope["query_string"]
    taken = live.inboxes.take(name, live.clock.now(), request.method, query, request.headers.raw, body)
    if taken.delay:
        request.scope.get("cancel_when_left", lambda: None)()
        await asyncio.sleep(live.clock.wall_seconds(taken.delay))
    if taken.disconnect:
        return Disconnect()
    return Response(taken.body, taken.status, dict(taken.headers))


class Disconnect(Response):
    """The connection is closed without an answer, as far as the server can do that."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Close the connection."""
        scope.get("abort", lambda: None)()
