"""Where the sandboxes of a server are kept beside its memory, if they are: who is told of each life."""

from typing import Final, NamedTuple, Protocol, TypeVar

from simulator.persistence.tape.tape import Tape
from simulator.runtime.marks import Mark, Marks

Live = TypeVar("Live", contravariant=True)


class StoredPlace(NamedTuple):
    """Behind so many entries of a tape, where it is kept: its line there, and the bytes up to it."""

    entries: int
    line: int
    bytes: int


class Keeper(Protocol[Live]):
    """Keeps sandboxes, `Live` ones: what comes to their tapes it is told by those themselves. Of what it cannot keep it
    raises, and from then on nothing leaves the server."""

    def begin(self, live: Live) -> None:
        """A sandbox was created, or began anew."""

    async def place_of(self, live: Live, entries: int) -> StoredPlace:
        """Find a place on the tape of a sandbox, which others wait for. Raises `Conflict` when it is not kept there
        any more."""
        ...

    def rewound(self, live: Live, place: StoredPlace, tape: Tape, marks: Marks) -> None:
        """A sandbox is about to be as it was there: it will have this tape, with what it begins with behind the place,
        and these marks."""

    async def prepare(self, live: Live) -> None:
        """Prepare for a sandbox that was rebuilt from a tape, and is about to `begin`."""

    def abandon(self, live: Live) -> None:
        """What was prepared for a sandbox is for nothing, if anything was: it does not begin."""

    def forget(self, live: Live) -> None:
        """A sandbox was deleted."""

    def mark(self, live: Live, mark: Mark) -> None:
        """The present of a sandbox has this mark."""

    def unmark(self, live: Live, name: str) -> None:
        """A mark is forgotten."""


class _Unkept:
    """Keeps nothing."""

    def begin(self, live: object) -> None:
        """Do nothing."""

    async def place_of(self, live: object, entries: int) -> StoredPlace:
        """Say that it is nowhere."""
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
"""In memory alone."""


class Kept(Protocol):
    """The place where a whole server keeps its sandboxes, while that runs."""

    def start(self) -> None: ...

    async def go_on(self) -> None: ...

    async def rest(self) -> None: ...

    def close(self) -> None: ...
