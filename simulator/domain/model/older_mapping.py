"""The mapping of a payment's amount that clients get before API version 2026-09-16 (SPEC 2.1, 9).

Options have no denomination there, and a plan code is not mapped. Only `price.amount` is left for a pricing select, and
it pays the selected option only where it equals the denomination.
"""

from collections.abc import Iterable

from simulator.domain.model import pricing
from simulator.domain.model.catalog import Option, OptionList, Product
from simulator.domain.model.options import NO_OPTIONS, PLAN_CODE, plan_field


def is_paid_by_price(product: Product, *, always_codes: bool) -> bool:
    """True when the price of every option on sale buys that option, without a plan code. With `always_codes` every plan
    requires its code."""
    if always_codes and plan_field(product) is not None:
        return False
    return all(_is_exact(product, options) for options in _pricing_lists(product))


def lacks_extra(product: Product) -> bool:
    """True when payments require `extras.subproduct_code`, which is not mapped, from another field than the plan's."""
    source = product.fulfillment.extras.get(PLAN_CODE)
    if source is None or source.omit_if_empty or plan_field(product) is not None:
        return False
    return any(field.id == source.from_field and field.required for field in product.fields)


def _pricing_lists(product: Product) -> Iterable[OptionList]:
    """The options of the pricing field: its own, and those written for single account numbers."""
    field = product.pricing
    assert field is not None, "a pricing select is a field"
    yield product.options.get(field.id, NO_OPTIONS)
    yield from (options for (field_id, _), options in product.options_for.items() if field_id == field.id)


def _is_exact(product: Product, options: OptionList) -> bool:
    is_unique = plan_field(product) is None or all(len(same) == 1 for same in options.by_denomination.values())
    return is_unique and all(_costs_denomination(product, option) for option in options.active)


def _costs_denomination(product: Product, option: Option) -> bool:
    face = option.denomination
    return face is None or pricing.price(product, face) == face  # without a denomination nothing can be paid
