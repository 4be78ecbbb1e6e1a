"""Changes of the catalog's tree: its groups and categories, for everybody (SPEC 2.1, 6.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from simulator.domain.catalog import Catalog, Category, Group, TreeKind
from simulator.domain.commands import ChangeTree
from simulator.domain.errors import Unacceptable, Unknown
from simulator.domain.products import put_catalog
from simulator.domain.state import State

CHANGEABLE: Mapping[TreeKind, frozenset[str]] = {
    TreeKind.CATEGORY: frozenset({"name", "product_codes"}),
    TreeKind.GROUP: frozenset({"name", "icon_url"}),
}


@dataclass(frozen=True, slots=True)
class TreeChange:
    """What a `ChangeTree` did: the category or group as it is now, and which of its properties differ."""

    after: Category | Group
    changed: tuple[str, ...]


def of_kind(catalog: Catalog, kind: TreeKind) -> Sequence[Category | Group]:
    """All groups, or all categories, in display order."""
    if kind is TreeKind.GROUP:
        return catalog.groups
    return [category for group in catalog.groups for category in group.categories]


def find(catalog: Catalog, kind: TreeKind, id_: str) -> Category | Group:
    """The category or group with this id. Raises `Unknown`."""
    for one in of_kind(catalog, kind):
        if one.id == id_:
            return one
    raise Unknown(f"unknown_{kind}", f"this sandbox has no {kind} {id_!r}")


def change_tree(state: State, command: ChangeTree, now: datetime) -> TreeChange:
    """Change a category or group; `last_updated` moves and events are told when and only when something differs.

    Raises `Unknown` for one that there is not, and for a product code; `Unacceptable` for any other property.
    """
    before = find(state.catalog, command.kind, command.id)
    if refused := set(command.changes) - CHANGEABLE[command.kind]:
        raise Unacceptable("unacceptable_change", f"{min(refused)!r} cannot be changed", min(refused))
    for code in command.changes.get("product_codes", ()):
        if code not in state.catalog.products:
            raise Unknown("unknown_product", f"this sandbox has no product {code!r}")
    after = _replaced(before, command.changes)
    changed = tuple(name for name in sorted(command.changes) if getattr(before, name) != getattr(after, name))
    if changed:
        groups = tuple(_with(group, before, after) for group in state.catalog.groups)
        put_catalog(state, Catalog(groups, state.catalog.products), now)
    return TreeChange(after, changed)


def _replaced(one: Category | Group, changes: Mapping[str, Any]) -> Category | Group:
    return replace(one, **changes)


def _with(group: Group, before: Category | Group, after: Category | Group) -> Group:
    """The group, or what it became."""
    if group is before:
        assert isinstance(after, Group)
        return after
    if not any(category is before for category in group.categories):
        return group
    assert isinstance(after, Category)
    return replace(group, categories=tuple(after if one is before else one for one in group.categories))
