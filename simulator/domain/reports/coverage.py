"""Coverage of a sandbox: how often each rule, each answer of the endpoints, and each known outcome occurred.

The coverage of several sandboxes can be added, to report on a run with a sandbox per test.
"""

from collections import Counter
from collections.abc import Mapping

import msgspec

from simulator.domain.model.outcomes import OUTCOMES, AnswerKind
from simulator.domain.model.rules import RuleCount
from simulator.domain.state import State


class RuleKey(msgspec.Struct, frozen=True):
    """The key of a rule in a scenario; magic rules are counted separately."""

    scenario: str
    section: str
    id: str
    name: str


class MagicCoverage(msgspec.Struct):
    """The meaning of two digits of a magic account, and how often each section with a rule for them chose it."""

    text: str
    chosen: Counter[str] = msgspec.field(default_factory=Counter)

    @property
    def met(self) -> int:
        """Return how often the outcome occurred. A magic account that affects other sections than payments counts there
        only: a payment to an account whose void is refused is not yet a refused void."""
        own = [count for section, count in self.chosen.items() if section != "payments"]
        return max(own, default=self.chosen["payments"])


class Coverage(msgspec.Struct):
    """How often each rule matched and was chosen, by key; each magic outcome, by its digits; each kind of answer; each
    outcome, by its id. Only rules and magic outcomes have entries for zero counts."""

    sandboxes: int = 0
    rules: dict[RuleKey, RuleCount] = msgspec.field(default_factory=dict)
    magic: dict[str, MagicCoverage] = msgspec.field(default_factory=dict)
    answers: Counter[AnswerKind] = msgspec.field(default_factory=Counter)
    outcomes: Counter[str] = msgspec.field(default_factory=Counter)

    def add(self, other: "Coverage") -> None:
        self.sandboxes += other.sandboxes
        self.answers.update(other.answers)
        self.outcomes.update(other.outcomes)
        for key, count in other.rules.items():
            mine = self.rules.setdefault(key, RuleCount())
            mine.matched += count.matched
            mine.chosen += count.chosen
        for digits, coverage in other.magic.items():
            self.magic.setdefault(digits, MagicCoverage(coverage.text)).chosen.update(coverage.chosen)


def coverage(state: State, answers: Mapping[tuple[str, str, int, str, str], int]) -> Coverage:
    """Return the coverage of a sandbox; `answers` counts its answers by the members of `AnswerKind`. Scans no records,
    since everything is counted as it happens."""
    counted = Counter({AnswerKind(*key): count for key, count in answers.items()})
    rules = {
        RuleKey(state.scenario.name, section, rule.id, rule.name): RuleCount(count.matched, count.chosen)
        for section, book in state.books.items()
        for rule, count in book.counted_rules()
    }
    return Coverage(1, rules, _magic(state), counted, _outcomes(state, counted))


def _magic(state: State) -> dict[str, MagicCoverage]:
    magic = state.scenario.magic
    found = {digits: MagicCoverage(text) for digits, text in magic.outcomes.items()}
    for section, rules in magic.sections.items():
        for rule in rules.values():
            found[rule.id[-2:]].chosen.setdefault(section, 0)
    for section, book in state.books.items():
        for name, count in book.magic_chosen.items():
            if one := found.get(name[-2:]):
                one.chosen[section] += count
    return found


def _outcomes(state: State, answers: Counter[AnswerKind]) -> Counter[str]:
    found = Counter({outcome.value: count for outcome, count in state.noted.items()})
    for outcome in OUTCOMES:
        if outcome.of_answer is not None:
            found[outcome.id] = sum(times for answered, times in answers.items() if outcome.of_answer(answered))
    return +found  # without zeros
