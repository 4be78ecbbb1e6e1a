"""The tree in which a catalog shows its products: groups of categories, in display order (SPEC 2.1)."""

from collections.abc import Container
from enum import StrEnum

import msgspec
from msgspec.structs import replace


class Category(msgspec.Struct, frozen=True):
    """A category of products."""

    id: str
    name: str
    product_codes: tuple[str, ...]


class Group(msgspec.Struct, frozen=True):
    """A row of categories; groups and categories are in display order."""

    id: str
    name: str
    icon_url: str
    categories: tuple[Category, ...]


def tree_of(groups: tuple[Group, ...], codes: Container[str]) -> tuple[Group, ...]:
    """The groups reduced to the products in `codes`; empty categories stay."""
    return tuple(
        replace(group, categories=tuple(_category_of(category, codes) for category in group.categories))
        for group in groups
    )


def _category_of(category: Category, codes: Container[str]) -> Category:
    shown = tuple(code for code in category.product_codes if code in codes)
    return category if shown == category.product_codes else replace(category, product_codes=shown)


class TreeKind(StrEnum):
    """The kinds of nodes of the tree; the value is the prefix of its events (SPEC 6.4)."""

    CATEGORY = "category"
    GROUP = "group"
