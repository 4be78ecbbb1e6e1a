"""Which rule is chosen, and how often."""

from dataclasses import replace
from decimal import Decimal
from itertools import accumulate
from textwrap import dedent
from typing import Any

import pytest

from simulator.domain.model import rule_book
from simulator.domain.model.rule_book import Choice, RuleBook
from simulator.domain.model.rules import Rule, SourceLine, matches_all
from tests.support.readings import built

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


def test_the_example_at_the_top_of_the_module_is_true() -> None:
    text = rule_book.__doc__ or ""
    example = dedent(text[text.index("    payments:") : text.index("The first payment")])
    second_fails, success, *_ = built(f"extends: default\n{example}").rules["payments"]
    book: RuleBook[Any] = RuleBook(1, (second_fails, success))

    def request() -> dict[str, object]:
        return {"product": "RELOAD"}

    assert book.find(request) == Choice(rule=success, matched=("payments-1", "payments-2"))
    assert book.choose(request) is success
    assert book.find(request) == Choice(rule=second_fails, matched=("payments-1",))


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


def test_chance_beside_a_count_per_value_is_drawn_for_each_request() -> None:
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


def test_a_draw_depends_on_the_number_of_the_match_and_not_on_other_rules() -> None:
    alone = chosen(RuleBook(1, (drawing(Rule("a", always, ""), x=1, y=1),)), 40)
    book = RuleBook(1, (Rule("first", always, "first", every=2), drawing(Rule("a", always, "", every=1), x=1, y=1)))
    assert chosen(book, 40)[::2] == alone[::2]


def test_picking_a_rule_with_variants_draws_too_and_moves_no_other_draw() -> None:
    book = RuleBook(1, (drawing(Rule("a", always, "", name="picked"), x=1, y=1),))
    picked = chosen(book, 40, "picked")
    assert set(picked) == {"x", "y"}
    assert chosen(book, 40) == chosen(RuleBook(1, (drawing(Rule("a", always, "", name="picked"), x=1, y=1),)), 40)


def test_a_magic_account_s_rule_draws_too() -> None:
    magic = {"020": drawing(Rule("magic-20", always, ""), x=1, y=1)}

    def fall() -> list[str]:
        book: RuleBook[str] = RuleBook(1, (), magic)
        found = [book.choose(lambda: ANY, account="0000020") for _ in range(40)]
        return [rule.then for rule in found if rule is not None]

    assert fall() == fall()
    assert set(fall()) == {"x", "y"}


def test_a_seed_draws_equal_values_in_every_version() -> None:
    """Scenarios, recorded runs and expectations of users rely on it."""
    varied = drawing(Rule("a", always, "", name="varied"), x=1, y=1)
    half = Rule("a", always, "x", name="half", chance=Decimal("0.5"))
    magic: RuleBook[str] = RuleBook(1, (), {"020": varied})
    drawn = {
        "matched": chosen(RuleBook(1, (varied,)), 12),
        "selected": chosen(RuleBook(1, (varied,)), 12, "varied"),
        "magic": [rule.then for _ in range(12) if (rule := magic.choose(dict, account="0000020"))],
        "chance": chosen(RuleBook(1, (half,)), 12),
    }
    assert {kind: "".join(names) for kind, names in drawn.items()} == {
        "matched": "xxyyyxyxyxxx",
        "selected": "xxxyxxxyyyxx",
        "magic": "xxyyyxyxyxxx",
        "chance": "x--xxx---x--",
    }


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
    book.remove("a")
    assert chosen(book, 1) == ["b"]


def magic_book(*rules: Rule[str]) -> RuleBook[str]:
    return RuleBook(1, rules, {"001": Rule("magic-01", always, "magic")})


@pytest.mark.parametrize(
    ("account", "is_magic"),
    [("0120000001", True), ("0000001", True), ("0120000002", False), ("0120001001", False), ("", False), (5, False)],
)
def test_an_account_is_magic_by_its_last_seven_digits(account: object, is_magic: bool) -> None:
    book = magic_book()
    assert book.is_magic(account) is is_magic
    chosen_rule = book.choose(lambda: ANY, account=account)
    assert (chosen_rule is not None) is is_magic
    assert book.magic_chosen == ({"magic-01": 1} if is_magic else {})


