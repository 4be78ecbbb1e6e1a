"""A snapshot: the whole state of a sandbox as one MessagePack document.

The document comes in parts, so that it can be written in slices: `state` (`snapshot/state_part`), and each long log
in parts of up to `SIZE` records (`snapshot/rows`). A record refers to another by its number or id.
`docs/tape.md` describes the format.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from itertools import count
from operator import attrgetter
from typing import Any, Final, get_type_hints

import msgspec

from simulator.domain.errors import DomainError
from simulator.domain.model.catalog import Option, OptionList
from simulator.scenario.reading.patterns import finder
from simulator.scenario.sections.templates import person_pools, template

VERSION: Final = 8
"""The version of the format. A reader refuses every other version."""

HEAD, STATE = "head", "state"
SIZE: Final = 1_000
"""How many records a part of a log has at most; encoding them takes about two milliseconds."""


class NotNow(Exception):
    """There is no snapshot at this moment: a request waits, or an advance runs."""


class BadSnapshot(Exception):
    """A part is missing, damaged or of another version; the text says which."""


class SnapshotHead(msgspec.Struct, frozen=True):
    """The part `head`, as JSON: the version of the format, the number of earlier entries on the tape, and the sandbox's
    time."""

    snapshot: int
    entries: int
    now: datetime


class Snapshot(msgspec.Struct, frozen=True):
    """The state of a sandbox after the first `n` entries of its tape; `now` is the sandbox's time there."""

    n: int
    now: datetime
    parts: Mapping[str, bytes]


def plain(value: object) -> object:
    """Return the encoding of a value that msgspec does not know; the reader rebuilds functions."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, OptionList):
        return list(value)
    if callable(value):
        return None
    raise TypeError(f"a snapshot has no values of {type(value).__qualname__}")


def special(kind: Any, value: Any) -> Any:
    """Return the value of a member that msgspec does not know: a list of options or a function of a scenario."""
    if kind is object:
        return value
    if kind is OptionList:
        return OptionList(msgspec.convert(value, tuple[Option, ...], dec_hook=special))
    if value is None:
        return person_pools  # the only function that has no text
    return template(value["text"], value["field_name"]) if "text" in value else finder(value["pattern"])


ENCODER: Final = msgspec.msgpack.Encoder(enc_hook=plain)
JSON_ENCODER: Final = msgspec.json.Encoder(decimal_format="number", enc_hook=plain)  # keeps the digits of numbers
JSON_DECODER: Final = msgspec.json.Decoder(float_hook=Decimal)
Typed = tuple[str, msgspec.Raw]
"""A value of one of several types, with the name of its type."""


def typed(value: object) -> Typed:
    """Return a value with the name of its type."""
    return type(value).__name__, msgspec.Raw(ENCODER.encode(value))


def untyped(value: Typed, kinds: Mapping[str, Any]) -> Any:
    """Return the value of one of these types."""
    return msgspec.msgpack.decode(value[1], type=kinds[value[0]], dec_hook=special)


class Rows:
    """Rows of records of a type. A row has the members of its record, except for those in `left_out`; the values of
    `references`, which may replace members, come first. A row is read with other types for the members in `read_as`."""

    def __init__(
        self, kind: Any, left_out: Container[str] = (), read_as: Mapping[str, Any] | None = None, **references: Any
    ) -> None:
        hints = get_type_hints(kind, include_extras=True) | dict(read_as or {})
        own = {name: hint for name, hint in hints.items() if name not in references and name not in left_out}
        members = [*references.items(), *own.items()]
        self.type: Any = msgspec.defstruct(f"{kind.__name__}Row", members, array_like=True, gc=False)
        self._kind, self._names, self._values = kind, tuple(own), attrgetter(*own)

    def row(self, record: object, *references: Any) -> Any:
        """Return the row of a record."""
        return self.type(*references, *self._values(record))

    def record(self, row: Any, **others: Any) -> Any:
        """Return the record of a row, with its `others`, which the row lacks, refers to or has in another type."""
        return self._kind(**dict(zip(self._names, self._values(row), strict=True)) | others)


def log_parts(
    name: str, records: Sequence[Any], row: Callable[[Any], Any] | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of a log; `row` makes the row of a record."""
    for begin in range(0, len(records), SIZE):
        cut = records[begin : begin + SIZE]
        yield f"{name}/{begin // SIZE}", ENCODER.encode(cut if row is None else list(map(row, cut)))


def log_rows(parts: Mapping[str, bytes], name: str, type_: Any) -> Iterator[Any]:
    """Yield the rows of a log."""
    decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(list[type_], dec_hook=special)
    for number in count():
        if (content := parts.get(f"{name}/{number}")) is None:
            return
        yield from decoder.decode(content)


@contextmanager
def reading_snapshot() -> Iterator[None]:
    """Raise `BadSnapshot` for any error within."""
    try:
        yield
    except (
        msgspec.MsgspecError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError, AssertionError,
        RecursionError, DomainError,
    ) as error:  # fmt: skip
        raise BadSnapshot(f"a snapshot is damaged: {type(error).__name__}: {error}") from None


def snapshot_of(parts: Iterable[tuple[str, bytes]]) -> Snapshot:
    """Return a snapshot from its parts. Raises `BadSnapshot`, also for another version."""
    named = dict(parts)
    with reading_snapshot():
        head = msgspec.json.decode(named[HEAD], type=SnapshotHead)
    if head.snapshot != VERSION:
        text = f"a snapshot is of version {head.snapshot}, this simulator reads version {VERSION}"
        raise BadSnapshot(f"{text}; use the simulator that wrote it")
    return Snapshot(head.entries, head.now, named)
