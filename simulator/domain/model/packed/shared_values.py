"""Values that many transactions have, each of them once, by its place."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

from simulator.domain.model.transactions import Distortion, Step
from simulator.domain.model.tree import Category

SharedValue = Category | Distortion | tuple[Step, ...] | None

_KNOWN_MAX = 10_000


class SharedValues:
    """A list that only grows; equal values have one place."""

    __slots__ = ("_known", "_places", "_values")

    def __init__(self) -> None:
        self._values: list[SharedValue] = []
        self._places: defaultdict[Hashable, list[int]] = defaultdict(list)  # of those that are alike
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
        self._places.clear()
        for place, value in enumerate(self._values):
            self._places[_alike(value)].append(place)

    def _find(self, value: SharedValue) -> int:
        places = self._places[_alike(value)]
        found = next((place for place in places if self._values[place] == value), None)
        if found is None:
            found = len(self._values)
            self._values.append(value)
            places.append(found)
        return found


def _alike(value: SharedValue) -> Hashable:
    """Something with a hash that equal values have in common: not all of a value has one."""
    match value:
        case tuple():
            return tuple([(one.status, one.after, one.requery, one.at) for one in value])
        case Distortion():
            return value.drop, value.duplicates, value.delay, value.again_after
    return value
