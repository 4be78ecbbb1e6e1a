"""`one_of`: several outcomes of a rule; each match draws an outcome by weight."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TypeVar

import msgspec

from simulator.domain.model.rules import Rule
from simulator.scenario.reading.value_reader import ValueReader

Then = TypeVar("Then")
ONE_OF = "one_of"


class Branch(msgspec.Struct, frozen=True):
    """A possible `then` of a rule. `entry` is its item of `one_of`, or None without `one_of`."""

    then: ValueReader
    weight: int = 1
    entry: ValueReader | None = None

    @property
    def callbacks(self) -> ValueReader | None:
        """Return the entry's own `callbacks`; None when the rule's apply."""
        return self.entry["callbacks"] if self.entry is not None and self.entry["callbacks"].is_given else None


def branches(then: ValueReader) -> list[Branch]:
    """Return the possible `then` of a rule, in order; at least one."""
    found = [Branch(item["then"], item["weight"].integer(1), item) for item in then[ONE_OF].items()]
    return found or [Branch(then)]


def refuse_misplaced(then: ValueReader) -> None:
    """Report keys beside a `one_of`, and a `one_of` within another."""
    if not then.has(ONE_OF):
        return
    for key, member in then.entries():
        if key != ONE_OF:
            member.problem("misplaced", f"{key!r} has no effect beside 'one_of'; write it in its entries", at_key=True)
    for branch in branches(then):
        if branch.entry is not None and branch.then[ONE_OF].is_given:
            branch.then.problem("nested", "a one_of within a one_of; write all entries in one list")


def choices(then: ValueReader, read: Callable[[ValueReader], Then]) -> list[tuple[int, Then]]:
    """Return the possible outcomes of a rule with their weights; `read` parses a `then`."""
    refuse_misplaced(then)
    return [(branch.weight, read(branch.then)) for branch in branches(then)]


def with_variants(rule: Rule[Then], thens: Sequence[tuple[int, Then]]) -> Rule[Then]:
    """Return the rule with a variant for each of `thens`; a single outcome needs no variants."""
    if len(thens) == 1:
        return rule
    sums = accumulate(weight for weight, _ in thens)
    return replace(
        rule, variants=tuple((end, replace(rule, then=then)) for end, (_, then) in zip(sums, thens, strict=True))
    )
