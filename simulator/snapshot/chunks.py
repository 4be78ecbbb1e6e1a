"""Cuts logs into parts so that those of successive snapshots are mostly the same bytes.

Numbered records are cut by their numbers. Others, of which the oldest go and new ones come, are cut behind records
whose own bytes say so, wherever they are.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, TypeVar
from zlib import crc32

import msgspec

from simulator.snapshot.snapshot import reading_part

Record = TypeVar("Record")
Type = TypeVar("Type")

ENCODER = msgspec.json.Encoder()
CUT_EVERY = 128
CUT_MAX = 1_000


def numbered(
    name: str, records: Iterable[Record], number: Callable[[Record], int], size: int
) -> Iterator[tuple[str, list[Record]]]:
    """Records in the order of their numbers, by parts of those numbers; `size` is of a whole one."""
    for place, group in groupby(records, lambda one: number(one) // size):
        yield f"{name}/{place}", list(group)


def unnumbered(name: str, rows: Iterable[Any]) -> Iterator[tuple[str, bytes]]:
    """The parts of plain rows that have no numbers."""
    place, cut = 0, []
    for row in rows:
        content = ENCODER.encode(row)
        cut.append(msgspec.Raw(content))
        if crc32(content) % CUT_EVERY == 0 or len(cut) >= CUT_MAX:
            yield f"{name}/{place}", ENCODER.encode(cut)
            place, cut = place + 1, []
    if cut:
        yield f"{name}/{place}", ENCODER.encode(cut)


def parts_of_log(parts: Mapping[str, bytes], name: str) -> list[tuple[str, bytes]]:
    """The parts of a log in their order."""
    begin = f"{name}/"
    found = [one for one in parts if one.startswith(begin) and one.removeprefix(begin).isdecimal()]
    return [(one, parts[one]) for one in sorted(found, key=lambda one: int(one.removeprefix(begin)))]


def rows_of(parts: Mapping[str, bytes], name: str, type_: Any) -> Iterator[Any]:
    """The rows of all parts of a log, each of this type."""
    rows: Any = list[type_]
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(rows)
    for part, content in parts_of_log(parts, name):
        yield from decoded(part, content, decoder)


def decoded(name: str, content: bytes, decoder: "msgspec.json.Decoder[Type]") -> Type:
    """What a part has. Raises `BadSnapshot`."""
    with reading_part(name):
        return decoder.decode(content)
