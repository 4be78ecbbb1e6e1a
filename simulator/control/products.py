"""`/_sim/sandboxes/{id}/catalog`: the products as they are now, for everybody or as one reseller sees them."""

from itertools import islice
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.filters import refuse_unknown_reseller
from simulator.control.http import page, reply, sandbox_of
from simulator.control.parameters import page_of, query_of
from simulator.domain.model.catalog import Money, Product
from simulator.domain.model.resellers import Reseller
from simulator.domain.state import State
from simulator.wire.catalog import overlay_body, product_body
from simulator.wire.json import number


async def list_all(request: Request) -> Response:
    """A page of products, hidden and inactive ones included, in the order of the catalog."""
    live = sandbox_of(request)
    query = query_of(request, "sandbox-catalog-query")
    refuse_unknown_reseller(live, query)
    asked, state = page_of(query), live.core.state
    buyer = state.resellers.get(query.get("reseller", ""))
    places = {category.id: group.name for group in state.catalog.groups for category in group.categories}
    # Whoever changes the catalog replaces it, so what is listed here is of one moment.
    found = islice(state.catalog.products.values(), asked.cursor + asked.limit + 1)
    return reply(await page("products", asked, found, lambda one: _row(state, places, one, buyer)))


def _row(state: State, groups: dict[str, str], shared: Product, buyer: Reseller | None) -> dict[str, Any]:
    overlay = buyer.overlay.get(shared.code) if buyer else None
    product = overlay.over(shared) if overlay else shared
    category = state.catalog.categories.get(product.code)
    return {
        "code": product.code,
        "name": product.name,
        "category": category.name if category else "",
        "group": groups[category.id] if category else "",
        "is_active": product.is_active,
        "is_hidden": product.is_hidden,
        "price": number(product.discount.unit_price),
        "min": _amount(product.min_amount),
        "max": _amount(product.max_amount),
        "network": state.network.status(product.code, state.now).value,
        "overlay": overlay_body(overlay),
        "product": product_body(product),
    }


def _amount(money: Money | None) -> Any:
    return number(money.amount) if money else None
