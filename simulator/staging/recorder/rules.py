"""The rules of payments: what each product's had for outcomes, in which order, and what decided that."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, TypeVar

from simulator.domain.model.transactions import STATUS_CODES, Reason
from simulator.staging.importer.fitting import Probe
from simulator.staging.recorder.courses import (
    Course,
    courses_of,
    described,
    distorted_callbacks,
    timeline,
)
from simulator.staging.recorder.payments import Payments, SeenPayment, SeenRefusal
from simulator.staging.recorder.values import Notes, counted, plain_line, short

VALUES_MAX = 50  # accounts or amounts that are named
IN_ORDER_MAX = 40  # exceptions that are named by their place
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9+@._-]{0,59}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Observed:
    """One of them: whose it was, how much, and the place of its outcome among all outcomes."""

    account: str
    amount: str
    outcome: int


@dataclass(frozen=True, slots=True)
class Part:
    """A rule: conditions, counts beside them, outcomes with how often each was seen, and what it is for people."""

    outcomes: Mapping[int, int]
    when: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    said: str = ""


def rule_of(product: str, part: Part, does: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The rule of a part, which does one thing, or one of several by weight."""
    head = {"when": {"product": product, **part.when}, **part.counts}
    if len(does) == 1:
        return {**head, **does[0]}
    weights = part.outcomes.values()
    return {**head, "then": {"one_of": [{"weight": n, **one} for n, one in zip(weights, does, strict=True)]}}


def comment_of(part: Part, words: Iterable[str]) -> list[str]:
    """The comment above the rule of a part; one of many exceptions has none."""
    return [] if "nth" in part.counts else [part.said] * bool(part.said) + list(words)


def explain(observed: Sequence[Observed], *, names_accounts: bool, by_amount: bool = True) -> list[Part]:
    """The rules of one product, in order. `names_accounts` allows accounts in them."""
    counts = Counter(one.outcome for one in observed)
    usual = max(counts, key=lambda outcome: (counts[outcome], -_first(observed, outcome)))
    if len(counts) == 1:
        return [Part(counts)]
    for key, is_allowed, value_of in (
        ("account", names_accounts, _account),
        ("amount", by_amount, _amount),
    ):
        values = _by_value(observed, value_of, usual) if is_allowed else None
        if values is not None:
            return [*_named(key, values, observed, value_of), Part({usual: counts[usual]}, said="all others")]
    return _in_order(observed, usual, counts)


def _account(one: Observed) -> str:
    return one.account


def _amount(one: Observed) -> str:
    return one.amount


def _first(observed: Sequence[Observed], outcome: int) -> int:
    return next(place for place, one in enumerate(observed) if one.outcome == outcome)


def _by_value(observed: Sequence[Observed], value_of: Callable[[Observed], str], usual: int) -> dict[str, int] | None:
    """The outcome of each value that has another one than the usual; None when a value had several, when there are too
    many of them, or when one cannot be written."""
    outcome_of: dict[Hashable, int] = {}
    for one in observed:
        if outcome_of.setdefault(value_of(one), one.outcome) != one.outcome:
            return None
    found = {str(value): outcome for value, outcome in outcome_of.items() if outcome != usual}
    return found if len(found) <= VALUES_MAX and all(map(_PLAIN.fullmatch, found)) else None


def _named(
    key: str, values: Mapping[str, int], observed: Sequence[Observed], value_of: Callable[[Observed], str]
) -> list[Part]:
    parts = []
    for outcome in dict.fromkeys(values.values()):
        named = [value for value, of in values.items() if of == outcome]
        seen = sum(value_of(one) in named for one in observed)
        parts.append(Part({outcome: seen}, {key: named[0] if len(named) == 1 else named}))
    return parts


def _in_order(observed: Sequence[Observed], usual: int, counts: Counter[int]) -> list[Part]:
    drawn = Part(dict(sorted(counts.items())), said="drawn by weight")
    exceptions = [(place, one.outcome) for place, one in enumerate(observed, 1) if one.outcome != usual]
    if len(exceptions) > IN_ORDER_MAX:
        return [drawn]
    parts = [Part({outcome: 1}, counts={"nth": place}) for place, outcome in exceptions]
    return [*parts, Part({usual: counts[usual]}, counts={"times": counts[usual]}, said="the others, in order"), drawn]


REASONS = {one.value: one for one in Reason}
_Seen = TypeVar("_Seen", SeenPayment, SeenRefusal)
REMARKS_MAX = 300


@dataclass(slots=True)
class _Outcome:
    """What a rule may do; `then` is a timeline or a refusal, `words` are for people."""

    then: Any
    callbacks: Any
    words: str
    name: str = ""


@dataclass(slots=True)
class PaymentRules:
    """The sections that follow from payments, and what is said above them."""

    rules: list[dict[str, Any]] = field(default_factory=list)
    timelines: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def payment_rules(
    seen: Payments, products: AbstractSet[str], probe: Probe, notes: Notes, *, names_accounts: bool
) -> PaymentRules:
    """All rules of payments for these products, one after another."""
    made = PaymentRules()
    scripted = [one for one in seen.refusals if not _follows(one, probe)]
    followed = list(seen.followed.values())
    payments_of = _by_product(followed)
    refusals_of = _by_product(scripted)
    for product in sorted({*payments_of, *refusals_of} & products):
        payments, refusals = payments_of.get(product, []), refusals_of.get(product, [])
        of_product = _ProductRules(product, payments, refusals, tells=seen.callbacks > 0)
        rules = of_product.rules(names_accounts=names_accounts)
        made.timelines |= of_product.timelines
        made.rules += [notes.put(rule, lines) for rule, lines in rules]
    used = set(_timeline_names(made.rules))
    made.timelines = {name: one for name, one in made.timelines.items() if name in used}
    made.notes += _said(seen, len(seen.refusals) - len(scripted), _unpaid(seen, probe))
    return made


