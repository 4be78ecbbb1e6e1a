"""Catalog change events (SPEC 6.4): the differences between two catalogs, sent to the target that the scenario names.

Groups and categories are compared as an unfiltered catalog shows them, with products on sale only. Products are
identified by code, options by product, field and code. Options of a product that is added or removed have no events of
their own, and a product whose options alone changed has an event only when its loss risk or the mapping of its amount
changed.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple, TypeVar

import msgspec

from simulator.domain.handlers import webhook_jobs
from simulator.domain.model import pricing
from simulator.domain.model.catalog import Catalog, Category, Group, Option, Overlay, Product, tree_of
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.webhooks import CatalogEntry
from simulator.domain.queries import has_newest_shape, older, version_switch
from simulator.domain.state import State

CREATED, UPDATED, DELETED = "created", "updated", "deleted"

Key = TypeVar("Key")
Resource = TypeVar("Resource")
Same = Callable[[Resource, Resource], bool]


class Change(NamedTuple):
    """A difference: the event's type, and the resource's identity and its present or last representation. `product` is
    the product with its options, which the entry omits."""

    type: str
    key: tuple[str, ...]
    entry: CatalogEntry
    product: Product | None = None


def publish(state: State, before: Catalog, now: datetime) -> None:
    """Publish the differences from `before`: to everybody, and further differences to resellers with an overlay."""
    if not state.catalog_webhook.enabled:
        return
    state.catalog_changes += 1
    whole_tree = _has_whole_tree(state)
    is_same = _comparison(state, now)
    shared = list(changes(before, state.catalog, whole_tree=whole_tree, is_same=is_same))
    _send(state, shared, "", now)
    if state.assumes("catalog-overlay-events", "not_published"):
        return
    published = {(change.type, change.key) for change in shared}
    touched = _touched(before, state.catalog)
    for reseller in state.resellers.values():
        if (overlay := reseller.overlay) and not touched.isdisjoint(overlay):
            views = _seen(before, overlay), _seen(state.catalog, overlay)
            own = changes(*views, whole_tree=whole_tree, is_same=is_same)
            _send(state, [change for change in own if (change.type, change.key) not in published], reseller.code, now)


def publish_overlay(state: State, reseller: Reseller, before: Mapping[str, Overlay], now: datetime) -> None:
    """Publish how a reseller's view of the catalog differs from its view under the overlay `before`."""
    if not state.catalog_webhook.enabled or state.assumes("catalog-overlay-events", "not_published"):
        return
    state.catalog_changes += 1
    views = _seen(state.catalog, before), _seen(state.catalog, reseller.overlay)
    found = changes(*views, whole_tree=_has_whole_tree(state), is_same=_comparison(state, now))
    _send(state, list(found), reseller.code, now)


def _comparison(state: State, now: datetime) -> Same[Product]:
    """Return the comparison of products in the current default shape."""
    if _is_newer(state, now):
        return _is_same_product
    return lambda one, other: (
        _is_same_product(one, other)
        and (one is other or older(state, one).fulfillment == older(state, other).fulfillment)
    )


def _is_newer(state: State, now: datetime) -> bool:
    is_newest = has_newest_shape(state) or state.assumes("catalog-event-version", "newest")
    return is_newest or now >= version_switch(state)


def changes(
    before: Catalog, after: Catalog, *, whole_tree: bool = False, is_same: Same[Product] | None = None
) -> Iterator[Change]:
    """Yield every difference: groups, categories, products, options. With `whole_tree`, categories include products
    that are not on sale. `is_same` tests whether two products look the same."""
    old, new = (_tree(catalog, whole=whole_tree) for catalog in (before, after))
    for change, id_, group in _differences(_groups(old), _groups(new)):
        yield Change(f"group.{change}", (id_,), CatalogEntry(group))
    for change, id_, category in _differences(_categories(old), _categories(new)):
        yield Change(f"category.{change}", (id_,), CatalogEntry(category))
    for change, code, product in _differences(_shown(before), _shown(after), is_same or _is_same_product):
        entry = CatalogEntry(_without_options(product), has_loss_risk=pricing.has_loss_risk(product))
        yield Change(f"product.{change}", (code,), entry, product)
    for code, product in after.products.items():
        if (was := before.products.get(code)) is not None and was is not product:
            yield from _option_changes(was, product)


