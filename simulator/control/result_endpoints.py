"""`/_sim/sandboxes/{id}/figures`, `…/expectations`, `…/audit` and `…/coverage`: the results of a run.

Figures are counted as things happen, or read from indexes and bounded logs. Sums over resellers and products are
computed in slices, so that the event loop is not blocked.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import islice
from operator import attrgetter
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.audit.clauses import Obligation, as_json
from simulator.audit.client_traffic import Rate, Traffic
from simulator.audit.obligations import audited
from simulator.contract.openapi import OPENAPI, load
from simulator.control import render
from simulator.control.filters import list_query, refuse_other_parameters
from simulator.control.http import in_slices, lines, reply, sandboxes_of
from simulator.domain.model.delivery_attempts import JobCounts
from simulator.domain.model.expectations import Expectation, Verdict
from simulator.domain.model.history import HistoryQuery, HistoryStatus
from simulator.domain.model.money import ZERO
from simulator.domain.model.outcomes import OUTCOMES, AnswerKind
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.transactions import Status
from simulator.domain.model.wallet import TRANSACTION, Entry, EntryType
from simulator.domain.reports.coverage import Coverage
from simulator.redaction import redact_urls
from simulator.runtime.attempt_log import by_receiver
from simulator.runtime.background import in_background, place
from simulator.runtime.expectation_verdicts import verdicts_in_slices
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.traffic_log import TrafficLog, log_in_slices, log_of
from simulator.wire.formats import number
from simulator.wire.payment_answers import STATUS_NAMES

WALLETS_MAX = 50
"""The limit of wallets in an answer; request other wallets with `reseller`."""

POINTS_MAX = 300
"""The number of points of a balance curve: up to four for each span of entries."""

SLICE = 50
REFUSED_FROM = 400
ALWAYS = (date.min, date.max)


ProductFigures = tuple[Counter[HistoryStatus], Decimal]
"""The counts of the payments for a product, and the amount of the successful payments."""


async def show_figures(request: Request, live: LiveSandbox) -> Response:
    """Return the figures of a sandbox since its start or last reset, or of a single reseller."""
    query = list_query(request, live, "figures-query")
    state, code = live.core.state, query.get("reseller")
    resellers = [reseller for reseller in state.resellers.values() if code in (None, reseller.code)]
    products = await _product_figures(resellers)
    busiest = sorted(products.items(), key=lambda one: (-one[1][0].total(), one[0]))
    known = state.catalog.products
    by_product: list[dict[str, Any]] = [
        {
            "product": product,
            "name": known[product].name if product in known else "",
            "count": counts.total(),
            "succeeded": counts[HistoryStatus.SUCCESSFUL],
            "failed": counts[HistoryStatus.FAILED],
            "amount_myr": number(amount),
        }
        for product, (counts, amount) in busiest
    ]
    attempts = [attempt for attempt in live.courier.sent.ended() if code in (None, attempt.reseller)]
    answer = {
        "started": render.moment(state.started),
        "transactions": sum(len(reseller.history) for reseller in resellers),
        "by_status": _by_status(products.values(), sum(reseller.history.processing for reseller in resellers)),
        "by_product": by_product,
        "callbacks": _job_counts(state.callback_counts, code),
        "webhooks": _job_counts(state.webhook_counts, code),
        "receivers": [receiver._asdict() | {"url": redact_urls(receiver.url)} for receiver in by_receiver(attempts)],
        "requests": _request_counts(live, code),
    }
    shown = resellers[:WALLETS_MAX]
    curves = {holder.code: await in_background(balance_curve, holder.wallet.entries) for holder in shown}
    wallets = await lines(shown, lambda one: _wallet_row(one, curves[one.code]))
    return reply(answer | {"wallets": wallets, "wallets_left_out": len(resellers) - len(shown)})


def balance_curve(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries to draw a balance with, oldest first: all while there are few, else the first, the lowest, the
    highest and the last of each span. It takes a while for many entries, and may run in a thread."""
    if len(entries) <= POINTS_MAX:
        return list(entries)
    length = -(-len(entries) // (POINTS_MAX // 4))
    points: dict[int, Entry] = {}
    balance = attrgetter("balance")
    for begin in range(0, len(entries), length):
        span = entries[begin : begin + length]
        for entry in (span[0], min(span, key=balance), max(span, key=balance), span[-1]):
            points[entry.id] = entry
    return [points[id_] for id_ in sorted(points)]


async def _product_figures(resellers: list[Reseller]) -> dict[str, ProductFigures]:
    found: dict[str, ProductFigures] = {}
    pairs = ((reseller, code) for reseller in resellers for code in reseller.history.products())
    while part := list(islice(pairs, SLICE)):
        for one, code in part:
            _, figures = one.history.find(HistoryQuery(*ALWAYS, product=code), 0, 0)
            counts, amount = found.get(code, (Counter(), ZERO))
            found[code] = counts + Counter(figures.counts), amount + figures.amount
        await asyncio.sleep(0)
    return found


def _by_status(products: Iterable[ProductFigures], processing: int) -> dict[str, int]:
    """Return the number of payments by their wire status."""
    counts: Counter[HistoryStatus] = sum((counts for counts, _ in products), Counter())
    by_status = {
        Status.ACCEPTED: max(0, counts[HistoryStatus.PENDING] - processing),
        Status.PROCESSING: processing,
        Status.SUCCESSFUL: counts[HistoryStatus.SUCCESSFUL],
        Status.FAILED: counts[HistoryStatus.FAILED],
        Status.REFUNDED: counts[HistoryStatus.REFUND],
    }
    return {STATUS_NAMES[status]: count for status, count in by_status.items()}


def _job_counts(counts: Mapping[str, JobCounts], code: str | None) -> dict[str, int]:
    found = [count for reseller, count in counts.items() if code in (None, reseller)]
    return {name: sum(getattr(one, name) for one in found) for name in ("delivered", "failed", "pending", "attempts")}


def _request_counts(live: LiveSandbox, code: str | None) -> dict[str, Any]:
    """Return the counts of all answered requests. For a single reseller only the journal is counted; `left_out` is the
    number of evicted requests."""
    kinds: Counter[tuple[int, bool]] = Counter()
    if code is None:
        for (_, _, status, error, _), count in live.counters.answers.items():
            kinds[status, bool(error)] += count
    else:
        kinds.update((exchange.status, bool(exchange.error)) for exchange in live.journal if exchange.reseller == code)
    by_status: Counter[str] = Counter()
    for (status, _), count in sorted(kinds.items()):
        by_status[str(status)] += count
    refused = sum(count for (status, has_error), count in kinds.items() if has_error or status >= REFUSED_FROM)
    left_out = 0 if code is None else live.journal.left_out
    return {"total": kinds.total(), "refused": refused, "by_status": dict(by_status), "left_out": left_out}


def _wallet_row(reseller: Reseller, curve: list[Entry]) -> dict[str, Any]:
    _, totals = reseller.wallet.find(*ALWAYS, frozenset(EntryType), 0, 0)
    credited = sum((each.amount for type_, each in totals.items() if type_ is not TRANSACTION), ZERO)
    return {
        "reseller": reseller.code,
        "created": render.moment(reseller.created),
        "opening": number(reseller.wallet.opening),
        "balance": number(reseller.wallet.balance),
        "credited": number(credited),
        "debited": number(-totals[TRANSACTION].amount),
        "points": [[render.moment(entry.at), number(entry.balance)] for entry in curve],
    }


async def show_expectations(request: Request, live: LiveSandbox) -> Response:
    """Return every expectation of the scenario with its current verdict."""
    refuse_other_parameters(request)
    return reply(expectations_shown(await in_slices(verdicts_in_slices(live))))


def expectations_shown(verdicts: list[Verdict]) -> dict[str, Any]:
    """Return verdicts in the form of the control API."""
    return {"ok": all(one.ok for one in verdicts), "expectations": [_expectation_row(verdict) for verdict in verdicts]}


def _expectation_row(verdict: Verdict) -> dict[str, Any]:
    expectation = verdict.expectation
    return {
        **render.members(expectation, "name", "kind"),
        "place": render.place(expectation.place),
        "expected": _expected(expectation),
        **render.members(verdict, "actual", "ok", "message", "nearest", "pending"),
    }


def _expected(expectation: Expectation) -> Any:
    if expectation.amount is not None:
        return number(expectation.amount)
    bounds: dict[str, Any] = {"min": expectation.count.low, "max": expectation.count.high}
    if expectation.per:
        bounds["per"] = expectation.per
    if expectation.apart is not None:
        bounds["apart"] = expectation.apart.total_seconds()
    return bounds


async def show_audit(request: Request, live: LiveSandbox) -> Response:
    """Return every obligation, judged from the journal and the delivery logs."""
    refuse_other_parameters(request)
    with place(0):
        [log] = await in_slices(log_in_slices(live))
        obligations = await in_background(judge, live, log)
    # A refused request may have the credentials of another sandbox.
    owners = {exchange.owner for exchange in log.exchanges if exchange.owner}
    mask = sandboxes_of(request).mask_of(live, *owners)
    return reply(as_json(obligations, left_out=log.left_out, redact=mask.text))


def judge(live: LiveSandbox, log: TrafficLog) -> list[Obligation]:
    """Return the audit of a sandbox's log, which includes its own rate limit."""
    limits = live.scenario.limits
    count, interval = limits.requests_per_interval, limits.rate_limit_interval
    rate = None if count is None else Rate(count, interval)
    return audited(Traffic(log.calls(), log.notifications(), until=log.now, rate=rate))


def audit_of(live: LiveSandbox) -> dict[str, Any]:
    """Return the audit of a sandbox that no longer changes; its secrets are not hidden yet."""
    log = log_of(live)
    return as_json(judge(live, log), left_out=log.left_out)


NOT_AWAITED = frozenset({"405", "500"})
"""Statuses that no test has to meet at an endpoint: the answer to other methods, and the answer to an internal
error."""


async def show_coverage(request: Request, live: LiveSandbox) -> Response:
    """Return the coverage of a sandbox since its start or last reset."""
    refuse_other_parameters(request)
    return reply(coverage_shown(live.coverage()))


def coverage_shown(coverage: Coverage) -> dict[str, Any]:
    """Return coverage in the form of the control API."""
    parts = {
        "rules": [
            render.members(key, "scenario", "section", "id", "name") | render.members(count, "matched", "chosen")
            for key, count in coverage.rules.items()
        ],
        "magic": [
            {"digits": digits, "outcome": row.text, "met": row.met, "chosen": dict(row.chosen)}
            for digits, row in coverage.magic.items()
        ],
        "endpoints": list(_endpoint_rows(coverage.answers)),
        "outcomes": [
            {"id": str(row.id), "group": row.group, "text": row.text, "met": count > 0, "count": count}
            for row in OUTCOMES
            for count in [coverage.outcomes[row.id]]
        ],
    }
    summary = {
        "rules": _share(rule["chosen"] for rule in parts["rules"]),
        "magic": _share(part["met"] for part in parts["magic"]),
        "endpoints": _share(part["calls"] for part in parts["endpoints"] if "*" not in (part["method"], part["path"])),
        "outcomes": _share(part["met"] for part in parts["outcomes"]),
    }
    return {"summary": summary, **parts}


def _share(met: Iterator[int]) -> dict[str, int]:
    counts = list(met)
    return {"met": sum(1 for count in counts if count), "total": len(counts)}


def _endpoint_rows(answers: Counter[AnswerKind]) -> Iterator[dict[str, Any]]:
    """Yield the endpoints, first the contract's, each with its documented statuses that were not met."""
    by_endpoint: dict[tuple[str, str], list[tuple[AnswerKind, int]]] = {}
    for answered, count in sorted(answers.items()):
        by_endpoint.setdefault((answered.method, answered.path), []).append((answered, count))
    documented = {
        (method.upper(), path): [status for status in operation["responses"] if status not in NOT_AWAITED]
        for path, item in load(OPENAPI)["paths"].items()
        for method, operation in item.items()
        if "responses" in operation
    }
    for method, path in (*documented, *(found for found in by_endpoint if found not in documented)):
        sorts = by_endpoint.get((method, path), [])
        listed_answers = [
            {"status": 0 if answered.ending == "abort" else answered.status, "error": str(answered.error)}
            | {"ending": answered.ending, "count": count}
            for answered, count in sorts
        ]
        met = {str(answer["status"]) for answer in listed_answers}
        yield {
            "method": method,
            "path": path,
            "calls": sum(count for _, count in sorts),
            "answers": listed_answers,
            "never": [status for status in documented.get((method, path), ()) if status not in met],
        }
