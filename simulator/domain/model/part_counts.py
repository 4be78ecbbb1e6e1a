"""Which parts of a numbered collection have changed: a count for each part of the numbers."""

from collections.abc import Iterable
from typing import Final

SIZE: Final = 1024
"""How many numbers a part has: part `n` begins with number `n * SIZE`."""


def parts_between(first: int | None, last: int | None) -> range:
    """The parts from that of the first number to that of the last; none where there are no numbers."""
    return range(0) if first is None or last is None else range(first // SIZE, last // SIZE + 1)


class PartCounts(dict[int, int]):
    """How many have left each part from which any has."""

    def count(self, number: int) -> None:
        """Count one that has left."""
        part = number // SIZE
        self[part] = self.get(part, 0) + 1

    def changes(self, parts: Iterable[int], added: int) -> dict[int, object]:
        """What tells whether a part has changed since somebody asked last, for each of the `parts` that there are.
        Numbers are given in order, and `added` is the latest that was given."""
        newest = added // SIZE
        return {part: (self.get(part, 0), added if part == newest else 0) for part in parts}
