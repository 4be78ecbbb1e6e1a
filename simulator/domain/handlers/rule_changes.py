"""Run-time changes of rules, with counts of faults."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from simulator.domain.commands import AddRule, CountFault, RemoveRule
from simulator.domain.errors import Conflict, Unknown, refuse_more
from simulator.domain.model.rules import AddedRule, Rule
from simulator.domain.model.scenario import Scenario
from simulator.domain.state import (
    State,
    rule_books,
)


def add_rule(state: State, command: AddRule, now: datetime) -> Rule[Any]:
    """Insert a rule before all others of its section. Raise `Conflict` for a name or id in use and above the scenario's
    limit on rules. Raise the compiler's errors."""
    assert state.compiler is not None, "a sandbox that takes documents has a compiler"
    refuse_more("rules", sum(len(book.counts) for book in state.books.values()) + 1, state.scenario.limits.rules)
    rule_id = f"added-{state.rules_added + 1}"
    codes, resellers = state.catalog.products.keys(), state.resellers.keys()
    timelines = state.scenario.timelines
    rule = state.compiler.rule(command.section, command.document, rule_id, codes, resellers, timelines)
    for label in filter(None, (rule.id, rule.name)):
        if any(book.by_name(label) for book in state.books.values()):
            raise Conflict("rule_exists", f"there is a rule {label!r} already", "name")
    state.books[command.section].put_first(rule)
    state.added[rule.id] = AddedRule(command.section, command.document, rule_id, timelines)
    state.rules_added += 1
    return rule


def remove_rule(state: State, command: RemoveRule, now: datetime) -> None:
    """Remove a rule. Raise `Unknown`."""
    for book in state.books.values():
        for rule, count in book.counted_rules():
            if command.rule in (rule.id, rule.name):
                state.retire_rule(rule, count)
                book.remove(rule.id)
                return
    raise Unknown("unknown_rule", f"there is no rule {command.rule!r}")


def count_fault(state: State, command: CountFault, now: datetime) -> None:
    """Count the faults that a request met."""
    state.faults.count(command.matched, command.chosen, command.values, is_selected=command.is_selected)


Written = dict[str, Any]


def replace_rules(state: State, old: Scenario, new: Scenario) -> Iterator[str]:
    """Install the rules of `new`; yield a line for each rule whose new version conflicts with a run-time change.

    Counts of `times`, `nth` and `every` restart; counts of magic accounts serve coverage alone and continue.
    """
    before = state.books
    from_file = {id(rule) for section in _sections(old).values() for rule in section}
    rule_books(state, new)
    present = {id(rule) for book in before.values() for rule, _ in book.counted_rules()}
    yield from _remove_deleted_rules(state, old, new, present)
    labels = {
        label for book in state.books.values() for rule, _ in book.counted_rules() for label in (rule.id, rule.name)
    }
    labels = (labels | new.magic.names()) - {""}
    for section, book in before.items():
        state.books[section].magic_chosen = book.magic_chosen
        for rule, count in reversed(list(book.counted_rules())):
            if id(rule) in from_file:
                state.retire_rule(rule, count)
            elif {rule.id, rule.name} & labels:
                state.retire_rule(rule, count)
                yield f"rule {rule.label!r}: the rule of the file replaces the rule that was added at run time"
            else:
                state.books[section].put_first(rule, count)


def _remove_deleted_rules(state: State, old: Scenario, new: Scenario, present: set[int]) -> Iterator[str]:
    """Remove from the new books the rules that were removed at run time, except rules that the file has changed.

    Yield a line for each of these. `present` has the identities of the rules that were not removed.
    """
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
    """Return the identity of a rule that its file changed: its name, else its assigned id."""
    return str(written.get("name") or written.get("id") or "")


def _written(scenario: Scenario, section: str) -> list[Written]:
    """Return the rules of a section as the file has them."""
    return list(scenario.document.get(section) or ())


def _sections(scenario: Scenario) -> dict[str, tuple[Rule[Any], ...]]:
    return {
        "payments": scenario.payments,
        "voids": scenario.voids,
        "disputes": scenario.disputes,
        "bills": scenario.bills,
        "faults": scenario.faults,
    }
