"""An index of what was restored: made when somebody asks for what it has not yet, or in slices ahead of that."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from simulator.domain.model.split_dicts import SplitDict

Named = Callable[[], Iterable[tuple[str, int]]]
"""Tells some names, with the numbers of what is called so."""


class LateIndex(SplitDict[str, int]):
    """Numbers by name. What is `later` is there for those alone who `find`, until it is indexed."""

    __slots__ = ("_later",)

    def __init__(self) -> None:
        super().__init__()
        self._later: deque[Named] = deque()

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left to be indexed."""
        return not self._later

    def later(self, named: Iterable[Named]) -> None:
        """Have these, too, which are asked when somebody looks for one."""
        self._later.extend(named)

    def find(self, name: str) -> int | None:
        """The number of a name."""
        number = self.get(name)
        if number is None and self._later:
            self.index()
            number = self.get(name)
        return number

    def index(self) -> None:
        """Index what is left at once; everybody waits."""
        later, self._later = self._later, deque()
        self.extend(chain.from_iterable(named() for named in later))

    def index_in_slices(self) -> Iterator[None]:
        """The same in slices, between which others may be added and looked for."""
        while self._later:
            for name, number in self._later.popleft()():
                self[name] = number
            yield
