"""How options look on the wire."""

from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.model.catalog import Money, Option, OptionList
from simulator.wire.formats import amount_text, money
from simulator.wire.option_lists import Page, label_without_validity, options
from tests.support.worlds import fixed_product

LABELS = [
    ("5 GB (7 days)", "7 days", "5 GB"),
    ("5 GB [7 days]", "7 days", "5 GB"),
    ("5 GB - 7 days", "7 days", "5 GB"),
    ("5 GB, 7 days", "7 days", "5 GB"),
    ("5 GB / 7 Days", "7 days", "5 GB"),
    ("5 GB 7 days", "7 days", "5 GB"),
    ("7 days 5 GB", "7 days", "5 GB"),
    ("7 days - 5 GB", "7 days", "5 GB"),
    ("5 GB (7 days) + hotspot", "7 days", "5 GB + hotspot"),
    ("5 GB (7 days, night)", "7 days", "5 GB (night)"),
    ("5 GB (night, 7 days)", "7 days", "5 GB (night)"),
    ("5 GB 7 days, full speed", "7 days", "5 GB, full speed"),
    ("5 GB (17 days)", "7 days", "5 GB (17 days)"),
    ("5 GB (7 daysof)", "7 days", "5 GB (7 daysof)"),
    ("5 GB", "7 days", "5 GB"),
    ("7 days", "7 days", "7 days"),
    ("(7 days)", "7 days", "(7 days)"),
    ("5 GB (a.b)", "a.b", "5 GB"),
    ("5 GB (axb)", "a.b", "5 GB (axb)"),
    ("5 GB (7 days)", None, "5 GB (7 days)"),
]


@pytest.mark.parametrize(("label", "validity", "expected"), LABELS)
def test_the_validity_is_taken_out_of_a_label(label: str, validity: str | None, expected: str) -> None:
    assert label_without_validity(Option("c", label, validity=validity)) == expected


def test_only_the_page_is_rendered() -> None:
    beyond: Any = None
    found = OptionList((*(Option(str(place), "x") for place in range(40)), *((beyond,) * 24_960)))
    body = options(fixed_product(), "pick", found, Page.of(len(found), 1, 40), by_denomination=True)
    assert [item["code"] for item in body["items"]] == [str(place) for place in range(40)]
    assert body["meta"] == {"current_page": 1, "last_page": 625, "per_page": 40, "total": 25_000}


def test_absent_parts_of_an_option_are_omitted() -> None:
    card = fixed_product()
    (plain,) = options(
        card, "pick", OptionList([Option("c", "C", Decimal(5))]), Page(1, 1, 9, 1), by_denomination=True
    )["items"]
    assert plain == {"code": "c", "label": "C"}, "only options of the pricing field have a denomination"


@pytest.mark.parametrize(
    ("total", "current", "size", "last", "bounds"),
    [
        (0, 1, 10, 1, (0, 0)),
        (1, 1, 10, 1, (1, 1)),
        (10, 1, 10, 1, (1, 10)),
        (11, 2, 10, 2, (11, 11)),
        (5, 9, 1, 5, (0, 0)),
    ],
)
def test_a_page_knows_its_last_page_and_its_bounds(
    total: int, current: int, size: int, last: int, bounds: tuple[int, int]
) -> None:
    page = Page.of(total, current, size)
    assert (page.last, page.bounds) == (last, bounds)
    shown = list(range(1, total + 1))[page.items]
    assert (shown[:1], shown[-1:]) == (([bounds[0]], [bounds[1]]) if bounds[0] else ([], []))


@pytest.mark.parametrize(
    ("amount", "text"),
    [("1", "1.00"), ("1.5", "1.50"), ("10000.00", "10000.00"), ("0.045", "0.045"), ("1E+3", "1000.00")],
)
def test_money_has_two_decimals_at_least(amount: str, text: str) -> None:
    assert amount_text(Decimal(amount)) == text
    assert money(Money(Decimal(amount), "Gems")) == {"amount": text, "currency": "Gems"}
