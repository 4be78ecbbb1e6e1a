"""The inbox: `/_sim/sandboxes/{id}/inbox/{name}` reads and programs it, `/_sim/inbox/{id}/{name}` receives."""

import re
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from simulator.control import render
from simulator.control.access import refuse_revoked
from simulator.control.filters import query_of
from simulator.control.http import (
    InvalidInput,
    base_url,
    body_of,
    bytes_of,
    cursor_of,
    page,
    refuse_lost_sandbox,
    reply,
    sandboxes_of,
)
from simulator.control.message_origin import MessageOrigins, json_of
from simulator.domain.errors import Unacceptable
from simulator.domain.model.draw import Spread, typical
from simulator.domain.model.inbox_programs import INBOX_SCHEME, MIDNIGHT, InboxReply, Window
from simulator.http_client.targets import BadTarget, parse_target
from simulator.runtime.background import in_background
from simulator.runtime.inbox_messages import Inbox, InboxMessage
from simulator.runtime.inboxes import BODY_BYTES_MAX, INBOX_PATH
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.scenario.lint.start import real_waits
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.sections.scripted_answers import build_inbox
from simulator.scenario.sections.times import DAYS
from simulator.short_text import SENTENCE_CHARS_MAX, shortened


def _name_of(request: Request) -> str:
    name: str = request.path_params["name"]
    try:
        parse_target(INBOX_SCHEME + name)
    except BadTarget as bad:
        raise Unacceptable("bad_inbox_name", str(bad), "name") from None
    return name


def _summary(request: Request, inbox: Inbox) -> dict[str, Any]:
    url = f"{base_url(request)}{INBOX_PATH}{request.path_params['sandbox']}/{inbox.name}"
    return {"name": inbox.name, "url": url, "count": len(inbox.received), "left_out": inbox.left_out}


async def list_all(request: Request, live: LiveSandbox) -> Response:
    """List the inboxes that have messages or a program, by name."""
    query = query_of(request, "inboxes-query")

    def row(inbox: Inbox) -> dict[str, Any]:
        latest = render.moment(inbox.received[-1].at) if inbox.received else None
        return _summary(request, inbox) | {"latest": latest, "replies": remaining_replies(inbox)}

    return reply(await page("inboxes", query, live.inboxes, row))


async def show(request: Request, live: LiveSandbox) -> Response:
    """Return a page of received requests, oldest first; with `wait_for`, wait until that many arrived after the cursor
    or the timeout passes."""
    query = query_of(request, "inbox-query")
    cursor, wait_for, timeout_s = cursor_of(query), query["wait_for"], query["timeout"]
    name = _name_of(request)
    inboxes = live.inboxes
    inbox, complete = inboxes.peek(name), True
    if wait_for:
        inbox, complete = await live.waiting_room.wait(lambda: inboxes.wait(name, wait_for, cursor, timeout_s))
        refuse_revoked(request)
    answer = _summary(request, inbox) | {"complete": complete}
    origins = MessageOrigins(live)
    found = page("items", query, inbox.after(cursor), lambda message: _message_row(message, origins), lambda one: one.n)
    return reply(answer | await found)


def _message_row(one: InboxMessage, origins: MessageOrigins) -> dict[str, Any]:
    """Return a received request with its origin. A small body is decoded here."""
    query = dict(parse_qsl(one.query.decode("latin-1"), keep_blank_values=True))
    json = json_of(one.body)
    message = json_of(query["message"].encode("utf-8", "surrogatepass")) if "message" in query else None
    return {
        **render.members(one, "n", "at", "method"),
        "query": query,
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in one.headers],
        "body": one.body.decode("utf-8", "replace"),
        "json": json,
        "status": one.status,
    } | origins.origin_of(one, query, json, message)


