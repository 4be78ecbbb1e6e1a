"""Run-time changes of rules."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from simulator.domain.commands import AddRule, RemoveRule
from simulator.domain.errors import Conflict, Unknown, refuse_more
from simulator.domain.model.rule_book import RuleBook
from simulator.domain.model.rules import AddedRule, Rule
from simulator.domain.model.scenario import Scenario
from simulator.domain.state import State


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
            if command.rule in filter(None, (rule.id, rule.name)):
                state.retire_rule(rule, count)
                book.remove(rule.id)
                return
    raise Unknown("unknown_rule", f"there is no rule {command.rule!r}")


def replace_rules(state: State, old: Scenario, new: Scenario) -> Iterator[str]:
    """Install the rules of `new`, without those that were removed at run time and that the file has not changed. Yield
    a line for each run-time rule that gives way to a rule of the file.

    Counts of `times`, `nth` and `every` restart; counts of magic accounts serve coverage alone and continue.
    """
    before = state.books
    state.install_rules()
    for section, book in before.items():
        _remove_again(old, new, section, {id(rule) for rule, _ in book.counted_rules()}, state.books[section])
    listed = (rule for book in state.books.values() for rule, _ in book.counted_rules())
    labels = ({label for rule in listed for label in (rule.id, rule.name)} | new.magic.names()) - {""}
    for section, book in before.items():
        state.books[section].magic_chosen = book.magic_chosen
        for rule, count in reversed(list(book.counted_rules())):
            if rule.id not in state.added:
                state.retire_rule(rule, count)
            elif {rule.id, rule.name} & labels:
                state.retire_rule(rule, count)
                yield f"rule {rule.label!r}: the rule of the file replaces the rule that was added at run time"
            else:
                state.books[section].put_first(rule, count)


def _remove_again(old: Scenario, new: Scenario, section: str, present: set[int], book: RuleBook[Any]) -> None:
    """Remove from `book` the rules of `new` that are written as removed rules of `old` are. `present` has the
    identities of the rules that were not removed."""
    if all(id(rule) in present for rule in old.rules[section]):
        return
    were, are = (list(one.document.get(section) or ()) for one in (old, new))
    removed = [written for rule, written in zip(old.rules[section], were, strict=True) if id(rule) not in present]
    for rule, written in zip(new.rules[section], are, strict=True):
        if written in removed:
            removed.remove(written)
            book.remove(rule.id)
