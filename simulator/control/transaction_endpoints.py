"""`/_sim/sandboxes/{id}/transactions`: payments, and each payment's story."""

import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from reseller_sim.formats import outcome, request_line
from simulator.control import render
from simulator.control.filters import list_query
from simulator.control.http import cursor_of, lines, page, reply, sandboxes_of
from simulator.control.journal_endpoints import request_row
from simulator.control.notification_endpoints import callback_row
from simulator.control.render import members
from simulator.domain.errors import Unknown
from simulator.domain.model.cases import Case
from simulator.domain.model.transactions import PaymentResult, Transaction
from simulator.domain.state import State, payment_with
from simulator.runtime.attempt_log import AttemptLog
from simulator.runtime.holds import HoldEntry
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire.payment_answers import STATUS_NAMES

Row = Mapping[str, Any]
Event = tuple[str, int, int, str]  # time, rank within an instant, order within the rank, and text

LATER = "\uffff"  # sorts after every time
BY_REQUEST = ("requery", "void")  # causes of a status

# The order at equal times, as under a stopped clock: the request that created the payment and its effects, then due
# items, then requests about the existing payment with their effects.
FIRST_REQUEST, CREATION, DEBIT, DUE, DUE_ENTRY, DUE_CALLBACK, REQUEST, CASE, CAUSED, CAUSED_ENTRY, CAUSED_CALLBACK = (
    range(11)
)


def _events(story: Row, held: Sequence[Row]) -> Iterator[Event]:
    """Yield everything in a payment's story; `held` are its requests and callbacks that are held now."""
    jobs = {row["job"]: f"held as {row['name']!r}" for row in held if row["job"]}
    for n, row in enumerate(row for row in held if not row["job"]):
        yield row["at"], REQUEST, n, f"{row['what']}: held as {row['name']!r}"
    statuses = story["statuses"]
    created_at = next((row["at"] for row in statuses if row["cause"] == "creation"), "")
    by_request = {(row["at"], row["status"]) for row in statuses if row["cause"] in BY_REQUEST}
    caused_at = {at for at, _ in by_request} - {
        row["at"] for row in statuses if row["cause"] not in (*BY_REQUEST, "creation")
    }
    for n, row in enumerate(sorted(story["requests"], key=lambda row: int(row["n"]))):
        is_first = n == 0 and not story["requests_left_out"]
        yield row["at"], FIRST_REQUEST if is_first else REQUEST, n, request_line(row)
    for n, row in enumerate(statuses):
        rank = CAUSED if row["cause"] in BY_REQUEST else CREATION if row["cause"] == "creation" else DUE
        given = [f"{name} {row[name]}" for name in ("sn", "pin", "voucherlink", "remarks") if row[name]]
        status = f"status {row['status']} ({row['status_code']}) by {row['cause']}"
        yield row["at"], rank, n, ", ".join([status, *given])
    for n, row in enumerate(story["entries"]):
        rank = DEBIT if n == 0 and row["at"] == created_at else DUE_ENTRY
        rank = CAUSED_ENTRY if rank == DUE_ENTRY and row["at"] in caused_at else rank
        changed = f"wallet {row['amount']:+.2f} MYR ({row['type']}), balance {row['balance']:.2f} MYR"
        yield row["at"], rank, n, f"{changed}: {row['remarks']}" if row.get("remarks") else changed
    for n, sent in enumerate(story["callbacks"]):
        said = f"callback {sent['payment_status']}{' again' if sent['copy'] else ''} to {sent['url']}"
        for row in sent["attempts"]:
            rank = CAUSED_CALLBACK if (row["at"], sent["payment_status"]) in by_request else DUE_CALLBACK
            yield row["at"], rank, n, f"{said}, attempt {row['number']}: {outcome(row)}"
        if not sent["attempts"]:
            yield LATER, DUE_CALLBACK, n, f"{said}: {jobs.get(sent['id'], sent['state'])}"
    for n, case in enumerate(story["cases"]):
        yield case["at"], CASE, n, f"{case['kind']} {case['status']}: {case['message']}"
        if case["ended"]:
            yield case["ended"], CAUSED_CALLBACK, n, f"{case['kind']} {case['state']}"


SHOWN_MAX = 100
"""The number of latest requests and callbacks in a payment's story; the lists have the others."""


def _row(transaction: Transaction) -> dict[str, Any]:
    result = transaction.result
    return {
        **members(transaction, "trxid", "refid", "reseller", "product", "account", "amount", "cost"),
        "status": STATUS_NAMES[result.status],
        "status_code": result.kind.code,
        "created": render.moment(transaction.created),
        "updated": render.moment(result.at),
        "rule": transaction.rule,
    }


