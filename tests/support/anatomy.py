"""Everything that an object holds, as plain values that can be compared, whatever classes it is made of."""

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

PLAIN = (str, bytes, int, float, Decimal, date, timedelta, Enum, type(None))


def anatomy(root: object, left_out: Collection[str] = ()) -> Any:
    """Nested lists, without the members whose names are in `left_out`. What was met before is told by when it was."""
    return _anatomy(root, {}, [], left_out)


def _anatomy(one: Any, seen: dict[int, int], kept: list[object], left_out: Collection[str]) -> Any:
    if isinstance(one, PLAIN):
        return one
    if id(one) in seen:
        return f"<{seen[id(one)]}>"
    seen[id(one)] = len(seen)
    kept.append(one)  # so that no other object gets its id

    def within(value: Any) -> Any:
        return _anatomy(value, seen, kept, left_out)

    if isinstance(one, Mapping):
        return [(within(key), within(member)) for key, member in one.items()]
    if isinstance(one, list | tuple | deque):
        return [within(member) for member in one]
    if isinstance(one, set | frozenset):
        return sorted(map(str, one))
    if isinstance(one, bytearray):
        return bytes(one)
    if callable(one):
        return getattr(one, "__qualname__", "callable")
    return [type(one).__name__, *((name, within(member)) for name, member in _members(one) if name not in left_out)]


def _members(value: object) -> Iterator[tuple[str, Any]]:
    yield from sorted(getattr(value, "__dict__", {}).items())
    for name in getattr(value, "__struct_fields__", ()):
        yield name, getattr(value, name)
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                yield name, getattr(value, name)
