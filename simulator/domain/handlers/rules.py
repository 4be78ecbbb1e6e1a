"""Run-time changes of rules, with counts of faults."""

from datetime import datetime
from typing import Any

from simulator.domain.commands import AddRule, CountFault, RemoveRule
from simulator.domain.errors import Conflict, Unknown, refuse_more
from simulator.domain.model.rules import AddedRule, Rule
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
        if any(book.named(label) for book in state.books.values()):
            raise Conflict("rule_exists", f"there is a rule {label!r} already", "name")
    state.books[command.section].put_first(rule)
    state.added[rule.id] = AddedRule(command.section, command.document, rule_id, timelines)
    state.rules_added += 1
    return rule


def remove_rule(state: State, command: RemoveRule, now: datetime) -> None:
    """Remove a rule. Raise `Unknown`."""
    leaving = [pair for book in state.books.values() for pair in book.listed() if pair[0].id == command.rule]
    for rule, count in leaving:
        state.retire_rule(rule, count)
    if not any(book.remove(command.rule) for book in state.books.values()):
        raise Unknown("unknown_rule", f"there is no rule with the id {command.rule!r}")


def count_fault(state: State, command: CountFault, now: datetime) -> None:
    """Count the faults that a request met."""
    state.faults.count(command.matched, command.chosen, command.values, is_selected=command.is_selected)