async def list_all(request: Request, live: LiveSandbox) -> Response:
    """List transactions, newest first; `refid` and `reseller` are filters."""
    query = list_query(request, live, "sandbox-transactions-query")
    refid, reseller = (query.get(name) for name in ("refid", "reseller"))
    before = min(cursor_of(query) or sys.maxsize, len(live.core.state.transactions))
    found = _newest_first(live.core.state, refid, reseller, before)
    return reply(await page("transactions", query, found, _row, lambda transaction: transaction.number))


def _newest_first(state: State, refid: str | None, code: str | None, before: int) -> Iterator[Transaction]:
    """Yield the matching transactions with numbers below `before`, from indexes: a page costs the same for any number
    of others, and new payments do not change it."""
    if refid is not None:
        resellers = [reseller for reseller in state.resellers.values() if not code or code == reseller.code]
        found = filter(None, (payment_with(state, reseller, refid) for reseller in resellers))
        earlier = (payment for payment in found if payment.number < before)
        return iter(sorted(earlier, key=attrgetter("number"), reverse=True))
    if not code:
        return map(state.transactions.by_number.__getitem__, range(before - 1, -1, -1))
    history = state.resellers[code].history.transactions
    end = bisect_left(range(len(history)), before, key=lambda place: history[place].number)
    return map(history.__getitem__, range(end - 1, -1, -1))


async def show(request: Request, live: LiveSandbox) -> Response:
    """Return the story of a payment: requests, statuses, entries, callback attempts and the receiver's answers."""
    transaction = live.core.state.transactions.get(request.path_params["trxid"])
    if transaction is None:
        raise Unknown("unknown_transaction", "this sandbox has no such transaction; ?refid= finds by refid")
    mask = sandboxes_of(request).mask_of(live)
    of_it = [each for each in live.journal if each.trxid == transaction.trxid]
    rows = await lines(of_it[-SHOWN_MAX:], lambda each: request_row(each, mask))
    requests, left_out = [msgspec.json.decode(row) for row in rows], max(0, len(of_it) - SHOWN_MAX)
    return reply(story(live.core.state, live.courier.sent, transaction, requests, left_out, live.holds))


def story(
    state: State,
    sent: AttemptLog,
    transaction: Transaction,
    requests: list[dict[str, Any]],
    left_out: int,
    holds: Iterable[HoldEntry] = (),
) -> dict[str, Any]:
    """Return a payment with everything that belongs to it; `requests` are rows of the journal, oldest first, `left_out`
    the number of omitted rows, `holds` what is held in the sandbox now."""
    wallet = state.resellers[transaction.reseller].wallet
    callbacks = state.callbacks.of(transaction.trxid)
    found = {
        **_row(transaction),
        "product_name": transaction.kind.product_name,
        **members(transaction, "remarks", "extras", "sender", "requeries"),
        "requests": requests,
        "requests_left_out": left_out,
        "statuses": [_status(result) for result in transaction.results],
        "entries": [render.entry(wallet.entry(id_)) for id_ in transaction.entry_ids],
        "callbacks": [callback_row(each, sent) for each in callbacks[-SHOWN_MAX:]],
        "callbacks_left_out": state.callbacks.left_out + max(0, len(callbacks) - SHOWN_MAX),
        "cases": [_case(each) for each in state.cases.get(transaction.trxid, ())],
    }
    held = [
        {"at": render.moment(each.since), "job": each.job, "what": each.what, "name": each.name}
        for each in holds
        if each.refid == transaction.refid
    ]
    events = sorted(_events(found, held))
    return found | {"events": [{"at": None if at == LATER else at, "text": text} for at, _, _, text in events]}


def _status(result: PaymentResult) -> dict[str, Any]:
    return {
        "at": render.moment(result.at),
        "status": STATUS_NAMES[result.status],
        "status_code": result.kind.code,
        **members(result.kind, "cause", "cost"),
        **members(result, "balance"),
        **members(result.texts, "remarks", "sn", "pin"),
        "expiry": f"{result.texts.expiry:%Y%m%d}" if result.texts.expiry else "",
        **members(result.texts, "note", "voucherlink"),
    }


def _case(case: Case) -> dict[str, Any]:
    return {
        **members(case, "id", "kind", "at"),
        "status": "Success" if case.is_accepted else "Failed",
        **members(case, "message", "state", "ended", "rule", "user_email", "refund_type", "refund_reason"),
    }
