"""The marks of a sandbox: named places on its tape, to which it can be rewound."""

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from simulator.domain.errors import Conflict, Unknown

MARKS_MAX = 100


class Mark(msgspec.Struct, frozen=True, gc=False):
    """A place on the tape: behind so many entries, and at this time of the sandbox. `state` is the digest of the state
    there, empty of a mark that an earlier version kept."""

    name: str
    n: int
    at: datetime
    state: str = ""


class Marks:
    """The marks of one life, by name, in the order in which they were made."""

    def __init__(self) -> None:
        self._by_name: dict[str, Mark] = {}

    def __iter__(self) -> Iterator[Mark]:
        return iter(list(self._by_name.values()))

    def add(self, mark: Mark) -> None:
        """Keep a mark. Raises `Conflict` for a name in use, and when there are too many."""
        if mark.name in self._by_name:
            text = f"there is a mark {mark.name!r} already; delete it first, or choose another name"
            raise Conflict("mark_exists", text, "name")
        if len(self._by_name) >= MARKS_MAX:
            raise Conflict("too_many_marks", f"there are {MARKS_MAX} marks, which is the limit; delete some first")
        self._by_name[mark.name] = mark

    def get(self, name: str) -> Mark:
        """The mark of this name. Raises `Unknown`."""
        found = self._by_name.get(name)
        if found is None:
            raise Unknown("unknown_mark", f"there is no mark {name!r}; GET …/marks lists them", "mark")
        return found

    def remove(self, name: str) -> None:
        """Forget a mark. Raises `Unknown`."""
        del self._by_name[self.get(name).name]

    def has(self, marks: Iterable[Mark]) -> None:
        """Have these, which were kept elsewhere."""
        self._by_name = {one.name: one for one in marks}

    def up_to(self, n: int, at: datetime) -> "Marks":
        """Those that there were at a moment: behind so many entries, at this time."""
        kept = Marks()
        kept._by_name = {one.name: one for one in self if one.n <= n and one.at <= at}
        return kept
