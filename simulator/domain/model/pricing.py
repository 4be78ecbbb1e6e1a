"""What a payment costs the reseller and what the end user pays for it (SPEC 2.1, "Calculations")."""

from decimal import Decimal

from simulator.domain.model.catalog import Adjustment, Product
from simulator.domain.model.money import CENT, cents
from simulator.domain.model.options import amount_range

# The minimum where no other applies.
LEAST = CENT
ONE = Decimal(1)
FREE = Decimal("0.00")
GREATEST = Decimal(10**9)


def face_value(product: Product, amount: Decimal) -> Decimal:
    """The face value in MYR of `amount` units of the product's denomination."""
    unit = product.denomination_unit_price
    return amount if unit == ONE else amount * unit


def cost(product: Product, amount: Decimal) -> Decimal:
    """What the wallet is debited for `amount`, in whole cents, never below zero.

    A percentage discount multiplies the face value, a fixed one is subtracted once per transaction.
    """
    face = face_value(product, amount)
    if product.discount.type == "percentage":
        return cents(face * product.discount.unit_price)
    return max(FREE, cents(face - abs(product.discount.unit_price)))


def adjusted(price: Decimal, adjustment: Adjustment | None) -> Decimal:
    """The selling price after a reseller's adjustment, in whole cents, never below zero."""
    if adjustment is None:
        return cents(price)
    if adjustment.type == "fixed":
        return max(FREE, cents(price + adjustment.value))
    return max(FREE, cents(price * adjustment.value))


def price(product: Product, amount: Decimal) -> Decimal:
    """What the end user pays for `amount`."""
    return adjusted(face_value(product, amount), product.price_adjustment)


def has_loss_risk(product: Product) -> bool:
    """True when some denomination on sale would be sold below its cost."""
    if product.price_adjustment is None:
        return False
    return any(price(product, amount) < cost(product, amount) for amount in _sample(product))


def _sample(product: Product) -> list[Decimal]:
    """The amounts where a loss can occur: every denomination on sale, or the ends of the accepted range.

    Price and cost are linear in the amount, so no loss lies between two ends without one.
    """
    field = product.pricing
    if field is None:
        return []
    low, high = amount_range(product)
    if field.type == "select":
        written = (found for (field_id, _), found in product.options_for.items() if field_id == field.id)
        lists = (product.options.get(field.id, ()), *written)
        amounts = (option.denomination for found in lists for option in found if option.is_active)
        return [each for each in amounts if each is not None and _is_within(each, low, high)]
    ends = [LEAST if low is None else low, GREATEST if high is None else high]
    billers = [option for found in product.options.values() for option in found if option.is_active]
    lows = [option.min_amount.amount for option in billers if option.min_amount]
    highs = [option.max_amount.amount for option in billers if option.max_amount]
    return [min(ends + lows), max(ends + highs)]


def _is_within(amount: Decimal, low: Decimal | None, high: Decimal | None) -> bool:
    return (low is None or low <= amount) and (high is None or amount <= high)
