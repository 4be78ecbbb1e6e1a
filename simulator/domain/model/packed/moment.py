"""All transactions of a sandbox as they were at one moment."""

from collections.abc import Sequence
from typing import Any, overload

from simulator.domain.model.packed.blocks import SIZE, Block
from simulator.domain.model.packed.shared_values import SharedValues
from simulator.domain.model.packed.transaction_rows import unpacked
from simulator.domain.model.transactions import Result, Transaction

Rows = list[bytes | Transaction]
"""Those of a block in which something is open, or was when somebody looked last."""


class Moment(Sequence[tuple[Transaction, tuple[Result, ...]]]):
    """All transactions of one moment, each with the results that it had then."""

    def __init__(self, blocks: list[Block | Rows], count: int, shared: SharedValues) -> None:
        self._blocks = [one if isinstance(one, Block) else one.copy() for one in blocks]
        self._results = [
            None if isinstance(one, Block) else [getattr(each, "results", None) for each in one] for one in blocks
        ]
        self._count = count
        self._shared = shared

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> tuple[Transaction, tuple[Result, ...]]: ...

    @overload
    def __getitem__(self, place: slice) -> list[tuple[Transaction, tuple[Result, ...]]]: ...

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(self._count))]
        block, at = divmod(range(self._count)[place], SIZE)
        row, results = self._blocks[block][at], self._results[block]
        if not isinstance(row, bytes):
            assert results is not None, "only rows of a block that is not whole are objects"
            return row, results[at]
        one = unpacked(row, block * SIZE + at, self._shared)
        return one, one.results
