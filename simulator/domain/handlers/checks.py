"""A payment under validation: options offered to it, checks of account and amount, explanations of refused options
and of amounts that are prices.

Bill look-ups check their account and amount with the same functions.
"""

from collections.abc import Collection, Mapping
from decimal import Decimal
from heapq import nsmallest

import msgspec

from simulator.domain.model import pricing
from simulator.domain.model.catalog import FormField, Money, Option, OptionList, Product
from simulator.domain.model.details import NAMES_MAX, Detail, DetailKind, detail
from simulator.domain.model.likeness import nearest
from simulator.domain.model.money import CENT, ZERO, denotes_number, is_whole_cents
from simulator.domain.model.pricing import (
    NO_OPTIONS,
    PLAN_CODE,
    account_source,
    amount_range,
    limiting_biller,
    offered,
    plan_field,
)
from simulator.domain.model.transactions import Reason, Refusal
from simulator.domain.state import State


class Draft(msgspec.Struct, frozen=True, gc=False):
    """A payment for a product on sale. `amount` is None when `sent` is not a number."""

    state: State
    product: Product
    account: str
    amount: Decimal | None
    extras: Mapping[str, object]
    sent: object


def offered_to(draft: Draft, field_id: str) -> OptionList:
    """Return the options of a select field for this payment; a dynamic field's depend on its other values."""
    product = draft.product
    if field_id not in product.fields_by_account and not product.options_for:
        return product.options.get(field_id, NO_OPTIONS)
    return offered(draft.state.seed, product, field_id, "".join(offered_whom(draft, field_id).values()))


def offered_whom(draft: Draft, field_id: str) -> dict[str, str]:
    """Return the value that a field's options depend on, by its request name; empty for a field whose options are the
    same for all payments."""
    product = draft.product
    if field_id not in product.fields_by_account and not product.options_for:
        return {}
    source, fulfillment = account_source(product, field_id), product.fulfillment
    if source is not None and fulfillment.account is not None and fulfillment.account.from_field == source:
        return {"account": draft.account}
    for name, extra in fulfillment.extras.items():
        if extra.from_field == source:
            value = draft.extras.get(name)
            return {f"extras.{name}": value if isinstance(value, str) else ""}
    return {}


def chosen_options(draft: Draft) -> list[Option]:
    """Return the options on sale that a payment's extras name, without plans."""
    product, found = draft.product, []
    for name, source in product.fulfillment.extras.items():
        plans = plan_field(product)
        if source.from_field in product.options and (plans is None or source.from_field != plans.id):
            code = draft.extras.get(name)
            option = offered_to(draft, source.from_field).active.by_code.get(code) if isinstance(code, str) else None
            if option is not None:
                found.append(option)
    return found


def check_account(draft: Draft) -> Refusal | None:
    """Refuse a missing account, or an account that violates the product's account field, if any."""
    field = draft.product.account
    if draft.account and fits(field, draft.account):
        return None
    return Refusal(Reason.ACCOUNT, detail=bad_account(field, draft.account))


def fits(field: FormField | None, account: str) -> bool:
    """Return whether an account matches the pattern of its form field."""
    return field is None or field.accepts is None or field.accepts(account)


def bad_account(field: FormField | None, account: str) -> Detail:
    """Return the requirements for the account."""
    kind = DetailKind.ACCOUNT_PATTERN if account else DetailKind.NO_ACCOUNT
    return detail(kind, pattern=field and field.pattern, message=field and field.message)


def check_number(draft: Draft) -> Refusal | None:
    """Refuse an amount that is not a number."""
    return None if draft.amount is not None else Refusal(Reason.DENOMINATION, detail=no_amount(draft.sent))


def check_amount(draft: Draft) -> Refusal | None:
    """Refuse an amount outside the denominations, minimum and maximum, always as an invalid denomination (SPEC 7.3): a
    select sells its denominations, a number field accepts whole units, a money field whole cents."""
    amount, product = draft.amount, draft.product
    field = product.pricing
    assert amount is not None, "an amount that is not a number was refused"
    if amount <= 0:
        return Refusal(Reason.DENOMINATION, detail=bad_money(amount))
    if field is None:
        return None
    billers = chosen_options(draft) if product.fulfillment.extras else ()
    wrong: Detail | None = None
    if field.type == "select":
        every = offered_to(draft, field.id).by_denomination
        if amount not in every:
            sold = [price for price in every if beyond_limits(price, product, *billers) is None]
            wrong = _not_sold(draft, field.id, amount, sold)
    elif field.type != "number":
        wrong = bad_money(amount)
    elif amount != amount.to_integral_value():
        wrong = detail(DetailKind.NOT_WHOLE, product=product.code, amount=amount)
    wrong = wrong or beyond_limits(amount, product, *billers)
    return None if wrong is None else Refusal(Reason.DENOMINATION, detail=wrong)


