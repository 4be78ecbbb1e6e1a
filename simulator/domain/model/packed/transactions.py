"""All transactions of a sandbox: those that are open as objects, those that are settled as bytes."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence, ValuesView
from functools import partial
from typing import NamedTuple

import msgspec
from msgspec import Raw

from simulator.domain.model.packed.blocks import SIZE, Block
from simulator.domain.model.packed.late_index import LateIndex, Named
from simulator.domain.model.packed.moment import Moment, Rows
from simulator.domain.model.packed.shared_values import SharedValues
from simulator.domain.model.packed.transaction_rows import PROCESSING_ROW, SETTLED_ROW, keys_of, packed, unpacked
from simulator.domain.model.transactions import Transaction

# A block has six columns: trxids, refids, the codes of resellers, for each row the place of its code, how many rows are
# open, and for each code how many are processing.
_TRXIDS_ALONE = msgspec.msgpack.Decoder(tuple[list[str], Raw, Raw, Raw, Raw, Raw])
_REFIDS_ALONE = msgspec.msgpack.Decoder(tuple[Raw, list[str], Raw, Raw, Raw, Raw])
_WITHOUT_BOTH = msgspec.msgpack.Decoder(tuple[Raw, Raw, list[str], list[int], int, list[int]])


class Restored(NamedTuple):
    """What a block has of one reseller: the numbers of its transactions, what tells their refids, and how many are
    processing."""

    reseller: str
    numbers: Sequence[int]
    named: Named
    processing: int


class Transactions(Mapping[str, Transaction]):
    """Transactions by trxid, in the order of their numbers. Those that were restored have their places in the index of
    trxids when `index_in_slices` is through, or somebody looks for one that is not there yet.

    Who finds an open one has the one that there is; a restored one is made of its row when somebody finds it first. Who
    finds a settled one has a copy, and so has who held it when it was settled: whoever changes it looks for it, changes
    the copy and lets it be kept with `keep`; those who hold others do not see that.
    """

    __slots__ = ("_blocks", "_changes", "_count", "_numbers", "_open", "shared")

    def __init__(self) -> None:
        self.shared = SharedValues()
        self._count = 0
        self._numbers = LateIndex()
        self._blocks: list[Block | Rows] = []
        self._open: list[int] = []  # how many of each block are open
        self._changes: list[int] = []  # of each block, counted

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return (one.trxid for one in self.values())

    def __contains__(self, trxid: object) -> bool:
        return isinstance(trxid, str) and self.number_of(trxid) is not None

    def __getitem__(self, trxid: str) -> Transaction:
        number = self.number_of(trxid)
        if number is None:
            raise KeyError(trxid)
        return self.numbered(number)

    def values(self) -> "Values":
        """The transactions, which are read one after the other, from either end."""
        return Values(self)

    def number_of(self, trxid: str) -> int | None:
        """The number of a transaction."""
        was_whole = self._numbers.is_whole
        number = self._numbers.find(trxid)
        if not was_whole:
            self._check_index()
        return number

    def index_in_slices(self) -> Iterator[None]:
        """Index the restored ones, between whose slices others may be added and looked for."""
        yield from self._numbers.index_in_slices()
        self._check_index()

    def numbered(self, number: int) -> Transaction:
        """The transaction with this number."""
        block, place = divmod(number, SIZE)
        row = self._blocks[block][place]
        if not isinstance(row, bytes):
            return row
        one = unpacked(row, number, self.shared)
        if one.steps:
            self._loose(block)[place] = one
        return one

    def shown(self, number: int) -> Transaction:
        """The transaction with this number, for somebody who reads it at once and does not change it."""
        row = self._blocks[number // SIZE][number % SIZE]
        return unpacked(row, number, self.shared) if isinstance(row, bytes) else row

    def add(self, one: Transaction) -> None:
        """Add a new transaction, which gets its number."""
        one.number = number = self._count
        self._count = number + 1
        assert one.trxid not in self._numbers, "two refids have the same trxid"
        self._numbers[one.trxid] = number
        # In this order, whichever is settled first, so that the same inputs give the same rows.
        self.shared.place(one.callbacks)
        self.shared.place(one.category)
        self.shared.place(one.steps)
        if number % SIZE == 0:
            self._blocks.append([])
            self._open.append(0)
            self._changes.append(0)
        rows = self._blocks[-1]
        assert isinstance(rows, list), "only a whole block is packed"
        rows.append(one)
        self._open[-1] += 1
        self._changes[-1] += 1

    def keep(self, one: Transaction) -> None:
        """Keep a transaction as it is now, after each change. One that is settled is packed."""
        self.note_change(one)
        if not one.is_settled:
            return
        block, place = divmod(one.number, SIZE)
        rows = self._loose(block)
        was_open = not isinstance(rows[place], bytes)
        rows[place] = packed(one, self.shared)
        if was_open:
            self._open[block] -= 1
            self._seal(block)

    def note_change(self, one: Transaction) -> None:
        """Something of a transaction has changed."""
        self._changes[one.number // SIZE] += 1

    def contents(self, unwanted: Container[int] = ()) -> Iterator[bytes]:
        """All rows in blocks of `SIZE`, those of open transactions included; nothing of the `unwanted` ones. A block in
        which nothing is open is the same object until one of its transactions changes."""
        for number in range(len(self._blocks)):  # a copy of the process needs memory of its own for what it looks at
            if number in unwanted:
                yield b""
                continue
            self._seal(number)
            found = self._blocks[number]
            yield found.content if isinstance(found, Block) else self._block(found).content

    def refids(self, blocks: range) -> Iterator[str]:
        """Those of the transactions in these blocks, one of which may be twice, of two resellers."""
        for block in map(self._blocks.__getitem__, blocks):
            if isinstance(block, Block):
                yield from block.columns(_REFIDS_ALONE)[1]
            else:
                yield from (keys_of(one)[1] if isinstance(one, bytes) else one.refid for one in block)

    @property
    def changes(self) -> Sequence[int]:
        """How often each block has changed since it was made or restored."""
        return self._changes

    def restore(self, content: bytes) -> list[Restored]:
        """Have one more block. Answers what of it each of its resellers has. Raises `ValueError` for other bytes than
        those of a block."""
        block = Block(content)
        first, (codes, places, opened, processing) = self._count, block.columns(_WITHOUT_BOTH)[2:]
        if first % SIZE or not 0 < len(block) <= SIZE:
            raise ValueError("a block in the middle is not whole")
        self._count = first + len(block)
        self._numbers.later([partial(_trxids, first, block)])
        self._blocks.append(block if len(block) == SIZE else list(block))
        self._open.append(opened)
        self._changes.append(0)
        if len(codes) == 1:
            numbers: list[Sequence[int]] = [range(first, first + len(block))]
        else:
            numbers = [[first + place for place, one in enumerate(places) if one == own] for own in range(len(codes))]
        if not all(numbers) or sum(map(len, numbers)) != len(block):
            raise ValueError("a row is of no reseller, or a reseller has none")
        return [
            Restored(code, own, partial(_named, block, first, own), count)
            for code, own, count in zip(codes, numbers, processing, strict=True)
        ]

    def as_they_are(self) -> Moment:
        """All of them as they are now, whatever happens to them later."""
        return Moment(self._blocks, len(self), self.shared)

    def _check_index(self) -> None:
        assert not self._numbers.is_whole or len(self._numbers) == self._count, "a trxid is there twice"

    def _loose(self, block: int) -> Rows:
        """The rows of a block, which may be changed."""
        found = self._blocks[block]
        if isinstance(found, Block):
            found = self._blocks[block] = list(found)
        return found

    def _seal(self, block: int) -> None:
        """Make one of the rows of a whole block in which nothing is open."""
        rows = self._blocks[block]
        if not self._open[block] and isinstance(rows, list) and len(rows) == SIZE:
            self._blocks[block] = self._block(rows)

    def _block(self, rows: Rows) -> Block:
        plain = [one if isinstance(one, bytes) else packed(one, self.shared) for one in rows]
        trxids, refids, resellers, kinds = zip(*map(keys_of, plain), strict=True)
        codes, opened = list(dict.fromkeys(resellers)), len(kinds) - kinds.count(SETTLED_ROW)
        processing = Counter(code for code, kind in zip(resellers, kinds, strict=True) if kind == PROCESSING_ROW)
        counts = [processing[code] for code in codes]
        return Block.of(plain, (trxids, refids, codes, list(map(codes.index, resellers)), opened, counts))


def _trxids(first: int, block: Block) -> Iterator[tuple[str, int]]:
    """The trxids of a block, whose first transaction has the number `first`, with the numbers."""
    return zip(block.columns(_TRXIDS_ALONE)[0], range(first, first + len(block)), strict=True)


def _named(block: Block, first: int, numbers: Sequence[int]) -> Iterator[tuple[str, int]]:
    """The refids of the transactions with these numbers, in a block whose first one has the number `first`."""
    refids = block.columns(_REFIDS_ALONE)[1]
    return ((refids[number - first], number) for number in numbers)


class Values(ValuesView[Transaction]):
    """Those of `Transactions`."""

    def __init__(self, all_: Transactions) -> None:
        super().__init__(all_)
        self._all = all_

    def __iter__(self) -> Iterator[Transaction]:
        return map(self._all.shown, range(len(self._all)))

    def __reversed__(self) -> Iterator[Transaction]:
        return map(self._all.shown, range(len(self._all) - 1, -1, -1))
