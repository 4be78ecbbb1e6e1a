"""Magic accounts: the last seven digits `0000DOO` choose the outcome, `OO`, and its delay, `D`.

A scenario's table is compiled into rules by `DOO`, shared by all sandboxes with the same table. For an ordinary account
the check compares four digits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from simulator.domain.model.rule_book import MagicRules

NO_RULES: MagicRules[Any] = MagicRules({})


@dataclass(frozen=True, slots=True)
class Magic:
    """All magic accounts of a scenario: the meaning of each `OO`, the delay of each `D`, and the rules by section."""

    outcomes: Mapping[str, str] = field(default_factory=dict)
    durations: Mapping[str, timedelta] = field(default_factory=dict)
    sections: Mapping[str, MagicRules[Any]] = field(default_factory=dict)

    def of(self, section: str) -> MagicRules[Any]:
        """The rules of a section."""
        return self.sections.get(section, NO_RULES)

    def names(self) -> frozenset[str]:
        """The names of its rules."""
        return frozenset().union(*(rules.names() for rules in self.sections.values()))


NO_MAGIC = Magic()


def rule_name(digits: str) -> str:
    """The name of the rule for the last three digits: `magic-01`, or `magic-301` when `D` is not 0."""
    return f"magic-{digits[1:] if digits.startswith('0') else digits}"