def no_amount(sent: object) -> Detail:
    """Explain why `parse_amount` rejected the value sent."""
    amount = f'"{sent}"' if isinstance(sent, str) else sent
    return detail(DetailKind.TOO_MANY_DIGITS if denotes_number(sent) else DetailKind.NO_NUMBER, amount=amount)


def bad_money(amount: Decimal) -> Detail | None:
    """Explain why this amount cannot be paid; None when it can."""
    if amount <= 0:
        return detail(DetailKind.NOT_POSITIVE, amount=amount)
    return None if is_whole_cents(amount) else detail(DetailKind.NO_CENTS, amount=amount)


def beyond_limits(amount: Decimal, product: Product, *billers: Option | None) -> Detail | None:
    """Return the limit of a payment to these billers, if any, that the amount violates, or None."""
    low, high = amount_range(product, *billers)
    if low is not None and amount < low:
        return detail(DetailKind.TOO_LITTLE, amount=amount, low=low, biller=limiting_biller(*billers))
    if high is not None and amount > high:
        return detail(DetailKind.TOO_MUCH, amount=amount, high=high, biller=limiting_biller(*billers))
    return None


def _not_sold(draft: Draft, field_id: str, amount: Decimal, sold: Collection[Decimal]) -> Detail:
    product, whom = draft.product.code, offered_whom(draft, field_id)
    if not sold:
        return detail(DetailKind.NOTHING_SOLD, product=product, whom=whom)
    shown = sorted(nsmallest(2 * NAMES_MAX, sold, key=lambda price: abs(price - amount)))
    left_out = len(sold) - len(shown) or None
    return detail(DetailKind.NOT_SOLD, product=product, amount=amount, sold=tuple(shown), left_out=left_out, whom=whom)


def bad_option_of(draft: Draft, field_id: str, code: str, name: str) -> Detail:
    """Explain why a payment cannot have the option with this code, which it sent as `name`."""
    whom = offered_whom(draft, field_id)
    return bad_option(draft.product, field_id, code, name, offered_to(draft, field_id), whom)


def bad_option(
    product: Product, field_id: str, code: str, name: str, offered: OptionList, whom: Mapping[str, str] | None = None
) -> Detail:
    """Explain why a payment cannot have an option. `offered` includes inactive options. `whom` has the name and value
    that the field's options depend on; empty when options are the same for everybody."""
    if code in offered.by_code:
        return detail(DetailKind.INACTIVE_OPTION, name=name, code=code)
    known = tuple(option.code for option in offered.active)
    likely = nearest(code, known)
    return detail(
        DetailKind.NO_OPTION,
        name=name,
        product=product.code,
        code=code,
        whom=whom or {},
        nearest=likely,
        known=() if likely else known,
    )


def named_plan(draft: Draft) -> Option | None:
    """Return the option on sale with the payment's plan code, or None."""
    code, field = draft.extras.get(PLAN_CODE), draft.product.pricing
    assert field is not None, "a product with plan codes has a pricing field"
    return offered_to(draft, field.id).active.by_code.get(code) if isinstance(code, str) else None


# Payments of an option's `price.amount` instead of its denomination, sent by clients that read the catalog in the
# older shape, which has no denomination (SPEC 2.1, 9).


def priced_option(draft: Draft, refusal: Refusal) -> Option | None:
    """Return the option whose price is the refused amount: the option of the plan code, else the only option at this
    price. None without such an option, and when the amount is itself a denomination on sale."""
    field, is_of_amount = draft.product.pricing, refusal.reason in (Reason.DENOMINATION, Reason.PLAN_MISMATCH)
    if not is_of_amount or draft.amount is None or field is None or field.type != "select":
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
