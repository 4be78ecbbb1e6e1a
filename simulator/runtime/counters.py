"""What a sandbox counts of its answers: each sort, and the calls that its scenario expects. The journal forgets; this
does not, since there are few sorts and few expectations."""

from collections.abc import Iterable

from simulator.domain.model.expectations import Expectation, Kind
from simulator.domain.model.rules import Fields

# Method, path as the contract writes it, status, error, what became of the connection; `Answered` of the domain.
Key = tuple[str, str, int, str, str]


class Counters:
    """Counters that are filled where the journal is written: `answers` by sort, `calls` by the place of their
    expectation in `expected`. When `calls` is empty no request needs to be looked at."""

    def __init__(self, expected: Iterable[Expectation] = ()) -> None:
        self.answers: dict[Key, int] = {}
        self.calls: dict[int, int] = {}
        self.expected: tuple[Expectation, ...] = ()
        self.follow(expected)

    def follow(self, expected: Iterable[Expectation]) -> None:
        """Count calls for these expectations from now on; what was counted for one of the same name stays."""
        before = {self.expected[place].name: count for place, count in self.calls.items()}
        self.expected = tuple(expected)
        self._tests = [(place, one.test) for place, one in enumerate(self.expected) if one.kind is Kind.CALLS]
        self.calls = {place: before.get(self.expected[place].name, 0) for place, _ in self._tests}

    def note_call(self, facts: Fields) -> None:
        """Count a call for each expectation that it fits."""
        for place, test in self._tests:
            if test(facts):
                self.calls[place] += 1
