"""Catalog change events (SPEC 6.4): what differs between two catalogs, told to the target that the scenario names.

Groups and categories are told by their id, products by code, options by product, field and code. Options of a product
that comes or goes as a whole are not told one by one, and a product whose options alone changed is not told itself.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, TypeVar

from simulator.domain.handlers import deliveries
from simulator.domain.model.catalog import (
    Catalog,
    Category,
    Group,
    Option,
    Product,
)
from simulator.domain.model.webhooks import CatalogEntry
from simulator.domain.state import State

CREATED, UPDATED, DELETED = "created", "updated", "deleted"

Key = TypeVar("Key")
Resource = TypeVar("Resource")
Same = Callable[[Resource, Resource], bool]


class Change(NamedTuple):
    """One difference: the event's type, what identifies the resource, and the resource as it is, or was last."""

    type: str
    key: tuple[str, ...]
    entry: CatalogEntry


def announce(state: State, before: Catalog, now: datetime) -> None:
    """Tell how the sandbox's catalog differs from what it was `before`."""
    webhook = state.catalog_webhook
    if not webhook.enabled:
        return
    state.catalog_changes += 1
    for change in changes(before, state.catalog):
        deliveries.emit(state, webhook, "", change.type, change.entry, now, *change.key, state.catalog_changes)


def announce_overlay(state: State, reseller: str, product: Product, now: datetime) -> None:
    """Tell of a product that changed for one reseller alone, as that reseller sees it now."""
    webhook = state.catalog_webhook
    if not webhook.enabled or state.assumes("catalog-overlay-events", "not_told"):
        return
    state.catalog_changes += 1
    entry = CatalogEntry(_as_told(product), reseller=reseller)
    key = (product.code, reseller, state.catalog_changes)
    deliveries.emit(state, webhook, "", f"product.{UPDATED}", entry, now, *key)


def changes(before: Catalog, after: Catalog) -> Iterator[Change]:
    """Every difference: groups, categories, products, options."""
    for change, id_, group in _differences(_groups(before), _groups(after)):
        yield Change(f"group.{change}", (id_,), CatalogEntry(group))
    for change, id_, category in _differences(_categories(before), _categories(after)):
        yield Change(f"category.{change}", (id_,), CatalogEntry(category))
    for change, code, product in _differences(before.products, after.products, _is_same_product):
        yield Change(f"product.{change}", (code,), CatalogEntry(_as_told(product)))
    for code, product in after.products.items():
        if (was := before.products.get(code)) is not None and was is not product:
            yield from _option_changes(was, product)


def _option_changes(before: Product, after: Product) -> Iterator[Change]:
    told = replace(after, options={}, options_for={})
    for change, (field_id, code), option in _differences(_options(before), _options(after)):
        yield Change(f"option.{change}", (after.code, field_id, code), CatalogEntry(option, told, field_id))


def _as_told(product: Product) -> Product:
    """The product without the options that no event shows, so that the log does not keep old lists of them alive.

    Those of the pricing field say whether there is a loss risk.
    """
    pricing = product.pricing.id if product.pricing else ""
    kept = {field_id: options for field_id, options in product.options.items() if field_id == pricing}
    return replace(product, options=kept, options_for={})


def _options(product: Product) -> dict[tuple[str, str], Option]:
    """Every option by its field and code; what is written for single account numbers gives way to the field's own."""
    found = {(key[0], one.code): one for key, options in product.options_for.items() for one in options}
    return found | {(field_id, one.code): one for field_id, options in product.options.items() for one in options}


def _groups(catalog: Catalog) -> Mapping[str, Group]:
    return {group.id: group for group in catalog.groups}


def _categories(catalog: Catalog) -> Mapping[str, Category]:
    return {category.id: category for group in catalog.groups for category in group.categories}


def _is_same(one: object, other: object) -> bool:
    return one == other


def _is_same_product(one: Product, other: Product) -> bool:
    """Its options aside."""
    return one is other or replace(one, options=other.options, options_for=other.options_for) == other


def _differences(
    old: Mapping[Key, Resource], new: Mapping[Key, Resource], is_same: Same[Resource] = _is_same
) -> Iterator[tuple[str, Key, Resource]]:
    for key, resource in new.items():
        if key not in old:
            yield CREATED, key, resource
        elif not is_same(old[key], resource):
            yield UPDATED, key, resource
    for key, resource in old.items():
        if key not in new:
            yield DELETED, key, resource