def test_own_rules_come_before_magic_accounts_and_fallbacks_after_them() -> None:
    own = Rule("own", lambda facts: facts["product"] == "CARD", "own")
    book = magic_book(Rule("last", always, "last", fallback=True), own)
    magic = "0120000001"
    for product, account, then in [("CARD", magic, "own"), ("BILL", magic, "magic"), ("BILL", "1", "last")]:
        found = book.choose(lambda product=product: {"product": product}, account=account)  # type: ignore[misc]
        assert found is not None
        assert found.then == then
    assert [rule.id for rule, _ in book.counted_rules()] == ["own", "last"]
    assert list(book.names()) == ["magic-01"]
    assert [book.times_chosen(rule) for rule, _ in book.counted_rules()] == [1, 1]


def test_a_fallback_with_a_condition_decides_only_what_it_matches_and_can_be_removed() -> None:
    bills = Rule("bills", lambda facts: facts["product"] == "BILL", "bills", fallback=True)
    book = RuleBook(1, (bills, Rule("cards", lambda facts: facts["product"] == "CARD", "cards", fallback=True)))

    def found() -> list[str | None]:
        rules = [book.choose(lambda product=product: {"product": product}) for product in ("BILL", "CARD", "PIN")]  # type: ignore[misc]
        return [None if rule is None else rule.then for rule in rules]

    assert found() == ["bills", "cards", None]
    book.remove("bills")
    assert found() == [None, "cards", None]


def test_a_fallback_without_conditions_is_counted() -> None:
    last = Rule("last", matches_all, "last", name="always", fallback=True)
    book = RuleBook(1, (last,))
    assert book.choose(dict) is last
    (count,) = (count for _, count in book.counted_rules())
    assert (count.matched, count.chosen, count.selected) == (1, 1, 0)
    book.put_first(Rule("first", always, "first", fallback=True))
    assert chosen(book, 1) == ["first"]
    book.remove("first")
    book.put_first(Rule("own", always, "own"))
    assert chosen(book, 1) == ["own"]


def test_a_book_finds_rules_by_name_and_by_id() -> None:
    book = magic_book(Rule("a", always, "a", name="first"), Rule("b", always, "b"))
    named = [rule.then if (rule := book.by_name(label)) else None for label in ("first", "a", "b", "magic-01", "x")]
    assert named == ["a", "a", "b", "magic", None]
    assert list(book.names()) == ["first", "magic-01"]


def test_a_search_before_the_body_stops_at_the_rule_that_needs_it() -> None:
    early = Rule("early", lambda facts: "product" in facts, "early")
    needs_body = Rule("body", lambda facts: True, "body", when_of_head=lambda facts: True)
    elsewhere = Rule("other", lambda facts: True, "other", when_of_head=lambda facts: False)
    book = RuleBook(1, (elsewhere, Rule("counts", always, "counts", nth=9), needs_body, early))
    first = book.find(dict, before_body=True)
    assert (first.rule, first.matched, first.needs_body) == (None, ("counts",), True)
    second = book.find(lambda: ANY, matched_before=frozenset({"counts"}))
    assert (second.rule and second.rule.id, second.matched, second.needs_body) == ("other", ("other",), False)
    decided = RuleBook(1, (early, needs_body)).find(lambda: ANY, before_body=True)
    assert (decided.rule and decided.rule.id, decided.needs_body) == ("early", False)


def test_a_rule_found_before_the_body_ends_the_count_of_rules_that_need_it() -> None:
    early, counts = Rule("early", always, "early"), Rule("counts", always, "counts", nth=2)
    needs_body = Rule("body", always, "body", nth=2, when_of_head=always)
    choice = RuleBook(1, (early, counts, needs_body)).find(lambda: ANY, before_body=True)
    assert (choice.rule and choice.rule.id, choice.matched, choice.needs_body) == ("early", ("early", "counts"), False)


def test_a_search_before_the_body_waits_for_a_magic_account() -> None:
    assert magic_book().find(dict, before_body=True).needs_body
    assert not RuleBook(1, ()).find(dict, before_body=True).needs_body
    assert not magic_book(Rule("a", always, "a")).find(dict, before_body=True).needs_body


