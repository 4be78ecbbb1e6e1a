"""Checks that decoded JSON has a shape: what a client reads of an answer is there, and is of its kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

# A kind of value; an object with these members at least, of which those whose name ends in `?` may be absent or null;
# or a list whose items all have the one shape that is given.
Shape: TypeAlias = "Kind | Mapping[str, Shape] | Sequence[Shape]"

OPTIONAL = "?"


@dataclass(frozen=True, slots=True)
class Kind:
    """Values that are alike: `name` with its article, for people."""

    name: str
    has: Callable[[Any], bool]


class Mismatch(ValueError):
    """Something else is where a value was expected: `where`, such as `callbacks[0].url`, empty for the whole."""

    def __init__(self, where: str, wanted: str) -> None:
        super().__init__(f"its {where} is not {wanted}" if where else f"it is not {wanted}")
        self.where = where


def check(value: Any, shape: Shape, where: str = "") -> None:
    """Raise `Mismatch` for the first place at which a value has not the shape."""
    if isinstance(shape, Kind):
        if not shape.has(value):
            raise Mismatch(where, shape.name)
    elif isinstance(shape, Mapping):
        _check_members(value, shape, where)
    else:
        _check_items(value, shape, where)


def _check_members(value: Any, shape: Mapping[str, Shape], where: str) -> None:
    if not isinstance(value, dict):
        raise Mismatch(where, "an object")
    for marked, inner in shape.items():
        name = marked.removesuffix(OPTIONAL)
        if name is marked or value.get(name) is not None:
            check(value.get(name), inner, f"{where}.{name}" if where else name)


def _check_items(value: Any, shape: Sequence[Shape], where: str) -> None:
    if not isinstance(value, list):
        raise Mismatch(where, "a list")
    (inner,) = shape
    for number, one in enumerate(value):
        check(one, inner, f"{where}[{number}]")
