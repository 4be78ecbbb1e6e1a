"""`/_sim/sandboxes/{id}/callbacks`: every attempt of every transaction callback, and how it ended."""

from collections.abc import Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.http import page, page_of, refuse_other_parameters, reply, sandbox_of, wait_of
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.effects import Attempt
from simulator.wire.payments import CALLBACK_STATUS_NAMES


def attempt(one: Attempt) -> dict[str, Any]:
    """One attempt; `ending`, the kind of its result, is null while it is in flight."""
    result = one.result
    return {
        "number": one.number,
        "at": render.moment(one.at),
        "ending": result.kind.value if result else None,
        "status": result.status if result else None,
        "error": result.error if result else "",
        "body": result.body if result else "",
    }


def callback(one: Callback) -> dict[str, Any]:
    """One callback with its attempts."""
    return {
        "id": one.id,
        "state": one.state.value,
        "url": one.url,
        "method": one.method,
        "copy": one.copy,
        "payment_status": CALLBACK_STATUS_NAMES[one.result.status],
        "attempts": [attempt(each) for each in one.attempts],
    }


def _row(one: Callback, tried: Attempt) -> dict[str, Any]:
    whole = callback(one)
    del whole["attempts"]
    fields = attempt(tried)
    return {
        "callback": whole.pop("id"),
        "attempt": fields.pop("number"),
        "trxid": one.transaction.trxid,
        "refid": one.transaction.refid,
        "reseller": one.transaction.reseller,
        **whole,
        **fields,
    }


async def list_all(request: Request) -> Response:
    """Attempts, oldest callback first; with `wait_for`, once that many ended or the timeout passes."""
    live = sandbox_of(request)
    refuse_other_parameters(request, "refid", "trxid", "limit", "cursor", "wait_for", "timeout")
    asked = page_of(request)
    wait_for, timeout_s = wait_of(request)
    refid, trxid = (request.query_params.get(name) for name in ("refid", "trxid"))

    def matches(one: Callback) -> bool:
        return refid in (None, one.transaction.refid) and trxid in (None, one.transaction.trxid)

    def matching() -> Iterator[tuple[Callback, Attempt]]:
        return ((one, tried) for one in live.core.state.callbacks if matches(one) for tried in one.attempts)

    complete = True
    if wait_for:
        ended = live.driver.ended.tally(
            lambda job: isinstance(job, Callback) and matches(job),
            counted=sum(1 for _, tried in matching() if tried.result is not None),
        )
        complete = await live.driver.notifier.wait_until(lambda: ended.count() >= wait_for, timeout_s)
    answer = page("callbacks", asked, matching(), lambda pair: _row(*pair))
    return reply(answer | {"left_out": live.core.state.callbacks.left_out, "complete": complete})
