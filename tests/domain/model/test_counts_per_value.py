"""Counts per value, against a model that keeps every request."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model.rule_book import RuleBook
from simulator.domain.model.rules import (
    SANDBOX_VALUES_MAX,
    VALUES_MAX,
    Rule,
    RuleCount,
    ValueBudget,
    counted_value,
)

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


def test_the_counts_of_so_many_values_are_kept_and_the_oldest_goes_first() -> None:
    count, budget = RuleCount(), ValueBudget()
    for place in range(VALUES_MAX + 1):
        budget.count_of("a", count, f"value {place}").matched += 1
    assert len(count.by_value) == VALUES_MAX
    assert [count.of(f"value {place}").matched for place in (0, 1, VALUES_MAX)] == [0, 1, 1]
    assert count.of("") is count, "without a value it is about the whole rule"


def test_the_rules_of_a_sandbox_share_a_budget_and_the_largest_rule_loses_its_oldest_value() -> None:
    budget, counts = ValueBudget(6), {owner: RuleCount() for owner in "abcd"}

    def kept_after(*values: str) -> list[str]:
        """All values that are kept, each with its rule, after these were counted."""
        for value in values:
            budget.count_of(value[0], counts[value[0]], value)
        return [value for count in counts.values() for value in count.by_value]

    assert kept_after("a1", "a2", "a3", "a4", "b1", "b2") == ["a1", "a2", "a3", "a4", "b1", "b2"]
    assert kept_after("b3", "c1") == ["a3", "a4", "b1", "b2", "b3", "c1"]
    assert kept_after("a3", "c2") == ["a3", "a4", "b2", "b3", "c1", "c2"], "one that is known takes no place"
    assert kept_after("d1") == ["a4", "b2", "b3", "c1", "c2", "d1"], "the first that had so many"
    budget.release("b", counts.pop("b"))
    assert kept_after("c3", "d2") == ["a4", "c1", "c2", "c3", "d1", "d2"]
    counts["e"] = RuleCount(by_value={f"e{place}": RuleCount() for place in range(4)})
    budget.add("e", counts["e"])
    assert kept_after() == ["a4", "c2", "c3", "d2", "e2", "e3"], "a rule with its values may be taken up"


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9))), st.integers(1, 12))
def test_no_requests_exceed_the_budget_of_a_sandbox(requests: list[tuple[str, int]], values_max: int) -> None:
    budget, counts = ValueBudget(values_max), {owner: RuleCount() for owner in "abcd"}
    for owner, value in requests:
        before = {one: len(count.by_value) for one, count in counts.items()}
        is_known = str(value) in counts[owner].by_value
        budget.count_of(owner, counts[owner], str(value)).matched += 1
        after = {one: len(count.by_value) for one, count in counts.items()}
        assert counts[owner].of(str(value)).matched >= 1
        assert sum(after.values()) == (sum(before.values()) if is_known else min(sum(before.values()) + 1, values_max))
        for one in before:
            assert after[one] >= before[one] or before[one] == max(before.values()), "only of the rule with most values"


def test_the_books_of_a_sandbox_share_one_budget() -> None:
    rules = tuple(Rule(str(place), lambda facts: True, place, nth=2, per="refid") for place in range(20))
    one, other = RuleBook(1, rules[:10], budget=(shared := ValueBudget(30))), RuleBook(1, rules[10:], budget=shared)

    def kept() -> int:
        return sum(len(count.by_value) for book in (one, other) for _, count in book.counted_rules())

    for refid in range(5):
        for book in (one, other):
            book.choose(lambda refid=refid: {"reseller": "RS001", "refid": str(refid)})  # type: ignore[misc]
    assert kept() == 30
    for rule in rules[:10]:
        one.remove(rule.id)
    assert kept() < 30
    for refid in range(5, 10):
        other.choose(lambda refid=refid: {"reseller": "RS001", "refid": str(refid)})  # type: ignore[misc]
    assert kept() == 30, "what the removed ones had is free"


def test_a_rule_keeps_the_counts_of_10000_values_and_a_sandbox_of_100000() -> None:
    assert (VALUES_MAX, SANDBOX_VALUES_MAX) == (10_000, 100_000)


class Ids(tuple[str, ...]):
    """Ids of rules that are too many to look through for each of them."""

    def __contains__(self, wanted: object) -> bool:
        raise AssertionError("takes time with the square of the rules")


def test_counting_looks_through_no_list_of_rules_for_each_rule() -> None:
    book = RuleBook(1, tuple(Rule(str(place), lambda facts: True, place, nth=9, per="account") for place in range(3)))
    ids = Ids(map(str, range(3)))
    book.count(ids, "", [(one, "x") for one in ids])
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
    book.count((), "a", [("a", "x"), ("b", "x")])
    of_a, of_b = (count for _, count in book.counted_rules())
    assert (of_a.chosen, of_a.of("x").chosen, of_a.of("x").matched) == (1, 1, 0)
    assert of_b.by_value == {}
