"""Magic accounts: the last seven digits `0000DOO` choose the outcome, `OO`, and its delay, `D`.

A scenario's table is compiled into rules by `DOO`, shared by all sandboxes with the same table. For an ordinary account
the check compares four digits.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from simulator.domain.model.rule_book import MagicRules

NO_RULES: MagicRules[Any] = MagicRules({})


class Magic(msgspec.Struct, frozen=True):
    """All magic accounts of a scenario: the meaning of each `OO`, the delay of each `D`, and the rules by section."""

    outcomes: Mapping[str, str] = msgspec.field(default_factory=dict)
    durations: Mapping[str, timedelta] = msgspec.field(default_factory=dict)
    sections: Mapping[str, MagicRules[Any]] = msgspec.field(default_factory=dict)

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
