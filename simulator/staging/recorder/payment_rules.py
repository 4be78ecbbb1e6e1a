"""The rules of payments: the outcomes of each product, their order, and the account or amount that decides."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from operator import attrgetter
from statistics import median
from typing import Any

from simulator.domain.model.transactions import STATUS_CODES, Reason, Status
from simulator.staging.bodies import short
from simulator.staging.importer.fitting import Probe
from simulator.staging.recorder.courses import courses_of, described, spread, time_of, timeline
from simulator.staging.recorder.payment_record import RecordedPayments, SeenPayment, SeenRefusal
from simulator.staging.recorder.traffic_values import Notes, count_phrase, format_duration, plain_line

IN_ORDER_MAX = 40  # exceptions that an account, an amount or `nth` selects
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9+@._-]{0,59}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ObservedRequest:
    """An observed request: account, amount, and the index of its outcome among all outcomes."""

    account: str
    amount: str
    outcome: int


@dataclass(frozen=True, slots=True)
class Part:
    """A rule: conditions, counts beside them, outcomes with how often each occurred, and its description."""

    outcomes: Mapping[int, int]
    when: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    said: str = ""


@dataclass(slots=True)
class Outcome:
    """An outcome of a rule, and its description."""

    then: Any
    words: str


def rules_of(
    product: str, parts: Iterable[Part], outcomes: Sequence[Outcome], notes: Notes
) -> Iterator[dict[str, Any]]:
    """Yield the rule of each part, with a single outcome, or several by weight. Comments describe the outcomes, except
    of an `nth` exception."""
    for part in parts:
        drawn = [{"weight": n, "then": outcomes[place].then} for place, n in part.outcomes.items()]
        then = drawn[0]["then"] if len(drawn) == 1 else {"one_of": drawn}
        rule = {"when": {"product": product, **part.when}, **part.counts, "then": then}
        said = [part.said] * bool(part.said) + [outcomes[place].words for place in part.outcomes]
        notes[id(rule)] = [] if "nth" in part.counts else said
        yield rule


def explain(observed: Sequence[ObservedRequest], *, names_accounts: bool) -> list[Part]:
    """Return the rules of a product, in order. `names_accounts` allows accounts in them."""
    counts = Counter(request.outcome for request in observed)
    usual = max(counts, key=lambda outcome: counts[outcome])  # the first of several
    if len(counts) == 1:
        return [Part(counts)]
    for key, is_allowed in (("account", names_accounts), ("amount", True)):
        value_of = attrgetter(key)
        values = _by_value(observed, value_of, usual) if is_allowed else None
        if values is not None:
            return [*_named(key, values, observed, value_of), Part({usual: counts[usual]}, said="all others")]
    return _in_order(observed, usual, counts)


def _by_value(
    observed: Sequence[ObservedRequest], value_of: Callable[[ObservedRequest], str], usual: int
) -> dict[str, int] | None:
    """Return the outcome of each value that does not have the usual outcome. Return None if a value had several
    outcomes or cannot be written, or there are too many values."""
    outcome_of: dict[str, int] = {}
    for request in observed:
        if outcome_of.setdefault(value_of(request), request.outcome) != request.outcome:
            return None
    found = {value: outcome for value, outcome in outcome_of.items() if outcome != usual}
    return found if len(found) <= IN_ORDER_MAX and all(map(_PLAIN.fullmatch, found)) else None


def _named(
    key: str, values: Mapping[str, int], observed: Sequence[ObservedRequest], value_of: Callable[[ObservedRequest], str]
) -> list[Part]:
    parts = []
    for outcome in dict.fromkeys(values.values()):
        named = [value for value, of in values.items() if of == outcome]
        seen = sum(value_of(request) in named for request in observed)
        parts.append(Part({outcome: seen}, {key: named[0] if len(named) == 1 else named}))
    return parts


def _in_order(observed: Sequence[ObservedRequest], usual: int, counts: Counter[int]) -> list[Part]:
    drawn = Part(dict(sorted(counts.items())), said="drawn by weight")
    exceptions = [(place, request.outcome) for place, request in enumerate(observed, 1) if request.outcome != usual]
    if len(exceptions) > IN_ORDER_MAX:
        return [drawn]
    parts = [Part({outcome: 1}, counts={"nth": place}) for place, outcome in exceptions]
    return [*parts, Part({usual: counts[usual]}, counts={"times": counts[usual]}, said="the others, in order"), drawn]


def payment_rules(
    record: RecordedPayments, products: AbstractSet[str], probe: Probe, notes: Notes, *, names_accounts: bool
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return all rules of payments for these products in order, and the comments for the head of the file."""
    scripted = [refusal for refusal in record.refusals if not _follows(refusal, probe)]
    by_product: dict[str, list[SeenPayment]] = {}
    for payment in (*record.followed.values(), *scripted):
        by_product.setdefault(payment.product, []).append(payment)
    rules: list[dict[str, Any]] = []
    for product in sorted(by_product.keys() & products):
        outcomes: list[Outcome] = []
        observed = _observed(by_product[product], outcomes)
        parts = explain(observed, names_accounts=names_accounts) if observed else []
        rules += rules_of(product, parts, outcomes, notes)
    return rules, list(_exclusions(record, len(record.refusals) - len(scripted), _unpaid(record, probe)))


