"""What came nearest to an expectation that is not met: records that miss as few of its conditions as any."""

from collections import Counter
from collections.abc import Iterable, Mapping

from simulator.domain.model.expectations import Expectation, ExpectationKind
from simulator.domain.model.rules import Fields
from simulator.domain.state import State
from simulator.shortened import one_line

LINES_MAX = 3
VALUE_CHARS_MAX = 60

_ONE_OF = {
    ExpectationKind.CALLS: "call",
    ExpectationKind.PAYMENTS: "payment",
    ExpectationKind.CALLBACKS: "callback",
    ExpectationKind.WEBHOOKS: "webhook",
}
_SHOWN = ("request", "method", "path", "product", "account", "refid", "type", "status", "state", "error")

Missed = tuple[tuple[str, str], ...]


class NearMisses:
    """Records grouped by the conditions that they miss, and by what they have instead. With `too_many` those are shown
    that match: they are why the count is exceeded."""

    def __init__(self, expected: Expectation, *, too_many: bool) -> None:
        self._expected = expected
        self._too_many = too_many
        self._matching: list[Fields] = []
        self._groups: Counter[Missed] = Counter()
        self._fewest = len(expected.parts)

    def add(self, records: Iterable[Fields]) -> None:
        """Look at some records, given by their facts: those that came just before the ones seen so far."""
        parts = self._expected.parts
        if self._too_many:
            matching = [about for about in records if all(test(about) for test in parts.values())]
            self._matching = [*matching, *self._matching][-LINES_MAX:]
            return
        for about in records:
            missed = [name for name, test in parts.items() if not test(about)]
            if missed and len(missed) <= self._fewest:
                if len(missed) < self._fewest:
                    self._fewest, self._groups = len(missed), Counter()
                self._groups[tuple((name, _value(about, name)) for name in missed)] += 1

    def lines(self) -> tuple[str, ...]:
        """A line for each of the largest groups, or for each of the latest records that match. A record that misses
        everything of several conditions is not near."""
        if self._too_many:
            return tuple(map(self._described, self._matching))
        if self._fewest == len(self._expected.parts) > 1:
            return ()
        return tuple(self._group(missed, count) for missed, count in self._groups.most_common(LINES_MAX))

    def _group(self, missed: Missed, count: int) -> str:
        noun = _ONE_OF[self._expected.kind] + "s" * (count != 1)
        return f"{count} {noun} with " + " and ".join(f"{name} {value}" for name, value in missed)

    def _described(self, about: Fields) -> str:
        words = [f"{name} {_value(about, name)}" for name in _SHOWN if about.get(name) not in (None, "")]
        return f"{_ONE_OF[self._expected.kind]} with {', '.join(words)}"


def of_rule(state: State, expected: Expectation) -> tuple[str, ...]:
    """Of a rule: how often its conditions matched."""
    if expected.kind is not ExpectationKind.RULE:
        return ()
    counts = [
        count
        for book in state.books.values()
        for rule, count in book.listed()
        if expected.label in (rule.id, rule.name)
    ]
    return tuple(f"its conditions matched {one.matched} times, and it was chosen {one.chosen} times" for one in counts)


def _value(about: Mapping[str, object], name: str) -> str:
    text = str(about.get(name, ""))
    return one_line(text, VALUE_CHARS_MAX) or "none"
