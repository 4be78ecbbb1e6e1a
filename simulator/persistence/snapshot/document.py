"""A snapshot: the whole state of a sandbox as one MessagePack document.

The document comes in parts, so that it can be written in slices: `state` (`snapshot/state`), and each long log in parts
of up to `SIZE` records (`snapshot/payments`, `snapshot/jobs`). A record refers to another by its number or id.
`docs/tape.md` describes the format.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from typing import Any, Final

import msgspec

from simulator.domain.errors import DomainError
from simulator.domain.model.catalog import Option, OptionList
from simulator.scenario.reading.patterns import finder
from simulator.scenario.sections.templates import person_pools, template

VERSION: Final = 6
"""The version of the format. A reader refuses every other version."""

HEAD, STATE = "head", "state"
SIZE: Final = 1_000
"""How many records a part of a log has at most; encoding them takes about two milliseconds."""


class NotNow(Exception):
    """There is no snapshot at this moment: a request waits, or an advance runs."""


class BadSnapshot(Exception):
    """A part is missing, damaged or of another version; the text says which."""


DAMAGES = (
    msgspec.MsgspecError, UnicodeError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError,
    AssertionError, RecursionError, DomainError,
)  # fmt: skip
"""Errors from reading a damaged part."""


class SnapshotHead(msgspec.Struct, frozen=True):
    """The part `head`, as JSON: the version of the format, the number of earlier entries on the tape, the sandbox's
    time, and the number of other parts."""

    snapshot: int
    entries: int
    now: datetime
    parts: int


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


def log_parts(
    name: str, records: Sequence[Any], row: Callable[[Any], Any] | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of a log; `row` makes the row of a record."""
    for begin in range(0, len(records), SIZE):
        cut = records[begin : begin + SIZE]
        yield f"{name}/{begin // SIZE}", ENCODER.encode(cut if row is None else list(map(row, cut)))


def decoded(content: bytes, type_: Any) -> Any:
    """Return the content of a part."""
    return msgspec.msgpack.decode(content, type=type_, dec_hook=special)


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
    except DAMAGES as error:
        raise BadSnapshot(f"a snapshot is damaged: {type(error).__name__}: {error}") from None


def snapshot_of(parts: Iterable[tuple[str, bytes]]) -> Snapshot:
    """Return a snapshot from its parts. Raises `BadSnapshot`, also for another version, or missing parts."""
    named = dict(parts)
    with reading_snapshot():
        version = msgspec.json.decode(named[HEAD])["snapshot"]
        if version != VERSION:
            text = f"a snapshot is of version {version}, this simulator reads version {VERSION}"
            raise BadSnapshot(f"{text}; use the simulator that wrote it")
        head = msgspec.json.decode(named[HEAD], type=SnapshotHead)
    if len(named) - 1 != head.parts:
        raise BadSnapshot(f"a snapshot has {len(named) - 1} of its {head.parts} parts")
    return Snapshot(head.entries, head.now, named)
