"""How often a rule matched and was chosen: in all, and for each value of a fact when the rule counts `per` value."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# A rule keeps the counts of this many values; that of the oldest is dropped for a new one.
VALUES_MAX = 10_000
VALUE_CHARS_MAX = 200  # longer values are told apart by their beginning alone


@dataclass(slots=True)
class RuleCount:
    """How often a rule's `when` matched, how often the rule was chosen, and how often of these a request selected it by
    its name. `by_value` are the counts of each value, in the order in which the values came."""

    matched: int = 0
    chosen: int = 0
    selected: int = 0
    by_value: "dict[str, RuleCount]" = field(default_factory=dict)

    def of(self, value: str) -> "RuleCount":
        """The count of a value, to be read; that of the rule for the value ""."""
        return self.by_value.get(value, _NONE) if value else self

    def kept(self, value: str) -> "RuleCount":
        """The count of a value, to be increased."""
        found = self.by_value.get(value)
        if found is None:
            if len(self.by_value) >= VALUES_MAX:
                del self.by_value[next(iter(self.by_value))]
            found = self.by_value[value] = RuleCount()
        return found


_NONE = RuleCount()


def counted_value(per: str, facts: Mapping[str, object]) -> str:
    """The value of the fact `per` by which a request is counted; "" when it has none. A refid is one of a reseller."""
    found = facts.get(per)
    text = found if isinstance(found, str) else "" if found is None else str(found)
    if not text:
        return ""
    return (f"{facts.get('reseller')} {text}" if per == "refid" else text)[:VALUE_CHARS_MAX]
