"""The interface to the storage of a server's sandboxes, which is notified of each life."""

from typing import Final, NamedTuple, Protocol, TypeVar

from simulator.persistence.tape.tape import Tape
from simulator.runtime.marks import Mark, Marks

Live = TypeVar("Live", contravariant=True)


class StoredPlace(NamedTuple):
    """A place on a stored tape, after a number of entries: its line, and the bytes up to it."""

    entries: int
    line: int
    bytes: int


class Keeper(Protocol[Live]):
    """A storage for sandboxes of the type `Live`, which report their tape entries to it themselves. It raises an error
    when something cannot be stored, and from then on no answer leaves the server."""

    def begin(self, live: Live) -> None:
        """Store a sandbox that was created or reset."""

    async def place_of(self, live: Live, entries: int) -> StoredPlace:
        """Return the place on the tape of a sandbox, for a waiting request. Raises `Conflict` when it is no longer
        stored."""
        ...

    def rewound(self, live: Live, place: StoredPlace, tape: Tape, marks: Marks) -> None:
        """Store that a sandbox returns to this place, with this tape, which begins after the place, and these marks."""

    async def prepare(self, live: Live) -> None:
        """Prepare for a rebuilt sandbox, which `begin` is called with next."""

    def abandon(self, live: Live) -> None:
        """Discard the preparation for a sandbox, if any: it does not begin."""

    def forget(self, live: Live) -> None:
        """Delete a sandbox."""

    def mark(self, live: Live, mark: Mark) -> None:
        """Store a mark at the present of a sandbox."""

    def unmark(self, live: Live, name: str) -> None:
        """Delete a mark."""


class _Unkept:
    """A storage that stores nothing."""

    def begin(self, live: object) -> None:
        """Do nothing."""

    async def place_of(self, live: object, entries: int) -> StoredPlace:
        """Return a place that is not stored anywhere."""
        return StoredPlace(entries, 0, 0)

    def rewound(self, live: object, place: StoredPlace, tape: Tape, marks: Marks) -> None:
        """Do nothing."""

    async def prepare(self, live: object) -> None:
        """Do nothing."""

    def abandon(self, live: object) -> None:
        """Do nothing."""

    def forget(self, live: object) -> None:
        """Do nothing."""

    def mark(self, live: object, mark: Mark) -> None:
        """Do nothing."""

    def unmark(self, live: object, name: str) -> None:
        """Do nothing."""


UNKEPT: Final = _Unkept()
"""The storage of sandboxes that live in memory alone."""


class Kept(Protocol):
    """The storage of all sandboxes of a server, while it runs."""

    def start(self) -> None: ...

    async def go_on(self) -> None: ...

    async def rest(self) -> None: ...

    def close(self) -> None: ...
