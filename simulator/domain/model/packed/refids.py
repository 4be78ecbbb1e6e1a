"""The refids of a reseller."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from operator import itemgetter

from simulator.domain.model.holdings import Holding
from simulator.domain.model.packed.transactions import Transactions
from simulator.domain.model.split_dicts import SplitDict
from simulator.domain.model.transactions import Transaction

Named = Callable[[], Iterable[tuple[str, int]]]
"""Tells some refids, with the numbers of their transactions."""


class Refids(Mapping[str, Transaction]):
    """Transactions by refid, in the order of their creation. A refid is never free again. Those that were restored are
    indexed when `index_in_slices` is through, or somebody looks for one that is not there yet."""

    __slots__ = ("_all", "_numbers", "_unindexed")

    def __init__(self, all_: Transactions) -> None:
        self._all = all_
        self._numbers: SplitDict[str, int] = SplitDict()
        self._unindexed: deque[Named] = deque()

    def __len__(self) -> int:
        self._index()
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        self._index()
        return (refid for refid, _ in sorted(self._numbers.items(), key=itemgetter(1)))

    def __contains__(self, refid: object) -> bool:
        return isinstance(refid, str) and self.number_of(refid) is not None

    def __getitem__(self, refid: str) -> Transaction:
        number = self.number_of(refid)
        if number is None:
            raise KeyError(refid)
        return self._all.numbered(number)

    def find(self, refid: str) -> Transaction | None:
        """The transaction with this refid, if there is one."""
        number = self.number_of(refid)
        return None if number is None else self._all.numbered(number)

    def number_of(self, refid: str) -> int | None:
        """The number of the transaction with this refid."""
        number = self._numbers.get(refid)
        if number is None and self._unindexed:
            self._index()
            number = self._numbers.get(refid)
        return number

    def index_in_slices(self) -> Iterator[None]:
        """Index the restored ones, between whose slices others may be added and looked for."""
        while self._unindexed:
            for refid, number in self._unindexed.popleft()():
                self._numbers[refid] = number
            yield

    def holdings(self) -> tuple[Holding, ...]:
        """Its containers."""
        return self._numbers.holdings()

    def add(self, one: Transaction) -> None:
        """Add a transaction of this reseller, which has its number already."""
        self._numbers[one.refid] = one.number

    def restore(self, named: Iterable[Named]) -> None:
        """Have these, too, which are asked when somebody looks for one."""
        self._unindexed.extend(named)

    def _index(self) -> None:
        unindexed, self._unindexed = self._unindexed, deque()
        self._numbers.extend(chain.from_iterable(named() for named in unindexed))
