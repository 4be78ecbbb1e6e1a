"""How often a rule matched and was chosen: in all, and for each value of a fact when the rule counts `per` value."""

from collections.abc import Callable, Iterable, Mapping

import msgspec

VALUES_MAX = 10_000  # of one rule, or of one expectation
SANDBOX_VALUES_MAX = 100_000  # of all rules of a sandbox together, about 30 MB, or of all its expectations
VALUE_CHARS_MAX = 200  # longer values are told apart by their beginning alone


class RuleCount(msgspec.Struct):
    """How often a rule's `when` matched, how often the rule was chosen, and how often of these a request selected it by
    its name. `by_value` are the counts of each value, in the order in which the values came."""

    matched: int = 0
    chosen: int = 0
    selected: int = 0
    by_value: "dict[str, RuleCount]" = msgspec.field(default_factory=dict)

    def of(self, value: str) -> "RuleCount":
        """The count of a value, to be read; that of the rule for the value ""."""
        return self.by_value.get(value, _NONE) if value else self


class ValueBudget:
    """Bounds how many values the rules of a sandbox count together, and each of them. For a new one above the bound of
    all, the oldest value goes of the rule that has most: of several the one that has had so many for longest. Refids
    with the same `spelling` are one value.

    A rule is known by `owner`, a key that no other rule of the sandbox has.
    """

    def __init__(self, values_max: int = SANDBOX_VALUES_MAX, spelling: Callable[[str], str] | None = None) -> None:
        self.spelling = spelling
        self._values_max = values_max
        self._total = 0
        self._by_size: dict[int, dict[str, RuleCount]] = {}  # the rules that have so many values
        self._largest = 0

    def kept(self, owner: str, count: RuleCount, value: str) -> RuleCount:
        """The count of a value of `owner`, whose count is `count`, to be increased."""
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
        """The rules that count values: those with most values last, of several with as many the latest one last."""
        return [owner for size in sorted(self._by_size) for owner in self._by_size[size]]

    def restore(self, counts: Iterable[tuple[str, RuleCount]]) -> None:
        """Count for these, in the order of `owners`, and for no others."""
        self._total, self._by_size, self._largest = 0, {}, 0
        for owner, count in counts:
            self.add(owner, count)

    def add(self, owner: str, count: RuleCount) -> None:
        """Take up a rule with the values that it has."""
        size = len(count.by_value)
        if size:
            self._by_size.setdefault(size, {})[owner] = count
            self._largest = max(self._largest, size)
            self._total += size
        while self._total > self._values_max:
            self._drop_oldest(*self._with_most())

    def release(self, owner: str, count: RuleCount) -> None:
        """Forget a rule, which leaves or is about to change."""
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
    """The value of the fact `per` by which a request is counted; "" when it has none. A refid is one of a reseller."""
    found = facts.get(per)
    text = found if isinstance(found, str) else "" if found is None else str(found)
    if not text:
        return ""
    if per == "refid":
        text = f"{facts.get('reseller')} {text if spelling is None else spelling(text)}"
    return text[:VALUE_CHARS_MAX]