async def set_replies(request: Request, live: LiveSandbox) -> Response:
    """Program the replies to the next requests, in the form of a scenario. Warn of real waits under a manual clock."""
    name = _name_of(request)
    wanted = await body_of(request, "inbox-replies-request")
    document: dict[str, Any] = {key: value for key, value in wanted.items() if value != []}
    for key in document.keys() & {"replies", "during"}:
        document[key] = [_with_duration(row) for row in document[key]]
    try:
        program = await in_background(build_inbox, document)  # without a place: many sandboxes may be set up at once
    except ScenarioError as error:
        first = error.problems[0]
        raise InvalidInput(first.message, _INDEX.sub(r".\1", first.path)) from None
    refuse_lost_sandbox(request)
    live.inbox_inputs.set_program(name, document, program)
    warnings = [] if live.clock.runs else real_waits({"inboxes": {name: document}}, live.scenario.limits)
    return reply(wanted | {"warnings": warnings})


async def clear(request: Request, live: LiveSandbox) -> Response:
    """Delete received requests and programmed replies."""
    name = _name_of(request)
    live.inbox_inputs.clear(name)
    return Response(status_code=204)


# Programmed replies must not run scripts in the console's origin.
_NO_PAGE = {"content-security-policy": "sandbox", "x-content-type-options": "nosniff"}


async def receive(request: Request) -> ASGIApp:
    """Accept any request, and reply as programmed."""
    name = _name_of(request)
    live = sandboxes_of(request).get(request.path_params["sandbox"])
    request.state.sandbox = live, live.core
    body = await bytes_of(request, BODY_BYTES_MAX)
    query, headers = request.scope["query_string"], tuple(request.headers.raw)
    taken = live.inbox_inputs.receive(name, request.method, query, headers, body)
    if taken.delay:
        request.scope.get("cancel_when_left", lambda: None)()
        await live.delays.sleep(live.clock.wall_seconds(typical(taken.delay)))
    if taken.disconnect:
        return _disconnect
    return Response(taken.body, taken.status, dict(taken.headers) | _NO_PAGE)


async def _disconnect(scope: Scope, receive: Receive, send: Send) -> None:
    """Close the connection without an answer, as far as the server can."""
    scope.get("abort", lambda: None)()


SHOWN_MAX: Final = 20  # replies of each list, and headers of each reply
_INDEX: Final = re.compile(r"\[([0-9]+)\]")


def _with_duration(row: dict[str, Any]) -> dict[str, Any]:
    """Return a reply in the form of a scenario, whose delays are not in seconds."""
    delay = row.get("delay", "")
    return row if isinstance(delay, str | dict) else row | {"delay": f"{round(delay * 1000)}ms"}


def remaining_replies(inbox: Inbox) -> dict[str, Any]:
    """Return the rest of an inbox's program, the next reply first. The last reply repeats, or with `repeat` all of them
    do. Long lists and texts are truncated; `count` counts all remaining replies."""
    program, used = inbox.program, inbox.replied
    replies = program.replies
    if program.repeat and replies:
        at = used % len(replies)
        replies = replies[at:] + replies[:at]
    elif replies:
        replies = replies[min(used, len(replies) - 1) :]
    return {
        "replies": [_reply(entry) for entry in replies[:SHOWN_MAX]],
        "count": len(replies),
        "repeat": program.repeat,
        "during": [_window(item.window) | _reply(item.reply) for item in program.during[:SHOWN_MAX]],
    }


def _reply(entry: InboxReply) -> dict[str, Any]:
    headers = entry.headers[:SHOWN_MAX]
    return {
        "status": 0 if entry.disconnect else entry.status,
        "delay": typical(entry.delay).total_seconds(),
        **({"p99": entry.delay.p99.total_seconds()} if isinstance(entry.delay, Spread) else {}),
        "body": shortened(entry.body, SENTENCE_CHARS_MAX),
        "headers": {name: shortened(value, SENTENCE_CHARS_MAX) for name, value in headers},
        "disconnect": entry.disconnect,
    }


def _window(window: Window) -> dict[str, Any]:
    """Return the parts that a window has: time of day in the service's zone, days, seconds since the sandbox
    started."""
    shown: dict[str, Any] = {}
    if (day := window.time_of_day) is not None:
        shown["time"] = {"from": f"{day.begins or MIDNIGHT:%H:%M:%S}", "to": f"{day.ends or MIDNIGHT:%H:%M:%S}"}
    if window.weekdays is not None:
        shown["weekday"] = [DAYS[day] for day in sorted(window.weekdays)]
    spans = {"since": window.since, "until": window.until}
    return shown | {name: span.total_seconds() for name, span in spans.items() if span is not None}
