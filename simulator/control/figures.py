"""`/_sim/sandboxes/{id}/figures`: payments, callbacks, webhooks, receivers, wallets and requests in numbers.

Everything is counted as it happens, or read from indexes and bounded logs. Sums over resellers and products are
computed in slices, so that the event loop is not blocked.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from itertools import islice
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.filters import sandbox_query
from simulator.control.http import lines, reply
from simulator.domain.model.delivery_attempts import JobCounts
from simulator.domain.model.history import HistoryQuery, HistoryStatus
from simulator.domain.model.money import ZERO
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.transactions import Status
from simulator.domain.model.wallet import TRANSACTION, Entry, EntryType, balance_curve
from simulator.domain.state import State
from simulator.redaction import redact_urls
from simulator.runtime.attempt_log import by_receiver
from simulator.runtime.background import in_background
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire.money import number
from simulator.wire.payments import STATUS_NAMES

WALLETS_MAX = 50
"""The limit of wallets in an answer; request other wallets with `reseller`."""

SLICE = 50
REFUSED_FROM = 400
ALWAYS = (date.min, date.max)


class ProductFigures(msgspec.Struct):
    """Figures of the payments for a product."""

    counts: Counter[HistoryStatus]
    amount: Decimal = ZERO


async def show(request: Request) -> Response:
    """Return the figures of a sandbox since its start or last reset, or of a single reseller."""
    live, query = sandbox_query(request, "figures-query")
    state, code = live.core.state, query.get("reseller")
    resellers = [one for one in state.resellers.values() if code in (None, one.code)]
    products = await _products(resellers)
    busiest = sorted(products.items(), key=lambda one: (-one[1].counts.total(), one[0]))
    attempts = [one for one in live.courier.times.latest() if code in (None, one.reseller)]
    answer = {
        "started": render.moment(state.started),
        "transactions": sum(len(one.history) for one in resellers),
        "by_status": _by_status(products.values(), sum(one.history.processing for one in resellers)),
        "by_product": [_product(state, *one) for one in busiest],
        "callbacks": _jobs(state.callback_counts, code),
        "webhooks": _jobs(state.webhook_counts, code),
        "receivers": [one._asdict() | {"url": redact_urls(one.url)} for one in by_receiver(attempts)],
        "requests": _requests(live, code),
    }
    drawn = resellers[:WALLETS_MAX]
    curves = {one.code: await in_background(balance_curve, one.wallet.entries[:]) for one in drawn}
    wallets = await lines(drawn, lambda one: _wallet(one, curves[one.code]))
    return reply(answer | {"wallets": wallets, "wallets_left_out": len(resellers) - len(drawn)})


async def _products(resellers: list[Reseller]) -> dict[str, ProductFigures]:
    found: dict[str, ProductFigures] = {}
    pairs = ((one, code) for one in resellers for code in one.history.products())
    while part := list(islice(pairs, SLICE)):
        for one, code in part:
            _, figures = one.history.find(HistoryQuery(*ALWAYS, product=code), 0, 0)
            product = found.setdefault(code, ProductFigures(Counter()))
            product.counts.update(figures.counts)
            product.amount += figures.amount
        await asyncio.sleep(0)
    return found


def _by_status(products: Iterable[ProductFigures], processing: int) -> dict[str, int]:
    """Return the number of payments by their wire status."""
    counts: Counter[HistoryStatus] = Counter()
    for product in products:
        counts.update(product.counts)
    by_status = {
        Status.ACCEPTED: max(0, counts[HistoryStatus.PENDING] - processing),
        Status.PROCESSING: processing,
        Status.SUCCESSFUL: counts[HistoryStatus.SUCCESSFUL],
        Status.FAILED: counts[HistoryStatus.FAILED],
        Status.REFUNDED: counts[HistoryStatus.REFUND],
    }
    return {STATUS_NAMES[status]: count for status, count in by_status.items()}


def _product(state: State, code: str, product: ProductFigures) -> dict[str, Any]:
    known = state.catalog.products.get(code)
    return {
        "product": code,
        "name": known.name if known else "",
        "count": product.counts.total(),
        "succeeded": product.counts[HistoryStatus.SUCCESSFUL],
        "failed": product.counts[HistoryStatus.FAILED],
        "amount_myr": number(product.amount),
    }


def _jobs(counts: Mapping[str, JobCounts], code: str | None) -> dict[str, int]:
    found = [one for reseller, one in counts.items() if code in (None, reseller)]
    return {name: sum(getattr(one, name) for one in found) for name in ("delivered", "failed", "pending", "attempts")}


def _requests(live: LiveSandbox, code: str | None) -> dict[str, Any]:
    """Return the counts of all answered requests. For a single reseller only the journal is counted; `left_out` is the
    number of evicted requests."""
    kinds: Counter[tuple[int, bool]] = Counter()
    if code is None:
        for (_, _, status, error, _), count in live.counters.answers.items():
            kinds[status, bool(error)] += count
    else:
        kinds.update((one.status, bool(one.error)) for one in live.journal if one.reseller == code)
    by_status: Counter[str] = Counter()
    for (status, _), count in sorted(kinds.items()):
        by_status[str(status)] += count
    refused = sum(count for (status, has_error), count in kinds.items() if has_error or status >= REFUSED_FROM)
    left_out = 0 if code is None else live.journal.left_out
    return {"total": kinds.total(), "refused": refused, "by_status": dict(by_status), "left_out": left_out}


def _wallet(one: Reseller, curve: list[Entry]) -> dict[str, Any]:
    _, totals = one.wallet.find(*ALWAYS, frozenset(EntryType), 0, 0)
    credited = sum((each.amount for type_, each in totals.items() if type_ is not TRANSACTION), ZERO)
    return {
        "reseller": one.code,
        "created": render.moment(one.created),
        "opening": number(one.wallet.opening),
        "balance": number(one.wallet.balance),
        "credited": number(credited),
        "debited": number(-totals[TRANSACTION].amount),
        "points": [[render.moment(entry.at), number(entry.balance)] for entry in curve],
    }
