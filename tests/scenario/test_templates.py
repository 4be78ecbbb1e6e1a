"""Placeholders in the texts of a result."""

from decimal import Decimal

import pytest

from simulator.scenario.sections.templates import template

FACTS: dict[str, object] = {
    "seed": 7,
    "trxid": "2701101234567890123456",
    "refid": "order-1",
    "reseller": "RS001",
    "product": "RELOAD",
    "account": "0123456789",
    "amount": Decimal("10.50"),
}

TEXTS = [
    ("", ""),
    ("plain", "plain"),
    ("SN-{refid}", "SN-order-1"),
    ("{trxid}{account}{product}{amount}{reseller}", "27011012345678901234560123456789RELOAD10.50RS001"),
    ("{{refid}}", "{refid}"),
    ("a}}b{{c", "a}b{c"),
    ("100 %", "100 %"),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_placeholders_are_filled_in(text: str, expected: str) -> None:
    assert template(text, "sn")(FACTS) == expected


@pytest.mark.parametrize("text", ["{refd}", "{}", "{ refid }", "{digits}", "{digits:}", "{digits:0}", "{digits:100}"])
def test_an_unknown_placeholder_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="placeholder"):
        template(text, "sn")


@pytest.mark.parametrize("text", ["{", "}", "a{b", "{refid", "refid}", "{{refid}"])
def test_a_single_brace_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="single"):
        template(text, "sn")


def test_random_text_depends_only_on_seed_field_and_transaction() -> None:
    draw = template("{digits:64}", "sn")
    assert draw(FACTS) == draw(dict(FACTS)) == template("x{digits:64}", "sn")(FACTS)[1:]
    assert len(draw(FACTS)) == 64
    assert draw(FACTS).isdecimal()
    others = [draw({**FACTS, "seed": 8}), draw({**FACTS, "trxid": "2"}), template("{digits:64}", "pin")(FACTS)]
    assert len({draw(FACTS), *others}) == 4


def test_two_draws_of_a_text_differ() -> None:
    first, second, third = template("{alnum:12}-{alnum:12}-{alnum:12}", "pin")(FACTS).split("-")
    assert len({first, second, third}) == 3


def test_the_digits_of_a_seed_never_change() -> None:
    assert template("{digits:8} {alnum:8}", "sn")(FACTS) == "85735419 VTZH6MY2"


def test_templates_of_a_text_are_equal_after_each_compilation() -> None:
    first = template("SN-{refid}", "sn")
    template.cache_clear()
    again = template("SN-{refid}", "sn")
    assert again is not first
    assert again == first != template("SN-{trxid}", "sn")
