"""`extends`: merges a scenario over its base node by node, so that every value keeps its position and file."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from simulator.scenario.reading.check import suggestion
from simulator.scenario.reading.document import Node, Path, Report, child, shown

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


def merge(base: Node, over: Node, report: Report) -> Node:
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


def refuse_removals(root: Node, report: Report) -> None:
    """Report each `remove` of a scenario without `extends`."""
    for section in CHANGEABLE:
        for at, node in enumerate(_items(child(root, section))):
            if (found := child(node, REMOVE)) is not None:
                text = "nothing is inherited that could be removed; only a file that extends another one removes"
                report.add(found.position, (section, at, REMOVE), "misplaced", text)


def _items(node: Node | None) -> list[Node]:
    return node.value if node is not None and isinstance(node.value, list) else []


def _changed(section: str, base: Node, over: list[Node], report: Report) -> list[Node]:
    """Return the items of both scenarios: an item of `over` replaces or removes the inherited item that it names."""
    keys, is_before = CHANGEABLE[section]
    inherited = _Inherited(section, base, keys)
    new: list[Node] = []
    for at, node in enumerate(over):
        if child(node, REMOVE) is not None:
            inherited.remove(node, (section, at), report)
        elif not inherited.replace(node):
            new.append(node)
    kept = inherited.items()
    return new + kept if is_before else kept + new


class _Inherited:
    """The items of an inherited list; each is replaced or removed once."""

    def __init__(self, section: str, base: Node, keys: tuple[str, ...]) -> None:
        items = _items(child(base, section))
        self._items: list[Node | None] = list(items)
        self._section = section
        self._base = base
        self._keys = keys
        self._places: dict[Label, list[int]] = {}
        self._gone: set[int] = set()
        for place, node in enumerate(items):
            for label in self._labels(node):
                self._places.setdefault(label, []).append(place)

    def items(self) -> list[Node]:
        """Return the remaining items in their order."""
        return [node for node in self._items if node is not None]

    def replace(self, node: Node) -> bool:
        """Replace the inherited item of the same name, if it exists."""
        for label in self._labels(node):
            if places := self._found(label):
                self._put(places, node)
                return True
        return False

    def remove(self, node: Node, path: Path, report: Report) -> None:
        """Remove the inherited item that an item with `remove` names."""
        if not self._is_removal(node, path, report):
            return
        first, *others = self._labels(node)
        places = self._found(first)
        for label in (first, *others):
            if not set(self._found(label)) & set(places):
                self._report_unknown(label, node, path, report)
                return
        self._put(places, None)

    def _found(self, label: Label) -> list[int]:
        return [place for place in self._places.get(label, ()) if place not in self._gone]

    def _put(self, places: list[int], node: Node | None) -> None:
        for place in places:
            self._items[place], node = node, None
        self._gone.update(places)

    def _report_unknown(self, label: Label, node: Node, path: Path, report: Report) -> None:
        key, text = label
        found = child(node, key)
        assert found is not None
        if label in self._places:
            message = f"what has the {key} {shown(text)} is replaced or removed by another item already"
            report.add(found.position, (*path, key), "duplicate", message)
        else:
            known = [other for own_key, other in self._places if own_key == key]
            hint = self._elsewhere(label) or suggestion(text, known)
            message = f"nothing is inherited in {path[0]} that has the {key} {shown(text)}{hint}"
            report.add(found.position, (*path, key), "unknown_name", message)

    def _elsewhere(self, label: Label) -> str:
        """Return the other sections with an item of this name."""
        others = [
            section
            for section in CHANGEABLE
            if section != self._section
            and any(label in self._labels(one) for one in _items(child(self._base, section)))
        ]
        return f" (there is one in {' and '.join(others)})" if others else ""

    def _is_removal(self, node: Node, path: Path, report: Report) -> bool:
        """Return True for an item with a valid `remove` and no other keys; report other items."""
        assert isinstance(node.value, dict)
        found = node.value[REMOVE]
        if found.value is not True:
            report.add(found.position, (*path, REMOVE), "unknown_value", f"{shown(found.value)} is not true")
            return False
        for key in node.value:
            if key != REMOVE and key not in self._keys:
                text = (
                    f"{shown(key)} beside 'remove' has no effect; without 'remove' the item replaces the inherited one"
                )
                report.add(node.keys[key], (*path, key), "misplaced", text)
                return False
        if len(list(self._labels(node))) < max(1, len(node.value) - 1):
            text = f"what is removed is said by its {' or '.join(self._keys)}, which is text"
            report.add(found.position, path, "missing_key", text)
            return False
        return True

    def _labels(self, node: Node) -> Iterator[Label]:
        for key in self._keys:
            found = child(node, key)
            if found is not None and isinstance(found.value, str) and found.value:
                yield key, found.value


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
