"""`extends`: merges a scenario over its base node by node, so that every value keeps its position and file."""

from collections.abc import Mapping
from decimal import Decimal

from simulator.scenario.reading.hints import suggestion
from simulator.scenario.reading.nodes import Node, Path, ProblemReport, child, shown

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

# Sections whose inherited items are replaced or removed by name: the keys with the name of an item, and whether new
# items come before the inherited items.
CHANGEABLE: Mapping[str, tuple[tuple[str, ...], bool]] = {
    **dict.fromkeys(("payments", "voids", "disputes", "bills", "faults"), (("name", "id"), True)),
    "expect": (("name",), False),
}
REMOVE = "remove"

Keys = tuple[str, ...]
Label = tuple[str, str]


def merge(base: Node, over: Node, report: ProblemReport) -> Node:
    """Merge `over` over `base`, and change neither. The result shares the nodes of `base` that `over` does not name.

    Invalid removals are reported.
    """
    if not isinstance(base.value, dict) or not isinstance(over.value, dict):
        return over
    values = {key: node for key, node in base.value.items() if key not in NOT_INHERITED}
    inherited = Node(values, base.position, {key: base.keys[key] for key in values})
    changed = {
        section: Node(_changed(section, inherited, found.value, report), found.position)
        for section in CHANGEABLE
        if (found := over.value.get(section)) is not None and isinstance(found.value, list)
    }
    merged = _merged(inherited, over, ())
    assert isinstance(merged.value, dict)
    return Node(merged.value | changed, merged.position, merged.keys)


def refuse_removals(root: Node, report: ProblemReport) -> None:
    """Report each `remove` of a scenario without `extends`."""
    for section in CHANGEABLE:
        for at, node in enumerate(_items(child(root, section))):
            if (found := child(node, REMOVE)) is not None:
                text = "no rule is inherited; only a file with 'extends' removes rules"
                report.add(found.position, (section, at, REMOVE), "misplaced", text)


def _items(node: Node | None) -> list[Node]:
    return node.value if node is not None and isinstance(node.value, list) else []


def _changed(section: str, base: Node, over: list[Node], report: ProblemReport) -> list[Node]:
    """Return the items of both scenarios: an item of `over` replaces or removes the inherited item that it names. Each
    inherited item is replaced or removed once."""
    keys, is_before = CHANGEABLE[section]
    kept: list[Node | None] = list(_items(child(base, section)))
    places: dict[Label, list[int]] = {}
    for place, node in enumerate(_items(child(base, section))):
        for label in _labels(node, keys):
            places.setdefault(label, []).append(place)
    new: list[Node] = []
    gone: set[int] = set()
    for at, node in enumerate(over):
        labels = _labels(node, keys)
        found = [[place for place in places.get(label, ()) if place not in gone] for label in labels]
        named = next(filter(None, found), [])
        removal = child(node, REMOVE)
        is_removal = removal is not None and removal.value is True  # the schema reports other values
        is_alone = isinstance(node.value, dict) and node.value.keys() <= {REMOVE, *keys}
        if is_removal and not (labels and all(found) and is_alone):
            unknown = labels[found.index([])] if labels and is_alone else None
            _refuse_removal(node, unknown, (section, at), base, report)
            continue
        if not named:
            new.append(node)
        for place in named:
            kept[place] = node if place == named[0] and not is_removal else None
        gone.update(named)
    left = [node for node in kept if node is not None]
    return new + left if is_before else left + new


def _labels(node: Node, keys: tuple[str, ...]) -> list[Label]:
    found = ((key, child(node, key)) for key in keys)
    return [(key, node.value) for key, node in found if node is not None and isinstance(node.value, str) and node.value]


def _refuse_removal(node: Node, label: Label | None, path: Path, base: Node, report: ProblemReport) -> None:
    """Report a removal without a name or with other keys, or of a name that no inherited item has, or has any more."""
    section = str(path[0])
    keys, _ = CHANGEABLE[section]
    found = child(node, REMOVE if label is None else label[0])
    assert found is not None
    if label is None:
        text = f"an item with 'remove' may only have its {' or '.join(keys)}, as text"
        report.add(found.position, path, "misplaced", text)
        return
    key, text = label
    known = [name for item in _items(child(base, section)) for _, name in _labels(item, (key,)) if name != text]
    message = f"there is no inherited item in {section} with the {key} {shown(text)}{suggestion(text, known)}"
    report.add(found.position, (*path, key), "unknown_name", message)


def _merged(base: Node, over: Node, path: Keys) -> Node:
    if isinstance(base.value, dict) and isinstance(over.value, dict):
        values, keys = dict(base.value), {**base.keys, **over.keys}
        for key, node in over.value.items():
            values[key] = _merged(values[key], node, (*path, key)) if key in values else node
        return Node(values, over.position, keys)
    if isinstance(base.value, list) and isinstance(over.value, list):
        if path == ("schedule",):
            return Node(base.value + over.value, over.position)
        if path in IDENTITIES:
            return Node(_by_identity(base.value, over.value, path), over.position)
    return over


def _by_identity(base: list[Node], over: list[Node], path: Keys) -> list[Node]:
    """Merge known items in place and append new items. Duplicates are left for validation."""
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
    """Return the value of an item's key; a plain number, valid for an option, is its own identity."""
    if isinstance(node.value, int | Decimal):
        return str(node.value)
    found = node.value.get(key) if isinstance(node.value, dict) else None
    return found.value if found is not None and isinstance(found.value, str) else None
