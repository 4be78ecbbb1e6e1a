"""Which products clients of an older API version pay by the price alone."""

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from simulator.domain.model.catalog import (
    Adjustment,
    FormField,
    Fulfillment,
    Option,
    OptionList,
    Product,
    Source,
)
from simulator.domain.queries import is_paid_by_price, lacks_extra
from tests.support.worlds import fixed_product

PLANS = Fulfillment(extras={"subproduct_code": Source("amount")})
SAME = OptionList((Option("a", "A", Decimal(5)), Option("b", "B", Decimal(5))))
SOLD_OUT = OptionList((Option("a", "A", Decimal(5)), Option("b", "B", Decimal(7), is_active=False)))
NO_PRICE = OptionList((Option("a", "A"),))
DEARER = Adjustment("fixed", Decimal("0.50"))


def product(options: OptionList | None = None, **changes: Any) -> Product:
    return fixed_product(**(changes if options is None else {"options": {"amount": options}, **changes}))


@pytest.mark.parametrize(
    ("sold", "by_price", "with_codes"),
    [
        (product(), True, True),
        (product(fulfillment=PLANS), True, False),
        (product(SAME), True, True),
        (product(SAME, fulfillment=PLANS), False, False),
        (product(price_adjustment=DEARER), False, False),
        (product(SOLD_OUT), True, True),
        (product(NO_PRICE), True, True),
        (product(denomination_unit_price=Decimal(2)), False, False),
        (product(options_for={("amount", "1"): SAME}, fulfillment=PLANS), False, False),
        (product(options_for={("other", "1"): SAME}, fulfillment=PLANS), True, False),
        (product(OptionList()), True, True),
    ],
)
def test_a_product_is_paid_by_its_price_when_the_price_identifies_the_option(
    sold: Product, by_price: bool, with_codes: bool
) -> None:
    assert is_paid_by_price(sold, always_codes=False) is by_price
    assert is_paid_by_price(sold, always_codes=True) is with_codes


LOAN = FormField("loan", "select", "text", "Loan")


@pytest.mark.parametrize(
    ("source", "loan", "is_lacking"),
    [
        (None, LOAN, False),
        (Source("loan"), LOAN, True),
        (Source("loan", omit_if_empty=True), LOAN, False),
        (Source("loan"), replace(LOAN, required=False), False),
        (Source("other"), LOAN, False),
        (Source("amount"), LOAN, False),
    ],
)
def test_a_required_field_other_than_the_pricing_field_that_feeds_the_code_is_lacking(
    source: Source | None, loan: FormField, is_lacking: bool
) -> None:
    sold = fixed_product()
    extras = {} if source is None else {"subproduct_code": source}
    sold = fixed_product(fields=(*sold.fields, loan), fulfillment=Fulfillment(extras=extras))
    assert lacks_extra(sold) is is_lacking
