"""A dict in parts, for what grows by the million: a dict that is full is copied whole while everybody waits."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Final, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

WHOLE_MAX: Final = 1_024
"""How many keys are in one part; with more there are `PARTS`."""

PARTS: Final = 256
"""A power of two."""


class SplitDict(Generic[Key, Value]):
    """Values by key, of which none is None, in no order. What it has at once stays in one dict, which never grows."""

    __slots__ = ("_beginning", "_mask", "_parts")

    def __init__(self, beginning: Iterable[tuple[Key, Value]] = ()) -> None:
        self._beginning = dict(beginning)
        self._parts: list[dict[Key, Value]] = [{}]
        self._mask = 0

    def __len__(self) -> int:
        return len(self._beginning) + sum(map(len, self._parts))

    def __contains__(self, key: object) -> bool:
        return key in self._part_of(key) or key in self._beginning

    def __setitem__(self, key: Key, value: Value) -> None:
        part = self._part_of(key)
        if self._beginning and key in self._beginning:
            part = self._beginning
        part[key] = value
        if not self._mask and len(self._parts[0]) > WHOLE_MAX:
            self._split()

    def extend(self, others: Iterable[tuple[Key, Value]]) -> None:
        """Have many others at once, of which it has none; everybody waits."""
        self._beginning.update(others)

    def get(self, key: Key) -> Value | None:
        """The value of a key, or None."""
        found = self._part_of(key).get(key)
        return self._beginning.get(key) if found is None and self._beginning else found

    def pop(self, key: Key) -> Value | None:
        """The value of a key, which it forgets, or None."""
        found = self._part_of(key).pop(key, None)
        return self._beginning.pop(key, None) if found is None else found

    def items(self) -> Iterator[tuple[Key, Value]]:
        """Key and value of all."""
        for part in (self._beginning, *self._parts):
            yield from part.items()

    def _part_of(self, key: object) -> dict[Key, Value]:
        return self._parts[hash(key) & self._mask]

    def _split(self) -> None:
        (whole,) = self._parts
        self._parts, self._mask = [{} for _ in range(PARTS)], PARTS - 1
        for key, value in whole.items():
            self._part_of(key)[key] = value
