"""Payments of an option's `price.amount` instead of its denomination, sent by clients that read the catalog in the
older shape, which has no denomination (SPEC 2.1, 9)."""

from decimal import Decimal

from simulator.domain.handlers.checks import Draft, offered_to
from simulator.domain.handlers.extras import named_plan
from simulator.domain.model import pricing
from simulator.domain.model.catalog import Money, Option
from simulator.domain.model.details import Detail, DetailKind, detail
from simulator.domain.model.money import CENT, ZERO
from simulator.domain.model.pricing import PLAN_CODE
from simulator.domain.model.transactions import Reason, Refusal

_AMOUNT_REASONS = (Reason.DENOMINATION, Reason.PLAN_MISMATCH)


def priced_option(draft: Draft, refusal: Refusal) -> Option | None:
    """Return the option whose price is the refused amount: the option of the plan code, else the only option at this
    price. None without such an option, and when the amount is itself a denomination on sale."""
    field = draft.product.pricing
    if refusal.reason not in _AMOUNT_REASONS or draft.amount is None or field is None or field.type != "select":
        return None
    if draft.extras.get(PLAN_CODE) and (plan := named_plan(draft)):
        return plan if _is_price(draft, plan) else None
    low, high = _denomination_range(draft)
    by_denomination = offered_to(draft, field.id).by_denomination
    if draft.amount in by_denomination:
        return None
    found = [options[0] for each, options in by_denomination.items() if low <= each <= high]
    priced = [option for option in found if _is_price(draft, option)]
    return priced[0] if len(priced) == 1 else None


def price_of_another(draft: Draft) -> Detail | None:
    """Warn when the amount is an option's denomination and another option's price. None otherwise, and when a plan code
    names the intended option."""
    product, amount, field = draft.product, draft.amount, draft.product.pricing
    has_own_prices = product.price_adjustment is not None or product.denomination_unit_price != 1
    if not has_own_prices or amount is None or field is None or field.type != "select" or draft.extras.get(PLAN_CODE):
        return None
    by_denomination = offered_to(draft, field.id).by_denomination
    if amount not in by_denomination:
        return None
    low, high = _denomination_range(draft)
    others = [options for each, options in by_denomination.items() if low <= each <= high and each != amount]
    priced = tuple(option.code for options in others for option in options if _is_price(draft, option))
    if not priced:
        return None
    codes = tuple(option.code for option in by_denomination[amount])
    return detail(DetailKind.PRICE_OF_ANOTHER, denomination=amount, code=codes, priced=priced)


def price_detail(kind: DetailKind, draft: Draft, option: Option, *, wants_plan: bool = False) -> Detail:
    """Return the detail for a payment of this option's price; `wants_plan` if its denomination would be refused."""
    assert draft.amount is not None
    price, plan = Money(draft.amount, draft.product.currency), option.code if wants_plan else None
    return detail(kind, price=price, code=option.code, denomination=option.denomination, plan=plan)


def _denomination_range(draft: Draft) -> tuple[Decimal, Decimal]:
    """Return the range of denominations that may have this rounded price, which avoids pricing every option."""
    amount, adjustment = draft.amount, draft.product.price_adjustment
    assert amount is not None
    slope = draft.product.denomination_unit_price
    if adjustment is not None and adjustment.type == "fixed":
        amount -= adjustment.value
    elif adjustment is not None:
        slope *= adjustment.value
    return ((amount - CENT) / slope, (amount + CENT) / slope) if slope > 0 else (ZERO, -CENT)


def _is_price(draft: Draft, option: Option) -> bool:
    return option.denomination is not None and pricing.price(draft.product, option.denomination) == draft.amount
