"""A sandbox's counters of answers: each kind, and the calls that its scenario expects. The journal is bounded; these
are complete, since there are few kinds and few expectations."""

from collections.abc import Callable, Iterable

from simulator.domain.model.expectations import Expectation, ExpectationKind
from simulator.domain.model.rules import Fields
from simulator.runtime.journal import Exchange

# Method, path as the contract writes it, status, error, ending of the connection; the domain's `AnswerKind`.
AnswerKey = tuple[str, str, int, str, str]


class Counters:
    """Counters updated where the journal is written: `answers` by kind, `calls` by the index of their expectation in
    `expected`. When `calls` is empty no request needs to be tested."""

    def __init__(self, expected: Iterable[Expectation] = ()) -> None:
        self.answers: dict[AnswerKey, int] = {}
        self.calls: dict[int, int] = {}
        self.expected: tuple[Expectation, ...] = ()
        self.follow(expected)

    def follow(self, expected: Iterable[Expectation]) -> None:
        """Count calls for these expectations from now on; counts of the same name continue."""
        before = {self.expected[place].name: count for place, count in self.calls.items()}
        self.expected = tuple(expected)
        self._tests = [
            (place, one.test) for place, one in enumerate(self.expected) if one.kind is ExpectationKind.CALLS
        ]
        self.calls = {place: before.get(self.expected[place].name, 0) for place, _ in self._tests}

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
        if self.calls:
            self.note_call(_facts(exchange))

    def note_call(self, facts: Fields) -> None:
        """Count a call for each expectation that it matches."""
        for place, test in self._tests:
            if test(facts):
                self.calls[place] += 1


def _facts(exchange: Exchange) -> Fields:
    """The facts that an expectation may test; a connection closed without an answer has the status 0."""
    return {
        "method": exchange.method,
        "path": exchange.path,
        "status": str(exchange.status),
        "error": str(exchange.error),
        "reseller": exchange.reseller,
        "refid": exchange.refid,
    }
