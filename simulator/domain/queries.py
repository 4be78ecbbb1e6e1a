"""Read-only queries of a sandbox's state, for handlers and outside callers."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import msgspec

from simulator.domain.errors import Unknown
from simulator.domain.model import pricing
from simulator.domain.model.catalog import Product
from simulator.domain.model.details import Detail, DetailKind, detail
from simulator.domain.model.likeness import nearest
from simulator.domain.model.money import SERVICE_ZONE
from simulator.domain.model.pricing import PLAN_CODE, plan_field
from simulator.domain.model.resellers import Reseller
from simulator.domain.state import State

TICK = timedelta(milliseconds=1)  # the smallest difference that is visible to clients

NEW_VERSION = date(2026, 9, 16)
"""The API version whose catalog replaces the legacy endpoints (SPEC 9)."""

# In UTC like the time of every request: comparing times of two zones is thirty times slower.
SWITCH_IN_SERVICE_ZONE = datetime(2027, 1, 11, tzinfo=SERVICE_ZONE).astimezone(UTC)
SWITCH_IN_UTC = datetime(2027, 1, 11, tzinfo=UTC)


def reseller_of(state: State, code: str) -> Reseller:
    """Return the reseller with this code. Raise `Unknown`."""
    reseller = state.resellers.get(code)
    if reseller is None:
        raise Unknown("unknown_reseller", f"this sandbox has no reseller {code!r}{_hint(code, state.resellers)}")
    return reseller


def product_of(state: State, code: str) -> Product:
    """Return the product with this code. Raise `Unknown`."""
    product = state.catalog.products.get(code)
    if product is None:
        raise Unknown("unknown_product", f"this sandbox has no product {code!r}{_hint(code, state.catalog.products)}")
    return product


def _hint(code: str, known: Iterable[str]) -> str:
    likely = nearest(code, known)
    return f"; did you mean {likely!r}?" if likely else ""


def not_on_sale(state: State, product: Product | None, code: str, buyer: Reseller | None = None) -> Detail:
    """Explain that the product does not exist or is inactive, or that its code is blank. Suggestions exclude hidden
    products, and products that are inactive for the `buyer`, if any."""
    if product is not None:
        return detail(DetailKind.INACTIVE_PRODUCT, product=product.code)
    if not code.strip():
        return detail(DetailKind.BLANK_PRODUCT)
    listed = on_sale(state, buyer) if buyer else (one for one in state.catalog.products.values() if not one.is_hidden)
    return detail(DetailKind.NO_PRODUCT, product=code, nearest=nearest(code, (one.code for one in listed)))


def on_sale(state: State, buyer: Reseller) -> Iterator[Product]:
    """Yield the products that the buyer's catalog shows as active."""
    for code in state.catalog.products:
        product = buyer.sees(state.catalog, code)
        if product is not None and product.is_active and not product.is_hidden:
            yield product


def version_switch(state: State) -> datetime:
    """Return when the shapes of `NEW_VERSION` become every request's default."""
    return SWITCH_IN_UTC if state.assumes("version-switch-zone", "utc") else SWITCH_IN_SERVICE_ZONE


def has_newest_shape(state: State) -> bool:
    """Return whether the scenario serves the shapes of `NEW_VERSION` to every request."""
    return state.assumes("old-fulfillment", "denomination")


def older(state: State, product: Product) -> Product:
    """Return the product as clients see it before `NEW_VERSION`, which may lack the mapping of its amount."""
    if product.fulfillment.amount is None or not _withholds_amount(state, product):
        return product
    return replace(product, fulfillment=msgspec.structs.replace(product.fulfillment, amount=None))


def _withholds_amount(state: State, product: Product) -> bool:
    if product.pricing is None or product.pricing.type != "select" or state.assumes("old-fulfillment", "price_amount"):
        return False
    if state.assumes("old-fulfillment", "absent") or lacks_extra(product):
        return True
    return not is_paid_by_price(product, always_codes=state.assumes("plan-code-required", "always"))


def last_updated(state: State, now: datetime, reseller: Reseller | None = None) -> datetime:
    """Return when the catalog, the view of `reseller`, or the default shape last changed."""
    changed = state.catalog_updated if reseller is None else reseller.catalog_updated(state.catalog_updated)
    switch = version_switch(state)
    return switch if changed < switch <= now else changed


def time_of_change(state: State, now: datetime) -> datetime:
    """Return `now`, or a tick after the latest published time: `last_updated` always increases."""
    latest = max([last_updated(state, now), *(last_updated(state, now, one) for one in state.resellers.values())])
    return max(now, latest + TICK)


def is_paid_by_price(product: Product, *, always_codes: bool) -> bool:
    """Return whether the price of every option on sale buys that option without a plan code. `always_codes` requires a
    code for every plan."""
    field, has_plans = product.pricing, plan_field(product) is not None
    assert field is not None, "a pricing select is a field"
    lists = pricing.lists_of(product, field.id)
    if has_plans and (always_codes or any(len(same) > 1 for plan in lists for same in plan.by_denomination.values())):
        return False
    faces = (option.denomination for options in lists for option in options.active)
    return all(face is None or pricing.price(product, face) == face for face in faces)


def lacks_extra(product: Product) -> bool:
    """Return whether `extras.subproduct_code` comes from a required field that is not the plan field."""
    source = product.fulfillment.extras.get(PLAN_CODE)
    if source is None or source.omit_if_empty or plan_field(product) is not None:
        return False
    return any(field.id == source.from_field and field.required for field in product.fields)
