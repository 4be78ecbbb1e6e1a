"""The refids of a reseller."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter

from simulator.domain.model.packed.late_index import Groups, LateIndex, Named
from simulator.domain.model.packed.name_filter import NameFilters
from simulator.domain.model.packed.transactions import Transactions
from simulator.domain.model.transactions import Transaction

Spelling = Callable[[str], str]
"""What two refids that count as the same have in common."""


class Refids(Mapping[str, Transaction]):
    """Transactions by refid, in the order of their creation. A refid is never free again. Those that were restored are
    indexed when `index_in_slices` is through, or somebody looks for one that is not there yet."""

    __slots__ = ("_all", "_by_spelling", "_numbers", "_spelling")

    def __init__(self, all_: Transactions) -> None:
        self._all = all_
        self._numbers = LateIndex()
        self._spelling: Spelling | None = None
        self._by_spelling: dict[str, str] = {}

    def __len__(self) -> int:
        self._numbers.index()
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        self._numbers.index()
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

    def find_alike(self, refid: str, spelling: Spelling) -> Transaction | None:
        """The first transaction whose refid has the same spelling, the same refid before any other."""
        found = self.find(refid)
        if found is not None:
            return found
        if spelling is not self._spelling:
            self._spelling, self._by_spelling = spelling, {}
            for known in self:
                self._by_spelling.setdefault(spelling(known), known)
        alike = self._by_spelling.get(spelling(refid))
        return None if alike is None else self.find(alike)

    def number_of(self, refid: str) -> int | None:
        """The number of the transaction with this refid."""
        return self._numbers.find(refid)

    def index_in_slices(self) -> Iterator[None]:
        """Index the restored ones, between whose slices others may be added and looked for."""
        return self._numbers.index_in_slices()

    def add(self, one: Transaction) -> None:
        """Add a transaction of this reseller, which has its number already."""
        self._numbers[one.refid] = one.number
        if self._spelling is not None:
            self._by_spelling.setdefault(self._spelling(one.refid), one.refid)

    def restore(self, others: Iterable[Named]) -> None:
        """Have these, too, which are asked when somebody looks for one."""
        self._spelling = None
        self._numbers.later(others)

    def restore_by_filter(self, groups: Groups, filters: NameFilters) -> None:
        """The same of groups that are asked when they may have it. Other resellers may have the same filters."""
        self._spelling = None
        self._numbers.later_by_filter(groups, filters)