def _touched(before: Catalog, after: Catalog) -> set[str]:
    """Return the codes of products whose appearance may have changed; all codes when the tree changed."""
    if before.groups is not after.groups:
        return {*before.products, *after.products}
    return {code for code, product in after.products.items() if before.products.get(code) is not product} | (
        before.products.keys() - after.products.keys()
    )


def _send(state: State, found: list[Change], reseller: str, now: datetime) -> None:
    """Emit events in the current default shape, which later deliveries and replays keep."""
    is_new = _is_newer(state, now)
    whose = (reseller,) if reseller else ()
    for change in found:
        entry = msgspec.structs.replace(change.entry, reseller=reseller, by_denomination=is_new)
        if change.product is not None and not is_new:
            entry = msgspec.structs.replace(entry, resource=_without_options(older(state, change.product)))
        identity = (*change.key, *whose, state.catalog_changes)
        webhook_jobs.emit(state, state.catalog_webhook, "", change.type, entry, now, *identity)


def _has_whole_tree(state: State) -> bool:
    return state.assumes("tree-products", "whole")


def _seen(catalog: Catalog, overlay: Mapping[str, Overlay]) -> Catalog:
    own = {code: one.over(catalog.products[code]) for code, one in overlay.items() if code in catalog.products}
    return Catalog(catalog.groups, {**catalog.products, **own})


def _tree(catalog: Catalog, *, whole: bool) -> tuple[Group, ...]:
    listed = {code for code, product in catalog.products.items() if product.is_listed}
    return catalog.groups if whole else tree_of(catalog.groups, listed)


def _groups(tree: tuple[Group, ...]) -> Mapping[str, Group]:
    return {group.id: group for group in tree}


def _categories(tree: tuple[Group, ...]) -> Mapping[str, Category]:
    return {category.id: category for group in tree for category in group.categories}


def _shown(catalog: Catalog) -> Mapping[str, Product]:
    """Return the products of the catalog, including inactive products."""
    return {code: product for code, product in catalog.products.items() if not product.is_hidden}


def _is_same_product(one: Product, other: Product) -> bool:
    """Return whether both products have the same representation."""
    if one is other:
        return True
    unseen = {name: getattr(other, name) for name in ("voidable", "bill", "fulfilled", "fields_by_account")}
    options = {"options": other.options, "options_for": other.options_for}
    same = replace(one, **options, **unseen) == other  # type: ignore[arg-type]  # they are the other's
    return same and pricing.has_loss_risk(one) == pricing.has_loss_risk(other)


def _without_options(product: Product) -> Product:
    """Return the product without its options, so that the log does not keep old option lists in memory."""
    return replace(product, options={}, options_for={})


def _option_changes(before: Product, after: Product) -> Iterator[Change]:
    shown = {DELETED: _without_options(before)}
    now = _without_options(after)
    for change, (field_id, code), (option, _, _) in _differences(_offers(before), _offers(after)):
        entry = CatalogEntry(option, shown.get(change, now), field_id)
        yield Change(f"option.{change}", (after.code, field_id, code), entry)


Offer = tuple[Option, Decimal | None, Decimal | None]
"""An option on sale, with its selling price and cost where it has a price."""


def _offers(product: Product) -> dict[tuple[str, str], Offer]:
    """Return every option on sale by field and code. The field's own options take precedence over options written for
    single account numbers."""
    lists = [(field_id, found) for (field_id, _), found in product.options_for.items()]
    lists += product.options.items()
    return {(field_id, one.code): _offer(product, field_id, one) for field_id, found in lists for one in found.active}


def _offer(product: Product, field_id: str, option: Option) -> Offer:
    value = option.denomination
    if value is None or product.pricing is None or product.pricing.id != field_id:
        return option, None, None
    return option, pricing.price(product, value), pricing.cost(product, value)


def _differences(
    old: Mapping[Key, Resource], new: Mapping[Key, Resource], is_same: Same[Resource] = operator.eq
) -> Iterator[tuple[str, Key, Resource]]:
    for key, resource in new.items():
        if key not in old:
            yield CREATED, key, resource
        elif not is_same(old[key], resource):
            yield UPDATED, key, resource
    for key, resource in old.items():
        if key not in new:
            yield DELETED, key, resource
