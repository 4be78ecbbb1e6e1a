"""The refids of a reseller."""

from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter

from simulator.domain.model.holdings import Holding
from simulator.domain.model.packed.transactions import Transactions
from simulator.domain.model.split_dicts import SplitDict
from simulator.domain.model.transactions import Transaction


class Refids(Mapping[str, Transaction]):
    """Transactions by refid, in the order of their creation. A refid is never free again."""

    __slots__ = ("_all", "_numbers")

    def __init__(self, all_: Transactions) -> None:
        self._all = all_
        self._numbers: SplitDict[str, int] = SplitDict()

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return (refid for refid, _ in sorted(self._numbers.items(), key=itemgetter(1)))

    def __contains__(self, refid: object) -> bool:
        return refid in self._numbers

    def __getitem__(self, refid: str) -> Transaction:
        number = self._numbers.get(refid)
        if number is None:
            raise KeyError(refid)
        return self._all.numbered(number)

    def find(self, refid: str) -> Transaction | None:
        """The transaction with this refid, if there is one."""
        number = self._numbers.get(refid)
        return None if number is None else self._all.numbered(number)

    def number_of(self, refid: str) -> int | None:
        """The number of the transaction with this refid."""
        return self._numbers.get(refid)

    def holdings(self) -> tuple[Holding, ...]:
        """Its containers."""
        return self._numbers.holdings()

    def add(self, one: Transaction) -> None:
        """Add a transaction of this reseller, which has its number already."""
        self._numbers[one.refid] = one.number

    def restore(self, refids: Iterable[tuple[str, int]]) -> None:
        """Have these with the numbers of their transactions, in the place of none."""
        self._numbers = SplitDict(refids)
