"""`/_sim/sandboxes/{id}/catalog` and `…/network`: products as a reseller sees them, their changes, network status."""

from collections.abc import Iterable
from functools import partial
from itertools import islice
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from simulator.control.filters import list_query, query_of, refuse_other_parameters
from simulator.control.http import body_of, cursor_of, page, reply
from simulator.domain.commands import ChangeProduct, ChangeTree, SetNetwork
from simulator.domain.model.catalog import Product, ProductChange, TreeChange, TreeKind
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.schedule import NetworkStatus
from simulator.domain.queries import last_updated, product_of, reseller_of
from simulator.domain.state import State
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.scenario.sections.catalog_section import build_changes, build_tree_changes
from simulator.wire.catalog_answers import adjustment, overlay_body, product_body, tree_part
from simulator.wire.formats import iso_utc_exact, number


async def change_product(request: Request, live: LiveSandbox) -> Response:
    """Change a product for all resellers, or with `?reseller=` for a single reseller."""
    query = query_of(request, "product-change-query")
    state, code = live.core.state, request.path_params["code"]
    product = product_of(state, code)
    wanted = query.get("reseller")
    reseller = None if wanted is None else reseller_of(state, wanted)
    body = await body_of(request, "product-request")
    changes = build_changes(body, product, is_overlay=reseller is not None)
    command = ChangeProduct(code, changes.properties, changes.options, reseller.code if reseller else None)
    done: ProductChange = await live.settle_and_apply(command)
    updated = last_updated(state, state.now, reseller)
    kept = _resellers_with_own(state, code, changes.properties) if reseller is None else []
    return reply(
        {
            "changed": list(done.changed),
            "values": {
                name: {"before": _value(done.before, name), "after": _value(done.after, name)}
                for name in changes.properties
            },
            "kept": kept,
            "overlay": overlay_body(reseller.overlay.get(code)) if reseller else None,
            "options": [change.after.code for change in done.options],
            "last_updated": iso_utc_exact(updated),
            "product": product_body(done.after),
        }
    )


def _value(product: Product, name: str) -> Any:
    if name == "price_adjustment":
        return adjustment(product.price_adjustment)
    if name == "discount":
        return {"type": product.discount.type, "value": product.discount.value}
    return getattr(product, name)


def _resellers_with_own(state: State, code: str, names: Iterable[str]) -> list[str]:
    """Return the codes of the resellers whose overlay of this product overrides any of these properties."""
    asked = {"is_active", "price_adjustment"}.intersection(names)
    overlays = {reseller.code: reseller.overlay.get(code) for reseller in state.resellers.values()}
    return [whose for whose, one in overlays.items() if any(getattr(one, name, None) is not None for name in asked)]


async def _change_tree(kind: TreeKind, request: Request, live: LiveSandbox) -> Response:
    """Change a category or a group for all resellers."""
    refuse_other_parameters(request)
    state, id_ = live.core.state, request.path_params["id"]
    state.catalog.part(kind, id_)
    body = await body_of(request, f"{kind}-request")
    command = ChangeTree(kind, id_, build_tree_changes(body, kind, state.catalog))
    done: TreeChange = await live.settle_and_apply(command)
    return reply(
        {
            "changed": list(done.changed),
            "last_updated": iso_utc_exact(last_updated(state, state.now)),
            kind.value: tree_part(done.after),
        }
    )


change_category = partial(_change_tree, TreeKind.CATEGORY)
change_group = partial(_change_tree, TreeKind.GROUP)


async def list_products(request: Request, live: LiveSandbox) -> Response:
    """Return a page of products in catalog order, including hidden and inactive products."""
    query = list_query(request, live, "sandbox-catalog-query")
    state = live.core.state
    buyer = state.resellers.get(query.get("reseller", ""))
    places = {category.id: group.name for group in state.catalog.groups for category in group.categories}
    # A change replaces the whole catalog, so this list is consistent.
    found = islice(state.catalog.products.values(), cursor_of(query) + query["limit"] + 1)
    return reply(await page("products", query, found, lambda one: _product_row(state, places, one, buyer)))


def _product_row(state: State, groups: dict[str, str], shared: Product, buyer: Reseller | None) -> dict[str, Any]:
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
        "min": product.min_amount and number(product.min_amount.amount),
        "max": product.max_amount and number(product.max_amount.amount),
        "network": state.network.status(product.code, state.now).value,
        "overlay": overlay_body(overlay),
        "product": product_body(product),
    }


async def put_network(request: Request, live: LiveSandbox) -> Response:
    """Set the status from now on, overriding the scenario's timeline."""
    product = request.path_params["product"]
    product_of(live.core.state, product)
    wanted = await body_of(request, "network-request")
    status = NetworkStatus(wanted["status"])
    await live.settle_and_apply(SetNetwork(product, status))
    return reply({"product": product, "status": status.value})
