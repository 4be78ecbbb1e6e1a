"""What some products need beside account and amount (SPEC 4.11, "Extras by product kind").

A product's fulfillment says which extras it has and which form field each comes from; the field says what it accepts
and whether it may be left out.
"""

from decimal import Decimal

from simulator.domain.handlers.draft import Draft, offered_to
from simulator.domain.handlers.plans import plan_field
from simulator.domain.model.catalog import (
    FormField,
    Option,
    Product,
    Source,
)
from simulator.domain.model.transactions import Reason, Refusal

SECOND_REFERENCE = "ref2"

_EXTRAS = Refusal(Reason.EXTRAS)
_ACCOUNT = Refusal(Reason.ACCOUNT)


def check_extras(draft: Draft) -> Refusal | None:
    """Each extra must be there when it is needed, be text, and be what its form field accepts or offers."""
    sources = draft.product.fulfillment.extras
    if draft.extras and _has_unsupported(draft):
        return _EXTRAS
    if not sources:
        return None
    if not all(_is_good(draft, name, source) for name, source in sources.items()):
        return _EXTRAS
    if any(option.needs_ref2 for option in _chosen(draft)) and not draft.extras.get(SECOND_REFERENCE):
        return _EXTRAS
    return _check_account_of_option(draft)


def biller_limits(draft: Draft, low: Decimal | None, high: Decimal | None) -> tuple[Decimal | None, Decimal | None]:
    """The least and the greatest amount that the chosen biller takes; `low` and `high` where it says nothing."""
    for option in _chosen(draft):
        low = option.min_amount.amount if option.min_amount else low
        high = option.max_amount.amount if option.max_amount else high
    return low, high


def _has_unsupported(draft: Draft) -> bool:
    return draft.state.assumes("unsupported-extras", "reject") and bool(
        draft.extras.keys() - draft.product.fulfillment.extras.keys()
    )


def _is_good(draft: Draft, name: str, source: Source) -> bool:
    value, field = draft.extras.get(name), _field(draft.product, source)
    if value is None or value == "":
        return not _is_needed(draft, field, source)
    if not isinstance(value, str):
        return False
    if field.type == "select":
        # Whether a plan is one of the product's is asked after the amount.
        return field is plan_field(draft.product) or value in offered_to(draft, field.id).active.by_code
    return field.accepts is None or field.accepts(value)


def _is_needed(draft: Draft, field: FormField, source: Source) -> bool:
    if field is plan_field(draft.product):
        return draft.state.assumes("plan-code-required", "always")
    return field.required and not source.omit_if_empty


def _field(product: Product, source: Source) -> FormField:
    return next(field for field in product.fields if field.id == source.from_field)


def _chosen(draft: Draft) -> list[Option]:
    """The options that the extras name, plans excepted; none for a code that is not on sale."""
    product, plans = draft.product, plan_field(draft.product)
    found = []
    for name, source in product.fulfillment.extras.items():
        if source.from_field in product.options and (plans is None or source.from_field != plans.id):
            code = draft.extras.get(name)
            option = offered_to(draft, source.from_field).active.by_code.get(code) if isinstance(code, str) else None
            if option is not None:
                found.append(option)
    return found


def _check_account_of_option(draft: Draft) -> Refusal | None:
    """Where the account is that of a selected option, it must be one of this code; an identity may have several.

    A magic account belongs to everybody.
    """
    product, source = draft.product, draft.product.fulfillment.account
    if source is None or source.path != "account_number" or draft.state.is_magic(draft.account):
        return None
    named = [name for name, extra in product.fulfillment.extras.items() if extra.from_field == source.from_field]
    for option in offered_to(draft, source.from_field).active:
        if option.account_number == draft.account and all(draft.extras.get(name) == option.code for name in named):
            return None
    return _EXTRAS if draft.state.assumes("option-account", "Invalid_Extras") else _ACCOUNT
