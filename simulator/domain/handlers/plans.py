"""Plan codes: which option of the pricing field a payment buys (SPEC 4.11, rules 2 and 3).

A product has plans when its fulfillment maps `extras.subproduct_code` from its pricing field. A plan code is checked
before the amount, so any mismatch is reported for the code. A missing code is reported after the amount was checked.
"""

from collections.abc import Mapping
from decimal import Decimal

from simulator.domain.handlers.checks import Draft, offered_to
from simulator.domain.handlers.option_refusals import bad_option_of
from simulator.domain.model.catalog import Option, OptionList
from simulator.domain.model.details import Detail, DetailKind, detail
from simulator.domain.model.money import decimal_text
from simulator.domain.model.options import PLAN_CODE, plan_field
from simulator.domain.model.transactions import Reason, Refusal

SHOWN_LENGTH_MAX = 100


def check_plan_code(draft: Draft) -> Refusal | None:
    """A plan code, if sent, must be that of a plan on sale at this amount; it is case-sensitive."""
    code = draft.extras.get(PLAN_CODE)
    if code is None or not (plan_field(draft.product) or is_checked_anyway(draft)):
        return None
    plan = named_plan(draft)
    if plan is None:
        return _refusal(Reason.PLAN_UNKNOWN, draft, _unknown(draft, code))
    if plan.denomination == draft.amount:
        return None
    wrong = detail(DetailKind.PLAN_MISMATCH, code=plan.code, denomination=plan.denomination, amount=draft.amount)
    return _refusal(Reason.PLAN_MISMATCH, draft, wrong)


def check_plan_needed(draft: Draft) -> Refusal | None:
    """Without a plan code, exactly one plan may have this amount."""
    product = draft.product
    if not product.fulfillment.extras or draft.extras.get(PLAN_CODE):
        return None
    field = plan_field(product)
    if field is None:
        return None
    assert draft.amount is not None, "the amount was checked before"
    sharing = offered_to(draft, field.id).by_denomination[draft.amount]
    if len(sharing) == 1:
        return None
    wrong = detail(DetailKind.PLAN_REQUIRED, amount=draft.amount, codes=tuple(plan.code for plan in sharing))
    return _refusal(Reason.PLAN_REQUIRED, draft, wrong)


def named_plan(draft: Draft) -> Option | None:
    """The option on sale with the payment's plan code, or None."""
    code = draft.extras.get(PLAN_CODE)
    return _offered(draft).active.by_code.get(code) if isinstance(code, str) else None


def is_checked_anyway(draft: Draft) -> bool:
    """True when a plan code is checked although the product has no plans (knob `unsupported-extras`)."""
    field = draft.product.pricing
    is_unsupported = PLAN_CODE not in draft.product.fulfillment.extras
    return (
        is_unsupported
        and field is not None
        and field.type == "select"
        and draft.state.assumes("unsupported-extras", "check_plan_code")
    )


def remarks(reason: Reason, extras: Mapping[str, object], amount: Decimal) -> str:
    """The remarks of a refusal because of a plan code; empty for other reasons. Long codes are truncated."""
    code = str(extras.get(PLAN_CODE, ""))[:SHOWN_LENGTH_MAX]
    match reason:
        case Reason.PLAN_REQUIRED:
            return "several plans share this amount and a plan code is required"
        case Reason.PLAN_UNKNOWN:
            return f"unknown or inactive option code: {code}"
        case Reason.PLAN_MISMATCH:
            return f"option code does not match the amount: code {code}, amount {decimal_text(amount)}"
    return ""


def _offered(draft: Draft) -> OptionList:
    field = draft.product.pricing
    assert field is not None, "a product with plan codes has a pricing field"
    return offered_to(draft, field.id)


def _unknown(draft: Draft, code: object) -> Detail:
    """Why no plan with this code can be bought."""
    name, field = f"extras.{PLAN_CODE}", draft.product.pricing
    if not isinstance(code, str):
        return detail(DetailKind.EXTRA_NO_TEXT, name=name)
    assert field is not None, "a product with plan codes has a pricing field"
    return bad_option_of(draft, field.id, code, name)


def _refusal(reason: Reason, draft: Draft, wrong: Detail) -> Refusal:
    assert draft.amount is not None
    return Refusal(reason, remarks=remarks(reason, draft.extras, draft.amount), detail=wrong)
