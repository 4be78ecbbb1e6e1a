"""Which parts of a numbered collection have changed: a count for each part of the numbers."""

from typing import Final

SIZE: Final = 1024
"""How many numbers a part has: part `n` begins with number `n * SIZE`."""


class PartCounts(dict[int, int]):
    """How many have left each part from which any has."""

    def count(self, number: int) -> None:
        """Count one that has left."""
        part = number // SIZE
        self[part] = self.get(part, 0) + 1

    def changes(self, bounds: tuple[int, int], added: int) -> dict[int, object]:
        """What tells whether a part has changed since somebody asked last, by part. `bounds` are the first and the last
        number of those that are there, the last one below the first where none is; numbers are given in order, and
        `added` is the latest that was given."""
        parts, newest = range(bounds[0] // SIZE, bounds[1] // SIZE + 1), added // SIZE
        return {part: (self.get(part, 0), added if part == newest else 0) for part in parts}
