"""Magic accounts: their last seven digits `0000DOO` say what happens, `OO`, and how long it takes, `D` (DESIGN 9).

A scenario's table is compiled into rules by `DOO`, shared by all sandboxes that have the same table. An ordinary
account costs one look at four of its digits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from simulator.domain.model.rules import MagicRules

NO_RULES: MagicRules[Any] = MagicRules({})


@dataclass(frozen=True, slots=True)
class Magic:
    """All magic accounts of a scenario: what `OO` means in words, how long each `D` takes, and the rules by section."""

    outcomes: Mapping[str, str] = field(default_factory=dict)
    durations: Mapping[str, timedelta] = field(default_factory=dict)
    sections: Mapping[str, MagicRules[Any]] = field(default_factory=dict)

    def of(self, section: str) -> MagicRules[Any]:
        """The rules of a section."""
        return self.sections.get(section, NO_RULES)

    def names(self) -> frozenset[str]:
        """What its rules are called."""
        return frozenset().union(*(rules.names() for rules in self.sections.values()))


NO_MAGIC = Magic()


def name_of(digits: str) -> str:
    """What the rule for the last three digits is called: `magic-01`, or `magic-301` when `D` is not 0."""
    return f"magic-{digits[1:] if digits.startswith('0') else digits}"
