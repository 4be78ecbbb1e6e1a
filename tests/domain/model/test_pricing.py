"""Costs and prices: cases worked out by hand (SPEC 2.1, "Calculations")."""

from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.model import pricing
from simulator.domain.model.catalog import (
    Adjustment,
    Discount,
    FormField,
    Money,
    Option,
    OptionList,
    Product,
)
from tests.support.worlds import fixed_product, money_product

PERCENT_3 = Discount("percentage", Decimal("0.97"), "3%")
PERCENT_0 = Discount("percentage", Decimal(1), "0%")
PERCENT_100 = Discount("percentage", Decimal(0), "100%")
SEN_30 = Discount("fixed", Decimal("-0.30"), "30 sen")
NOTHING = Discount("fixed", Decimal(0), "0 sen")

# discount, MYR a unit, amount, cost
COSTS: list[tuple[Discount, str, str, str]] = [
    (PERCENT_3, "1", "100", "97.00"),
    (PERCENT_3, "1", "10", "9.70"),
    (PERCENT_3, "1", "0.50", "0.49"),  # 0.485
    (PERCENT_3, "1", "1.50", "1.46"),  # 1.455
    (PERCENT_3, "1", "0.01", "0.01"),  # 0.0097
    (PERCENT_3, "1", "33.33", "32.33"),  # 32.3301
    (PERCENT_3, "0.045", "100", "4.37"),  # 4.365
    (PERCENT_3, "0.00028", "25000", "6.79"),
    (PERCENT_3, "4.7", "15", "68.39"),  # 68.385
    (PERCENT_0, "1", "12.34", "12.34"),
    (PERCENT_100, "1", "12.34", "0.00"),
    (SEN_30, "1", "100", "99.70"),
    (SEN_30, "1", "1", "0.70"),
    (SEN_30, "1", "0.30", "0.00"),
    (SEN_30, "1", "0.10", "0.00"),  # never below nothing
    (SEN_30, "0.045", "100", "4.20"),
    (SEN_30, "0.005", "61", "0.01"),  # 0.305 less 0.30
    (NOTHING, "1", "55.55", "55.55"),
    (Discount("percentage", Decimal("0.975"), "2.5%"), "1", "5", "4.88"),  # 4.875
]


@pytest.mark.parametrize(("discount", "unit", "amount", "expected"), COSTS)
def test_the_cost_is_the_face_value_less_the_discount(
    discount: Discount, unit: str, amount: str, expected: str
) -> None:
    product = money_product(discount=discount, denomination_unit_price=Decimal(unit))
    assert pricing.cost(product, Decimal(amount)) == Decimal(expected)


# adjustment, MYR a unit, amount, price
PRICES: list[tuple[Adjustment | None, str, str, str]] = [
    (None, "1", "10", "10.00"),
    (None, "0.045", "100", "4.50"),
    (None, "0.00028", "10001", "2.80"),  # 2.80028
    (Adjustment("fixed", Decimal("0.50"), "MYR"), "1", "10", "10.50"),
    (Adjustment("fixed", Decimal("0.50"), "MYR"), "0.045", "100", "5.00"),
    (Adjustment("fixed", Decimal("-1.00"), "MYR"), "1", "10", "9.00"),
    (Adjustment("fixed", Decimal("-1.00"), "MYR"), "1", "0.50", "0.00"),
    (Adjustment("percentage", Decimal("1.03")), "1", "10", "10.30"),
    (Adjustment("percentage", Decimal("1.03")), "1", "0.50", "0.52"),  # 0.515
    (Adjustment("percentage", Decimal("0.9")), "1", "5", "4.50"),
    (Adjustment("percentage", Decimal("1.05")), "0.00028", "25000", "7.35"),
]


@pytest.mark.parametrize(("adjustment", "unit", "amount", "expected"), PRICES)
def test_the_price_is_the_face_value_with_the_adjustment(
    adjustment: Adjustment | None, unit: str, amount: str, expected: str
) -> None:
    product = money_product(price_adjustment=adjustment, denomination_unit_price=Decimal(unit))
    assert pricing.price(product, Decimal(amount)) == Decimal(expected)


def bill(**changes: Any) -> Product:
    return money_product(**changes)


def card(**changes: Any) -> Product:
    return fixed_product(denominations=(5, 100), **changes)


def plans(on_sale: dict[int, bool]) -> OptionList:
    return OptionList(Option(str(value), "", Decimal(value), is_active) for value, is_active in on_sale.items())


