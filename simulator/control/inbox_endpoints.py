"""The inbox: `/_sim/sandboxes/{id}/inbox/{name}` reads and programs it, `/_sim/inbox/{id}/{name}` receives.

A message is shown with its origin: whether it is a callback, a webhook or something else, its owner, and whether it is
genuine. A signature is judged by the secrets at the arrival of the message. Callbacks are not signed (SPEC 5.5), so for
a callback the rows show what a receiver can compare.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import islice
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from simulator.contract.body import BadJson, decode_any
from simulator.control import render
from simulator.control.access import refuse_revoked
from simulator.control.autopsies import OTHERS_MAX
from simulator.control.filters import query_of
from simulator.control.http import (
    AT_ONCE_BYTES_MAX,
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
from simulator.domain.errors import Unacceptable
from simulator.domain.model.draw import Spread, typical
from simulator.domain.model.inbox_programs import INBOX_SCHEME, MIDNIGHT, InboxReply, Window
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.transactions import Transaction
from simulator.domain.model.webhooks import Delivery
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
from simulator.wire.webhook_signature import headers_of, is_signed_with, lacking, staleness


def _name_of(request: Request) -> str:
    name: str = request.path_params["name"]
    try:
        parse_target(INBOX_SCHEME + name)
    except BadTarget as bad:
        raise Unacceptable("bad_inbox_name", bad.reason, "name") from None
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


def _message_row(one: InboxMessage, origins: "MessageOrigins") -> dict[str, Any]:
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
        document[key] = [_with_duration(one) for one in document[key]]
    try:
        program = await in_background(build_inbox, document)  # without a place: many sandboxes may be set up at once
    except ScenarioError as error:
        first = error.problems[0]
        raise InvalidInput(first.message, _INDEX.sub(r".\1", first.path)) from None
    refuse_lost_sandbox(request)
    live.program_inbox(name, document, program)
    warnings = [] if live.clock.runs else real_waits({"inboxes": {name: document}}, live.scenario.limits)
    return reply(wanted | {"warnings": warnings})


async def clear(request: Request, live: LiveSandbox) -> Response:
    """Delete received requests and programmed replies."""
    name = _name_of(request)
    live.clear_inbox(name)
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
    taken = live.receive(name, request.method, query, headers, body)
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


def _with_duration(one: dict[str, Any]) -> dict[str, Any]:
    """Return a reply in the form of a scenario, whose delays are not in seconds."""
    delay = one.get("delay", "")
    return one if isinstance(delay, str | dict) else one | {"delay": f"{round(delay * 1000)}ms"}


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
        "replies": [_reply(one) for one in replies[:SHOWN_MAX]],
        "count": len(replies),
        "repeat": program.repeat,
        "during": [_window(one.window) | _reply(one.reply) for one in program.during[:SHOWN_MAX]],
    }


def _reply(one: InboxReply) -> dict[str, Any]:
    headers = one.headers[:SHOWN_MAX]
    return {
        "status": 0 if one.disconnect else one.status,
        "delay": typical(one.delay).total_seconds(),
        **({"p99": one.delay.p99.total_seconds()} if isinstance(one.delay, Spread) else {}),
        "body": shortened(one.body, SENTENCE_CHARS_MAX),
        "headers": {name: shortened(value, SENTENCE_CHARS_MAX) for name, value in headers},
        "disconnect": one.disconnect,
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


TRIED_BYTES_MAX: Final = 4 * 1024 * 1024  # per message, which is hashed again with each secret
JSON_DEPTH_MAX: Final = 32  # an answer with more levels could not be read by our own bounds
_WEBHOOK_SECRET: Final = re.compile("[0-9a-f]{64}", re.IGNORECASE)
_IN_QUERY: Final = ("refid", "status", "price", "message")
_NEITHER: Final = "this is neither a callback nor a webhook of the service"
_UNSIGNED: Final = "callbacks are not signed: {}; accept them from the service's addresses alone, or re-query the refid"


class MessageOrigins:
    """Finds the origin of the messages on a page of an inbox."""

    def __init__(self, live: LiveSandbox) -> None:
        self._state = live.core.state
        self._scheme = live.scenario.webhooks.signature
        self._skew = live.scenario.clock.skew

    def origin_of(self, one: InboxMessage, query: Mapping[str, str], json: Any, message: Any) -> dict[str, Any]:
        """Return the known facts about a message. `json` is its decoded body, as far as it was decoded; `message` is
        the parameter of its query."""
        found = _callback_of(query, json, message)
        if found is not None:
            return self._callback(found)
        headers = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in one.headers}
        event = json if isinstance(json, dict) else {}
        is_event = isinstance(event.get("type"), str) and isinstance(event.get("data"), dict)
        if is_event or any(name in headers for name in headers_of(self._scheme)):
            return self._webhook(one, headers, event)
        return _origin("other", None, _NEITHER)

    def _callback(self, found: Mapping[str, Any]) -> dict[str, Any]:
        refid = str(found["refid"])
        holders = self._state.resellers.values()
        payments = [paid for holder in holders if (paid := holder.refids.get(refid)) is not None]
        same = [payment for payment in payments if _matches(payment, found)]
        known = same or payments
        if not known:
            reason = "this sandbox has no payment of its refid"
        elif same:
            reason = "its refid, product, account and amount match a payment of this sandbox"
        else:
            reason = "its product, account or amount differs from the payment of its refid"
        trxid = known[0].trxid if len(known) == 1 else None
        return _origin("callback", None, _UNSIGNED.format(reason), refid=refid, trxid=trxid)

    def _webhook(self, message: InboxMessage, headers: Mapping[str, str], event: Mapping[str, Any]) -> dict[str, Any]:
        ids = (headers.get("webhook-id"), event.get("id"))
        jobs = next((self._jobs[id_] for id_ in ids if isinstance(id_, str) and id_ in self._jobs), [])
        ok, reason = self._verified(message, headers, event)
        at_that_time = [job for job in jobs if any(attempt.at == message.at for attempt in job.attempts)]
        job = next(iter([*reversed(at_that_time), *reversed(jobs)]), None)
        return _origin("webhook", ok, reason, delivery=None if job is None else job.id)

    @cached_property
    def _jobs(self) -> Mapping[str, list[Delivery]]:
        """Return the deliveries of each event."""
        found: dict[str, list[Delivery]] = {}
        for job in self._state.deliveries:
            found.setdefault(job.event.id, []).append(job)
        return found

    def _verified(self, one: InboxMessage, headers: Mapping[str, str], event: Mapping[str, Any]) -> tuple[bool, str]:
        if lack := lacking(self._scheme, headers):
            return False, lack
        data = event.get("data")
        code = data.get("resellerCode") if isinstance(data, dict) else None
        named = self._state.resellers.get(code) if isinstance(code, str) else None
        tries = min(OTHERS_MAX, max(1, TRIED_BYTES_MAX // (len(one.body) + 1)))
        for signer, wrong, secret in islice(self._likely_secrets(one, named), tries):
            if is_signed_with(self._scheme, secret, headers, one.body):
                if wrong:
                    return False, wrong
                if named is not None and signer not in ("", named.code):
                    return False, f"signed with the secret of {signer}, but about {named.code}"
                if stale := staleness(self._scheme, headers, one.wall + self._skew):
                    return False, f"well signed, but {stale}"
                return True, f"signed with the secret of {signer}" if signer else "signed with the secret of that time"
        return False, "the signature fits no secret of this sandbox: another secret signed, or the body was changed"

    def _likely_secrets(self, message: InboxMessage, named: Reseller | None) -> Iterator[tuple[str, str, str]]:
        """Yield the likely secrets, the likeliest first: the owner, the reason why it must not be used (empty if it
        may), and the secret."""
        for holder in (*([] if named is None else [named]), *self._state.resellers.values()):
            if holder.webhook.secret:
                yield holder.code, "", holder.webhook.secret
        if self._state.catalog_webhook.secret:
            yield "the catalog's webhook", "", self._state.catalog_webhook.secret
        since = self._state.secrets.replacements - message.replacements
        for place, secret in enumerate(self._state.secrets.former):
            if _WEBHOOK_SECRET.fullmatch(secret):
                yield "", "" if place < since else "signed with a secret that had been replaced by then", secret


def _origin(kind: str, ok: bool | None, reason: str, **known: str | None) -> dict[str, Any]:
    ids = {"refid": None, "trxid": None, "delivery": None}
    return {"kind": kind, "verified": {"ok": ok, "reason": reason}} | ids | known


def _callback_of(query: Mapping[str, str], json: Any, message: Any) -> Mapping[str, Any] | None:
    """Return the fields of a callback (SPEC 6.1), sent with POST or GET; None for any other message."""
    data = json.get("data") if isinstance(json, dict) else None
    if isinstance(data, dict) and isinstance(data.get("refid"), str) and "statusCode" in data:
        return data
    if all(name in query for name in _IN_QUERY):
        return {**(message if isinstance(message, dict) else {}), "refid": query["refid"]}
    return None


def _matches(payment: Transaction, found: Mapping[str, Any]) -> bool:
    """Return whether the fields of a callback are those of the payment."""
    try:
        is_amount = Decimal(str(found.get("amount"))) == payment.amount
    except InvalidOperation:  # comparing a signalling NaN raises, too
        return False
    return is_amount and found.get("product") == payment.product and found.get("account") == payment.account


def json_of(body: bytes) -> Any:
    """Return the decoded JSON; None when it is invalid, too long or nested too deep."""
    try:
        value = decode_any(body) if len(body) <= AT_ONCE_BYTES_MAX else None
    except BadJson:
        return None
    return value if _is_within(value, JSON_DEPTH_MAX) else None


def _is_within(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    children = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_within(child, levels - 1) for child in children)
