"""Items that are due, by their tickets, in parts: those that were restored stay bytes until somebody asks for one."""

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec import Raw

from simulator.domain.model.packed.blocks import Block
from simulator.domain.model.part_counts import SIZE, PartCounts

Item = TypeVar("Item")

# A part is a block without rows. It has three columns: the first place, the tickets in their order, what is due.
_FIRST_ALONE: Final = msgspec.msgpack.Decoder(tuple[tuple[datetime, int], list[int], Raw])


class Due(msgspec.Struct, Generic[Item], frozen=True, gc=False, array_like=True):
    """An item, and when it is due."""

    at: datetime
    item: Item


Place = tuple[datetime, int]
"""A time and a ticket: the place of an item in the order in which they happen."""


class _Packed(msgspec.Struct, frozen=True, gc=False):
    block: Block
    first: Place


class DueParts(Generic[Item]):
    """Items of one type by ticket, `SIZE` tickets to a part. `removed` counts those that have left each part."""

    __slots__ = ("_count", "_decoder", "_open", "_packed", "removed")

    def __init__(self, type_: Any) -> None:
        self._decoder = _decoder_of(type_)
        self._open: dict[int, dict[int, Due[Item]]] = {}
        self._packed: dict[int, _Packed] = {}
        self._count = 0
        self.removed = PartCounts()

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[int, Due[Item]]]:
        """Ticket and item of each, in no order."""
        packed = (self._rows(one) for one in self._packed.values())
        yield from chain.from_iterable((*(part.items() for part in self._open.values()), *packed))

    def add(self, ticket: int, due: Due[Item]) -> None:
        """Add what is due; tickets are given in their order."""
        assert ticket // SIZE not in self._packed, "the latest part is never packed"
        self._open.setdefault(ticket // SIZE, {})[ticket] = due
        self._count += 1

    def get(self, ticket: int) -> Due[Item] | None:
        """What has this ticket, of the parts that are open."""
        part = self._open.get(ticket // SIZE)
        return None if part is None else part.get(ticket)

    def pop(self, ticket: int) -> Due[Item] | None:
        """What has this ticket, of the parts that are open, and is no longer here."""
        part = self._open.get(ticket // SIZE)
        found = None if part is None else part.pop(ticket, None)
        if found is not None:
            self._count -= 1
            self.removed.count(ticket)
            if not part:
                del self._open[ticket // SIZE]
        return found

    def is_packed(self, ticket: int) -> bool:
        """Whether the part of this ticket is packed."""
        return ticket // SIZE in self._packed

    def packed_behind(self, ticket: int) -> Iterator[tuple[Place, Due[Item]]] | None:
        """Everything in the packed part of which this ticket is the first, if there is one; it stays packed."""
        packed = self._packed.get(ticket // SIZE)
        if packed is None or packed.first[1] != ticket:
            return None
        return (((due.at, number), due) for number, due in self._rows(packed))

    def open_with(self, ticket: int) -> Iterator[Place]:
        """Open the packed part of this ticket. Answers the places of what is in it, but for the first."""
        packed = self._packed.pop(ticket // SIZE)
        part = self._open[ticket // SIZE] = dict(self._rows(packed))
        return ((due.at, number) for number, due in part.items() if number != packed.first[1])

    def parts(self) -> list[int]:
        """The numbers of the parts that there are."""
        return sorted((*self._open, *self._packed))

    def content(self, number: int) -> bytes:
        """A part, as `restore` takes it; of one that is packed it is the same object each time."""
        if (packed := self._packed.get(number)) is not None:
            return packed.block.content
        part = self._open[number]
        first = min((due.at, ticket) for ticket, due in part.items())
        return Block.of((), (first, list(part), list(part.values()))).content

    def restore(self, content: bytes) -> None:
        """Have one more part, which stays packed. Raises `ValueError` for other bytes than those of a part."""
        block = Block(content)
        first, tickets, _ = block.columns(_FIRST_ALONE)
        if not tickets or (number := tickets[0] // SIZE) != tickets[-1] // SIZE or number in self._packed:
            raise ValueError("the tickets of a part are not its own")
        self._packed[number] = _Packed(block, first)
        self._count += len(tickets)

    def firsts(self) -> list[Place]:
        """The place of the first item of each packed part."""
        return [one.first for one in self._packed.values()]

    def _rows(self, packed: _Packed) -> Iterator[tuple[int, Due[Item]]]:
        _, tickets, dues = packed.block.columns(self._decoder)
        return zip(tickets, dues, strict=True)


@cache
def _decoder_of(type_: Any) -> "msgspec.msgpack.Decoder[Any]":
    due: Any = Due[type_]
    return msgspec.msgpack.Decoder(tuple[Raw, list[int], list[due]])
