"""Plan codes: which option of the pricing field a payment buys (SPEC 4.11, rules 2 and 3).

A product has plans when its fulfillment maps `extras.subproduct_code` from its pricing field.
"""

from collections.abc import Mapping
from decimal import Decimal

from simulator.domain.handlers.draft import Draft, offered_to
from simulator.domain.model.catalog import FormField, Product
from simulator.domain.model.transactions import Reason, Refusal

PLAN_CODE = "subproduct_code"
SHOWN_LENGTH_MAX = 100


def plan_field(product: Product) -> FormField | None:
    """The pricing field whose options are plans; None for a product that has none."""
    source, field = product.fulfillment.extras.get(PLAN_CODE), product.pricing
    return field if source is not None and field is not None and source.from_field == field.id else None


def check_plan(draft: Draft) -> Refusal | None:
    """The code must be one that is on sale, in the very letters, at this amount; without one, the amount must be
    that of a single plan."""
    product, code = draft.product, draft.extras.get(PLAN_CODE)
    if code is None and not product.fulfillment.extras:
        return None
    has_plans = plan_field(product) is not None
    field = product.pricing
    if field is None or not (has_plans or _is_checked_all_the_same(draft, field)):
        return None
    plans = offered_to(draft, field.id)
    assert draft.amount is not None, "the amount was checked before"
    if code is None or code == "":
        is_clear = not has_plans or len(plans.by_denomination[draft.amount]) == 1
        return None if is_clear else _refusal(Reason.PLAN_REQUIRED, draft)
    plan = plans.active.by_code.get(code) if isinstance(code, str) else None
    if plan is None:
        return _refusal(Reason.PLAN_UNKNOWN, draft)
    return None if plan.denomination == draft.amount else _refusal(Reason.PLAN_MISMATCH, draft)


def is_known_plan(draft: Draft) -> bool:
    """True when the code and the amount are those of one of the product's plans, be it on sale, offered to this
    account, or neither: what is wrong then is the code, not the amount."""
    product, code = draft.product, draft.extras.get(PLAN_CODE)
    field = plan_field(product)
    if field is None or not isinstance(code, str):
        return False
    written = (found for (field_id, _), found in product.options_for.items() if field_id == field.id)
    plans = (found.by_code.get(code) for found in (product.options[field.id], *written))
    return any(plan is not None and plan.denomination == draft.amount for plan in plans)


def remarks(reason: Reason, extras: Mapping[str, object], amount: Decimal) -> str:
    """What a refusal for the sake of a plan code says; empty for other reasons. Long codes are shortened."""
    code = str(extras.get(PLAN_CODE, ""))[:SHOWN_LENGTH_MAX]
    match reason:
        case Reason.PLAN_REQUIRED:
            return "several plans share this amount and a plan code is required"
        case Reason.PLAN_UNKNOWN:
            return f"unknown or inactive option code: {code}"
        case Reason.PLAN_MISMATCH:
            return f"option code does not match the amount: code {code}, amount {amount.normalize():f}"
    return ""


def _is_checked_all_the_same(draft: Draft, field: FormField) -> bool:
    """True when a code is held against the options of a product that does not ask for one."""
    is_unsupported = PLAN_CODE not in draft.product.fulfillment.extras
    return is_unsupported and field.type == "select" and draft.state.assumes("unsupported-extras", "check_plan_code")


def _refusal(reason: Reason, draft: Draft) -> Refusal:
    assert draft.amount is not None
    return Refusal(reason, remarks=remarks(reason, draft.extras, draft.amount))
