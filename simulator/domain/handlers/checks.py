"""What a new payment of a product that is sold is held against, in the documented order (SPEC 4.11).

The first check that fails refuses it; that the wallet covers the cost is asked after all of them. A check looks only
at what the product has: most have no extras, no plans and no options that belong to one account.
"""

from collections.abc import Callable
from decimal import Decimal

from simulator.domain.handlers.draft import Draft, offered_to
from simulator.domain.handlers.extras import biller_limits, check_extras
from simulator.domain.handlers.plans import check_plan, is_known_plan
from simulator.domain.model.catalog import FormField, Product
from simulator.domain.model.money import is_whole_cents
from simulator.domain.model.transactions import Reason, Refusal

_ACCOUNT = Refusal(Reason.ACCOUNT)
_DENOMINATION = Refusal(Reason.DENOMINATION)


def check_account(draft: Draft) -> Refusal | None:
    """The account must look as the product's account field says; a product without one takes any."""
    field = draft.product.account
    if field is None or field.accepts is None or field.accepts(draft.account):
        return None
    return _ACCOUNT


def check_amount(draft: Draft) -> Refusal | None:
    """Number, denomination, minimum and maximum: all are an invalid denomination (SPEC 7.3)."""
    amount, field = draft.amount, draft.product.pricing
    if amount is None or amount <= 0:
        return _DENOMINATION
    if field is None:
        return None
    if field.type == "select":
        is_sold = amount in offered_to(draft, field.id).by_denomination or is_known_plan(draft)
    else:
        is_sold = _is_sold_in(field, amount)
    if is_sold and _is_unlimited(draft.product, field):
        return None
    low, high = _limits(draft, field)
    fits = (low is None or low <= amount) and (high is None or amount <= high)
    return None if is_sold and fits else _DENOMINATION


def _is_unlimited(product: Product, field: FormField) -> bool:
    """True when nothing but the amount's being on sale counts."""
    named = product.min_amount or product.max_amount or field.minimum or field.maximum
    return not named and not product.fulfillment.extras


def _is_sold_in(field: FormField, amount: Decimal) -> bool:
    """A money field takes whole cents, a number field whole units."""
    return amount == amount.to_integral_value() if field.type == "number" else is_whole_cents(amount)


def _limits(draft: Draft, field: FormField) -> tuple[Decimal | None, Decimal | None]:
    """A biller's limits come before the product's, and those before the field's (SPEC 2.1, 2.2)."""
    product = draft.product
    low = product.min_amount.amount if product.min_amount else field.minimum
    high = product.max_amount.amount if product.max_amount else field.maximum
    if product.fulfillment.extras:
        return biller_limits(draft, low, high)
    return low, high


Check = Callable[[Draft], Refusal | None]
CHECKS: tuple[Check, ...] = (check_account, check_extras, check_amount, check_plan)
