"""`extends`: merges a scenario over another one, node by node, so that every value keeps its position and file."""

from collections.abc import Callable, Mapping
from decimal import Decimal

from simulator.scenario.reading.document import Node

# Lists whose items have an identity, by the path of the list without indexes: the identifying key.
IDENTITIES: Mapping[tuple[str, ...], str] = {
    ("resellers",): "code",
    ("resellers", "api_keys"): "key",
    ("resellers", "users"): "username",
    ("catalog", "groups"): "id",
    ("catalog", "groups", "categories"): "id",
    ("catalog", "products"): "code",
    ("catalog", "products", "fields"): "id",
    ("catalog", "products", "fields", "options"): "code",
}
NOT_INHERITED = ("scenario", "description", "extends")

Keys = tuple[str, ...]


def merge(base: Node, over: Node) -> Node:
    """Merge `over` over `base`; neither is changed. The result shares the nodes of `base` that `over` does not name."""
    if not isinstance(base.value, dict) or not isinstance(over.value, dict):
        return over
    values = {key: node for key, node in base.value.items() if key not in NOT_INHERITED}
    inherited = Node(values, base.position, {key: base.keys[key] for key in values})
    return _merged(inherited, over, ())


def _merged(base: Node, over: Node, path: Keys) -> Node:
    if isinstance(base.value, dict) and isinstance(over.value, dict):
        values, keys = dict(base.value), {**base.keys, **over.keys}
        for key, node in over.value.items():
            values[key] = _merged(values[key], node, (*path, key)) if key in values else node
        return Node(values, over.position, keys)
    if isinstance(base.value, list) and isinstance(over.value, list) and (join := _JOINS.get(path)):
        return Node(join(base.value, over.value, path), over.position)
    return over


def _before(base: list[Node], over: list[Node], path: Keys) -> list[Node]:
    return over + base


def _after(base: list[Node], over: list[Node], path: Keys) -> list[Node]:
    return base + over


def _by_identity(base: list[Node], over: list[Node], path: Keys) -> list[Node]:
    """Known items are merged in place, new ones are appended. Duplicates are left for validation."""
    key = IDENTITIES[path]
    places = {identity: place for place, node in enumerate(base) if (identity := _identity(node, key)) is not None}
    joined = list(base)
    for node in over:
        place = places.pop(_identity(node, key) or "", None)
        if place is None:
            joined.append(node)
        else:
            joined[place] = _merged(joined[place], node, path)
    return joined


def _identity(node: Node, key: str) -> str | None:
    """The value of its key; a plain number, valid for an option, is its own identity."""
    if isinstance(node.value, int | Decimal):
        return str(node.value)
    found = node.value.get(key) if isinstance(node.value, dict) else None
    return found.value if found is not None and isinstance(found.value, str) else None


_JOINS: Mapping[Keys, Callable[[list[Node], list[Node], Keys], list[Node]]] = {
    **dict.fromkeys((("payments",), ("voids",), ("disputes",), ("bills",), ("faults",)), _before),
    **dict.fromkeys((("schedule",), ("expect",)), _after),
    **dict.fromkeys(IDENTITIES, _by_identity),
}
