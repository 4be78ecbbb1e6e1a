"""How many payments match each expectation: counted as their statuses change, however many there are."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from simulator.domain.model.expectations import Expectation
from simulator.domain.model.rules import Fields
from simulator.domain.state import State
from simulator.runtime import facts

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
