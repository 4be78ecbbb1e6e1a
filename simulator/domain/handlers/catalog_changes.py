"""Changes of the catalog: products, for everybody or for a single reseller, and the tree (SPEC 2.1, 6.4)."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

import msgspec

from simulator.domain.commands import ChangeProduct, ChangeTree, SetNetwork
from simulator.domain.errors import Unacceptable, Unknown
from simulator.domain.handlers import catalog_events
from simulator.domain.model.catalog import (
    Catalog,
    Category,
    Group,
    OptionChange,
    OptionList,
    Overlay,
    Product,
    ProductChange,
    TreeChange,
    TreeKind,
)
from simulator.domain.model.resellers import Reseller
from simulator.domain.queries import product_of, reseller_of, time_of_change
from simulator.domain.state import State

OF_PRODUCT = frozenset({"is_active", "name", "note", "price_adjustment", "discount"})
OF_OVERLAY = frozenset({"is_active", "price_adjustment"})


def change_product(state: State, command: ChangeProduct, now: datetime) -> ProductChange:
    """Change a product and return the difference; `last_updated` moves only if the product changed.

    Raise `Unknown` for an unknown product, reseller or option, `Unacceptable` for a property that cannot be changed
    this way.
    """
    product = product_of(state, command.code)
    if command.reseller is not None:
        return _change_overlay(state, reseller_of(state, command.reseller), command, now)
    _refuse(set(command.changes) - OF_PRODUCT, "cannot be changed")
    changed, options = _with_options(product, command.options)
    properties: dict[str, Any] = dict(command.changes)
    after = replace(changed, **properties)
    change = ProductChange(product, after, _differing(product, after, command.changes), options)
    if change:
        products = MappingProxyType({**state.catalog.products, product.code: after})
        put_catalog(state, Catalog(state.catalog.groups, products), now)
    return change


def put_catalog(state: State, catalog: Catalog, now: datetime) -> None:
    """Replace the sandbox's catalog, move `last_updated`, and publish events for the differences."""
    before = state.catalog
    state.catalog = catalog
    state.catalog_updated = time_of_change(state, now)
    catalog_events.publish(state, before, now)


def _change_overlay(state: State, reseller: Reseller, command: ChangeProduct, now: datetime) -> ProductChange:
    """Change a reseller's overlay. None resets a property to the product's own value; an empty overlay is removed."""
    _refuse(set(command.changes) - OF_OVERLAY, "cannot be changed for one reseller")
    _refuse({"options"} if command.options else set(), "cannot be changed for one reseller")
    before, overlay_before = reseller.sees(state.catalog, command.code), reseller.overlay
    properties: dict[str, Any] = dict(command.changes)
    overlay = msgspec.structs.replace(reseller.overlay.get(command.code, Overlay()), **properties)
    others = {code: one for code, one in reseller.overlay.items() if code != command.code}
    reseller.overlay = MappingProxyType(others if overlay == Overlay() else {**others, command.code: overlay})
    after = reseller.sees(state.catalog, command.code)
    assert before is not None
    assert after is not None
    change = ProductChange(before, after, _differing(before, after, command.changes), reseller=reseller.code)
    if change:
        reseller.overlay_updated = time_of_change(state, now)
        catalog_events.publish_overlay(state, reseller, overlay_before, now)
    return change


def _refuse(names: set[str], text: str) -> None:
    if names:
        name = min(names)
        raise Unacceptable("unacceptable_change", f"{name!r} {text}", name)


def _differing(before: object, after: object, names: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(name for name in sorted(names) if getattr(before, name) != getattr(after, name))


def _with_options(product: Product, wanted: Mapping[str, bool]) -> tuple[Product, tuple[OptionChange, ...]]:
    """Return the product with options, by code, put on sale or taken off sale in every list that contains them."""
    lists = [*product.options.values(), *product.options_for.values()]
    for code in wanted:
        if not any(code in found.by_code for found in lists):
            raise Unknown("unknown_option", f"product {product.code!r} has no option {code!r}")
    changes = [
        OptionChange(field_id, option, msgspec.structs.replace(option, is_active=is_active))
        for field_id, found in [*product.options.items(), *((key[0], one) for key, one in product.options_for.items())]
        for code, is_active in wanted.items()
        if (option := found.by_code.get(code)) is not None and option.is_active != is_active
    ]
    if not changes:
        return product, ()
    changed = replace(
        product,
        options=MappingProxyType({key: _with_active(found, wanted) for key, found in product.options.items()}),
        options_for=MappingProxyType({key: _with_active(found, wanted) for key, found in product.options_for.items()}),
    )
    return changed, tuple(changes)


def _with_active(found: OptionList, wanted: Mapping[str, bool]) -> OptionList:
    return OptionList(
        msgspec.structs.replace(option, is_active=wanted.get(option.code, option.is_active)) for option in found
    )


CHANGEABLE: Mapping[TreeKind, frozenset[str]] = {
    TreeKind.CATEGORY: frozenset({"name", "product_codes"}),
    TreeKind.GROUP: frozenset({"name", "icon_url"}),
}


def change_tree(state: State, command: ChangeTree, now: datetime) -> TreeChange:
    """Change a category or group; `last_updated` moves and events are published only on a difference.

    Raise `Unknown` for an unknown category, group or product code, `Unacceptable` for any other property.
    """
    before = state.catalog.part(command.kind, command.id)
    if refused := set(command.changes) - CHANGEABLE[command.kind]:
        raise Unacceptable("unacceptable_change", f"{min(refused)!r} cannot be changed", min(refused))
    for code in command.changes.get("product_codes", ()):
        product_of(state, code)
    properties: dict[str, Any] = dict(command.changes)
    after = msgspec.structs.replace(before, **properties)
    changed = _differing(before, after, command.changes)
    if changed:
        put_catalog(state, Catalog(_with_part(state.catalog.groups, before, after), state.catalog.products), now)
    return TreeChange(after, changed)


def _with_part(groups: tuple[Group, ...], before: Category | Group, after: Category | Group) -> tuple[Group, ...]:
    if isinstance(after, Group):
        return tuple(after if group is before else group for group in groups)
    return tuple(
        msgspec.structs.replace(
            group, categories=tuple(after if category is before else category for category in group.categories)
        )
        for group in groups
    )


def set_network(state: State, command: SetNetwork, now: datetime) -> None:
    """Set a product's network status from now on (SPEC 2.7). Raise `Unknown`."""
    state.network.overrides[product_of(state, command.product).code] = command.status
