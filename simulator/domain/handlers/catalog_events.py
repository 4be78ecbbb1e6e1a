"""Catalog change events (SPEC 6.4): the differences between two catalogs, sent to the target that the scenario names.

Groups and categories are compared as an unfiltered catalog shows them, with products on sale only. Products are
identified by code, options by product, field and code. Options of a product that is added or removed have no events of
their own, and a product whose options alone changed has an event only when its loss risk or the mapping of its amount
changed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

import msgspec

from simulator.domain.handlers import webhook_jobs
from simulator.domain.model import pricing
from simulator.domain.model.catalog import Catalog, Overlay, Product, Receipt, tree_of
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.webhooks import CatalogEntry
from simulator.domain.queries import has_newest_shape, older, version_switch
from simulator.domain.state import State


class CatalogShape(NamedTuple):
    """The shape of a catalog in events: whether categories include products that are not on sale, and how older clients
    see a product, None for the newest shape."""

    whole_tree: bool = False
    older: Callable[[Product], Product] | None = None


class CatalogChange(NamedTuple):
    """A difference: the event's type, and the resource's identity and its present or last representation."""

    type: str
    key: tuple[str, ...]
    entry: CatalogEntry


Resources = Mapping[tuple[str, ...], tuple[object, CatalogEntry]]
"""Resources of a kind by identity. Those with the same first part look the same."""


def publish(state: State, before: Catalog, now: datetime) -> None:
    """Publish the differences from `before`: to everybody, and further differences to resellers with an overlay."""
    if not state.catalog_webhook.enabled:
        return
    state.catalog_changes += 1
    shape = _shape(state, now)
    shared = list(changes(before, state.catalog, shape))
    _send(state, shared, shape, "", now)
    if state.assumes("catalog-overlay-events", "not_published"):
        return
    published = {(change.type, change.key) for change in shared}
    for reseller in state.resellers.values():
        if overlay := reseller.overlay:
            own = changes(_seen(before, overlay), _seen(state.catalog, overlay), shape)
            further = [change for change in own if (change.type, change.key) not in published]
            _send(state, further, shape, reseller.code, now)


def publish_overlay(state: State, reseller: Reseller, before: Mapping[str, Overlay], now: datetime) -> None:
    """Publish how a reseller's view of the catalog differs from its view under the overlay `before`."""
    if not state.catalog_webhook.enabled or state.assumes("catalog-overlay-events", "not_published"):
        return
    state.catalog_changes += 1
    shape = _shape(state, now)
    found = changes(_seen(state.catalog, before), _seen(state.catalog, reseller.overlay), shape)
    _send(state, list(found), shape, reseller.code, now)


def _shape(state: State, now: datetime) -> CatalogShape:
    """Return the current default shape, which later deliveries and replays of an event keep."""
    is_newest = has_newest_shape(state) or state.assumes("catalog-event-version", "newest")
    is_new = is_newest or now >= version_switch(state)
    return CatalogShape(state.assumes("tree-products", "whole"), None if is_new else lambda one: older(state, one))


def changes(before: Catalog, after: Catalog, shape: CatalogShape) -> Iterator[CatalogChange]:
    """Yield every difference: groups, categories, products, options."""
    old, new = (_tree(catalog, shape) for catalog in (before, after))
    yield from _differences("group", old[0], new[0])
    yield from _differences("category", old[1], new[1])
    yield from _differences("product", _products(before, after, shape), _products(after, before, shape))
    for code, product in after.products.items():
        if (was := before.products.get(code)) is not None and was is not product:
            yield from _differences("option", _options(was), _options(product))


def _differences(kind: str, old: Resources, new: Resources) -> Iterator[CatalogChange]:
    for key, (shown, entry) in new.items():
        if key not in old:
            yield CatalogChange(f"{kind}.created", key, entry)
        elif old[key][0] != shown:
            yield CatalogChange(f"{kind}.updated", key, entry)
    for key, (_, entry) in old.items():
        if key not in new:
            yield CatalogChange(f"{kind}.deleted", key, entry)


def _send(state: State, found: list[CatalogChange], shape: CatalogShape, reseller: str, now: datetime) -> None:
    whose = (reseller,) if reseller else ()
    for change in found:
        entry = msgspec.structs.replace(change.entry, reseller=reseller, by_denomination=shape.older is None)
        identity = (*change.key, *whose, state.catalog_changes)
        webhook_jobs.emit(state, state.catalog_webhook, "", change.type, entry, now, *identity)


def _seen(catalog: Catalog, overlay: Mapping[str, Overlay]) -> Catalog:
    own = {code: one.over(catalog.products[code]) for code, one in overlay.items() if code in catalog.products}
    return Catalog(catalog.groups, {**catalog.products, **own})


def _tree(catalog: Catalog, shape: CatalogShape) -> tuple[Resources, Resources]:
    """Return the groups and the categories."""
    on_sale = {code for code, product in catalog.products.items() if product.is_active and not product.is_hidden}
    groups = catalog.groups if shape.whole_tree else tree_of(catalog.groups, on_sale)
    categories = (category for group in groups for category in group.categories)
    return {(one.id,): (one, CatalogEntry(one)) for one in groups}, {
        (one.id,): (one, CatalogEntry(one)) for one in categories
    }


def _products(catalog: Catalog, other: Catalog, shape: CatalogShape) -> Resources:
    """Return the products that are not hidden, including inactive products, without those that `other` shares."""
    found: dict[tuple[str, ...], tuple[object, CatalogEntry]] = {}
    for code, product in catalog.products.items():
        if not product.is_hidden and other.products.get(code) is not product:
            shown = _as_shown(product if shape.older is None else shape.older(product))
            entry = CatalogEntry(shown, has_loss_risk=pricing.has_loss_risk(product))
            found[code,] = (_as_shown(product), entry), entry
    return found


def _as_shown(product: Product) -> Product:
    """Return the product without the parts that its representation lacks, so that the log does not keep old option
    lists in memory."""
    return replace(
        product,
        options={},
        options_for={},
        fields_by_account=frozenset(),
        fulfilled=Receipt(),
        voidable=False,
        bill=None,
    )


def _options(product: Product) -> Resources:
    """Return every option on sale, with its selling price and cost where it has a price. The field's own options take
    precedence over options written for single account numbers."""
    shown, found = _as_shown(product), dict[tuple[str, ...], tuple[object, CatalogEntry]]()
    lists = [*((field_id, one) for (field_id, _), one in product.options_for.items()), *product.options.items()]
    for field_id, options in lists:
        is_priced = product.pricing is not None and product.pricing.id == field_id
        for option in options.active:
            face = option.denomination if is_priced else None
            prices = face is not None and (pricing.price(product, face), pricing.cost(product, face))
            found[product.code, field_id, option.code] = (option, prices), CatalogEntry(option, shown, field_id)
    return found