BILLERS = {"biller": OptionList([Option("B", "", min_amount=Money(Decimal(2)), max_amount=Money(Decimal(9000)))])}
UNBOUNDED = FormField("amount", "money", "decimal", "Amount", role="pricing")
ONLY_5 = {("amount", "0123456789"): plans({5: True})}

LOWER = Adjustment("percentage", Decimal("0.96"))
MINUS_1 = Adjustment("fixed", Decimal(-1), "MYR")
# product, whether some denomination is sold below its cost
RISKS: list[tuple[Product, bool]] = [
    (card(), False),
    (card(price_adjustment=Adjustment("percentage", Decimal("1.03"))), False),
    (card(price_adjustment=Adjustment("percentage", Decimal("0.97"))), False),  # just what it costs
    (card(price_adjustment=LOWER), True),
    (card(price_adjustment=MINUS_1), True),  # at 5: 4.00 below 4.85; at 100: 99.00 above 97.00
    (fixed_product(denominations=(100,), price_adjustment=MINUS_1), False),
    (card(price_adjustment=LOWER, discount=SEN_30), True),  # at 100: 96.00 below 99.70
    (fixed_product(denominations=(5,), price_adjustment=LOWER, discount=SEN_30), False),
    (bill(), False),
    (bill(price_adjustment=LOWER), True),
    (bill(price_adjustment=MINUS_1), True),  # at the least amount
    (bill(price_adjustment=MINUS_1, min_amount=Money(Decimal(50))), False),
    (bill(price_adjustment=LOWER, discount=SEN_30), True),  # at the greatest amount
    (bill(price_adjustment=LOWER, discount=SEN_30, max_amount=Money(Decimal(5))), False),
    (money_product(fields=(), price_adjustment=LOWER), False),
    # Every sold amount counts under any bound, and no other amount.
    (bill(price_adjustment=LOWER, discount=SEN_30, max_amount=Money(Decimal(5)), options=BILLERS), True),
    (bill(price_adjustment=MINUS_1, min_amount=Money(Decimal(50)), options=BILLERS), True),
    (bill(price_adjustment=MINUS_1, fields=(UNBOUNDED,)), True),
    (bill(price_adjustment=LOWER, discount=SEN_30, fields=(UNBOUNDED,)), True),
    (bill(price_adjustment=Adjustment("percentage", Decimal("1.03")), fields=(UNBOUNDED,)), False),
    (card(price_adjustment=MINUS_1, options={"amount": plans({5: False, 100: True})}), False),
    (card(price_adjustment=MINUS_1, options={"amount": plans({5: True, 100: False})}), True),
    (card(price_adjustment=MINUS_1, options={"amount": plans({5: False})}), False),
    (card(price_adjustment=MINUS_1, min_amount=Money(Decimal(50))), False),  # 100 alone is sold
    (card(price_adjustment=MINUS_1, options={"amount": plans({100: True})}, options_for=ONLY_5), True),
    # Both limits are amounts that are sold.
    (card(price_adjustment=MINUS_1, min_amount=Money(Decimal(5)), max_amount=Money(Decimal(5))), True),
    (card(price_adjustment=MINUS_1, min_amount=Money(Decimal("5.01"))), False),
    (card(price_adjustment=LOWER, discount=SEN_30, max_amount=Money(Decimal(100))), True),
    (card(price_adjustment=LOWER, discount=SEN_30, max_amount=Money(Decimal("99.99"))), False),
    # At 0.12 both are 0.12, rounded.
    (bill(price_adjustment=LOWER, fields=(UNBOUNDED,), max_amount=Money(Decimal("0.12"))), False),
    # Without a maximum the greatest amount is 10**9: it sells for a sen less than it costs, or for just that.
    (
        bill(price_adjustment=Adjustment("percentage", Decimal("0.9999999999")), discount=NOTHING, fields=(UNBOUNDED,)),
        True,
    ),
    (
        bill(
            price_adjustment=Adjustment("percentage", Decimal("0.999999999999")), discount=NOTHING, fields=(UNBOUNDED,)
        ),
        False,
    ),
]


@pytest.mark.parametrize(("product", "expected"), RISKS)
def test_a_product_has_a_loss_risk_when_its_price_can_be_below_its_cost(product: Product, expected: bool) -> None:
    assert pricing.has_loss_risk(product) is expected
