"""Values of the domain as plain JSON, and back: exact, and the same bytes for equal values.

What JSON has stands for itself; a list is a list. Everything else is an object with one member, whose name says what it
is. Values of frozen classes are written once in each part, into its table, and referred to by their place there.
"""

from base64 import b64decode, b64encode
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from types import MappingProxyType
from typing import Any, Final

import msgspec

from simulator.domain.model.catalog import OptionList
from simulator.scenario.reading.patterns import Finder, finder
from simulator.scenario.sections.people import person_pools
from simulator.scenario.sections.templates import Template, template
from simulator.snapshot.kinds import ENUMS, KINDS, NAMES, is_frozen, members
from simulator.snapshot.snapshot import BadSnapshot, reading_part

Keys = Mapping[type, Callable[[Any], object]]
"""How objects that others refer to are told apart: the key of one, by its class."""

Finders = Mapping[str, Callable[[Any], Any]]
"""What finds them again, by the name of their class."""

_ENCODER: Final = msgspec.json.Encoder()
_NO_KEYS: Final[Keys] = MappingProxyType({})
_NO_FINDERS: Final[Finders] = MappingProxyType({})


class Writing:
    """Writes one part. Objects of the classes in `keys` are referred to by their key."""

    def __init__(self, keys: Keys = _NO_KEYS) -> None:
        self._keys = keys
        self._table: list[Any] = []
        self._places: dict[bytes, int] = {}
        self._known: dict[int, tuple[int, object]] = {}  # with the object, so that no other one gets its id

    def plain(self, value: Any) -> Any:
        """A value as JSON has it."""
        kind: Any = type(value)
        if value is None or kind in _THEMSELVES:
            return value
        if (write := _WRITERS.get(kind)) is not None:
            return write(self, value)
        if (key := self._keys.get(kind)) is not None:
            return {"ref": [kind.__name__, key(value)]}
        if kind not in NAMES:
            raise TypeError(f"a snapshot has no values of {kind.__module__}.{kind.__qualname__}")
        if issubclass(kind, Enum):
            return {"enum": [NAMES[kind], value.value]}
        return self._once(value) if is_frozen(kind) else self.members(value)

    def members(self, value: Any) -> Any:
        """A value by its members, even when its class has keys."""
        kind: Any = type(value)
        return {NAMES[kind]: [self.plain(getattr(value, name)) for name in members(kind)]}

    def part(self, content: Any) -> bytes:
        """The bytes of the part, with its table; `content` was made by `plain`."""
        return _ENCODER.encode([self._table, content])

    def _once(self, value: Any) -> Any:
        known = self._known.get(id(value))
        if known is None:
            content = self.members(value)
            place = self._places.setdefault(_ENCODER.encode(content), len(self._table))
            if place == len(self._table):
                self._table.append(content)
            self._known[id(value)] = known = place, value
        return {"at": known[0]}


def _pairs(writing: Writing, value: Mapping[Any, Any]) -> list[Any]:
    return [[writing.plain(key), writing.plain(one)] for key, one in value.items()]


def _all(writing: Writing, value: Any) -> list[Any]:
    return [writing.plain(one) for one in value]


_THEMSELVES: Final = frozenset({bool, int, str, float})
_WRITERS: Final[dict[type, Callable[[Writing, Any], Any]]] = {
    Decimal: lambda _, one: {"decimal": str(one)},
    datetime: lambda _, one: {"datetime": one.isoformat()},
    date: lambda _, one: {"date": one.isoformat()},
    time: lambda _, one: {"time": one.isoformat()},
    timedelta: lambda _, one: {"timedelta": [one.days, one.seconds, one.microseconds]},
    bytes: lambda _, one: {"bytes": b64encode(one).decode()},
    tuple: lambda writing, one: {"tuple": _all(writing, one)},
    list: _all,
    frozenset: lambda writing, one: {"frozenset": sorted(_all(writing, one), key=_ENCODER.encode)},
    OptionList: lambda writing, one: {"options": _all(writing, one)},
    dict: lambda writing, one: {"dict": _pairs(writing, one)},
    OrderedDict: lambda writing, one: {"dict": _pairs(writing, one)},
    defaultdict: lambda writing, one: {"dict": _pairs(writing, one)},
    MappingProxyType: lambda writing, one: {"dict": _pairs(writing, one)},
    Template: lambda _, one: {"template": [one.text, one.field_name]},
    Finder: lambda _, one: {"pattern": one.pattern},
    type(person_pools): lambda _, one: _pools(one),
}


def _pools(one: object) -> Any:
    assert one is person_pools, "the only function that a scenario refers to"
    return {"people": True}


class Reading:
    """Reads one part that `Writing` has written, by its table; `finders` find what it refers to."""

    def __init__(self, table: list[Any], finders: Finders = _NO_FINDERS) -> None:
        self._finders = finders
        self._table: list[Any] = []
        for one in table:
            self._table.append(self.value(one))

    def value(self, plain: Any) -> Any:
        """The value of which `Writing.plain` made this. Raises one of `DAMAGES` for what it has not made."""
        if type(plain) is list:
            return [self.value(one) for one in plain]
        if type(plain) is not dict:
            return plain
        [(name, content)] = plain.items()
        if (read := _READERS.get(name)) is not None:
            return read(self, content)
        kind = KINDS[name]
        return kind(**{each: self.value(one) for each, one in zip(members(kind), content, strict=True)})

    def found(self, kind: str, key: Any) -> Any:
        """What has this key."""
        return self._finders[kind](key)

    def at(self, place: int) -> Any:
        """What is at this place of the table."""
        return self._table[place]


def _dict(reading: Reading, pairs: Any) -> dict[Any, Any]:
    return {reading.value(key): reading.value(one) for key, one in pairs}


_READERS: Final[dict[str, Callable[[Reading, Any], Any]]] = {
    "at": lambda reading, one: reading.at(one),
    "ref": lambda reading, one: reading.found(*one),
    "enum": lambda _, one: ENUMS[one[0]](one[1]),
    "decimal": lambda _, one: Decimal(one),
    "datetime": lambda _, one: msgspec.convert(one, datetime),
    "date": lambda _, one: msgspec.convert(one, date),
    "time": lambda _, one: msgspec.convert(one, time),
    "timedelta": lambda _, one: timedelta(*one),
    "bytes": lambda _, one: b64decode(one, validate=True),
    "tuple": lambda reading, one: tuple(map(reading.value, one)),
    "frozenset": lambda reading, one: frozenset(map(reading.value, one)),
    "options": lambda reading, one: OptionList(map(reading.value, one)),
    "dict": _dict,
    "template": lambda _, one: template(*one),
    "pattern": lambda _, one: finder(one),
    "people": lambda _, one: person_pools,
}


def part_of(parts: Mapping[str, bytes], name: str) -> bytes:
    """The part with this name. Raises `BadSnapshot`."""
    if name not in parts:
        raise BadSnapshot(f"the snapshot has no part {name!r}")
    return parts[name]


@contextmanager
def opened(
    parts: Mapping[str, bytes], name: str, finders: Finders = _NO_FINDERS, type_: Any = Any
) -> Iterator[tuple[Reading, Any]]:
    """A part with its content as JSON, which is of this type. What goes wrong with it is a `BadSnapshot`."""
    content = part_of(parts, name)
    with reading_part(name):
        table, plain = msgspec.json.decode(content, type=tuple[list[Any], type_])
        yield Reading(table, finders), plain
