"""The catalog endpoints, current and legacy (SPEC 4.4, 4.7, 4.8).

Encoded catalogs are cached until their contents change.
"""

from simulator.api.call import ApiCall, Reply
from simulator.api.notes import not_listed, note
from simulator.api.option_endpoints import account_problem, wants_denominations
from simulator.api.paging import BodyCache
from simulator.api.refusals import invalid_parameters, refuse_parameters
from simulator.contract.query import flag
from simulator.domain.model.catalog import Group, Product, tree_of
from simulator.domain.model.pricing import account_source, offered, subproduct_field
from simulator.domain.queries import last_updated, older
from simulator.wire import catalog as wire
from simulator.wire import legacy
from simulator.wire.money import encode


class CatalogEndpoint:
    """The endpoint that answers from encoded bodies, cached by catalog, reseller overlay, API version and filters."""

    def __init__(self) -> None:
        self._cache = BodyCache()

    def __call__(self, call: ApiCall) -> Reply:
        """Return 200 with the products that match the filters, and their tree."""
        state, owner = call.sandbox.core.state, call.owner
        newer = wants_denominations(call)
        updated = last_updated(state, call.now, owner)
        code, active = call.fields.get("product_code", ""), _active(call)
        whole_tree = state.assumes("tree-products", "whole")
        if code:
            _note_no_match(call, code, active)
        key = (id(state.catalog), id(owner.overlay), updated, newer, code, active, whole_tree)
        body = self._cache.get(key)
        if body is None:
            listed = _listed(call, active)
            products = [listed[code]] if code in listed else [] if code else list(listed.values())
            tree = state.catalog.groups if whole_tree else _tree(state.catalog.groups, listed, products)
            shown = products if newer else [older(state, product) for product in products]
            body = encode(wire.catalog(tree, shown, updated, by_denomination=newer))
            self._cache.put(key, (state.catalog, owner.overlay), body)
        return Reply(200, body)


def _active(call: ApiCall) -> bool | None:
    """Return the filter on `is_active`: True by default, None for both; `include_inactive` overrides `is_active`."""
    if flag(call.fields, "include_inactive"):
        if "is_active" in call.fields:
            note(call, "is_active was ignored, since include_inactive=true shows both")
        return None
    return flag(call.fields, "is_active") is not False


def _listed(call: ApiCall, active: bool | None) -> dict[str, Product]:
    """Return every product that matches, as the reseller sees it; never hidden products."""
    catalog = call.sandbox.core.state.catalog
    seen = ((code, call.owner.sees(catalog, code)) for code in catalog.products)
    return {code: one for code, one in seen if one and not one.is_hidden and active in (None, one.is_active)}


def _tree(groups: tuple[Group, ...], listed: dict[str, Product], products: list[Product]) -> tuple[Group, ...]:
    """Return the tree of the products in the answer. When a `product_code` matches nothing, return the tree without
    that filter, so that it is preserved (SPEC 4.4)."""
    return tree_of(groups, {product.code for product in products} or listed)


def _note_no_match(call: ApiCall, code: str, active: bool | None) -> None:
    """Note when a `product_code` matches nothing."""
    catalog = call.sandbox.core.state.catalog
    product = call.owner.sees(catalog, code)
    if product is None or product.is_hidden or active not in (None, product.is_active):
        note(call, not_listed(call, code, product))


def product_list(call: ApiCall) -> Reply:
    """Return 200 with every product of the catalog as this reseller sees it, including inactive products."""
    state = call.sandbox.core.state
    seen = (call.owner.sees(state.catalog, code) for code in state.catalog.products)
    products = [product for product in seen if product is not None and not product.is_hidden]
    return Reply(200, legacy.product_list(state.catalog, products, by_id=state.assumes("legacy-categories", "ids")))


def subproducts(call: ApiCall) -> Reply:
    """Return 200 with the active sub-products, empty for a product without sub-products; 400 for an invalid look-up."""
    fields, state = call.fields, call.sandbox.core.state
    product = call.owner.sees(state.catalog, fields["product_code"])
    if product is None or product.is_hidden or not product.is_active:
        note(call, not_listed(call, fields["product_code"], product))
        return refuse_parameters({"product_code": ["is not a product on sale"]})
    field_id = subproduct_field(product)
    if field_id is None:
        if "account_number" in fields:
            note(call, f"account_number was ignored: {product.code} has no sub-products")
        return Reply(200, legacy.subproducts(product, ()))
    if problem := account_problem(state, product, field_id, fields):
        return invalid_parameters(call, {"account_number": [problem]})
    if "account_number" in fields and account_source(product, field_id) is None:
        note(call, f"account_number was ignored: {product.code} offers the same to every account")
    found = offered(state.seed, product, field_id, fields.get("account_number", "")).active
    limit = int(fields["limit"]) if "limit" in fields else None
    priced = state.assumes("subproduct-denomination", "price")
    return Reply(200, legacy.subproducts(product, found[:limit], priced=priced))
