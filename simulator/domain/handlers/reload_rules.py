"""Replaces the rules of a running sandbox by those of another scenario. Rules that were added at run time stay, and
those that were removed stay removed unless the file changes them."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from simulator.domain.model.rules import Rule
from simulator.domain.model.scenario import Scenario
from simulator.domain.state import State, rule_books

Written = dict[str, Any]


def replace_rules(state: State, old: Scenario, new: Scenario) -> Iterator[str]:
    """Install the rules of `new`; yields one line for each that differs from what was changed while the sandbox ran.

    Counts of `times`, `nth` and `every` restart; those of magic accounts serve coverage alone and continue.
    """
    before = state.books
    from_file = {id(rule) for section in _sections(old).values() for rule in section}
    rule_books(state, new)
    present = {id(rule) for book in before.values() for rule, _ in book.listed()}
    yield from _remove_again(state, old, new, present)
    labels = {label for book in state.books.values() for rule, _ in book.listed() for label in (rule.id, rule.name)}
    labels = (labels | new.magic.names()) - {""}
    for section, book in before.items():
        state.books[section].magic_chosen = book.magic_chosen
        for rule, count in reversed(list(book.listed())):
            if id(rule) in from_file:
                state.retire_rule(rule, count)
            elif {rule.id, rule.name} & labels:
                state.retire_rule(rule, count)
                yield f"rule {rule.label!r}: the one that was added while it ran gives way to that of the file"
            else:
                state.books[section].put_first(rule, count)


def _remove_again(state: State, old: Scenario, new: Scenario, present: set[int]) -> Iterator[str]:
    """Leave out what was removed from the rules of `old`, of which those in `present` are still there."""
    for section, rules in _sections(old).items():
        if all(id(rule) in present for rule in rules):
            continue
        were, are = _written(old, section), _written(new, section)
        removed = [one for rule, one in zip(rules, were, strict=True) if id(rule) not in present]
        left_out = Counter(map(repr, removed))
        for rule, one in zip(_sections(new)[section], are, strict=True):
            if left_out[repr(one)]:
                left_out[repr(one)] -= 1
                state.books[section].remove(rule.id)
        unchanged = set(map(repr, were))
        changed = {_label(one) for one in are if repr(one) not in unchanged}
        for label in filter(None, map(_label, removed)):
            if label in changed:
                yield f"rule {label!r}: was removed while it ran, and is back since the file changed it"


def _label(written: Written) -> str:
    """What tells a rule of a file that was changed: its name, else the id that it was given."""
    return str(written.get("name") or written.get("id") or "")


def _written(scenario: Scenario, section: str) -> list[Written]:
    """The rules of a section as the file has them."""
    return list(scenario.document.get(section) or ())


def _sections(scenario: Scenario) -> dict[str, tuple[Rule[Any], ...]]:
    return {
        "payments": scenario.payments,
        "voids": scenario.voids,
        "disputes": scenario.disputes,
        "bills": scenario.bills,
        "faults": scenario.faults,
    }
