"""A log whose records never change: all but the latest are bytes."""

from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, TypeVar, overload

from simulator.domain.model.packed.blocks import SIZE, Block

Record = TypeVar("Record")

LATEST_MIN = 4 * SIZE
READ_MAX = 4 * SIZE


class PackedLog(Sequence[Record]):
    """Records in their order. `pack` makes bytes of one, `unpack` an equal one of these. The latest
    `LATEST_MIN` stay objects, as most of those who look for a record look for one of these; and up to `READ_MAX` that
    somebody has read stay for who reads the same again."""

    __slots__ = ("_blocks", "_latest", "_pack", "_packed", "_read", "_unpack")

    def __init__(self, pack: Callable[[Record], bytes], unpack: Callable[[bytes], Record]) -> None:
        self._pack = pack
        self._unpack = unpack
        self._blocks: list[Block] = []
        self._packed = 0
        self._latest: list[Record] = []
        self._read: dict[int, Record] = {}

    def __len__(self) -> int:
        return self._packed + len(self._latest)

    def __iter__(self) -> Iterator[Record]:
        for block in self._blocks:
            yield from map(self._unpack, block)
        yield from self._latest

    def append(self, record: Record) -> None:
        """Add a record."""
        latest = self._latest
        latest.append(record)
        if len(latest) == LATEST_MIN + SIZE:
            self._blocks.append(self._block(latest[:SIZE]))
            self._packed += SIZE
            del latest[:SIZE]

    @overload
    def __getitem__(self, place: int) -> Record: ...

    @overload
    def __getitem__(self, place: slice) -> list[Record]: ...

    def __getitem__(self, place: Any) -> Any:
        if type(place) is slice:
            places = range(*place.indices(len(self)))
            if places.step == 1 and self._packed <= places.start <= places.stop:
                return self._latest[places.start - self._packed : places.stop - self._packed]
            return [self[one] for one in places]
        if place < 0:
            place += len(self)
        at = place - self._packed
        if at >= 0:
            return self._latest[at]
        if place < 0:
            raise IndexError(place)
        found = self._read.get(place)
        if found is None:
            if len(self._read) >= READ_MAX:
                self._read.clear()
            found = self._read[place] = self._unpack(self._blocks[place // SIZE][place % SIZE])
        return found

    def sealed(self) -> Iterator[bytes]:
        """The first of `contents`, which are always the same objects."""
        return (block.content for block in self._blocks)

    def contents(self, unwanted: Container[int] = ()) -> Iterator[bytes]:
        """All of it in blocks of `SIZE` records, from which `restore` makes it again; those of records that are packed
        are the same objects each time. Nothing of the `unwanted` ones of these, which are not even looked at: a copy of
        the process would need memory of its own."""
        blocks = self._blocks
        yield from (b"" if place in unwanted else blocks[place].content for place in range(len(blocks)))
        for begin in range(0, len(self._latest), SIZE):
            yield self._block(self._latest[begin : begin + SIZE]).content

    def restore(self, content: bytes) -> None:
        """Have the records of one more block. Raises `ValueError` for other bytes than those of one."""
        block = Block(content)
        if len(self) % SIZE or not 0 < len(block) <= SIZE:
            raise ValueError("a block in the middle of a log is not whole")
        if len(block) < SIZE:
            self._latest = list(map(self._unpack, block))
        else:
            self._blocks.append(block)
            self._packed += SIZE

    def _block(self, records: list[Record]) -> Block:
        return Block.of([self._pack(one) for one in records])
