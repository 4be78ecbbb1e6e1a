"""`/_sim/sandboxes/{id}/requests`: the journal, newest first, single exchanges, and resending a request with a new
signature."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from simulator.auth import headers as names
from simulator.auth.canonical import body_hash, canonical_query, canonical_string, signature
from simulator.control import render
from simulator.control.access import may_touch
from simulator.control.autopsies import autopsy_of
from simulator.control.filters import (
    bytes_of,
    filtered,
    matcher,
    page_of,
    query_of,
    refuse_other_parameters,
    refuse_unknown_reseller,
    refuse_unknown_rule,
    wait_of,
)
from simulator.control.http import DIGITS_MAX, error, page, refuse_lost_sandbox, reply, sandbox_of, sandboxes_of
from simulator.domain.errors import Conflict
from simulator.redaction import Mask
from simulator.runtime.background import in_background, place
from simulator.runtime.journal import Exchange, Tally, reply_headers
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire.traffic import as_sent

_FILTERS: Mapping[str, Callable[[Exchange], Any]] = {
    name: attrgetter(name)
    for name in ("method", "path", "status", "reseller", "trxid", "refid", "rule", "fault", "error", "trace_id")
}


def row(exchange: Exchange, mask: Mask) -> dict[str, Any]:
    """Return a row of the journal, without secrets."""
    shown: dict[str, Any] = {"replay_of": exchange.replay_of} if exchange.replay_of else {}
    trace_id = exchange.trace_id
    return (shown | {"trace_id": trace_id} if trace_id else shown) | {
        "n": exchange.n,
        "at": render.moment(exchange.at),
        "method": exchange.method,
        "path": mask.path(exchange.path),
        "query": mask.query(exchange.path, exchange.query),
        "status": exchange.status,
        "reseller": exchange.reseller,
        "client": exchange.client,
        "rule": exchange.rule,
        "fault": exchange.fault,
        "error": exchange.error,
        "diagnosis": mask.text(exchange.diagnosis),
        "trxid": exchange.trxid,
        "refid": exchange.refid,
        "duration_us": exchange.duration_us,
    }


def masks(request: Request, live: LiveSandbox) -> Callable[[str], Mask]:
    """Return a function from the `owner` of an exchange to its mask, which hides the secrets of both sandboxes."""

    sandboxes = sandboxes_of(request)
    return cache(lambda owner: sandboxes.mask_of(live, [sandboxes.find(owner)]))


async def list_all(request: Request) -> Response:
    """List the filtered journal; with `wait_for`, wait until that many match or the timeout passes."""
    live = sandbox_of(request)
    query = filters_of(request, live, "requests-query")
    asked = page_of(query)
    wait_for, timeout_s = wait_of(query)

    complete = True
    if wait_for:
        found = Tally(live.journal, matcher(_FILTERS, query))
        complete = await live.wait_until(lambda: found.count() >= wait_for, timeout_s, live.journal.notifier)
    earlier = matching(live, query, asked.cursor)
    mask_of = masks(request, live)
    left_out = live.journal.left_out
    answer = await page("requests", asked, earlier, lambda one: row(one, mask_of(one.owner)), lambda one: one.n)
    return reply(answer | {"left_out": left_out, "complete": complete})


def matching(live: LiveSandbox, query: Mapping[str, Any], cursor: int) -> Iterable[Exchange]:
    """Return the exchanges that match a query, newest first, before the exchange with the number `cursor`; 0 for all of
    them."""
    return (one for one in filtered(_FILTERS, query, reversed(live.journal)) if not cursor or one.n < cursor)


def filters_of(request: Request, live: LiveSandbox, schema: str) -> dict[str, Any]:
    """Return the query of a list with the journal's filters. Raises `InvalidInput`."""
    query = query_of(request, schema)
    refuse_unknown_reseller(live, query)
    refuse_unknown_rule(live, query)
    return query


async def show(request: Request) -> Response:
    """Return a complete exchange: request, answer, rule, diagnosis; and how a given string differs from the right
    string."""
    live = sandbox_of(request)
    query_of(request, "request-query")
    given = bytes_of(request, "string")
    exchange = exchange_of(request, live)
    if exchange is None:
        return unknown_request()
    mask = masks(request, live)(exchange.owner)
    owner = sandboxes_of(request).find(exchange.owner) or live
    found = await autopsy_of(live, owner, exchange, mask, given)
    return reply(whole(live.id, exchange, mask) | {"autopsy": found})


