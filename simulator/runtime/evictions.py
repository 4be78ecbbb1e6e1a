"""What expectations must not forget: the callbacks or webhooks that their log has evicted."""

from collections.abc import Callable, Mapping
from typing import Any

from simulator.domain.model.expectations import Expectation, continued
from simulator.domain.model.rules import Fields

PENDING = "pending"
SWEEP_MIN = 1_000


class EvictedRecords:
    """Counts evicted records for each expectation that they match. One that is still pending is kept, as it is in the
    agenda anyway, until its state is final; so the count moves when its state does."""

    def __init__(self, facts: Callable[[Any], Fields]) -> None:
        self._facts = facts
        self._expected: Mapping[int, Expectation] = {}
        self._counts: dict[int, int] = {}
        self._missed: dict[int, int] = {}
        self._pending: list[Any] = []
        self._sweep_at = SWEEP_MIN

    @property
    def is_needed(self) -> bool:
        """True when an expectation needs what is evicted."""
        return bool(self._expected)

    def follow(self, expected: Mapping[int, Expectation], left_out: int) -> None:
        """Count for these from now on; `left_out` is how many the log has evicted until now. Counts of an unchanged
        statement continue."""
        old, counts, missed = self._expected, self._counts, self._missed
        self._settle()
        self._expected = expected
        self._counts, self._missed = {}, {}
        before = continued(old, expected)
        for place in expected:
            self._counts[place] = counts[before[place]] if place in before else 0
            self._missed[place] = missed[before[place]] if place in before else left_out - len(self._pending)

    def kept(self) -> "tuple[dict[int, int], dict[int, int], list[Any], int]":
        """All of it, for a snapshot: counts and what they miss by the place of their expectation, the records that were
        pending when they were looked at last, and when that is next."""
        return self._counts, self._missed, self._pending, self._sweep_at

    def restore(
        self,
        expected: Mapping[int, Expectation],
        counts: dict[int, int],
        missed: dict[int, int],
        pending: list[Any],
        sweep_at: int,
    ) -> None:
        """Go on counting for these expectations with what was kept."""
        self._expected, self._counts, self._missed = expected, counts, missed
        self._pending, self._sweep_at = pending, sweep_at

    def add(self, record: Any) -> None:
        """Take a record that the log evicts."""
        self._pending.append(record)
        if len(self._pending) >= self._sweep_at:
            self._settle()
            self._sweep_at = max(SWEEP_MIN, 2 * len(self._pending))

    def count(self, place: int) -> int:
        """How many of the evicted records match an expectation, as they are now."""
        self._settle()
        test = self._expected[place].test
        return self._counts[place] + sum(1 for record in self._pending if test(self._facts(record)))

    def note(self, place: int) -> str:
        """What the count of an expectation misses, if anything."""
        missed = self._missed[place]
        if not missed:
            return ""
        return f"added while the sandbox ran, when its log had evicted {missed} older ones, which are not counted"

    def _settle(self) -> None:
        """Count those whose state is final."""
        pending = []
        for record in self._pending:
            about = self._facts(record)
            if about["state"] == PENDING:
                pending.append(record)
                continue
            for place, one in self._expected.items():
                self._counts[place] += one.test(about)
        self._pending = pending
