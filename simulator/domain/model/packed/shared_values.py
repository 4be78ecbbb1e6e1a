"""Values that many transactions have, each of them once, by its place."""

from collections.abc import Iterable, Iterator

from simulator.domain.model.transactions import Distortion
from simulator.domain.model.tree import Category

SharedValue = Category | Distortion | None

_KNOWN_MAX = 10_000


class SharedValues:
    """A list that only grows; equal values have one place."""

    __slots__ = ("_known", "_values")

    def __init__(self) -> None:
        self._values: list[SharedValue] = []
        self._known: dict[int, tuple[int, SharedValue]] = {}  # with the value, so that no other one gets its id

    def __getitem__(self, place: int) -> SharedValue:
        return self._values[place]

    def __iter__(self) -> Iterator[SharedValue]:
        return iter(self._values)

    def place(self, value: SharedValue) -> int:
        """The place of a value, which is added when there is none that equals it."""
        known = self._known.get(id(value))
        if known is None:
            known = self._find(value), value
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            self._known[id(value)] = known
        return known[0]

    def restore(self, values: Iterable[SharedValue]) -> None:
        """Have these in the place of all others."""
        self._values, self._known = list(values), {}

    def _find(self, value: SharedValue) -> int:
        if value not in self._values:
            self._values.append(value)
        return self._values.index(value)
