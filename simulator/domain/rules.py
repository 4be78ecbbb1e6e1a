"""Rules: `when` (a match) and `then` (what happens); the first match wins.

Matchers arrive compiled, as plain callables. How often a rule matched and how often it was chosen are state of the
sandbox and live in its `RuleBook`; the rules themselves are shared and never change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Generic, TypeVar

from simulator.domain import draw

if TYPE_CHECKING:
    from simulator.domain.transactions import Status

Then = TypeVar("Then")
Fields = Mapping[str, object]
Text = Callable[[Fields], str]


@dataclass(frozen=True, slots=True)
class Rule(Generic[Then]):
    """`nth`, `every` and `chance` look at how often `when` matched, `times` at how often the rule was chosen."""

    id: str
    when: Callable[[Fields], bool]
    then: Then
    name: str = ""
    times: int | None = None
    nth: int | None = None
    every: int | None = None
    chance: Decimal | None = None

    @property
    def label(self) -> str:
        """What people call it: its name, else its id."""
        return self.name or self.id


@dataclass(frozen=True, slots=True)
class Step:
    """One dated status of a timeline. `after` and `requery` count from the creation; neither is set on the first.
    `texts` are the templates that the scenario wrote for a result's `sn`, `pin`, `remarks`, `note`, `voucherlink`."""

    status: "Status"
    after: timedelta | None = None
    requery: int | None = None
    code: int | None = None
    texts: Mapping[str, Text] | None = None
    expiry: date | None = None


@dataclass(frozen=True, slots=True)
class CallbackPlan:
    """How a rule distorts the callbacks of its transactions. `duplicates` more copies are sent of each."""

    drop: bool = False
    duplicates: int = 0
    delay: timedelta = timedelta(0)
    reverse: bool = False


@dataclass(frozen=True, slots=True)
class PaymentThen:
    """What a payment rule does: a timeline, whose first step is the answer to the creating request, and the fate
    of its callbacks."""

    steps: tuple[Step, ...]
    callbacks: CallbackPlan = CallbackPlan()


@dataclass(slots=True)
class Tally:
    """How often a rule's `when` matched and how often the rule was chosen."""

    matched: int = 0
    chosen: int = 0


class RuleBook(Generic[Then]):
    """The rules of one section in one sandbox, in order, with their tallies."""

    def __init__(self, seed: int, rules: tuple[Rule[Then], ...]) -> None:
        self._seed = seed
        self.rules = list(rules)
        self.tallies = {rule.id: Tally() for rule in rules}

    def put_first(self, rule: Rule[Then]) -> None:
        """Place a rule before all others."""
        self.rules.insert(0, rule)
        self.tallies[rule.id] = Tally()

    def remove(self, rule_id: str) -> bool:
        """Take a rule out; False when there is none of this id."""
        kept = [rule for rule in self.rules if rule.id != rule_id]
        found = len(kept) < len(self.rules)
        self.rules = kept
        self.tallies.pop(rule_id, None)
        return found

    def named(self, name: str) -> Rule[Then] | None:
        """The rule that carries this name or id."""
        return next((rule for rule in self.rules if name in (rule.name, rule.id)), None)

    def choose(self, facts: Fields, wanted: str = "") -> Rule[Then] | None:
        """The first rule that matches `facts`, or the one that the request names in `wanted`; counts it."""
        if wanted and (rule := self.named(wanted)):
            self.tallies[rule.id].matched += 1
            self.tallies[rule.id].chosen += 1
            return rule
        for rule in self.rules:
            if rule.when(facts) and self._takes_part(rule):
                return rule
        return None

    def _takes_part(self, rule: Rule[Then]) -> bool:
        tally = self.tallies[rule.id]
        tally.matched += 1
        if rule.nth is not None and tally.matched != rule.nth:
            return False
        if rule.every is not None and tally.matched % rule.every:
            return False
        if rule.times is not None and tally.chosen >= rule.times:
            return False
        if rule.chance is not None and draw.fraction(self._seed, rule.id, tally.matched) >= rule.chance:
            return False
        tally.chosen += 1
        return True