def exchange_of(request: Request, live: LiveSandbox) -> Exchange | None:
    """Return the exchange whose number is in the path; None when the journal does not have it."""
    number = request.path_params["n"]
    is_number = number.isascii() and number.isdigit() and len(number) <= DIGITS_MAX
    return live.journal.find(int(number)) if is_number else None


def unknown_request() -> Response:
    """Return a 404."""
    return error(404, "unknown_request", "the journal has no such request, or has evicted it")


def whole(sandbox_id: str, exchange: Exchange, mask: Mask) -> dict[str, Any]:
    """Return an exchange with its request and response, without secrets."""
    answer = row(exchange, mask) | {"sandbox": sandbox_id}
    answer["request"] = _message(mask, exchange.path, exchange.headers, exchange.body)
    answer["response"] = _response(mask, sandbox_id, exchange)
    return answer


def _response(mask: Mask, sandbox_id: str, exchange: Exchange) -> dict[str, Any]:
    """Return the response as HTTP sends it: with HEAD there is no body."""
    headers, body = as_sent(exchange.status, reply_headers(sandbox_id, exchange), exchange.content)
    return _message(mask, exchange.path, headers, b"" if exchange.method == "HEAD" else body)


def _message(mask: Mask, path: str, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> dict[str, Any]:
    """Return a request or response without secrets, its body truncated; `body_bytes` is the body's full length."""
    named = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
    shown = [[mask.text(name), mask.header(name, value)] for name, value in named]
    return {"headers": shown, "body": mask.body(path, body), "body_bytes": len(body)}


NUMBER_LINE = b"x-sim-request-id: "

Headers = list[tuple[bytes, bytes]]
Resend = Callable[[LiveSandbox, LiveSandbox, Exchange, Headers], Awaitable[tuple[int, bytes]]]
"""Sends an exchange of the second sandbox's journal to the first, with these headers. Returns the status, 0 for a
closed connection, and the header lines."""


async def replay(request: Request) -> Response:
    """Send a request again and return its new number in the journal."""
    live = sandbox_of(request)
    refuse_other_parameters(request)
    exchange = exchange_of(request, live)
    if exchange is None:
        return unknown_request()
    if exchange.unread:
        text = f"{exchange.unread} So it cannot be sent again; send the request yourself"
        raise Conflict("body_not_read", text, "n")
    owner = sandboxes_of(request).find(exchange.owner) or live
    may_touch(request, owner.id)
    headers = await _signed_anew(owner, exchange)
    refuse_lost_sandbox(request)
    resend: Resend = request.app.state.resend
    status, lines = await resend(owner, live, exchange, headers)
    refuse_lost_sandbox(request)
    found = {"n": _number(lines), "status": status, "request_id": str(_number(lines)), "replay_of": exchange.n}
    return reply(found, 201)


async def _signed_anew(owner: LiveSandbox, exchange: Exchange) -> Headers:
    """Return the headers of a request, with a fresh signature if it has an API key. Raises `Conflict` for a key that
    cannot sign."""
    key = next((value for name, value in reversed(exchange.headers) if name.lower() == names.API_KEY), b"")
    if not key:
        return exchange.headers
    _, known = owner.core.state.keys.get(key.decode("latin-1"), (None, None))
    if known is None or not known.secret_bytes:
        text = "its X-Api-Key has no secret in this sandbox, so it cannot be signed again; send the request yourself"
        raise Conflict("cannot_sign", text, "n")
    stamp = str(int(owner.signing_time().timestamp())).encode()
    nonce = f"replay-{uuid4().hex}".encode()
    with place(len(exchange.body)):
        hashed = await in_background(body_hash, exchange.body)
    query = canonical_query(exchange.query)
    to_sign = canonical_string(stamp, nonce, exchange.method.upper().encode(), query, hashed)
    made = signature(known.secret_bytes, to_sign).encode()
    new = {names.TIMESTAMP: stamp, names.NONCE: nonce, names.SIGNATURE: made}
    kept = [(name, value) for name, value in exchange.headers if name.lower() not in new]
    return [*kept, *new.items()]


def _number(lines: bytes) -> int:
    """Return the number in the header lines of an answer."""
    return int(lines.partition(NUMBER_LINE)[2].partition(b"\r")[0])
