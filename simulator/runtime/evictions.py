"""Counts of the callbacks or webhooks that a log has evicted, for expectations about them."""

from collections.abc import Callable, Mapping
from typing import Any

from simulator.domain.model.expectations import Expectation, continued
from simulator.domain.model.rules import Fields

PENDING = "pending"
SWEEP_MIN = 1_000


class EvictedRecords:
    """Counts evicted records for each expectation that they match. A pending record is kept until its state is final,
    as it is in the agenda anyway; so the count follows its state."""

    def __init__(self, facts: Callable[[Any], Fields]) -> None:
        self._facts = facts
        self._expected: Mapping[int, Expectation] = {}
        self._counts: dict[int, int] = {}
        self._missed: dict[int, int] = {}
        self._pending: list[Any] = []
        self._sweep_at = SWEEP_MIN

    @property
    def is_needed(self) -> bool:
        """Return whether an expectation needs the evicted records."""
        return bool(self._expected)

    def follow(self, expected: Mapping[int, Expectation], left_out: int) -> None:
        """Count for these expectations from now on; `left_out` is the number of records evicted so far. Unchanged
        expectations keep their counts."""
        old, counts, missed = self._expected, self._counts, self._missed
        self._settle()
        self._expected = expected
        self._counts, self._missed = {}, {}
        before = continued(old, expected)
        for place in expected:
            self._counts[place] = counts[before[place]] if place in before else 0
            self._missed[place] = missed[before[place]] if place in before else left_out - len(self._pending)

    def kept(self) -> "tuple[dict[int, int], dict[int, int], list[Any], int]":
        """Return the contents for a snapshot: counts and missed records by the place of their expectation, the pending
        records, and when they are swept next."""
        return self._counts, self._missed, self._pending, self._sweep_at

    def restore(
        self,
        expected: Mapping[int, Expectation],
        counts: dict[int, int],
        missed: dict[int, int],
        pending: list[Any],
        sweep_at: int,
    ) -> None:
        """Restore the contents from a snapshot for these expectations."""
        self._expected, self._counts, self._missed = expected, counts, missed
        self._pending, self._sweep_at = pending, sweep_at

    def add(self, record: Any) -> None:
        """Add an evicted record."""
        self._pending.append(record)
        if len(self._pending) >= self._sweep_at:
            self._settle()
            self._sweep_at = max(SWEEP_MIN, 2 * len(self._pending))

    def count(self, place: int) -> int:
        """Return how many of the evicted records match an expectation now."""
        self._settle()
        test = self._expected[place].test
        return self._counts[place] + sum(1 for record in self._pending if test(self._facts(record)))

    def note(self, place: int) -> str:
        """Return what the count of an expectation misses, if anything."""
        missed = self._missed[place]
        if not missed:
            return ""
        return f"added while the sandbox ran, when its log had evicted {missed} older ones, which are not counted"

    def _settle(self) -> None:
        """Count the pending records whose state has become final."""
        pending = []
        for record in self._pending:
            about = self._facts(record)
            if about["state"] == PENDING:
                pending.append(record)
                continue
            for place, one in self._expected.items():
                self._counts[place] += one.test(about)
        self._pending = pending
