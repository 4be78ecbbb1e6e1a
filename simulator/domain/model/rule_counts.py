"""Match counts of a rule: in total, and for each value of a fact when the rule counts `per` value."""

from collections.abc import Callable, Iterable, Mapping

import msgspec

VALUES_MAX = 10_000  # of a single rule or expectation
SANDBOX_VALUES_MAX = 100_000  # of all rules of a sandbox together, about 30 MB, or of all its expectations
VALUE_CHARS_MAX = 200  # longer values are compared by their beginning alone


class RuleCount(msgspec.Struct):
    """The counts of a rule: matches of its `when`, choices, and choices selected by name. `by_value` has the counts of
    each value, in order of first occurrence."""

    matched: int = 0
    chosen: int = 0
    selected: int = 0
    by_value: "dict[str, RuleCount]" = msgspec.field(default_factory=dict)

    def of(self, value: str) -> "RuleCount":
        """Return the count of a value, read-only; the total of the rule for the value ""."""
        return self.by_value.get(value, _NONE) if value else self


class ValueBudget:
    """A limit on the values that the rules of a sandbox count, per rule and in total. At the total limit, a new value
    evicts the oldest value of the rule with the most values; on a tie, of the rule that has had so many for longest.
    Refids with the same `spelling` are one value.

    `owner` is a key that is unique to the rule within the sandbox.
    """

    def __init__(self, values_max: int = SANDBOX_VALUES_MAX, spelling: Callable[[str], str] | None = None) -> None:
        self.spelling = spelling
        self._values_max = values_max
        self._total = 0
        self._by_size: dict[int, dict[str, RuleCount]] = {}  # rules by their number of values
        self._largest = 0

    def kept(self, owner: str, count: RuleCount, value: str) -> RuleCount:
        """Return the count of a value of `owner`, to be incremented; `count` is the rule's count."""
        found = count.by_value.get(value)
        if found is None:
            if len(count.by_value) >= VALUES_MAX:
                self._drop_oldest(owner, count)
            elif self._total >= self._values_max:
                self._drop_oldest(*self._with_most())
            self.release(owner, count)
            found = count.by_value[value] = RuleCount()
            self.add(owner, count)
        return found

    @property
    def owners(self) -> list[str]:
        """Return the rules that count values, by ascending number of values; on a tie, the latest last."""
        return [owner for size in sorted(self._by_size) for owner in self._by_size[size]]

    def restore(self, counts: Iterable[tuple[str, RuleCount]]) -> None:
        """Replace all counted rules by `counts`, in the order of `owners`."""
        self._total, self._by_size, self._largest = 0, {}, 0
        for owner, count in counts:
            self.add(owner, count)

    def add(self, owner: str, count: RuleCount) -> None:
        """Add a rule with its existing values."""
        size = len(count.by_value)
        if size:
            self._by_size.setdefault(size, {})[owner] = count
            self._largest = max(self._largest, size)
            self._total += size
        while self._total > self._values_max:
            self._drop_oldest(*self._with_most())

    def release(self, owner: str, count: RuleCount) -> None:
        """Remove a rule that is deleted or about to change."""
        size = len(count.by_value)
        if size:
            self._total -= size
            peers = self._by_size[size]
            del peers[owner]
            if not peers:
                del self._by_size[size]

    def _with_most(self) -> tuple[str, RuleCount]:
        while self._largest not in self._by_size:
            self._largest -= 1
        return next(iter(self._by_size[self._largest].items()))

    def _drop_oldest(self, owner: str, count: RuleCount) -> None:
        self.release(owner, count)
        del count.by_value[next(iter(count.by_value))]
        self.add(owner, count)


_NONE = RuleCount()


def counted_value(per: str, facts: Mapping[str, object], spelling: Callable[[str], str] | None = None) -> str:
    """Return a request's value of the fact `per`; "" without a value. A refid is qualified by its reseller."""
    found = facts.get(per)
    text = found if isinstance(found, str) else "" if found is None else str(found)
    if not text:
        return ""
    if per == "refid":
        text = f"{facts.get('reseller')} {text if spelling is None else spelling(text)}"
    return text[:VALUE_CHARS_MAX]