def test_a_rule_that_was_removed_before_it_is_counted_is_not_counted_as_magic() -> None:
    book = magic_book(Rule("a", always, "a"))
    choice = book.find(lambda: ANY)
    book.remove("a")
    book.count(choice.matched, "a")
    assert not book.magic_chosen


@pytest.mark.parametrize(("selected", "times"), [(0, 2), (3, 2)])
def test_requests_that_name_a_rule_do_not_count_for_its_times(selected: int, times: int) -> None:
    book = RuleBook(1, (Rule("a", always, "a", name="named", times=times),))
    assert chosen(book, selected, "named") == ["a"] * selected
    assert chosen(book, times + 1) == ["a"] * times + ["-"]


def test_a_restored_book_continues() -> None:
    rules = (Rule("a", always, "a", times=1), Rule("last", always, "last", fallback=True))
    book, other = magic_book(*rules), magic_book()
    chosen(book, 1)
    book.choose(lambda: ANY, account="0000001", selected="magic-01")
    other.restore(book.counted_rules(), book.magic_chosen)
    assert other.magic_chosen == {"magic-01": 1}
    assert other.times_chosen(Rule("magic-01", always, "magic")) == 0, "rules of magic accounts are counted separately"
    assert chosen(other, 1) == ["last"]
    assert [rule.id for rule, _ in other.counted_rules()] == ["a", "last"]


@pytest.mark.parametrize(("counts", "matched"), [({}, 0), ({"times": 1}, 0), ({"nth": 1}, 1), ({"every": 1}, 1)])
def test_a_rule_with_nth_or_every_counts_all_its_matches(counts: dict[str, int], matched: int) -> None:
    assert matches_all({}) is matches_all(ANY) is True
    book = RuleBook(1, (Rule("first", matches_all, "first"), Rule("a", matches_all, "a", **counts)))  # type: ignore[arg-type]
    assert chosen(book, 1) == ["first"]
    assert book.counts["a"].matched == matched, "although another rule decided"


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Rule("a", matches_all, "a"), True),
        (Rule("a", always, "a"), False),
        (Rule("a", matches_all, "a", times=1), False),
        (Rule("a", matches_all, "a", nth=1), False),
        (Rule("a", matches_all, "a", every=1), False),
        (Rule("a", matches_all, "a", chance=Decimal(1)), False),
        (Rule("a", matches_all, "a", per="account"), False),
        (drawing(Rule("a", matches_all, ""), x=1, y=1), False),
    ],
)
def test_a_rule_decides_all_requests_without_conditions_counts_and_draws(rule: Rule[str], expected: bool) -> None:
    assert rule.decides_all is expected


def test_a_rule_that_decides_all_is_counted_and_leaves_magic_accounts_to_their_rules() -> None:
    book = magic_book(Rule("all", matches_all, "all", name="named", fallback=True))
    accounts = ("0120000001", "0120000002", "")
    assert [rule.then if (rule := book.choose(dict, account=one)) else None for one in accounts] == [
        "magic",
        "all",
        "all",
    ]
    assert chosen(book, 1, "named") == ["all"]
    (count,) = (count for _, count in book.counted_rules())
    assert (count.matched, count.chosen, count.selected) == (2, 3, 1)


def test_rules_that_do_the_same_are_equal_wherever_and_however_they_are_written() -> None:
    rule = Rule("a", always, "a")
    same = replace(rule, written=dict, place=SourceLine("a.yaml", 3))
    assert same == rule
    assert repr(same) == repr(rule), "a long document is not part of a message"
    assert replace(rule, then="b") != rule


def test_a_rule_is_shown_by_its_name_and_without_one_by_its_id() -> None:
    assert (Rule("a", always, "").label, Rule("a", always, "", name="n").label) == ("a", "n")
    assert [rule.id for _, rule in drawing(Rule("a", always, ""), x=1, y=1).with_id("b").variants] == ["b", "b"]


@pytest.mark.parametrize(("fraction", "then"), [(0, "x"), (0.24, "x"), (0.25, "y"), (0.99, "y")])
def test_a_variant_is_drawn_by_its_share_of_the_weights(fraction: float, then: str) -> None:
    assert drawing(Rule("a", always, ""), x=1, y=3).drawn(fraction).then == then