def _by_product(seen: Iterable[_Seen]) -> dict[str, list[_Seen]]:
    found: dict[str, list[_Seen]] = {}
    for one in seen:
        found.setdefault(one.product, []).append(one)
    return found


def _unpaid(seen: Payments, probe: Probe) -> int:
    """How many payments were created there and are refused here."""
    return sum(
        probe.refusal(one.product, one.account, one.amount, one.extras) is not None
        for one in seen.followed.values()
        if one.statuses
    )


def _follows(one: SeenRefusal, probe: Probe) -> bool:
    """True for a refusal that catalog or wallet cause without a rule, and for one that no rule would be asked about."""
    if probe.refusal(one.product, one.account, one.amount, one.extras) is not None:
        return True
    return _reason(one) is Reason.BALANCE and probe.is_too_dear(one.product, one.amount, one.balance)


def _reason(one: SeenRefusal) -> Reason:
    """The reason of a refusal by its remarks, else by its code; one that nobody knows is `Invalid_Request`."""
    found = REASONS.get(one.remarks)
    if found is not None:
        return found
    return next((reason for reason in Reason if STATUS_CODES[reason] == one.code), Reason.REQUEST)


def _refusal(one: SeenRefusal) -> dict[str, Any]:
    reason = _reason(one)
    shown: dict[str, Any] = {"refuse": reason.value}
    if one.code is not None and one.code != STATUS_CODES[reason]:
        shown["statusCode"] = one.code
    is_private = bool(one.account) and one.account in one.remarks
    if one.remarks and one.remarks != reason.value and not is_private:
        shown["remarks"] = plain_line(one.remarks)[:REMARKS_MAX]
    return shown


class _ProductRules:
    """The rules of one product with their comments, and the timelines that they name."""

    def __init__(self, product: str, payments: list[SeenPayment], refusals: list[SeenRefusal], *, tells: bool) -> None:
        self.timelines: dict[str, Any] = {}
        self._product = product
        self._outcomes: list[_Outcome] = []
        courses, place_of = courses_of(payments, tells=tells)
        places = {n: self._place(_course(course)) for n, course in enumerate(courses)}
        of: dict[int, tuple[SeenPayment | SeenRefusal, int]] = {
            one.number: (one, places[place_of[one.number]]) for one in payments if one.number in place_of
        }
        of |= {one.number: (one, self._place(_refused(one))) for one in refusals}
        self._observed = [
            Observed(one.account, short(str(one.amount)), place) for _, (one, place) in sorted(of.items())
        ]

    def _place(self, outcome: _Outcome) -> int:
        """The place of an outcome; those that do the same are one."""
        for place, one in enumerate(self._outcomes):
            if (one.then, one.callbacks) == (outcome.then, outcome.callbacks):
                return place
        self._outcomes.append(outcome)
        return len(self._outcomes) - 1

    def rules(self, *, names_accounts: bool) -> list[tuple[dict[str, Any], list[str]]]:
        """Each rule with its comment."""
        if not self._observed:
            return []
        parts = explain(self._observed, names_accounts=names_accounts)
        if any(part.counts or len(part.outcomes) > 1 for part in parts):
            self._name_timelines()
        return [
            (
                rule_of(self._product, part, [self._does(place) for place in part.outcomes]),
                comment_of(part, (self._outcomes[place].words for place in part.outcomes)),
            )
            for part in parts
        ]

    def _name_timelines(self) -> None:
        for place, one in enumerate(self._outcomes, 1):
            if isinstance(one.then, list):
                one.name = f"{self._product} {place}"
                self.timelines[one.name] = one.then

    def _does(self, place: int) -> dict[str, Any]:
        one = self._outcomes[place]
        does = {"then": one.name or one.then}
        return does if one.callbacks is None else {**does, "callbacks": one.callbacks}


def _course(course: Course) -> _Outcome:
    return _Outcome(timeline(course), distorted_callbacks(course), described(course))


def _refused(one: SeenRefusal) -> _Outcome:
    shown = _refusal(one)
    return _Outcome(shown, None, f"refused with {plain_line(one.remarks) or one.code}")


def _timeline_names(rules: Iterable[dict[str, Any]]) -> Iterator[str]:
    for rule in rules:
        then = rule["then"]
        variants = then["one_of"] if isinstance(then, dict) and "one_of" in then else [rule]
        yield from (one["then"] for one in variants if isinstance(one["then"], str))


def _said(seen: Payments, by_itself: int, unpaid: int) -> Iterator[str]:
    if by_itself:
        yield f"{counted(by_itself, 'refusal')} of a payment: catalog or wallet say so, which needs no rule"
    if unpaid:
        lack = "refused here, since something of the catalog was not seen"
        yield f"{counted(unpaid, 'payment')} that the service took: {lack}"
    if seen.older:
        yield f"{counted(seen.older, 'request')} about payments from before the record: left out"
    if lost := sum(not one.statuses for one in seen.followed.values()):
        yield f"{counted(lost, 'payment')} without an answer: nobody asked again"
