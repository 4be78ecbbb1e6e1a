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
    """What `Counters` keeps, but for the values: its attributes of the same names, the places that the values have
    taken, and what `EvictedRecords.kept` gives."""

    answers: Mapping[AnswerKey, int]
    calls: Mapping[int, int]
    first: Mapping[int, list[int]]
    notes: Mapping[int, str]
    taken: int
    evicted: Mapping[ExpectationKind, tuple[Any, ...]]


class Counters:
    """Counters updated where the journal is written and where logs evict: `answers` by kind, `calls` by the index of
    their expectation in `expected`, with the `first` requests, `values` of those that tell calls apart, and `notes` on
    what a count misses; `served` is where a whole server counts. When `calls` is empty no request needs to be tested;
    `needs_bodies` when calls are told apart by what is in them."""

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
        """Count for these expectations from now on. Counts of an unchanged statement continue; a new one begins with
        what the journal and the logs still have."""
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
        """Let this sandbox tell what is expected and would be forgotten, or takes long to be looked for."""
        callbacks, deliveries = (one.add if one.is_needed else None for one in self.evicted.values())
        core.watch_evicted(callbacks, deliveries, self.paid.note if self.paid.is_needed else None)

    @property
    def values_taken(self) -> int:
        """How many values the expectations have together."""
        return self._budget.taken

    def restore(self, kept: "KeptCounters", values: Mapping[int, KeptCounts]) -> None:
        """Go on with what was kept of these expectations."""
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
        """Begin to count the calls of an expectation, with those that are in the journal."""
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
        """True when a request was one to an endpoint of the contract, in a sandbox that exists."""
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
        """Whose value it is: a refid is one of a reseller, who names a key also in a refused request. "" otherwise."""
        if per != "refid" or exchange.reseller or self._state is None:
            return exchange.reseller if per == "refid" else ""
        owner = self._state.keys.get(facts.api_key(exchange).decode("latin-1"))
        return owner[0].code if owner else ""


LAG_MAX = 256
"""How many changes wait until they are counted: few are looked at one by one while they happen."""


class Scanned(NamedTuple):
    """The beginning of a scan of all payments: the counts then, and of which expectations they are."""

    counts: Mapping[int, int]
    expected: Mapping[int, Expectation]


class PaymentCounts:
    """Counts by the index of an expectation, once it `is_known` how many payments matched before: from the beginning of
    a sandbox, or after a scan of those that were there when the expectations came."""

    def __init__(self, state: State | None) -> None:
        self._state = state
        self._expected: Mapping[int, Expectation] = {}
        self._counts: dict[int, int] = {}
        self._changes: list[tuple[int, int]] = []  # the numbers of payments, and the places of their new results
        self.is_known = True

    def follow(self, expected: Mapping[int, Expectation]) -> None:
        """Count for these from now on."""
        self._expected, self._counts = expected, dict.fromkeys(expected, 0)
        self._changes.clear()
        self.is_known = self._state is None or not self._state.transactions

    def forget(self) -> None:
        """The payments are others than those that were counted."""
        self.follow(self._expected)
        self.is_known = False

    @property
    def is_needed(self) -> bool:
        """True when an expectation is about payments."""
        return bool(self._expected)

    def note(self, number: int, place: int) -> None:
        """The payment with this number got its result at this place."""
        self._changes.append((number, place))
        if len(self._changes) > LAG_MAX:
            latest = self._changes.pop()  # it is still being made
            self._catch_up()
            self._changes.append(latest)

    def counts(self) -> Mapping[int, int]:
        """The counts as of now; while they are not known, what has been added since."""
        self._catch_up()
        return dict(self._counts)

    def begin(self) -> Scanned:
        """Begin to scan all payments as they are now."""
        return Scanned(self.counts(), self._expected)

    def end(self, scan: Scanned, found: Mapping[int, int]) -> None:
        """A scan has found so many, unless other expectations came or another scan has ended meanwhile."""
        if self.is_known or scan.expected is not self._expected:
            return
        now = self.counts()
        self._counts = {place: found[place] + now[place] - scan.counts[place] for place in now}
        self.is_known = True

    def _catch_up(self) -> None:
        """Count what has changed: each result ends that a payment matches with the one before."""
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
