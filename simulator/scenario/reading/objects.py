"""Converts a JSON object to a `Document`, within the same limits as text."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from simulator.scenario.reading.document import (
    CONTROL,
    DEPTH_MAX,
    DIGITS_MAX,
    NODES_MAX,
    Document,
    Node,
    Path,
    Position,
    Report,
    Scalar,
)


def load_object(value: object, source: str = "scenario") -> Document:
    """Convert an object decoded from JSON; problems have paths and no lines."""
    report = Report()
    root = _ObjectReader(source, report).node(value, (), 1)
    return Document(root, source, tuple(report.problems()))


class _ObjectReader:
    """Builds nodes from decoded JSON, within the same limits."""

    def __init__(self, source: str, report: Report) -> None:
        self._position = Position(source)
        self._report = report
        self._nodes = 0

    def node(self, value: object, path: Path, depth: int) -> Node:
        """The node of `value`, and all below it."""
        self._nodes += 1
        if depth > DEPTH_MAX:
            self._report.add(self._position, path, "too_deep", f"values are nested at most {DEPTH_MAX} deep")
            return Node(None, self._position)
        if self._nodes > NODES_MAX:
            self._report.add(self._position, (), "too_big", f"a scenario has at most {NODES_MAX} values")
            return Node(None, self._position)
        if isinstance(value, Mapping):
            return self._mapping(value, path, depth)
        if isinstance(value, Sequence) and not isinstance(value, str):
            return Node([self.node(item, (*path, at), depth + 1) for at, item in enumerate(value)], self._position)
        return Node(self._scalar(value, path), self._position)

    def _mapping(self, value: Mapping[Any, object], path: Path, depth: int) -> Node:
        for key in value:
            if not isinstance(key, str) or CONTROL.search(key):
                self._report.add(self._position, path, "key_not_text", "a key is text")
                return Node({}, self._position)
        values = {key: self.node(item, (*path, key), depth + 1) for key, item in value.items()}
        return Node(values, self._position, dict.fromkeys(values, self._position))

    def _scalar(self, value: object, path: Path) -> Scalar:
        if isinstance(value, float):
            value = Decimal(repr(value))
        if isinstance(value, str) and CONTROL.search(value):
            self._report.add(self._position, path, "bad_text", "text has no control characters but tab and line feed")
        elif isinstance(value, int | Decimal) and not isinstance(value, bool):
            return self._number(value, path)
        elif value is None or isinstance(value, str | bool):
            return value
        else:
            self._report.add(self._position, path, "type", "this is not a JSON value")
        return None

    def _number(self, value: int | Decimal, path: Path) -> int | Decimal:
        if isinstance(value, int):
            fits = abs(value) < 10**DIGITS_MAX
        else:
            exponent = value.as_tuple().exponent
            fits = isinstance(exponent, int) and exponent > -DIGITS_MAX and value.adjusted() < DIGITS_MAX
        if not fits:
            self._report.add(self._position, path, "bad_number", f"a number has at most {DIGITS_MAX} digits")
            return 0
        return int(value) if value == int(value) else value
