"""Which rule is chosen, and how often."""

from dataclasses import replace
from decimal import Decimal
from itertools import accumulate
from typing import Any

import pytest

from simulator.domain.model.rule_book import MagicRules, RuleBook
from simulator.domain.model.rules import Rule

ANY = {"product": "BILL"}


def chosen(book: RuleBook[str], count: int, wanted: str = "") -> list[str]:
    return [rule.then if (rule := book.choose(lambda: ANY, wanted)) else "-" for _ in range(count)]


def always(facts: object) -> bool:
    return True


def test_the_first_match_wins() -> None:
    book = RuleBook(
        1, (Rule("a", lambda facts: facts["product"] == "X", "a"), Rule("b", always, "b"), Rule("c", always, "c"))
    )
    assert chosen(book, 2) == ["b", "b"]


def test_times_lets_a_rule_act_so_often_and_then_falls_through() -> None:
    book = RuleBook(1, (Rule("a", always, "a", times=2), Rule("b", always, "b")))
    assert chosen(book, 4) == ["a", "a", "b", "b"]


def test_nth_and_every_count_the_matches_of_their_own_when() -> None:
    book = RuleBook(1, (Rule("a", always, "a", nth=3), Rule("b", always, "b", every=2)))
    assert chosen(book, 7) == ["-", "b", "a", "b", "-", "b", "-"]
    book = RuleBook(1, (Rule("a", always, "a", times=1), Rule("b", always, "b", nth=2)))
    assert chosen(book, 3) == ["a", "b", "-"]


def test_chance_is_deterministic_and_has_about_its_frequency() -> None:
    def fall(seed: int) -> list[str]:
        return chosen(RuleBook(seed, (Rule("a", always, "a", chance=Decimal("0.3")),)), 2000)

    assert fall(1) == fall(1) != fall(2)
    assert 500 < fall(1).count("a") < 700


def test_chance_is_drawn_from_the_name_wherever_the_rule_stands_and_without_one_from_the_id() -> None:
    def fall(*rules: Rule[str]) -> list[str]:
        return chosen(RuleBook(1, rules), 200)

    half = Decimal("0.5")
    first = fall(Rule("payments-1", always, "a", name="now and then", chance=half))
    assert fall(Rule("payments-2", always, "a", name="now and then", chance=half)) == first
    assert fall(Rule("payments-1", always, "a", chance=half)) != first
    assert fall(Rule("payments-2", always, "a", chance=half)) != fall(Rule("payments-1", always, "a", chance=half))


def test_chance_beside_a_count_per_value_is_drawn_anew_for_each_request() -> None:
    book = RuleBook(1, (Rule("a", always, "a", every=1, per="account", chance=Decimal("0.5")),))
    found = [book.choose(lambda at=at: {"account": str(at)}) is not None for at in range(200)]  # type: ignore[misc]
    assert 70 < sum(found) < 130


def drawing(rule: Rule[str], **weights: int) -> Rule[str]:
    ends = accumulate(weights.values())
    return replace(
        rule, variants=tuple((end, replace(rule, then=then)) for end, then in zip(ends, weights, strict=True))
    )


def test_a_rule_with_variants_draws_each_with_about_its_frequency_and_the_same_in_every_run() -> None:
    def fall(seed: int, **more: Any) -> list[str]:
        return chosen(RuleBook(seed, (drawing(Rule("a", always, "", **more), x=70, y=20, z=10),)), 2000)

    assert fall(1) == fall(1) != fall(2)
    assert fall(1, name="n") == fall(1, name="n") != fall(1)
    assert [round(fall(1).count(one) / 200) for one in "xyz"] == [7, 2, 1]


def test_what_is_drawn_depends_on_the_number_of_the_match_and_not_on_other_rules() -> None:
    alone = chosen(RuleBook(1, (drawing(Rule("a", always, ""), x=1, y=1),)), 40)
    book = RuleBook(1, (Rule("first", always, "first", every=2), drawing(Rule("a", always, "", every=1), x=1, y=1)))
    assert chosen(book, 40)[::2] == alone[::2]


def test_picking_a_rule_with_variants_draws_too_and_moves_no_other_draw() -> None:
    book = RuleBook(1, (drawing(Rule("a", always, "", name="picked"), x=1, y=1),))
    picked = chosen(book, 40, "picked")
    assert set(picked) == {"x", "y"}
    assert chosen(book, 40) == chosen(RuleBook(1, (drawing(Rule("a", always, "", name="picked"), x=1, y=1),)), 40)


def test_a_magic_account_s_rule_draws_too() -> None:
    magic = MagicRules({"020": drawing(Rule("magic-20", always, ""), x=1, y=1)})

    def fall() -> list[str]:
        book: RuleBook[str] = RuleBook(1, (), magic)
        found = [book.choose(lambda: ANY, account="0000020") for _ in range(40)]
        return [rule.then for rule in found if rule is not None]

    assert fall() == fall()
    assert set(fall()) == {"x", "y"}


def test_a_request_may_pick_a_rule_by_name_without_matching_its_when() -> None:
    never = Rule("a", lambda facts: False, "a", name="picked")
    book = RuleBook(1, (never, Rule("b", always, "b")))
    assert chosen(book, 1, "picked") == ["a"]
    assert chosen(book, 1) == ["b"]


@pytest.mark.parametrize("counted", [{"times": 1}, {"nth": 2}, {"every": 2}, {"chance": Decimal("0.4")}])
def test_picking_a_rule_by_name_moves_no_rule_s_counts(counted: dict[str, Any]) -> None:
    def rules() -> tuple[Rule[str], ...]:
        return Rule("a", always, "a", name="picked", **counted), Rule("b", always, "b", nth=3)

    unpicked, book = RuleBook(1, rules()), RuleBook(1, rules())
    assert chosen(book, 5, "picked") == ["a"] * 5
    assert chosen(book, 8) == chosen(unpicked, 8)
    assert chosen(book, 3, "picked") == ["a"] * 3
    assert chosen(book, 8) == chosen(unpicked, 8)


def test_rules_are_placed_first_and_taken_out() -> None:
    book = RuleBook(1, (Rule("b", always, "b"),))
    book.put_first(Rule("a", always, "a"))
    assert chosen(book, 1) == ["a"]
    assert book.remove("a")
    assert not book.remove("a")
    assert chosen(book, 1) == ["b"]
