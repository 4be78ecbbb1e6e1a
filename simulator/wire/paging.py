"""Pages of a list."""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

import msgspec


class Page(msgspec.Struct, frozen=True):
    """Page `current` of `last`, each with `size` items of a list of `total`. An empty list has one empty page, and a
    page beyond the last is empty."""

    current: int
    last: int
    size: int
    total: int

    @classmethod
    def of(cls, total: int, current: int, size: int) -> "Page":
        """The requested page; the size is 0 only for all of an empty list."""
        return cls(current, max(1, -(-total // max(1, size))), size, total)

    @property
    def items(self) -> slice:
        """The slice of its items in the list."""
        first = (self.current - 1) * self.size
        return slice(first, first + self.size)

    @property
    def bounds(self) -> tuple[int, int]:
        """The positions of its first and last item, counted from 1; both 0 when it is empty."""
        first = (self.current - 1) * self.size
        return (first + 1, min(first + self.size, self.total)) if first < self.total else (0, 0)


def link(path: str, query: Mapping[str, object]) -> str:
    """A relative link; spaces become `%20`, which is valid in queries and paths."""
    return f"{path}?{urlencode(query, quote_via=quote)}" if query else path
