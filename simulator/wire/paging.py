"""Which part of a list a page shows."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote, urlencode


class Page(NamedTuple):
    """Page `current` of `last`, each of `size` items of a list of `total`. An empty list has one empty page, and a
    page beyond the last is empty."""

    current: int
    last: int
    size: int
    total: int

    @classmethod
    def of(cls, total: int, current: int, size: int) -> "Page":
        """The page that was asked for; only the whole of an empty list has the size 0."""
        return cls(current, max(1, -(-total // max(1, size))), size, total)

    @property
    def items(self) -> slice:
        """Where its items stand in the list."""
        first = (self.current - 1) * self.size
        return slice(first, first + self.size)

    @property
    def bounds(self) -> tuple[int, int]:
        """The places of its first and last item, counted from 1; both 0 when it is empty."""
        first = (self.current - 1) * self.size
        return (first + 1, min(first + self.size, self.total)) if first < self.total else (0, 0)


def link(path: str, query: Mapping[str, object]) -> str:
    """A relative link; a space in it is `%20`, which every reader of queries and paths takes for one."""
    return f"{path}?{urlencode(query, quote_via=quote)}" if query else path
