"""Rules that are found by the values that they ask for: chosen and counted as by a scan of all."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.domain.model.rule_book import Choice, RuleBook
from simulator.domain.model.rules import INDEXED, Rule, RuleIndex
from simulator.scenario.build import build_rule
from tests.support.tiers import examples

NOW = datetime(2026, 11, 1, tzinfo=UTC)
THEN: Mapping[str, Any] = {"payments": [{"status": "Succesful"}], "faults": {"status": 500}}
TEXTS = st.sampled_from(["1", "2", "true"])
VALUES = st.one_of(TEXTS, st.sampled_from([1, True]))
MATCHERS = st.one_of(
    VALUES,
    st.lists(VALUES, min_size=1, max_size=3),
    st.fixed_dictionaries({"in": st.lists(VALUES, min_size=1, max_size=3)}, optional={"prefix": TEXTS}),
    st.fixed_dictionaries({"not": TEXTS}),
    st.fixed_dictionaries({"suffix": TEXTS}),
)
PLAIN_WHENS = st.dictionaries(st.sampled_from(INDEXED), MATCHERS, max_size=3)
BRANCHES = st.lists(PLAIN_WHENS, min_size=1, max_size=2)
WHENS = st.one_of(PLAIN_WHENS, st.builds(lambda when, branches: when | {"any": branches}, PLAIN_WHENS, BRANCHES))
PER = ["account", "refid", "reseller", "key", "address"]
CHANCES = st.sampled_from([Decimal("0.5"), Decimal("0.1")])
NUMBERS = st.integers(1, 3)
COUNTS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {},
        optional={
            "times": NUMBERS,
            "per": st.sampled_from(PER),
            "chance": CHANCES,
        },
    ),
    st.fixed_dictionaries({"nth": NUMBERS}, optional={"per": st.sampled_from(PER)}),
    st.fixed_dictionaries({"every": NUMBERS}),
)
FACTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(INDEXED, st.one_of(TEXTS, st.sampled_from([None, 1, True, ["1"]])))
)


def compiled(section: str, drawn: tuple[dict[str, Any], dict[str, Any], bool], number: int) -> Rule[Any]:
    when, counts, is_fallback = drawn
    document = {"when": when, **counts, "then": THEN[section]}
    if is_fallback and section == "payments":
        document["fallback"] = True
    return build_rule(section, document, f"rule-{number}")


def unindexed(rule: Rule[Any]) -> Rule[Any]:
    return replace(rule, exact={})


def state_of(book: RuleBook[Any]) -> list[Any]:
    return [(rule.id, count) for rule, count in book.counted_rules()]


DRAWN = st.tuples(WHENS, COUNTS, st.booleans())
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("request"), FACTS),
        st.tuples(st.just("add"), DRAWN),
        st.tuples(st.just("remove"), st.integers(0, 12)),
        st.tuples(st.just("named"), st.integers(0, 12)),
    ),
    max_size=25,
)


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(section=st.sampled_from(["payments", "faults"]), first=st.lists(DRAWN, max_size=8), steps=STEPS)
def test_an_indexed_book_chooses_and_counts_as_one_that_tries_every_rule(
    section: str, first: Sequence[Any], steps: Sequence[tuple[str, Any]]
) -> None:
    rules = [compiled(section, drawn, number) for number, drawn in enumerate(first)]
    indexed, plain = RuleBook(7, tuple(rules)), RuleBook(7, tuple(map(unindexed, rules)))
    number = len(rules)
    for kind, what in steps:
        if kind == "add":
            rule = compiled(section, what, number)
            number += 1
            indexed.put_first(rule)
            plain.put_first(unindexed(rule))
        elif kind == "remove":
            assert indexed.remove(f"rule-{what}") == plain.remove(f"rule-{what}")
        elif kind == "named":
            assert indexed.choose(dict, f"rule-{what}") == plain.choose(dict, f"rule-{what}")
        else:
            facts = {"now": NOW, "start": NOW, **what}
            assert met(indexed, facts) == met(plain, facts)
        assert state_of(indexed) == state_of(plain)


def met(book: RuleBook[Any], facts: Mapping[str, Any]) -> list[Choice[Any]]:
    """As the faults of a request are chosen: before its body is known, and once more with it."""
    early = {name: value for name, value in facts.items() if name in ("now", "start", "reseller")}
    found = [book.find(lambda: early, before_body=True)]
    if found[0].waits:
        book.count(found[0].matched, "", found[0].values)
        passed = frozenset(found[0].matched)
        found.append(book.find(lambda: facts, passed=passed))
    choice = found[-1]
    book.count(choice.matched, choice.rule.id if choice.rule else "", choice.values)
    chosen = book.choose(lambda: facts)
    return [*found, Choice(chosen)]


@pytest.mark.slow
def test_a_request_meets_the_rules_of_its_value_and_the_rules_without_a_value() -> None:
    whens = [{"account": str(number), "product": "A"} for number in range(5_000)]
    rules = [compiled("payments", (when, {}, False), number) for number, when in enumerate(whens)]
    always = compiled("payments", ({"product": {"not": "B"}}, {}, False), 5_000)
    index = RuleIndex([*rules, always])
    assert index.candidates({"account": "4711", "product": "A"}) == [rules[4711], always]
    assert index.candidates({"account": "none"}) == [always]
    assert len(index.candidates({"account": 4711})) == 5_001, "how it compares is for the rules to say"
