"""Details in words: every kind has a sentence, within bounds, for any facts."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model.catalog import Money
from simulator.domain.model.details import Detail, DetailKind, detail
from simulator.domain.model.likeness import COMPARED_MAX, nearest
from simulator.domain.model.transactions import Status
from simulator.short_text import SENTENCE_CHARS_MAX
from simulator.wire.diagnoses import SENTENCES, sentence, shown


def test_every_kind_of_detail_has_a_sentence() -> None:
    assert set(SENTENCES) == set(DetailKind)


SHOWN: list[tuple[Any, str]] = [
    (Decimal("10"), "10"),
    (Decimal("10.00"), "10"),
    (Decimal("5.2"), "5.20"),
    (Decimal("0.045"), "0.045"),
    (Decimal("1E+400"), "1E+400"),
    (Money(Decimal("5.2")), "5.20"),
    (Money(Decimal(5)), "5.00"),
    (Status.SUCCESSFUL, "Succesful"),
    (("a", Decimal(5)), "a, 5"),
    (tuple(map(str, range(100))), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 88 more"),
    ({"amount": Decimal(10), "extras.ref2": None}, "amount 10 and extras.ref2 (none)"),
    ("x" * 101, "x" * 100 + "..."),
    (None, ""),
    ((), ""),
]


@pytest.mark.parametrize(("value", "text"), SHOWN, ids=lambda one: str(one)[:30])
def test_a_fact_is_shown_as_people_write_it(value: Any, text: str) -> None:
    assert shown(value) == text


def test_an_empty_part_is_left_out() -> None:
    assert sentence(detail(DetailKind.NO_PRODUCT, product="X", nearest="")) == "no product X"
    assert sentence(detail(DetailKind.NO_PRODUCT, product="X", nearest="Y")) == "no product X; did you mean Y?"


@given(st.sampled_from(DetailKind), st.one_of(st.text(), st.decimals(), st.integers(), st.tuples(st.text()), st.none()))
def test_any_facts_give_a_sentence_within_bounds(kind: DetailKind, value: Any) -> None:
    names = {name for part in SENTENCES[kind] for name in part.replace("{", "}").split("}")[1::2]}
    assert len(sentence(Detail(kind, dict.fromkeys(names, value)))) <= SENTENCE_CHARS_MAX


def test_a_sentence_that_is_cut_ends_in_three_dots() -> None:
    long = tuple(f"{'x' * 90}{number}" for number in range(9))
    said = sentence(detail(DetailKind.PLAN_REQUIRED, amount=Decimal(10), codes=long))
    assert len(said) == SENTENCE_CHARS_MAX
    assert said.endswith("xx...")


NEAR = [
    ("RELOADX", "RELOAD"),
    ("reload", "RELOAD"),
    ("electrics", "ELECTRIC"),
    (" RELOAD ", "RELOAD"),
    ("ELECTRICITY", "ELECTRIC"),
    ("", ""),
    ("something else", ""),
    ("x" * 10_000, ""),
]


@pytest.mark.parametrize(("word", "meant"), NEAR, ids=lambda one: one[:20])
def test_a_similar_word_is_suggested(word: str, meant: str) -> None:
    assert nearest(word, ("RELOAD", "ELECTRIC", "DATA")) == meant


def test_the_first_thousands_of_many_words_are_compared() -> None:
    words = [f"CODE-{number}" for number in range(50 * COMPARED_MAX + 1)]
    assert nearest("code-7", words) == "CODE-7"
    assert nearest("CODE-4567X", words) == "CODE-4567"
    assert nearest(f"code-{50 * COMPARED_MAX}", words) != f"CODE-{50 * COMPARED_MAX}"
