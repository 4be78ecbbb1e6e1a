"""A payment under validation, and the options that its product offers to it."""

from collections.abc import Mapping
from decimal import Decimal

import msgspec

from simulator.domain.model.catalog import OptionList, Product
from simulator.domain.model.options import NO_OPTIONS, account_source, offered
from simulator.domain.state import State


class Draft(msgspec.Struct, frozen=True):
    """A payment for a product on sale. `amount` is None when `sent` is not a number."""

    state: State
    product: Product
    account: str
    amount: Decimal | None
    extras: Mapping[str, object]
    sent: object


def offered_to(draft: Draft, field_id: str) -> OptionList:
    """The options of a select field for this payment; those of a dynamic field depend on its other values."""
    product = draft.product
    if field_id not in product.fields_by_account and not product.options_for:
        return product.options.get(field_id, NO_OPTIONS)
    source = account_source(product, field_id)
    return offered(draft.state.seed, product, field_id, _value(draft, source) if source else "")


def _value(draft: Draft, field_id: str) -> str:
    """The payment's value for a form field, at the place that the field is mapped to; empty when absent."""
    fulfillment = draft.product.fulfillment
    if fulfillment.account is not None and fulfillment.account.from_field == field_id:
        return draft.account
    for name, source in fulfillment.extras.items():
        if source.from_field == field_id:
            value = draft.extras.get(name)
            return value if isinstance(value, str) else ""
    return ""
