"""`one_of`: several outcomes of a rule, of which each match draws one by weight."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TypeVar

import msgspec

from simulator.domain.model.rules import Rule
from simulator.scenario.reading.reader import Reader

Then = TypeVar("Then")
ONE_OF = "one_of"


class Branch(msgspec.Struct, frozen=True):
    """One possible `then` of a rule; `entry` is the item of its `one_of`, None when there is none."""

    then: Reader
    weight: int = 1
    entry: Reader | None = None

    @property
    def callbacks(self) -> Reader | None:
        """The `callbacks` of its own; None when those of the rule apply."""
        return self.entry["callbacks"] if self.entry is not None and self.entry["callbacks"].is_given else None


def branches(then: Reader) -> list[Branch]:
    """The possible `then` of a rule, in order; at least one."""
    found = [Branch(item["then"], item["weight"].integer(1), item) for item in then[ONE_OF].items()]
    return found or [Branch(then)]


def refuse_misplaced(then: Reader) -> None:
    """Report keys beside a `one_of`, and one within another."""
    if not then.has(ONE_OF):
        return
    for key, member in then.entries():
        if key != ONE_OF:
            member.problem("misplaced", f"{key!r} has no effect beside 'one_of'; write it in its entries", at_key=True)
    for branch in branches(then):
        if branch.entry is not None and branch.then[ONE_OF].is_given:
            branch.then.problem("nested", "a one_of within a one_of; write all entries in one list")


def choices(then: Reader, read: Callable[[Reader], Then]) -> list[tuple[int, Then]]:
    """What a rule may do, each with its weight; `read` reads one of them."""
    refuse_misplaced(then)
    return [(branch.weight, read(branch.then)) for branch in branches(then)]


def with_variants(rule: Rule[Then], thens: Sequence[tuple[int, Then]]) -> Rule[Then]:
    """The rule with a variant for each of `thens`; one alone is no choice."""
    if len(thens) == 1:
        return rule
    sums = accumulate(weight for weight, _ in thens)
    return replace(
        rule, variants=tuple((end, replace(rule, then=then)) for end, (_, then) in zip(sums, thens, strict=True))
    )
