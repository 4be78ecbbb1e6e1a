"""Hints for an expectation that is not met: the nearest records, and the events that are still to come."""

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from simulator.domain.agenda import AgendaItem, CaseDue, StepDue
from simulator.domain.commands import ChangeProduct, ChangeTree, Credit
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.expectations import Expectation, ExpectationKind
from simulator.domain.model.rules import Fields
from simulator.domain.model.schedule import ScheduledChange
from simulator.domain.model.transactions import Transaction
from simulator.domain.model.webhooks import BALANCE_ADDED, Delivery
from simulator.domain.state import State
from simulator.runtime.counters import of_callback, of_payment, of_webhook
from simulator.runtime.value_counts import SHOWN_MAX
from simulator.short_text import QUOTED_CHARS_MAX, one_line
from simulator.wire.payment_answers import STATUS_NAMES

_ONE_OF = {
    ExpectationKind.CALLS: "call",
    ExpectationKind.PAYMENTS: "payment",
    ExpectationKind.CALLBACKS: "callback",
    ExpectationKind.WEBHOOKS: "webhook",
}
_SHOWN = ("request", "method", "path", "product", "account", "refid", "type", "status", "state", "error")

Missed = tuple[tuple[str, str], ...]


class NearMisses:
    """Records grouped by the conditions that they miss, and by their actual values. With `too_many` the matching
    records are shown: they are the reason why the count is exceeded."""

    def __init__(self, expected: Expectation, *, too_many: bool) -> None:
        self._expected = expected
        self._too_many = too_many
        self._matching: list[Fields] = []
        self._groups: Counter[Missed] = Counter()
        self._fewest = len(expected.parts)

    def add(self, records: Iterable[Fields]) -> None:
        """Add some records, given by their facts, which came just before the records added so far."""
        parts = self._expected.parts
        if self._too_many:
            matching = [about for about in records if all(test(about) for test in parts.values())]
            self._matching = [*matching, *self._matching][-SHOWN_MAX:]
            return
        for about in records:
            missed = [name for name, test in parts.items() if not test(about)]
            if missed and len(missed) <= self._fewest:
                if len(missed) < self._fewest:
                    self._fewest, self._groups = len(missed), Counter()
                self._groups[tuple((name, _value(about, name)) for name in missed)] += 1

    def lines(self) -> tuple[str, ...]:
        """Return a line for each of the largest groups, or for each of the latest matching records. A record that
        misses all of several conditions is not near."""
        if self._too_many:
            return tuple(map(self._described, self._matching))
        if self._fewest == len(self._expected.parts) > 1:
            return ()
        return tuple(self._group(missed, count) for missed, count in self._groups.most_common(SHOWN_MAX))

    def _group(self, missed: Missed, count: int) -> str:
        noun = _ONE_OF[self._expected.kind] + "s" * (count != 1)
        return f"{count} {noun} with " + " and ".join(f"{name} {value}" for name, value in missed)

    def _described(self, about: Fields) -> str:
        words = [f"{name} {_value(about, name)}" for name in _SHOWN if about.get(name) not in (None, "")]
        return f"{_ONE_OF[self._expected.kind]} with {', '.join(words)}"


def of_rule(state: State, expected: Expectation) -> tuple[str, ...]:
    """Return how often the conditions of a rule matched."""
    if expected.kind is not ExpectationKind.RULE:
        return ()
    counts = [
        count
        for book in state.books.values()
        for rule, count in book.counted_rules()
        if expected.label in (rule.id, rule.name)
    ]
    return tuple(f"its conditions matched {one.matched} times, and it was chosen {one.chosen} times" for one in counts)


def _value(about: Mapping[str, object], name: str) -> str:
    text = str(about.get(name, ""))
    return one_line(text, QUOTED_CHARS_MAX) or "none"


# The facts of a record that never change, so that a condition on them decides now whether the record can matter.
_FIXED = frozenset({"reseller", "product", "account", "amount", "refid", "extras", "type"})


class ComingItem(NamedTuple):
    """Something that comes at a time; `order` orders items of equal times."""

    at: datetime
    order: int
    item: AgendaItem


