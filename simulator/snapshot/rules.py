"""The rule books in a snapshot: rules by their place in the scenario, those that were added by their documents."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from simulator.domain.commands import AddRule
from simulator.domain.model.rule_counts import RuleCount
from simulator.domain.model.rules import AddedRule, Rule
from simulator.domain.state import State
from simulator.scenario.build import build_rule
from simulator.snapshot.chunks import rows_of, unnumbered
from simulator.snapshot.values import Reading, Writing, opened
from simulator.tape.inputs import read, write

RULES, VALUES = "rules", "rules/values"


def written(state: State) -> Iterator[tuple[str, bytes]]:
    """The parts of all books: the rules in order with their counts, then the counts of values."""
    writing = Writing()
    books = {
        section: {
            "rules": [_rule(state, section, rule, writing) for rule, _ in book.listed()],
            "counts": [[count.matched, count.chosen, count.selected] for _, count in book.listed()],
            "magic": list(book.magic_chosen.items()),
        }
        for section, book in state.books.items()
    }
    owners = state.payments.budget.owners
    yield RULES, writing.part({"books": books, "owners": owners, "before": list(state.chosen_before.items())})
    yield from unnumbered(VALUES, chain.from_iterable(map(_values, state.books.items())))


def _rule(state: State, section: str, rule: Rule[Any], writing: Writing) -> object:
    """Its place in the scenario; or what it was compiled from, its timelines only if the scenario has others."""
    places = {id(one): place for place, one in enumerate(getattr(state.scenario, section))}
    if id(rule) in places:
        return places[id(rule)]
    added = state.added[rule.id]
    is_same = added.timelines == state.scenario.timelines
    document = write(AddRule(section, added.document)).decode()
    return [document, added.rule_id, None if is_same else writing.plain(added.timelines)]


def _values(book: tuple[str, Any]) -> Iterator[tuple[str, str, str, int, int, int]]:
    section, rules = book
    for rule, count in rules.listed():
        for value, one in count.by_value.items():
            yield section, rule.id, value, one.matched, one.chosen, one.selected


def restore(state: State, parts: Mapping[str, bytes]) -> None:
    """Have the rules as they were; the state has its scenario already."""
    with opened(parts, RULES) as (reading, content):
        for section, book in content["books"].items():
            rules = [_restored(state, section, one, reading) for one in book["rules"]]
            counts = [RuleCount(*one) for one in book["counts"]]
            state.books[section].restore(zip(rules, counts, strict=True), dict(book["magic"]))
        for section, rule_id, value, *counted in rows_of(parts, VALUES, tuple[str, str, str, int, int, int]):
            state.books[section].counts[rule_id].by_value[value] = RuleCount(*counted)
        by_owner = dict(chain.from_iterable(book.counts.items() for book in state.books.values()))
        state.payments.budget.restore([(owner, by_owner[owner]) for owner in content["owners"]])
        state.chosen_before.update(dict(content["before"]))


def _restored(state: State, section: str, plain: Any, reading: Reading) -> Rule[Any]:
    if isinstance(plain, int):
        found: Rule[Any] = getattr(state.scenario, section)[plain]
        return found
    document, rule_id, timelines = plain
    command = read(document.encode())
    assert isinstance(command, AddRule)
    named = state.scenario.timelines if timelines is None else reading.value(timelines)
    rule = build_rule(section, command.document, rule_id, timelines=named)
    state.added[rule.id] = AddedRule(section, command.document, rule_id, named)
    return rule
