"""A sandbox's counters: each kind of answer, and what its scenario expects of calls, payments and deliveries."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from simulator.domain.model.expectations import Expectation, ExpectationKind, continued
from simulator.domain.model.rules import Fields
from simulator.domain.sandbox import Sandbox
from simulator.domain.state import State
from simulator.runtime import facts
from simulator.runtime.evictions import EvictedRecords
from simulator.runtime.journal import Exchange, Journal
from simulator.runtime.operations import BOUNDS_US, Served
from simulator.runtime.value_counts import SHOWN_MAX, ExpectationBudget, KeptCounts, Request, ValueCounts

# Method, path as the contract writes it, status, error, ending of the connection; the domain's `AnswerKind`.
AnswerKey = tuple[str, str, int, str, str]


class KeptCounters(NamedTuple):
    """The contents of `Counters` without the values: its attributes of the same names, the number of values in use, and
    `EvictedRecords.kept`."""

    answers: Mapping[AnswerKey, int]
    calls: Mapping[int, int]
    first: Mapping[int, list[int]]
    notes: Mapping[int, str]
    taken: int
    evicted: Mapping[ExpectationKind, tuple[Any, ...]]


class Counters:
    """Counters that are updated when the journal is written and when logs evict. `answers` counts by kind, `calls` by
    the index of the expectation in `expected`; `first` has the first requests, `values` the counts of expectations that
    distinguish calls by a value, and `notes` what a count misses. `served` counts for the whole server. When `calls` is
    empty, no request needs to be tested. `needs_bodies` is set when calls are distinguished by a value in their body.
    """

    def __init__(self, expected: Iterable[Expectation] = (), state: State | None = None) -> None:
        self.answers: dict[AnswerKey, int] = {}
        self.served = Served()
        self.calls: dict[int, int] = {}
        self.values: dict[int, ValueCounts] = {}
        self.notes: dict[int, str] = {}
        self.first: dict[int, list[int]] = {}
        self._budget = ExpectationBudget()
        self.expected: tuple[Expectation, ...] = ()
        self._state = state
        self.evicted = {
            ExpectationKind.CALLBACKS: EvictedRecords(lambda one: facts.of_callback(one, one.state)),
            ExpectationKind.WEBHOOKS: EvictedRecords(lambda one: facts.of_webhook(one, one.state)),
        }
        self.paid = PaymentCounts(state)
        self.follow(expected)

    def follow(self, expected: Iterable[Expectation], journal: Journal | None = None) -> None:
        """Count for these expectations from now on. Unchanged expectations keep their counts; a new expectation begins
        with the contents of the journal and the logs."""
        old, calls, values, notes = self._of(ExpectationKind.CALLS), self.calls, self.values, self.notes
        first = self.first
        self.expected = tuple(expected)
        self.calls, self.values, self.notes, self.first = {}, {}, {}, {}
        self.needs_bodies = any(one.per in facts.SENT for one in self.expected)
        self._tests = [
            (place, one.test) for place, one in enumerate(self.expected) if one.kind is ExpectationKind.CALLS
        ]
        new = self._of(ExpectationKind.CALLS)
        goes_on = continued(old, new)
        self._budget.taken = sum(values[before].size for before in goes_on.values() if before in values)
        for place, one in new.items():
            before = goes_on.get(place)
            if before is not None:
                self.calls[place], self.first[place] = calls[before], first[before]
                self.notes |= {place: notes[before]} if before in notes else {}
                if before in values:
                    self.values[place] = values[before]
                    values[before].expectation = one  # whose place in the file may be another
            else:
                self._begin(place, one, journal)
        self.paid.follow(self._of(ExpectationKind.PAYMENTS))
        if self._state is not None:
            for kind, log in ((ExpectationKind.CALLBACKS, self._state.callbacks),
                              (ExpectationKind.WEBHOOKS, self._state.deliveries)):  # fmt: skip
                self.evicted[kind].follow(self._of(kind), log.left_out)

    def watch(self, core: Sandbox) -> None:
        """Listen to the sandbox for evicted records and for payments, which take long to scan."""
        callbacks, deliveries = (one.add if one.is_needed else None for one in self.evicted.values())
        core.watch_evicted(callbacks, deliveries, self.paid.note if self.paid.is_needed else None)

    @property
    def values_taken(self) -> int:
        """Return the number of distinct values that the expectations use together."""
        return self._budget.taken

    def restore(self, kept: "KeptCounters", values: Mapping[int, KeptCounts]) -> None:
        """Restore the counts of these expectations from a snapshot."""
        self.answers, self.calls, self.first = dict(kept.answers), dict(kept.calls), dict(kept.first)
        self.notes, self._budget.taken = dict(kept.notes), kept.taken
        self.paid.forget()
        for place, one in values.items():
            self.values[place].restore(one)
        for kind, pieces in kept.evicted.items():
            self.evicted[kind].restore(self._of(kind), *pieces)

    def _of(self, kind: ExpectationKind) -> dict[int, Expectation]:
        return {place: one for place, one in enumerate(self.expected) if one.kind is kind}

    def _begin(self, place: int, one: Expectation, journal: Journal | None) -> None:
        """Begin to count the calls of an expectation, starting with the contents of the journal."""
        self.calls[place], self.first[place] = 0, []
        if one.has_values:
            self.values[place] = ValueCounts(one, self._budget)
        for exchange in journal or ():
            self._note(place, one.test, facts.of_call(exchange), exchange)
        if journal is not None and journal.left_out:
            first = journal.last_n - len(journal) + 1
            self.notes[place] = f"counted from request {first} on, since it was added while the sandbox ran"

    @property
    def has_reached_endpoint(self) -> bool:
        """Return whether any request reached an endpoint of the contract in an existing sandbox."""
        return any("*" not in key[:2] and key[3] != "unknown_sandbox" for key in self.answers)

    def count(self, exchange: Exchange, ending: str, documented: Callable[[str, str], tuple[str, str]]) -> None:
        """Count one answer. `documented` finds the method and path of the contract; unknown ones share one key, so that
        clients cannot grow the table."""
        answers = self.answers
        key = (exchange.method, exchange.path, exchange.status, exchange.error, ending)
        count = answers.get(key)
        if count is None:  # only new keys need normalizing to the names of the contract
            key = (*documented(exchange.method, exchange.path), *key[2:])
            count = answers.get(key, 0)
        answers[key] = count + 1
        durations = self.served.answers.get(key) or self.served.begin(key)
        durations[bisect_left(BOUNDS_US, exchange.duration_us)] += 1
        durations[-1] += exchange.duration_us
        if self.calls:
            self.note_call(facts.of_call(exchange), exchange)

    def note_call(self, about: Fields, exchange: Exchange | None = None) -> None:
        """Count a call for each expectation that it matches."""
        for place, test in self._tests:
            self._note(place, test, about, exchange)

    def _note(self, place: int, test: Callable[[Fields], bool], about: Fields, exchange: Exchange | None) -> None:
        if not test(about):
            return
        self.calls[place] += 1
        if exchange is None:
            return
        if len(first := self.first[place]) < SHOWN_MAX:
            first.append(exchange.n)
        if (values := self.values.get(place)) is not None:
            per = self.expected[place].per
            if per in facts.SENT and facts.is_unseen(exchange):
                values.add_unseen()
                return
            values.add(facts.sent_value(exchange, per), Request(exchange.at, exchange.n), self._sender(exchange, per))

    def _sender(self, exchange: Exchange, per: str) -> str:
        """Return the sender of a value: the API key for a refid, even of a refused request; "" for other values."""
        if per != "refid" or exchange.reseller or self._state is None:
            return exchange.reseller if per == "refid" else ""
        owner = self._state.keys.get(facts.api_key(exchange).decode("latin-1"))
        return owner[0].code if owner else ""


LAG_MAX = 256
"""The number of changes that may wait until they are counted."""


class Scanned(NamedTuple):
    """The start of a scan of all payments: the counts at that time, and the expectations that they belong to."""

    counts: Mapping[int, int]
    expected: Mapping[int, Expectation]


class PaymentCounts:
    """Counts of payments by the index of an expectation. They are complete once `is_known`: from the beginning of a
    sandbox, or after a scan of the payments that existed when the expectations were set."""

    def __init__(self, state: State | None) -> None:
        self._state = state
        self._expected: Mapping[int, Expectation] = {}
        self._counts: dict[int, int] = {}
        self._changes: list[tuple[int, int]] = []  # the numbers of payments, and the places of their new results
        self.is_known = True

    def follow(self, expected: Mapping[int, Expectation]) -> None:
        """Count for these expectations from now on."""
        self._expected, self._counts = expected, dict.fromkeys(expected, 0)
        self._changes.clear()
        self.is_known = self._state is None or not self._state.transactions

    def forget(self) -> None:
        """Discard the counts, since the payments have been replaced."""
        self.follow(self._expected)
        self.is_known = False

    @property
    def is_needed(self) -> bool:
        """Return whether an expectation is about payments."""
        return bool(self._expected)

    def note(self, number: int, place: int) -> None:
        """Record that the payment with this number got its result at this place."""
        self._changes.append((number, place))
        if len(self._changes) > LAG_MAX:
            latest = self._changes.pop()  # it is still being made
            self._catch_up()
            self._changes.append(latest)

    def counts(self) -> Mapping[int, int]:
        """Return the current counts; before `is_known`, only the payments since the expectations were set."""
        self._catch_up()
        return dict(self._counts)

    def begin(self) -> Scanned:
        """Begin to scan all payments as they are now."""
        return Scanned(self.counts(), self._expected)

    def end(self, scan: Scanned, found: Mapping[int, int]) -> None:
        """Add the result of a scan, unless the expectations changed or another scan ended meanwhile."""
        if self.is_known or scan.expected is not self._expected:
            return
        now = self.counts()
        self._counts = {place: found[place] + now[place] - scan.counts[place] for place in now}
        self.is_known = True

    def _catch_up(self) -> None:
        """Count the pending changes: a result of a payment replaces the match of its previous result."""
        if not self._changes:
            return
        assert self._state is not None, "changes come from a sandbox"
        tests: list[tuple[int, Callable[[Fields], bool]]] = [(place, one.test) for place, one in self._expected.items()]
        for number, place in self._changes:
            payment = self._state.transactions.by_number[number]
            results = payment.results
            after = facts.of_payment(payment, results[: place + 1])
            before = facts.of_payment(payment, results[:place]) if place else None
            for at, test in tests:
                self._counts[at] += test(after) - (before is not None and test(before))
        self._changes.clear()
