"""All transactions of a sandbox: those that are open as objects, those that are settled as bytes."""

from collections import deque
from collections.abc import Iterator, Mapping, ValuesView
from itertools import compress

import msgspec
from msgspec import Raw

from simulator.domain.model.holdings import Holding
from simulator.domain.model.packed.blocks import SIZE, Block
from simulator.domain.model.packed.moment import Moment, Rows
from simulator.domain.model.packed.shared_values import SharedValues
from simulator.domain.model.packed.transaction_rows import keys_of, packed, unpacked
from simulator.domain.model.transactions import Step, Transaction

# A block has four columns: trxids, refids, the codes of resellers, and for each row the place of its code.
_TRXIDS_ALONE = msgspec.msgpack.Decoder(tuple[list[str], Raw, Raw, Raw])
_WITHOUT_TRXIDS = msgspec.msgpack.Decoder(tuple[Raw, list[str], list[str], list[int]])

Restored = tuple[str, list[str], list[int]]
"""The code of a reseller, refids, and the numbers of their transactions."""


class Transactions(Mapping[str, Transaction]):
    """Transactions by trxid, in the order of their numbers. Those that were restored have their places in the index of
    trxids when `index_in_slices` is through, or somebody looks for one that is not there yet.

    Who finds an open one has the one that there is. Who finds a settled one has a copy, and so has who held it when it
    was settled: whoever changes it looks for it, changes the copy and lets it be kept with `keep`; those who hold
    others do not see that.
    """

    __slots__ = ("_blocks", "_count", "_numbers", "_open", "_unindexed", "shared")

    def __init__(self) -> None:
        self.shared = SharedValues()
        self._count = 0
        self._numbers: dict[str, int] = {}
        self._unindexed: deque[tuple[int, Block]] = deque()  # blocks with the number of their first row
        self._blocks: list[Block | Rows] = []
        self._open: list[int] = []  # how many of each block are objects

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
        number = self._numbers.get(trxid)
        if number is None and self._unindexed:
            for _ in self.index_in_slices():
                pass
            number = self._numbers.get(trxid)
        return number

    def index_in_slices(self) -> Iterator[None]:
        """Index the restored ones, between whose slices others may be added and looked for."""
        while self._unindexed:
            first, block = self._unindexed.popleft()
            trxids = block.columns(_TRXIDS_ALONE)[0]
            self._numbers.update(zip(trxids, range(first, first + len(trxids)), strict=True))
            assert self._unindexed or len(self._numbers) == self._count, "a trxid is there twice"
            yield

    def numbered(self, number: int) -> Transaction:
        """The transaction with this number."""
        row = self._blocks[number // SIZE][number % SIZE]
        return unpacked(row, number, self.shared) if isinstance(row, bytes) else row

    def add(self, one: Transaction) -> None:
        """Add a new transaction, which gets its number."""
        one.number = number = self._count
        self._count = number + 1
        assert self._numbers.setdefault(one.trxid, number) == number, "two refids have the same trxid"
        # In this order, whichever is settled first, so that the same inputs give the same rows.
        self.shared.place(one.callbacks)
        self.shared.place(one.category)
        if number % SIZE == 0:
            self._blocks.append([])
            self._open.append(0)
        rows = self._blocks[-1]
        assert isinstance(rows, list), "only a whole block is packed"
        rows.append(one)
        self._open[-1] += 1

    def keep(self, one: Transaction) -> None:
        """Keep a transaction as it is now, after each change. One that is settled is packed."""
        if not one.is_settled:
            return
        block, place = divmod(one.number, SIZE)
        rows = self._loose(block)
        was_open = not isinstance(rows[place], bytes)
        rows[place] = packed(one, self.shared)
        if was_open:
            self._open[block] -= 1
            self._seal(block)

    def contents(self) -> Iterator[bytes]:
        """All rows in blocks of `SIZE`, those of open transactions included. A block in which nothing is open is the
        same object until one of its transactions changes."""
        for number, _ in enumerate(self._blocks):
            self._seal(number)
            found = self._blocks[number]
            yield found.content if isinstance(found, Block) else self._block(found).content

    def sealed(self) -> Iterator[tuple[int, bytes]]:
        """Those of `contents` with their places that are the same objects until one of their transactions changes."""
        return ((place, one.content) for place, one in enumerate(self._blocks) if isinstance(one, Block))

    def holdings(self) -> tuple[Holding, ...]:
        """Its containers."""
        return Holding(self._numbers), Holding(self._blocks, SIZE if any(self._open) else 1)

    def opened(self) -> Iterator[Transaction]:
        """Those that are open, by their numbers."""
        for rows, count in zip(self._blocks, self._open, strict=True):
            if count:
                yield from (one for one in rows if isinstance(one, Transaction))

    def restore(self, content: bytes) -> list[Restored]:
        """Have one more block. Answers what of it each of its resellers has. Raises `ValueError` for other bytes than
        those of a block."""
        block = Block(content)
        first, (refids, codes, places) = self._count, block.columns(_WITHOUT_TRXIDS)[1:]
        numbers = list(range(first, first + len(block)))
        if first % SIZE or not 0 < len(block) <= SIZE:
            raise ValueError("a block in the middle is not whole")
        self._count = first + len(block)
        self._unindexed.append((first, block))
        self._blocks.append(block if len(block) == SIZE else list(block))
        self._open.append(0)
        if len(codes) == 1:
            return [(codes[0], refids, numbers)]
        owns = [[each == place for each in places] for place in range(len(codes))]
        return [
            (code, [*compress(refids, own)], [*compress(numbers, own)]) for code, own in zip(codes, owns, strict=True)
        ]

    def reopen(self, number: int, steps: tuple[Step, ...], ticket: int | None) -> Transaction:
        """Have a restored one as it was: open, with the steps that are to come and the ticket of the next one."""
        one = self.numbered(number)
        one.steps, one.ticket = steps, ticket
        block, place = divmod(number, SIZE)
        self._loose(block)[place] = one
        self._open[block] += 1
        return one

    def as_they_are(self) -> Moment:
        """All of them as they are now, whatever happens to them later."""
        return Moment(self._blocks, len(self), self.shared)

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
        trxids, refids, resellers = zip(*map(keys_of, plain), strict=True)
        codes = list(dict.fromkeys(resellers))
        return Block.of(plain, (trxids, refids, codes, list(map(codes.index, resellers))))


class Values(ValuesView[Transaction]):
    """Those of `Transactions`."""

    def __init__(self, all_: Transactions) -> None:
        super().__init__(all_)
        self._all = all_

    def __iter__(self) -> Iterator[Transaction]:
        return map(self._all.numbered, range(len(self._all)))

    def __reversed__(self) -> Iterator[Transaction]:
        return map(self._all.numbered, range(len(self._all) - 1, -1, -1))
