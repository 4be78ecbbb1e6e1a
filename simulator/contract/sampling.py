"""A part of a large value that stands for the whole of it where departures are explained.

The validator makes all errors of a value at once, a copy of what is wrong in each: those of 40,000 rows take gigabytes.
"""

from collections.abc import Set
from typing import Any, Final

from simulator.contract.schemas import Schema, referred

ITEMS_MAX: Final = (50, 20, 8, 3, 1)
"""Of each list so many items, from the start, and of each object so many members that the schema does not name; the
first number with which the part is small enough."""

CONTAINERS_MAX: Final = 200
VALUES_MAX: Final = 2500


def sample(value: Any, named: Set[str], times: int = 1) -> Any:
    """The part of a decoded value, with the same places for what is in it; None when even the smallest is too large.
    `named` are the members that a schema names, which none may lack; it is `times` as large where less is made of it.
    """
    for items_max in ITEMS_MAX:
        budget = _Budget(times)
        part = _cut(value, named, items_max * times, budget)
        if budget.is_kept:
            return part
    return None


def named_members(part: Any) -> set[str]:
    """The members that a part of a schema names, or a schema that it refers to."""
    found: set[str] = set()
    _collect(part, found, [])
    return found


class _Budget:
    """What a part may have in all."""

    def __init__(self, times: int) -> None:
        self.containers, self.values = times * CONTAINERS_MAX, times * VALUES_MAX

    @property
    def is_kept(self) -> bool:
        return self.containers >= 0 and self.values >= 0


def _cut(value: Any, named: Set[str], items_max: int, budget: _Budget) -> Any:
    if not isinstance(value, dict | list):
        return value
    budget.containers -= 1
    if isinstance(value, list):
        kept: Any = value[:items_max]
    elif len(value) <= items_max:
        kept = value
    else:
        kept, others = {}, 0
        for name, member in value.items():
            others += name not in named
            if name in named or others <= items_max:
                kept[name] = member
    budget.values -= len(kept)
    if not budget.is_kept:
        return None
    if isinstance(kept, list):
        return [_cut(item, named, items_max, budget) for item in kept]
    return {name: _cut(member, named, items_max, budget) for name, member in kept.items()}


def _collect(part: Any, found: set[str], seen: list[Schema]) -> None:
    if isinstance(part, list):
        for each in part:
            _collect(each, found, seen)
    elif isinstance(part, dict):
        if isinstance(part.get("properties"), dict):
            found.update(part["properties"])
        if isinstance(part.get("required"), list):
            found.update(part["required"])
        file = referred(part)
        if file is not None and not any(file is each for each in seen):
            seen.append(file)
            _collect(file, found, seen)
        for each in part.values():
            _collect(each, found, seen)
