"""Which parts of a numbered collection have changed: a count for each part of the numbers."""

from collections.abc import Iterable
from typing import Final

SIZE: Final = 1024
"""How many numbers a part has: part `n` begins with number `n * SIZE`."""


class PartCounts(dict[int, int]):
    """How many have left each part from which any has."""

    def count(self, number: int) -> None:
        """Count one that has left."""
        part = number // SIZE
        self[part] = self.get(part, 0) + 1

    def changes(self, numbers: Iterable[int], added: int) -> dict[int, object]:
        """What tells whether a part has changed since somebody asked last, by part. `numbers` are the first and the
        last of those that are there; numbers are given in order, and `added` is the latest that was given."""
        bounds = [number // SIZE for number in numbers]
        parts = range(bounds[0], bounds[-1] + 1) if bounds else range(0)
        newest = added // SIZE
        return {part: (self.get(part, 0), added if part == newest else 0) for part in parts}
