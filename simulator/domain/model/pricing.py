"""Prices of payments: the cost to the reseller, the price for the end user (SPEC 2.1, "Calculations")."""

from decimal import Decimal

from msgspec.structs import replace

from simulator.domain.model import draw
from simulator.domain.model.catalog import Adjustment, Catalog, DataSource, FormField, Option, OptionList, Product
from simulator.domain.model.money import CENT, cents

NO_OPTIONS = OptionList()
PLAN_CODE = "subproduct_code"


def offered(seed: int, product: Product, field_id: str, account_number: str = "") -> OptionList:
    """Return the options of a field for an account number, in display order, including inactive options.

    A list written for that number takes precedence over the field's own options. For a dynamic field, each option and
    its `account_number` are drawn from (seed, product, field, account number). Empty for a field that is not a select.
    """
    written = product.options_for.get((field_id, account_number))
    if written is not None:
        return written
    options = product.options.get(field_id, NO_OPTIONS)
    if field_id not in product.fields_by_account:
        return options
    identity = (product.code, field_id, account_number)
    return OptionList(
        _for_account(seed, option, identity)
        for option in options
        if option.share >= 1 or draw.fraction(seed, "option", *identity, option.code) < option.share
    )


def lists_of(product: Product, field_id: str) -> list[OptionList]:
    """Return all option lists of a field: its own, and the lists written for single account numbers."""
    written = (found for (field, _), found in product.options_for.items() if field == field_id)
    return [product.options.get(field_id, NO_OPTIONS), *written]


def account_source(product: Product, field_id: str) -> str | None:
    """Return the field that supplies the `account_number` for a dynamic field's options."""
    return dependencies(product, field_id).get("account_number")


def data_source(product: Product, field_id: str) -> DataSource | None:
    """Return the source of a field's options; None for an unknown field and for a field that is not a select."""
    return next((field.data_source for field in product.fields if field.id == field_id), None)


def dependencies(product: Product, field_id: str) -> dict[str, str]:
    """Return the inputs that a dynamic field's options require: parameters and the fields that provide them."""
    source = data_source(product, field_id)
    if source is None or source.type != "dynamic":
        return {}
    read = {name: param["from_field"] for name, param in source.params.items() if "from_field" in param}
    return {name: field for name, field in read.items() if name == "account_number" or field in source.depends_on}


def plan_field(product: Product) -> FormField | None:
    """Return the pricing field whose options are plans; None for a product without plans."""
    source, field = product.fulfillment.extras.get(PLAN_CODE), product.pricing
    return field if source is not None and field is not None and source.from_field == field.id else None


def subproduct_field(product: Product) -> str | None:
    """Return the select field whose options the legacy endpoints call sub-products (SPEC 2.16): plans, loan accounts,
    or billers."""
    source = product.fulfillment.extras.get(PLAN_CODE)
    return source.from_field if source and source.from_field in product.options else biller_field(product)


def biller_field(product: Product) -> str | None:
    """Return the select field whose options are billers: the field that feeds `extras.biller_code`."""
    source = product.fulfillment.extras.get("biller_code")
    return source.from_field if source and source.from_field in product.options else None


def biller_product(catalog: Catalog) -> Product | None:
    """Return the first product that is paid to billers; products on sale take precedence."""
    found = [product for product in catalog.products.values() if biller_field(product)]
    return min(found, key=lambda product: not product.is_active, default=None)


def amount_range(product: Product, *options: Option | None) -> tuple[Decimal | None, Decimal | None]:
    """Return the minimum and maximum amount (SPEC 2.1, 2.2). The limits of the selected options (billers) take
    precedence, then the product's limits, then the limits of the pricing field."""
    field = product.pricing
    low = product.min_amount.amount if product.min_amount else field.minimum if field else None
    high = product.max_amount.amount if product.max_amount else field.maximum if field else None
    for option in options:
        if option is not None:
            low = option.min_amount.amount if option.min_amount else low
            high = option.max_amount.amount if option.max_amount else high
    return low, high


def limiting_biller(*options: Option | None) -> str:
    """Return the code of the first selected option with its own limits; empty without such an option."""
    return next((option.code for option in options if option and (option.min_amount or option.max_amount)), "")


def _for_account(seed: int, option: Option, identity: tuple[str, str, str]) -> Option:
    if not option.account_digits:
        return option
    rest = draw.digits(seed, option.account_digits - 1, "account", *identity, option.code)
    first = draw.digits(seed, 1, "first", *identity, option.code)
    return replace(option, account_number=f"{int(first) % 9 + 1}{rest}")


ONE = Decimal(1)
FREE = Decimal("0.00")
GREATEST = Decimal(10**9)


def face_value(product: Product, amount: Decimal) -> Decimal:
    """Return the face value in MYR of `amount` units of the product's denomination."""
    unit = product.denomination_unit_price
    return amount if unit == ONE else amount * unit


def cost(product: Product, amount: Decimal) -> Decimal:
    """Return the wallet's debit for `amount`, in whole cents, never below zero."""
    return cost_of_face(product, face_value(product, amount))


def cost_of_face(product: Product, face: Decimal) -> Decimal:
    """Return the wallet's debit for a face value. A percentage discount multiplies it; a fixed discount is subtracted
    once per transaction."""
    discount = product.discount
    if discount.type == "percentage":
        return cents(face * discount.unit_price)
    return max(FREE, cents(face - abs(discount.unit_price)))


def adjusted(price: Decimal, adjustment: Adjustment | None) -> Decimal:
    """Return the selling price after a reseller's adjustment, in whole cents, never below zero."""
    if adjustment is None:
        return cents(price)
    if adjustment.type == "fixed":
        return max(FREE, cents(price + adjustment.value))
    return max(FREE, cents(price * adjustment.value))


def price(product: Product, amount: Decimal) -> Decimal:
    """Return the price that the end user pays for `amount`."""
    return adjusted(face_value(product, amount), product.price_adjustment)


def has_loss_risk(product: Product) -> bool:
    """Return whether any denomination on sale would be sold below its cost."""
    if product.price_adjustment is None:
        return False
    return any(price(product, amount) < cost(product, amount) for amount in _sample(product))


def _sample(product: Product) -> list[Decimal]:
    """Return the amounts where a loss can occur: every denomination on sale, or the ends of the accepted range.

    Price and cost are linear in the amount, so checking both ends of the range is sufficient.
    """
    field = product.pricing
    if field is None:
        return []
    low, high = amount_range(product)
    if field.type == "select":
        amounts = (option.denomination for found in lists_of(product, field.id) for option in found.active)
        return [
            each
            for each in amounts
            if each is not None and (low is None or low <= each) and (high is None or each <= high)
        ]
    ends = [CENT if low is None else low, GREATEST if high is None else high]
    billers = [option for found in product.options.values() for option in found if option.is_active]
    lows = [option.min_amount.amount for option in billers if option.min_amount]
    highs = [option.max_amount.amount for option in billers if option.max_amount]
    return [min(ends + lows), max(ends + highs)]
