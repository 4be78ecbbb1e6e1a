"""The marks of a sandbox: named places on its tape that it can be rewound to.

`Keeper` is the interface to the storage of a server's sandboxes, which is notified of each life and each mark.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final, Generic, TypeVar

import msgspec

from simulator.domain.errors import Conflict, Unknown

MARKS_MAX = 100


class Mark(msgspec.Struct, frozen=True, gc=False):
    """A place on the tape: after a number of entries, at this time of the sandbox. `state` is the digest of the state
    there, empty for a mark from an earlier version."""

    name: str
    n: int
    at: datetime
    state: str = ""


class Marks:
    """The marks of a life by name, in order of creation."""

    def __init__(self) -> None:
        self._by_name: dict[str, Mark] = {}

    def __iter__(self) -> Iterator[Mark]:
        return iter(list(self._by_name.values()))

    def add(self, mark: Mark) -> None:
        """Add a mark. Raises `Conflict` for a name in use, and when there are too many."""
        if mark.name in self._by_name:
            text = f"there is a mark {mark.name!r} already; delete it first, or choose another name"
            raise Conflict("mark_exists", text, "name")
        if len(self._by_name) >= MARKS_MAX:
            raise Conflict("too_many_marks", f"there are {MARKS_MAX} marks, which is the limit; delete some first")
        self._by_name[mark.name] = mark

    def get(self, name: str) -> Mark:
        """Return the mark of this name. Raises `Unknown`."""
        found = self._by_name.get(name)
        if found is None:
            raise Unknown("unknown_mark", f"there is no mark {name!r}; `reseller-sim mark list` lists them", "mark")
        return found

    def remove(self, name: str) -> None:
        """Delete a mark. Raises `Unknown`."""
        del self._by_name[self.get(name).name]

    def restore(self, marks: Iterable[Mark]) -> None:
        """Replace all marks by these."""
        self._by_name = {mark.name: mark for mark in marks}

    def up_to(self, n: int, at: datetime) -> list[Mark]:
        """Return the marks that existed after `n` entries, at this time."""
        return [mark for mark in self if mark.n <= n and mark.at <= at]


Live = TypeVar("Live", contravariant=True)


class Keeper(Generic[Live]):
    """A storage for sandboxes of the type `Live`, which report their tape entries to it themselves. This one stores
    nothing. Others raise an error when something cannot be stored, and from then on no answer leaves the server."""

    def begin(self, live: Live) -> None:
        """Store a sandbox that was created, reset or rewound. Raises `Conflict` when the lease is lost."""

    def collect(self, live: Live) -> None:
        """Collect the entries of the tape that a sandbox begins with next."""

    async def prepare(self, live: Live) -> None:
        """Prepare for the tape of a rebuilt sandbox, with which a sandbox begins next, and collect its later entries.
        Raises `Conflict` when the lease of the server is lost meanwhile."""

    def abandon(self, live: Live) -> None:
        """Discard the preparation for a rebuilt sandbox, if any: it does not begin."""

    def forget(self, live: Live) -> None:
        """Delete a sandbox."""

    def mark(self, live: Live, mark: Mark) -> None:
        """Store a mark at the present of a sandbox."""

    def unmark(self, live: Live, name: str) -> None:
        """Delete a mark."""


NO_KEEPER: Final[Keeper[object]] = Keeper()
"""The storage of sandboxes that live in memory alone."""
