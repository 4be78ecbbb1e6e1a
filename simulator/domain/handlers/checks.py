"""The checks of a new payment for a product on sale, in their documented order (SPEC 4.11).

The first check that fails refuses the payment. The balance is checked last, by `payments`. A check costs little for a
product that it does not concern: most have no extras, no plans and no options of single accounts.
"""

from collections.abc import Callable
from decimal import Decimal

from simulator.domain.handlers.amounts import bad_money, beyond_limits, no_amount, not_sold
from simulator.domain.handlers.draft import Draft, offered_to
from simulator.domain.handlers.extras import check_extras, chosen
from simulator.domain.handlers.plans import check_plan_code, check_plan_needed
from simulator.domain.model.catalog import FormField, Product
from simulator.domain.model.details import Detail, DetailKind, detail
from simulator.domain.model.money import is_whole_cents
from simulator.domain.model.options import limiting_biller, limits
from simulator.domain.model.transactions import Reason, Refusal


def check_account(draft: Draft) -> Refusal | None:
    """The account is present and matches the product's account field; a product without that field accepts any."""
    field = draft.product.account
    if draft.account and fits(field, draft.account):
        return None
    return Refusal(Reason.ACCOUNT, detail=bad_account(field, draft.account))


def fits(field: FormField | None, account: str) -> bool:
    """True when an account matches the pattern of its form field."""
    return field is None or field.accepts is None or field.accepts(account)


def bad_account(field: FormField | None, account: str) -> Detail:
    """What the account must be."""
    kind = DetailKind.ACCOUNT_PATTERN if account else DetailKind.NO_ACCOUNT
    return detail(kind, pattern=field and field.pattern, message=field and field.message)


def check_number(draft: Draft) -> Refusal | None:
    """The amount is a number."""
    return None if draft.amount is not None else Refusal(Reason.DENOMINATION, detail=no_amount(draft.sent))


def check_amount(draft: Draft) -> Refusal | None:
    """Denomination, minimum and maximum: all are an invalid denomination (SPEC 7.3)."""
    amount, field = draft.amount, draft.product.pricing
    assert amount is not None, "an amount that is not a number was refused"
    if amount > 0:
        if field is None:
            return None
        if field.type == "select":
            is_sold = amount in offered_to(draft, field.id).by_denomination
        else:
            is_sold = _is_sold_in(field, amount)
        if is_sold and (
            _is_unlimited(draft.product, field) or beyond_limits(amount, *limits(draft.product, *chosen(draft))) is None
        ):
            return None
    return Refusal(Reason.DENOMINATION, detail=_bad_amount(draft, field, amount))


def _is_unlimited(product: Product, field: FormField) -> bool:
    """True when no minimum or maximum applies."""
    named = product.min_amount or product.max_amount or field.minimum or field.maximum
    return not named and not product.fulfillment.extras


def _is_sold_in(field: FormField, amount: Decimal) -> bool:
    """A money field accepts whole cents, a number field whole units."""
    return amount == amount.to_integral_value() if field.type == "number" else is_whole_cents(amount)


def _bad_amount(draft: Draft, field: FormField | None, amount: Decimal) -> Detail | None:
    code = draft.product.code
    if field is None or amount <= 0:
        return bad_money(amount)
    billers = chosen(draft)
    low, high = limits(draft.product, *billers)
    if field.type == "select":
        every = offered_to(draft, field.id).by_denomination
        sold = [one for one in every if beyond_limits(one, low, high) is None]
        wrong = None if amount in every else not_sold(code, amount, sold)
    elif field.type == "number":
        wrong = None if _is_sold_in(field, amount) else detail(DetailKind.NOT_WHOLE, product=code, amount=amount)
    else:
        wrong = bad_money(amount)
    return wrong or beyond_limits(amount, low, high, limiting_biller(*billers))


Check = Callable[[Draft], Refusal | None]
CHECKS: tuple[Check, ...] = (
    check_account,
    check_extras,
    check_number,
    check_plan_code,
    check_amount,
    check_plan_needed,
)


def first_failure(draft: Draft) -> Refusal | None:
    """The refusal of the first check that fails; None when all pass."""
    for check in CHECKS:
        if refusal := check(draft):
            return refusal
    return None
