"""The content of any object as plain, comparable values."""

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from types import FunctionType, MappingProxyType
from typing import Any

from simulator.domain.model.request_limits import Nonces

PLAIN = (str, bytes, int, float, Decimal, date, time, timedelta, Enum, type(None))


def anatomy(
    root: object,
    left_out: Collection[str] = (),
    known: Collection[object] = (),
    told: tuple[type, ...] = (),
    *,
    values_apart: bool = False,
) -> Any:
    """Return nested lists, without the members named in `left_out`.

    A repeated object becomes a reference, and so does an object in `known`; these are large, never change, and are not
    searched. Objects of the types in `told` count as None. With `values_apart`, immutable values are not replaced by
    references, since sharing them makes no difference.
    """
    seen: dict[int, str | int] = {id(one): f"known {number}" for number, one in enumerate(known)}
    kept: list[object] = []  # keeps each object alive, so that no other object gets its id

    def within(one: Any) -> Any:
        kind: Any = type(one)
        if _is_plain(kind):
            return one
        if kind in told:
            return None
        is_mapping = _is_mapping(kind)
        if is_mapping and not one:
            return []  # whether two have the same empty default or one each is no difference
        if id(one) in seen:
            return f"<{seen[id(one)]}>"
        if not (values_apart and _is_value(kind)):
            seen[id(one)] = len(seen)
            kept.append(one)
        if is_mapping:
            return [(within(key), within(member)) for key, member in one.items()]
        if isinstance(one, list | tuple | deque):
            return [within(member) for member in one]
        if isinstance(one, set | frozenset):
            return sorted(map(str, one))
        if isinstance(one, bytearray):
            return bytes(one)
        if callable(one):
            return getattr(one, "__qualname__", "callable")
        return [kind.__name__, *((name, within(member)) for name, member in _members(one) if name not in left_out)]

    return within(root)


@cache
def _is_plain(kind: type) -> bool:
    return issubclass(kind, PLAIN)


@cache
def _is_value(kind: type) -> bool:
    """Return True for a class whose values never change, or belong to a single owner."""
    dataclass, struct = getattr(kind, "__dataclass_params__", None), getattr(kind, "__struct_config__", None)
    is_frozen = any(getattr(one, "frozen", False) for one in (dataclass, struct))
    return is_frozen or issubclass(kind, (tuple, dict, frozenset, MappingProxyType, FunctionType))


@cache
def _is_mapping(kind: type) -> bool:
    return issubclass(kind, Mapping)


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    own = dict(getattr(value, "__dict__", {}))
    if isinstance(value, Nonces):
        own |= {"_order": list(value), "_spent": None}  # places of nonces that were spent again are no difference
    yield from sorted(own.items())
    kind: Any = type(value)
    for name in _slots(kind):
        if hasattr(value, name):
            yield name, getattr(value, name)


@cache
def _slots(kind: type) -> tuple[str, ...]:
    """Return the members of a struct, or the slots of an object's classes."""
    names = [*getattr(kind, "__struct_fields__", ())]
    for one in kind.__mro__:
        slots = one.__dict__.get("__slots__", ())
        names += (slots,) if isinstance(slots, str) else slots
    return tuple(name for name in dict.fromkeys(names) if name not in ("__dict__", "__weakref__"))
