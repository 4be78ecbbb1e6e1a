"""`/_sim/sandboxes/{id}/callbacks`: every attempt of every transaction callback with its result."""

from collections.abc import Iterable, Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.filters import page_of, query_of, wait_of
from simulator.control.http import page, reply, sandbox_of
from simulator.domain.commands import SendCallback
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.delivery_attempts import Attempt, Job
from simulator.domain.state import State, payment_with
from simulator.redaction import redact_urls
from simulator.runtime.attempt_log import SentRequests
from simulator.wire.payments import CALLBACK_STATUS_NAMES

ATTEMPTS_MAX = 1_000
"""More attempts than any callback has, for any `limits.callback_retries`."""


def attempt(one: Attempt) -> dict[str, Any]:
    """Return an attempt as JSON; `ending`, the kind of its result, is null while it is in flight."""
    result = one.result
    return {
        "number": one.number,
        "at": render.moment(one.at),
        "ending": result.kind.value if result else None,
        "status": result.status if result else None,
        "error": result.error if result else "",
        "body": result.body if result else "",
    }


def callback(one: Callback, sent: SentRequests) -> dict[str, Any]:
    """Return a callback as JSON, with the attempts that have begun."""
    return _fields(one) | {"attempts": [attempt(each) for each in sent.begun_attempts(one)]}


def _fields(one: Callback) -> dict[str, Any]:
    return {
        "id": one.id,
        "state": one.state.value,
        "url": redact_urls(one.url),
        "method": one.method,
        "copy": one.copy,
        "payment_status": CALLBACK_STATUS_NAMES[one.result.status],
    }


def attempt_row(one: Callback, tried: Attempt) -> dict[str, Any]:
    """Return an attempt in the form of the control API's list."""
    whole, fields = _fields(one), attempt(tried)
    return {
        "callback": whole.pop("id"),
        "attempt": fields.pop("number"),
        "trxid": one.transaction.trxid,
        "refid": one.transaction.refid,
        "reseller": one.transaction.reseller,
        **whole,
        **fields,
    }


def _matching(state: State, refid: str | None, trxid: str | None) -> Iterable[Callback]:
    """Return the callbacks of the requested transactions, oldest first, using indexes."""
    if refid is None:
        return state.callbacks if trxid is None else state.callbacks.of(trxid)
    paid = (payment_with(state, one, refid) for one in state.resellers.values())
    found = [one.trxid for one in paid if one is not None]
    callbacks = [each for one in found if trxid in (None, one) for each in state.callbacks.of(one)]
    return sorted(callbacks, key=lambda each: each.serial)


def _place(one: Callback, tried: Attempt) -> int:
    """Return the place of an attempt in the list; it is not affected by later attempts and evictions."""
    return one.serial * ATTEMPTS_MAX + tried.number


def _attempts(callbacks: Iterable[Callback], sent: SentRequests, cursor: int) -> Iterator[tuple[Callback, Attempt]]:
    """Yield the attempts that have begun, after the place `cursor`."""
    serial = cursor // ATTEMPTS_MAX
    for one in callbacks:
        if one.serial >= serial:
            yield from ((one, tried) for tried in sent.begun_attempts(one) if _place(one, tried) > cursor)


async def send(request: Request) -> Response:
    """Send the callback of a payment's present status again now."""
    live = sandbox_of(request)
    repeat: Callback = await live.submit(SendCallback(request.path_params["trxid"]))
    return reply(callback(repeat, live.courier.sent), 201)


async def list_all(request: Request) -> Response:
    """List the attempts, oldest callback first; with `wait_for`, wait until that many ended or the timeout passes."""
    live = sandbox_of(request)
    state = live.core.state
    query = query_of(request, "callbacks-query")
    asked = page_of(query)
    wait_for, timeout_s = wait_of(query)
    refid, trxid = (query.get(name) for name in ("refid", "trxid"))

    def matching() -> Iterable[Callback]:
        return _matching(live.core.state, refid, trxid)

    def matches(one: Job) -> bool:
        if not isinstance(one, Callback) or trxid not in (None, one.transaction.trxid):
            return False
        paid = one.transaction
        return refid is None or payment_with(state, state.resellers[paid.reseller], refid) is paid

    complete = True
    if wait_for:
        counted = sum(1 for one in matching() for tried in one.attempts if tried.result is not None)
        ended = live.driver.ended.tally(matches, counted)
        complete = await live.wait_until(lambda: ended.count() >= wait_for, timeout_s, live.driver.notifier)
    rows = _attempts(matching(), live.courier.sent, asked.cursor)
    left_out = live.core.state.callbacks.left_out
    answer = await page("callbacks", asked, rows, lambda each: attempt_row(*each), lambda each: _place(*each))
    return reply(answer | {"left_out": left_out, "complete": complete})
