"""An index of what was restored: made when somebody asks for what it has not yet, or in slices ahead of that."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from simulator.domain.model.packed.name_filter import Hashes, NameFilter, hashes_of
from simulator.domain.model.split_dicts import SplitDict

Named = Callable[[], Iterable[tuple[str, int]]]
"""Tells some names, with the numbers of what is called so."""


class Later:
    """Names that are not indexed yet; with a `filter`, which has all of them, a name that is not one of them is mostly
    known not to be."""

    __slots__ = ("_filter", "_named")

    def __init__(self, named: Iterable[Named], filter_: NameFilter | None = None) -> None:
        self._named = list(named)
        self._filter = filter_

    def may_have(self, hashes: Hashes) -> bool:
        """Whether a name with these hashes may be one of them."""
        return self._filter is None or self._filter.may_have(hashes)

    def slices(self) -> Iterator[Iterable[tuple[str, int]]]:
        """All that are left, some in each slice."""
        while self._named:
            yield self._named.pop()()


class LateIndex(SplitDict[str, int]):
    """Numbers by name. What is `later` is there for those alone who `find`, until it is indexed."""

    __slots__ = ("_later",)

    def __init__(self) -> None:
        super().__init__()
        self._later: deque[Later] = deque()

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left to be indexed."""
        return not self._later

    def later(self, others: Iterable[Later]) -> None:
        """Have these, too, which are asked when somebody looks for one."""
        self._later.extend(others)

    def find(self, name: str) -> int | None:
        """The number of a name."""
        number = self.get(name)
        if number is None and self._later:
            hashes = hashes_of(name)
            self._index([one for one in self._later if one.may_have(hashes)])
            number = self.get(name)
        return number

    def index(self) -> None:
        """Index what is left at once; everybody waits."""
        self._index(list(self._later))

    def index_in_slices(self) -> Iterator[None]:
        """The same in slices, between which others may be added and looked for."""
        while self._later:
            first = self._later[0]
            for named in first.slices():
                for name, number in named:
                    self[name] = number
                yield
            if self._later and self._later[0] is first:  # else somebody has looked for one of them meanwhile
                self._later.popleft()

    def _index(self, some: list[Later]) -> None:
        for one in some:
            self._later.remove(one)
        self.extend(chain.from_iterable(chain.from_iterable(one.slices() for one in some)))