def _observed(requests: list[SeenPayment], outcomes: list[Outcome]) -> list[ObservedRequest]:
    """Return the payments and refusals of a product in order, each with the index of its outcome in `outcomes`. New
    outcomes are appended."""
    courses, course_of = courses_of(requests)
    places = [_place(Outcome(timeline(course), described(course)), outcomes) for course in courses]
    found = {number: places[course] for number, course in course_of.items()}
    for request in requests:
        if request.refusal is not None:
            words = f"refused with {plain_line(request.refusal.remarks) or request.refusal.code}"
            found[request.number] = _place(Outcome(_refusal(request, request.refusal), words), outcomes)
    ordered = sorted(requests, key=lambda request: request.number)
    return [
        ObservedRequest(request.account, short(str(request.amount)), found[request.number])
        for request in ordered
        if request.number in found
    ]


def _place(outcome: Outcome, outcomes: list[Outcome]) -> int:
    """Return the index of an outcome; equal outcomes share an index."""
    found = next((place for place, known in enumerate(outcomes) if known.then == outcome.then), len(outcomes))
    outcomes += [outcome] * (found == len(outcomes))
    return found


def _unpaid(record: RecordedPayments, probe: Probe) -> int:
    """Return how many payments the service created and this simulator refuses."""
    return sum(
        probe.refusal(payment.product, payment.account, payment.amount, payment.extras) is not None
        for payment in record.followed.values()
        if payment.statuses
    )


def _follows(payment: SeenPayment, probe: Probe) -> bool:
    """Return True for a refusal that needs no rule, since catalog, form or wallet cause it."""
    assert payment.refusal is not None
    if probe.refusal(payment.product, payment.account, payment.amount, payment.extras) is not None:
        return True
    is_dear = probe.is_too_dear(payment.product, payment.amount, payment.refusal.balance)
    return is_dear and reason_of(payment.refusal) is Reason.BALANCE


def reason_of(refusal: SeenRefusal) -> Reason:
    """Return the reason of a refusal by its remarks, else by its code; `Invalid_Request` if both are unknown."""
    named = [reason for reason in Reason if reason.value == refusal.remarks]
    coded = (reason for reason in Reason if STATUS_CODES[reason] == refusal.code)
    return named[0] if named else next(coded, Reason.REQUEST)


def _refusal(payment: SeenPayment, refusal: SeenRefusal) -> dict[str, Any]:
    reason = reason_of(refusal)
    shown: dict[str, Any] = {"refuse": reason.value}
    if refusal.code is not None and refusal.code != STATUS_CODES[reason]:
        shown["statusCode"] = refusal.code
    is_private = bool(payment.account) and payment.account in refusal.remarks
    if refusal.remarks and refusal.remarks != reason.value and not is_private:
        shown["remarks"] = plain_line(refusal.remarks)
    return shown


def void_rules(record: RecordedPayments, products: AbstractSet[str], notes: Notes) -> Iterator[dict[str, Any]]:
    """Yield a rule for each of these products whose voided payments were refunded: after the median of the times."""
    for product in sorted(record.voidable & products):
        voided = [
            payment
            for payment in record.followed.values()
            if payment.product == product and payment.voided_s is not None
        ]
        times = [
            max(0.0, time_of(status)[0] - (payment.voided_s or 0.0))
            for payment in voided
            for status in payment.statuses
            if status.status is Status.REFUNDED
        ]
        if times:
            then = {"status": "Success", "refund_after": format_duration(median(times))}
            rule = {"when": {"product": product}, "then": then}
            notes[id(rule)] = [f"{count_phrase(len(times), 'void')}: refunded after {spread(times)}"]
            yield rule


def _exclusions(record: RecordedPayments, by_itself: int, unpaid: int) -> Iterator[str]:
    if by_itself:
        yield f"{count_phrase(by_itself, 'refusal')} of a payment: catalog or wallet say so, which needs no rule"
    if unpaid:
        lack = "refused here, since something of the catalog was not seen"
        yield f"{count_phrase(unpaid, 'payment')} that the service took: {lack}"
    if record.older:
        yield f"{count_phrase(record.older, 'request')} about payments from before the record: left out"
    if lost := sum(not payment.statuses for payment in record.followed.values()):
        yield f"{count_phrase(lost, 'payment')} without an answer or a later query"