def upcoming(state: State, expected: Expectation) -> tuple[str, ...]:
    """Return a line for each of the first items to come, and the number of the others. Calls and rules have no such
    items, since they depend on the clients."""
    if expected.kind in (ExpectationKind.CALLS, ExpectationKind.RULE):
        return ()
    sent = [line for send in state.in_flight.values() if (line := _in_flight(send.job, expected))]
    coming = [
        ComingItem(at, order, item) for at, order, item in state.agenda.waiting() if _matters(state, item, expected)
    ]
    lines = sent[:SHOWN_MAX]
    lines += [_line(state, one) for one in heapq.nsmallest(SHOWN_MAX - len(lines), coming)]
    more = len(sent) + len(coming) - len(lines)
    return (*lines, *([f"and {more} more"] if more else []))


def _matters(state: State, item: AgendaItem, expected: Expectation) -> bool:
    """Return whether an item can change what the expectation counts."""
    match item:
        case StepDue(number):
            if expected.kind is ExpectationKind.WEBHOOKS:
                return False
            return _is_of(state.transactions.by_number[number], expected)
        case CaseDue(case=case):
            return expected.kind is not ExpectationKind.WEBHOOKS and _is_of(case.transaction, expected)
        case Callback():
            return _callback_matters(item, expected)
        case Delivery():
            return _delivery_matters(item, expected)
        case ScheduledChange(commands=(Credit(reseller=reseller),)):
            return _deposit_matters(reseller, expected)
        case ScheduledChange(commands=(ChangeProduct() | ChangeTree(),)):
            return expected.kind is ExpectationKind.WEBHOOKS
    return False


def _deposit_matters(reseller: str, expected: Expectation) -> bool:
    """Return whether a deposit matters: it changes the balance of a single reseller, who gets the webhook about it."""
    match expected.kind:
        case ExpectationKind.BALANCE:
            return reseller == expected.label
        case ExpectationKind.WEBHOOKS:
            return _fits({"reseller": reseller, "type": BALANCE_ADDED}, expected)
    return expected.kind is ExpectationKind.OUTCOME


def _is_of(transaction: Transaction, expected: Expectation) -> bool:
    if expected.kind is ExpectationKind.BALANCE:
        return transaction.reseller == expected.label
    return _fits(of_payment(transaction, transaction.results), expected)


def _callback_matters(callback: Callback, expected: Expectation) -> bool:
    kinds = (ExpectationKind.CALLBACKS, ExpectationKind.OUTCOME)
    return expected.kind in kinds and _fits(of_callback(callback, callback.state), expected)


def _delivery_matters(delivery: Delivery, expected: Expectation) -> bool:
    kinds = (ExpectationKind.WEBHOOKS, ExpectationKind.OUTCOME)
    return expected.kind in kinds and _fits(of_webhook(delivery, delivery.state), expected)


def _fits(about: Fields, expected: Expectation) -> bool:
    return all(test(about) for name, test in expected.parts.items() if name in _FIXED)


def _in_flight(job: object, expected: Expectation) -> str:
    match job:
        case Callback() if _callback_matters(job, expected):
            return f"{_named(job)} is being sent"
        case Delivery() if _delivery_matters(job, expected):
            return f"{_named(job)} is being sent"
    return ""


def _named(job: Callback | Delivery) -> str:
    if isinstance(job, Callback):
        return f"callback {job.id} of {_short(job.transaction.refid)}"
    return f"webhook {job.event.type} {job.id}"


def _line(state: State, item: ComingItem) -> str:
    wait = f"{max((item.at - state.now).total_seconds(), 0):g} s"
    match item.item:
        case StepDue(number):
            transaction = state.transactions.by_number[number]
            status = STATUS_NAMES[transaction.result.status]
            return f"payment {_short(transaction.refid)} is {status}, next step in {wait}"
        case CaseDue(case=case):
            return f"payment {_short(case.transaction.refid)} waits for the answer to its {case.kind.value}, in {wait}"
        case Callback() | Delivery() as job:
            return f"{_named(job)} is sent in {wait}"
        case ScheduledChange(commands=(Credit(reseller=reseller),)):
            return f"a deposit for {reseller} comes in {wait}"
    return f"a scheduled change comes in {wait}"


def _short(text: str) -> str:
    return one_line(text, QUOTED_CHARS_MAX)
