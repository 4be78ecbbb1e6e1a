"""Many rows of bytes as one, of which any row is found without reading the others."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from struct import Struct
from typing import Any, Final, TypeVar
from zlib import crc32

import msgspec

SIZE: Final = 256
"""How many rows a whole block has: record `n` is row `n % SIZE` of block `n // SIZE`."""

_HEAD = Struct("<III")  # the checksum of what follows it, the number of rows, the length of the columns
_CHECKED_FROM = 4
_ENDS = Struct("<II").unpack_from
_ENCODER = msgspec.msgpack.Encoder()

Columns = TypeVar("Columns")


class Block(msgspec.Struct, gc=False, eq=False):  # a million payments have 8,000, which no collection should visit
    """Rows that do not change any more. `content` is all of it: a head, columns that are read without the rows, where
    each row begins and the last one ends, the rows. Raises `ValueError` for anything else than the content of one."""

    content: bytes
    _count: int = 0
    _places: int = 0
    _rows: int = 0

    def __post_init__(self) -> None:
        content = self.content
        if len(content) < _HEAD.size:
            raise ValueError("it is too short for a block of rows")
        checksum, self._count, columns = _HEAD.unpack_from(content)
        if crc32(memoryview(content)[_CHECKED_FROM:]) != checksum:
            raise ValueError("the checksum of a block of rows is not that of its content")
        self._places = _HEAD.size + columns
        self._rows = self._places + 4 * (self._count + 1)

    @classmethod
    def of(cls, rows: Sequence[bytes], columns: Sequence[Any] = ()) -> "Block":
        """A block of these rows; the columns are whatever MessagePack has."""
        head = _ENCODER.encode(columns)
        places = Struct(f"<{len(rows) + 1}I").pack(0, *accumulate(map(len, rows)))
        counts = _HEAD.pack(0, len(rows), len(head))[_CHECKED_FROM:]
        checked = b"".join((counts, head, places, *rows))
        return cls(crc32(checked).to_bytes(_CHECKED_FROM, "little") + checked)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> bytes:
        begin, end = _ENDS(self.content, self._places + 4 * place)
        rows = self._rows
        return self.content[rows + begin : rows + end]

    def __iter__(self) -> Iterator[bytes]:
        return map(self.__getitem__, range(self._count))

    def columns(self, decoder: "msgspec.msgpack.Decoder[Columns]") -> Columns:
        """The columns, as this decoder reads them. Raises `ValueError` for others."""
        return decoder.decode(memoryview(self.content)[_HEAD.size : self._places])
