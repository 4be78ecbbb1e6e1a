"""An index of what was restored: made when somebody asks for what it has not yet, or in slices ahead of that."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence
from itertools import chain

from simulator.domain.model.packed.name_filter import NameFilters, hashes_of
from simulator.domain.model.split_dicts import SplitDict

Named = Callable[[], Iterable[tuple[str, int]]]
"""Tells some names, with the numbers of what is called so."""

Groups = Mapping[int, Iterable[Named]]
"""Groups of those, by the places of the filters that have all of their names."""


class LateIndex(SplitDict[str, int]):
    """Numbers by name. What is `later` is there for those alone who `find`, until it is indexed."""

    __slots__ = ("_filters", "_groups", "_later")

    def __init__(self) -> None:
        super().__init__()
        self._later: deque[Named] = deque()
        self._groups: dict[int, list[Named]] = {}
        self._filters: NameFilters | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left to be indexed."""
        return not self._later and not self._groups

    def later(self, others: Iterable[Named]) -> None:
        """Have these, too, which are asked when somebody looks for one."""
        self._later.extend(others)

    def later_by_filter(self, groups: Groups, filters: NameFilters) -> None:
        """The same of those with filters, all at once; by the filters a name that is not one of theirs is mostly known
        not to be. Others may have the same filters."""
        self._groups = {place: list(named) for place, named in groups.items()}
        self._filters = filters if groups else None

    def find(self, name: str) -> int | None:
        """The number of a name."""
        number = self.get(name)
        if number is None and not self.is_whole:
            self._index(self._later)
            for place in self._that_may_have(name):
                self._index(self._groups[place])
                self._have_indexed(place)
            number = self.get(name)
        return number

    def index(self) -> None:
        """Index what is left at once; everybody waits."""
        for some in (self._later, *self._groups.values()):
            self._index(some)
        self._groups, self._filters = {}, None

    def index_in_slices(self) -> Iterator[None]:
        """The same in slices, between which others may be added and looked for."""
        while self._later:
            self._set(self._later.popleft())
            yield
        while self._groups:
            place, group = next(iter(self._groups.items()))
            while group:
                self._set(group.pop())
                yield
            self._have_indexed(place)

    def _that_may_have(self, name: str) -> list[int]:
        """The groups that may have a name."""
        if not self._groups or self._filters is None:
            return []
        found = self._filters.that_may_have(hashes_of(name.encode()))
        return [place for place in found if place in self._groups]

    def _have_indexed(self, place: int) -> None:
        """Of this group nothing is left; somebody may have looked for one of them between two slices."""
        self._groups.pop(place, None)
        if not self._groups:
            self._filters = None

    def _set(self, named: Named) -> None:
        for name, number in named():
            self[name] = number

    def _index(self, some: MutableSequence[Named]) -> None:
        """Index all of them, which are there no more then, for somebody who does so in slices."""
        self.extend(chain.from_iterable(named() for named in some))
        some.clear()
