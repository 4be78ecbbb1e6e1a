"""The marks of a sandbox: named places on its tape that it can be rewound to."""

from collections.abc import Iterable, Iterator
from datetime import datetime

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
            raise Unknown("unknown_mark", f"there is no mark {name!r}; GET …/marks lists them", "mark")
        return found

    def remove(self, name: str) -> None:
        """Delete a mark. Raises `Unknown`."""
        del self._by_name[self.get(name).name]

    def has(self, marks: Iterable[Mark]) -> None:
        """Add marks from a storage."""
        self._by_name = {one.name: one for one in marks}

    def up_to(self, n: int, at: datetime) -> "Marks":
        """Return the marks that existed after `n` entries, at this time."""
        kept = Marks()
        kept._by_name = {one.name: one for one in self if one.n <= n and one.at <= at}
        return kept
