"""`/_sim/sandboxes/{id}/transactions`: payments, and each payment's story."""

import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.callbacks import callback
from simulator.control.filters import page_of, query_of, refuse_unknown_reseller
from simulator.control.http import error, lines, page, reply, sandbox_of, sandboxes_of
from simulator.control.masking import mask_of
from simulator.control.requests import row as request_row
from simulator.control.story_events import story_events
from simulator.domain.model.cases import Case
from simulator.domain.model.transactions import Result, Transaction
from simulator.domain.queries import payment_with
from simulator.domain.state import State
from simulator.runtime.attempt_log import SentRequests
from simulator.runtime.holds import Held
from simulator.wire.money import number
from simulator.wire.payments import STATUS_NAMES

SHOWN_MAX = 100
"""The number of latest requests and callbacks in a payment's story; the lists have the others."""


def _row(one: Transaction) -> dict[str, Any]:
    result = one.result
    return {
        "trxid": one.trxid,
        "refid": one.refid,
        "reseller": one.reseller,
        "product": one.product,
        "account": one.account,
        "amount": number(one.amount),
        "cost": number(one.cost),
        "status": STATUS_NAMES[result.status],
        "status_code": result.code,
        "created": render.moment(one.created),
        "updated": render.moment(result.at),
        "rule": one.rule,
    }


async def list_all(request: Request) -> Response:
    """List transactions, newest first; `refid` and `reseller` are filters."""
    live = sandbox_of(request)
    query = query_of(request, "sandbox-transactions-query")
    refuse_unknown_reseller(live, query)
    asked = page_of(query)
    refid, reseller = (query.get(name) for name in ("refid", "reseller"))
    before = min(asked.cursor or sys.maxsize, len(live.core.state.transactions))
    found = _newest_first(live.core.state, refid, reseller, before)
    return reply(await page("transactions", asked, found, _row, lambda one: one.number))


def _newest_first(state: State, refid: str | None, code: str | None, before: int) -> Iterator[Transaction]:
    """Yield the matching transactions with numbers below `before`, from indexes: a page costs the same for any number
    of others, and new payments do not change it."""
    if refid is not None:
        resellers = [one for one in state.resellers.values() if not code or code == one.code]
        found = filter(None, (payment_with(state, one, refid) for one in resellers))
        return iter(sorted((one for one in found if one.number < before), key=lambda one: one.number, reverse=True))
    if not code:
        return map(state.transactions.by_number.__getitem__, range(before - 1, -1, -1))
    history = state.resellers[code].history.transactions
    end = bisect_left(range(len(history)), before, key=lambda place: history[place].number)
    return map(history.__getitem__, range(end - 1, -1, -1))


async def show(request: Request) -> Response:
    """Return the story of a payment: requests, statuses, ledger entries, callback attempts and the receiver's
    answers."""
    live = sandbox_of(request)
    one = live.core.state.transactions.get(request.path_params["trxid"])
    if one is None:
        return error(404, "unknown_transaction", "this sandbox has no such transaction; ?refid= finds by refid")
    mask = mask_of(live, sandboxes_of(request))
    of_it = [each for each in live.journal if each.trxid == one.trxid]
    rows = await lines(of_it[-SHOWN_MAX:], lambda each: request_row(each, mask))
    requests, left_out = [msgspec.json.decode(row) for row in rows], max(0, len(of_it) - SHOWN_MAX)
    return reply(story(live.core.state, live.courier.sent, one, requests, left_out, live.holds))


def story(
    state: State,
    sent: SentRequests,
    one: Transaction,
    requests: list[dict[str, Any]],
    left_out: int,
    holds: Iterable[Held] = (),
) -> dict[str, Any]:
    """Return a payment with everything that belongs to it; `requests` are rows of the journal, oldest first, `left_out`
    the number of omitted rows, `holds` what is held in the sandbox now."""
    wallet = state.resellers[one.reseller].wallet
    callbacks = state.callbacks.of(one.trxid)
    found = {
        **_row(one),
        "product_name": one.product_name,
        "remarks": one.remarks,
        "extras": one.extras,
        "sender": one.sender,
        "requeries": one.requeries,
        "requests": requests,
        "requests_left_out": left_out,
        "statuses": [_status(result) for result in one.results],
        "entries": [render.entry(wallet.entry(id_)) for id_ in one.entry_ids],
        "callbacks": [callback(each, sent) for each in callbacks[-SHOWN_MAX:]],
        "callbacks_left_out": state.callbacks.left_out + max(0, len(callbacks) - SHOWN_MAX),
        "cases": [_case(each) for each in state.cases.get(one.trxid, ())],
    }
    held = [
        {"at": render.moment(each.since), "job": each.job, "what": each.what, "name": each.name}
        for each in holds
        if each.refid == one.refid
    ]
    return found | {"events": story_events(found, held)}


def _status(result: Result) -> dict[str, Any]:
    return {
        "at": render.moment(result.at),
        "status": STATUS_NAMES[result.status],
        "status_code": result.code,
        "cause": result.cause,
        "cost": number(result.cost),
        "balance": number(result.balance),
        "remarks": result.remarks,
        "sn": result.sn,
        "pin": result.pin,
        "expiry": f"{result.expiry:%Y%m%d}" if result.expiry else "",
        "note": result.note,
        "voucherlink": result.voucherlink,
    }


def _case(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "kind": case.kind.value,
        "at": render.moment(case.at),
        "status": "Success" if case.is_accepted else "Failed",
        "message": case.message,
        "state": case.state.value,
        "ended": render.moment(case.ended),
        "rule": case.rule,
        "user_email": list(case.user_email),
        "refund_type": case.refund_type,
        "refund_reason": case.refund_reason,
    }
