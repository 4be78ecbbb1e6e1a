"""Payments of an option's price instead of its denomination (SPEC 2.1, 9)."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.model.catalog import (
    Adjustment,
    Catalog,
    FormField,
    Fulfillment,
    Money,
    Option,
    OptionList,
    Product,
    Source,
)
from simulator.domain.model.details import DetailKind, detail
from simulator.domain.model.transactions import Reason
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import fixed_product, order, pay, refused, sandbox

TAKEN = {"price-amount": "taken"}
DEARER = Adjustment("percentage", Decimal("1.03"))
CARD = fixed_product(denominations=(5, 10, 20), price_adjustment=DEARER)  # sold for 5.15, 10.30 and 20.60
PLAN = FormField("amount", "select", "numeric", "Amount", role="pricing")
DATA = replace(
    CARD,
    code="DATA",
    fulfillment=Fulfillment(None, Source("amount"), {"subproduct_code": Source("amount", "code")}),
    options={
        "amount": OptionList(
            (Option("A", "a", Decimal(10)), Option("B", "b", Decimal(10)), Option("C", "c", Decimal(20)))
        )
    },
)


def box_of(product: Product, **more: Any) -> Sandbox:
    return sandbox(catalog=Catalog(products={product.code: product}), **more)


def said(product: Product, amount: str, **extras: str) -> DetailKind | None:
    found = refused(box_of(product), order(product=product.code, amount=amount, extras=extras)).detail
    return found.kind if found else None


@pytest.mark.parametrize(
    ("changes", "amount", "code", "denomination"),
    [
        ({}, "5.15", "CARD-5", 5),
        ({}, "20.60", "CARD-20", 20),
        ({"price_adjustment": Adjustment("fixed", Decimal("0.50"))}, "10.50", "CARD-10", 10),
        ({"price_adjustment": Adjustment("fixed", Decimal("-1"))}, "9", "CARD-10", 10),
        ({"price_adjustment": None, "denomination_unit_price": Decimal("0.045")}, "0.45", "CARD-10", 10),
        ({"denomination_unit_price": Decimal("0.045")}, "0.93", "CARD-20", 20),  # 0.927
    ],
)
def test_a_refused_price_names_the_denomination(changes: Any, amount: str, code: str, denomination: int) -> None:
    answer = refused(box_of(replace(CARD, **changes)), order(product="CARD", amount=amount))
    assert answer.reason is Reason.DENOMINATION
    facts = {"price": Money(Decimal(amount)), "code": code, "denomination": denomination, "plan": None}
    assert answer.detail == detail(DetailKind.PRICE_AMOUNT, **facts)


@pytest.mark.parametrize(
    ("changes", "amount"),
    [
        ({}, "5.14"),
        ({}, "5.16"),
        ({"denomination_unit_price": Decimal("0.001")}, "0.02"),  # 10 and 20 would both cost 0.01 or 0.02
        ({"price_adjustment": Adjustment("percentage", Decimal(0))}, "1"),
        ({"denomination_unit_price": Decimal("0.0001"), "price_adjustment": None}, "0.01"),
    ],
)
def test_no_denomination_is_named_without_a_single_option_at_this_price(changes: Any, amount: str) -> None:
    product = replace(CARD, **changes)
    if amount == "0.02":
        product = replace(product, options={"amount": OptionList(Option(str(n), "", Decimal(n)) for n in (19, 20))})
    assert said(product, amount) is DetailKind.NOT_SOLD


DOUBLE = Adjustment("percentage", Decimal(2))


@pytest.mark.parametrize(
    ("changes", "amount", "priced"),
    [
        ({"price_adjustment": DOUBLE}, 10, ("CARD-5",)),
        ({"price_adjustment": DOUBLE}, 20, ("CARD-10",)),
        ({"price_adjustment": DOUBLE}, 5, None),
        ({"price_adjustment": Adjustment("fixed", Decimal(10))}, 20, ("CARD-10",)),
        ({"price_adjustment": None}, 10, None),
        ({"price_adjustment": None, "denomination_unit_price": Decimal("0.5")}, 5, ("CARD-10",)),
        ({"price_adjustment": None, "denomination_unit_price": Decimal(2)}, 10, ("CARD-5",)),
        ({"price_adjustment": Adjustment("fixed", Decimal(0))}, 10, None),
    ],
)
def test_a_denomination_that_is_the_price_of_another_option_is_paid_with_a_warning(
    changes: Any, amount: int, priced: tuple[str, ...] | None
) -> None:
    answer = pay(box_of(replace(CARD, **changes)), order(product="CARD", amount=amount))
    facts = {"denomination": Decimal(amount), "code": (f"CARD-{amount}",), "priced": priced}
    assert answer.transaction.amount == amount
    assert answer.detail == (None if priced is None else detail(DetailKind.PRICE_OF_ANOTHER, **facts))


def test_a_refused_payment_has_the_same_warning_and_a_plan_code_makes_it_needless() -> None:
    double = replace(DATA, price_adjustment=DOUBLE)
    refusal = refused(box_of(double, balance="1.00"), order(product="DATA", amount=20))
    assert refusal.reason is Reason.BALANCE
    assert refusal.warning == detail(
        DetailKind.PRICE_OF_ANOTHER, denomination=Decimal(20), code=("C",), priced=("A", "B")
    )
    assert pay(box_of(double), order(product="DATA", amount=20, extras={"subproduct_code": "C"})).detail is None


@pytest.mark.parametrize("price", ["5.15", "10.30"])
def test_a_price_is_taken_where_the_scenario_says_so(price: str) -> None:
    box = box_of(CARD, assume=TAKEN)
    answer = pay(box, order(product="CARD", amount=price))
    denomination = {"5.15": Decimal(5), "10.30": Decimal(10)}[price]
    assert (answer.transaction.amount, answer.transaction.cost) == (denomination, denomination * Decimal("0.97"))
    assert answer.detail is not None
    assert (answer.detail.kind, answer.detail.facts["plan"]) == (DetailKind.PRICE_AMOUNT_TAKEN, None)
    again = pay(box, order(product="CARD", amount=price))
    assert (again.created, again.detail) == (False, None), "the same payment, so nothing is kept"
    other = pay(box, order(product="CARD", amount="20.60"))
    assert other.detail == detail(DetailKind.REFID_EXISTS, refid="ref-1", kept={"amount": denomination})


def test_a_price_of_several_plans_needs_the_code() -> None:
    box = box_of(DATA)
    assert said(DATA, "10.30") is DetailKind.PRICE_AMOUNT
    answer = refused(box, order(product="DATA", amount="10.30"))
    assert answer.detail is not None
    assert (answer.detail.facts["plan"], answer.detail.facts["code"]) == ("A", "A")
    answer = refused(box, order(product="DATA", amount="20.60"))
    assert answer.detail is not None
    assert answer.detail.facts["plan"] is None, "one plan has this amount"


@pytest.mark.parametrize(
    ("amount", "code", "reason", "kind"),
    [
        ("10.30", "B", Reason.PLAN_MISMATCH, DetailKind.PRICE_AMOUNT),
        ("20.60", "B", Reason.PLAN_MISMATCH, DetailKind.PLAN_MISMATCH),
        ("10.30", "X", Reason.PLAN_UNKNOWN, DetailKind.NO_OPTION),
    ],
)
def test_the_plan_code_selects_the_price(amount: str, code: str, reason: Reason, kind: DetailKind) -> None:
    answer = refused(box_of(DATA), order(product="DATA", amount=amount, extras={"subproduct_code": code}))
    assert (answer.reason, answer.detail and answer.detail.kind) == (reason, kind)


def test_a_taken_price_of_several_plans_still_needs_the_code() -> None:
    box = box_of(DATA, assume=TAKEN)
    assert refused(box, order(product="DATA", amount="10.30")).reason is Reason.PLAN_REQUIRED
    answer = pay(box, order(product="DATA", amount="10.30", extras={"subproduct_code": "B"}))
    assert answer.transaction.amount == 10


def test_a_denomination_beyond_the_limits_is_not_advised() -> None:
    assert said(replace(CARD, max_amount=Money(Decimal(9))), "10.30") is DetailKind.NOT_SOLD
    within = replace(CARD, min_amount=Money(Decimal(10)), max_amount=Money(Decimal(20)))
    assert [said(within, price) is DetailKind.PRICE_AMOUNT for price in ("5.15", "10.30", "20.60")] == [
        False,
        True,
        True,
    ]
