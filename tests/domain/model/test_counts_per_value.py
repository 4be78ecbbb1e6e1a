"""Counts per value, against a model that keeps every request."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model import rule_book
from simulator.domain.model.rule_book import RuleBook
from simulator.domain.model.rules import VALUES_MAX, Rule, counted_value

REQUESTS = st.lists(
    st.fixed_dictionaries({"account": st.sampled_from(["a", "b", "c", "", None]), "amount": st.integers(1, 3)}),
    max_size=40,
)
RULES = st.lists(
    st.fixed_dictionaries(
        {"least": st.integers(1, 3)},
        optional={
            "nth": st.integers(1, 3),
            "every": st.integers(1, 3),
            "times": st.integers(1, 3),
            "per": st.just("account"),
        },
    ),
    max_size=4,
)


def made(place: int, row: Mapping[str, Any]) -> Rule[int]:
    least, counts = row["least"], {key: value for key, value in row.items() if key != "least"}
    return Rule(str(place), lambda facts: int(str(facts["amount"])) >= least, place, **counts)


class Model:
    """Every request that a rule matched, and the requests that it decided, with the account."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        self.matched: list[list[Any]] = [[] for _ in rows]
        self.chosen: list[list[Any]] = [[] for _ in rows]

    def choose(self, facts: dict[str, Any]) -> int | None:
        found: int | None = None
        account = facts["account"]
        for place, row in enumerate(self.rows):
            is_per = "per" in row
            if facts["amount"] < row["least"] or (is_per and not account):
                continue
            if found is not None and "nth" not in row and "every" not in row:
                continue
            self.matched[place].append(account)
            matched = self.matched[place].count(account) if is_per else len(self.matched[place])
            chosen = self.chosen[place].count(account) if is_per else len(self.chosen[place])
            holds = row.get("nth", matched) == matched and matched % row.get("every", 1) == 0
            if found is None and holds and chosen < row.get("times", chosen + 1):
                found = place
        if found is not None:
            self.chosen[found].append(account)
        return found


@given(RULES, REQUESTS)
def test_rules_that_count_per_value_choose_as_the_model_does(
    rows: list[dict[str, Any]], requests: list[dict[str, Any]]
) -> None:
    book, model = RuleBook(1, tuple(made(place, row) for place, row in enumerate(rows))), Model(rows)
    for facts in requests:
        rule = book.choose(lambda facts=facts: facts)  # type: ignore[misc]  # bound at once
        assert (None if rule is None else rule.then) == model.choose(facts)
    for (_, count), matched, chosen in zip(book.counted_rules(), model.matched, model.chosen, strict=True):
        assert (count.matched, count.chosen) == (len(matched), len(chosen))


def test_a_request_that_selects_a_rule_by_name_moves_the_count_of_no_value() -> None:
    book = RuleBook(1, (Rule("a", lambda facts: True, "a", name="picked", times=1, per="account"),))
    facts = {"account": "x"}
    assert [book.choose(lambda: facts, wanted) is not None for wanted in ("picked", "picked", "", "")] == [
        True, True, True, False,
    ]  # fmt: skip


def test_a_rule_keeps_the_counts_of_10000_values_and_the_oldest_goes_first() -> None:
    book = RuleBook(1, (Rule("a", lambda facts: True, "a", nth=2, per="account"),))
    for place in range(VALUES_MAX + 1):
        book.count(("a",), "", (("a", f"value {place}"),))
    [(_, count)] = book.counted_rules()
    assert len(count.by_value) == VALUES_MAX == 10_000
    assert [count.of(f"value {place}").matched for place in (0, 1, VALUES_MAX)] == [0, 1, 1]
    assert count.of("") is count, "without a value it is about the whole rule"


def test_the_rules_of_a_section_share_the_limit_on_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_book, "VALUES_MAX", 6)
    rules = tuple(Rule(str(place), lambda facts: True, place, nth=9, per="account") for place in range(3))
    book = RuleBook(1, rules[1:])

    def kept_after(*accounts: str) -> list[list[str]]:
        for account in accounts:
            book.choose(lambda account=account: {"account": account})  # type: ignore[misc]
        return [list(count.by_value) for _, count in book.counted_rules()]

    assert kept_after(*"abcdefgh") == [list("cdefgh")] * 2, "12 values for a section, 6 for each rule"
    book.put_first(rules[0])
    assert kept_after("i") == [["i"], *[list("fghi")] * 2], "4 for each of three"
    book.remove("1")
    assert kept_after("h", "j", "k") == [list("ihjk"), list("fghijk")], "one that is known takes no place"


class Ids(tuple[str, ...]):
    """Ids of rules that are too many to look through for each of them."""

    def __contains__(self, wanted: object) -> bool:
        raise AssertionError("takes time with the square of the rules")


def test_counting_looks_through_no_list_of_rules_for_each_rule() -> None:
    book = RuleBook(1, tuple(Rule(str(place), lambda facts: True, place, nth=9, per="account") for place in range(3)))
    ids = Ids(map(str, range(3)))
    book.count(ids, "", tuple((one, "x") for one in ids))
    assert [count.of("x").matched for _, count in book.counted_rules()] == [1, 1, 1]


def test_a_refid_is_counted_for_each_reseller_and_a_long_value_by_its_beginning() -> None:
    ours, theirs = ({"reseller": code, "refid": "order-1"} for code in ("RS001", "RS002"))
    assert counted_value("refid", ours) != counted_value("refid", theirs)
    assert counted_value("account", {"account": "9" * 5000}) == "9" * 200
    assert [counted_value("account", facts) for facts in ({}, {"account": None}, {"account": ""})] == ["", "", ""]
    assert counted_value("account", {"account": 5}) == "5"


def test_added_and_replaced_rules_keep_the_counts_of_their_values() -> None:
    rule = Rule("a", lambda facts: True, "a", nth=2, per="account")
    book = RuleBook(1, (rule,))
    book.choose(lambda: {"account": "x"})
    [(_, count)] = book.counted_rules()
    other: RuleBook[str] = RuleBook(1, ())
    other.put_first(rule, count)
    assert other.choose(lambda: {"account": "y"}) is None
    assert other.choose(lambda: {"account": "x"}) is rule


def test_a_rule_that_is_chosen_after_its_match_is_counted_for_its_value_alone() -> None:
    book = RuleBook(1, tuple(Rule(id_, lambda facts: True, id_, times=1, per="account") for id_ in "ab"))
    book.count((), "a", (("a", "x"), ("b", "x")))
    of_a, of_b = (count for _, count in book.counted_rules())
    assert (of_a.chosen, of_a.of("x").chosen, of_a.of("x").matched) == (1, 1, 0)
    assert of_b.by_value == {}
