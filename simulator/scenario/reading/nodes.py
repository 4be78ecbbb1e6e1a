"""A parsed scenario: nodes with their positions, and problems that refer to them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec

from reseller_sim.formats import LINE_CHARS_MAX, one_line
from simulator.domain.model.rules import SourceLine

Path = tuple[str | int, ...]
Scalar = str | int | Decimal | bool | None

# Limits of a scenario, from text or from an object.
DEPTH_MAX = 32
DIGITS_MAX = 40
_INDEX = re.compile(r"\[[0-9]+\]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")

SECRET_KEYS = ("secret", "password")
"""Keys whose values no message shows: CI may print messages, and an invalid secret is often almost right."""

PROBLEMS_MAX = 100
HALF_LINE_CHARS = LINE_CHARS_MAX // 2  # for the place of a problem, or for what its message lists or repeats
TEXT_CHARS_MAX = 1000  # of a message, and of a file's name


# A large file has a million nodes and positions. They form no cycle, and the garbage collector, which pauses
# the process, must not visit them all.


class Position(msgspec.Struct, frozen=True, gc=False):
    """A place in a file; line and column count from 1. Line 0 means an object, which has no lines."""

    source: str
    line: int = 0
    column: int = 0

    @property
    def place(self) -> SourceLine | None:
        """Return the place as users see it; None for an object."""
        return SourceLine(one_line(self.source, TEXT_CHARS_MAX), self.line) if self.line else None

    def seen_from(self, source: str) -> str:
        """Return the place for a message about this file: its line, with the file when it is another file."""
        return f"on line {self.line}" if self.source == source else f"in {self.source}:{self.line}"


class Node(msgspec.Struct, eq=False, gc=False):
    """A value with its position; `keys` has the positions of a mapping's keys. Nodes are shared and immutable, except
    `built`, a cache of the object built from a node that other scenarios inherit. It must not refer to nodes."""

    value: "dict[str, Node] | list[Node] | Scalar"
    position: Position
    keys: dict[str, Position] = {}
    built: Any = None

    def plain(self) -> Any:
        """Return the value without positions: dict, list, str, int, Decimal, bool, None."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a scenario. `code` is stable and for machines, `message` is for people; `path` identifies the value,
    such as `payments[0].then[1].status`. The message is a line of printable characters."""

    source: str
    line: int
    column: int
    path: str
    code: str
    message: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", one_line(self.message, TEXT_CHARS_MAX))

    @classmethod
    def at(cls, position: Position, path: str, code: str, message: str) -> "Problem":
        return cls(position.source, position.line, position.column, path, code, message)

    def __str__(self) -> str:
        """Return a single line, without characters that could forge another problem."""
        place = f":{self.line}:{self.column}" if self.line else ""
        where = one_line(self.source if self.line else self.path or self.source, TEXT_CHARS_MAX)
        if len(where) > HALF_LINE_CHARS:
            where = "…" + where[1 - HALF_LINE_CHARS :]
        return one_line(f"{where}{place}: {self.code} {self.message}")


class ScenarioError(Exception):
    """An invalid scenario; `problems` has all its problems, at least one."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class ProblemReport:
    """A collector of at most `PROBLEMS_MAX` problems. It may start with the problems of another report. With `source`,
    problems in other files are ignored."""

    def __init__(self, found: Iterable[Problem] = (), source: str | None = None) -> None:
        self._source = source
        self._found = dict.fromkeys(found)
        self._places = {_place(problem) for problem in self._found}
        self._settled = frozenset(self._places)

    @property
    def is_full(self) -> bool:
        """Return True if further problems would be dropped."""
        return len(self._found) >= PROBLEMS_MAX

    def add(self, position: Position, path: Path, code: str, message: str) -> None:
        """Add a problem, unless this value already has a problem."""
        problem = Problem.at(position, path_text(path), code, message)
        if _place(problem) not in self._places:
            self._note(problem)

    def add_another(self, position: Position, path: Path, code: str, message: str) -> None:
        """Add a problem beside others at this value, except at values that have initial problems."""
        problem = Problem.at(position, path_text(path), code, message)
        if _place(problem) not in self._settled:
            self._note(problem)

    def raise_if_any(self) -> None:
        """Raise `ScenarioError` with all problems, if there are any."""
        if self._found:
            raise ScenarioError(self.problems())

    def problems(self) -> list[Problem]:
        """Return all problems, grouped by file and ordered within it."""
        sources = list(dict.fromkeys(problem.source for problem in self._found))
        return sorted(self._found, key=lambda problem: (sources.index(problem.source), problem.line, problem.column))

    def has_below(self, path: Path) -> bool:
        """Return True if a problem was reported, or may have been dropped, at or below `path`."""
        if self.is_full:
            return True
        if not self._found:
            return False
        where = path_text(path)
        return any(problem.path.startswith(where) for problem in self._found)

    def _note(self, problem: Problem) -> None:
        if not self.is_full and self._source in (None, problem.source):
            self._found[problem] = None
            self._places.add(_place(problem))


def _place(problem: Problem) -> tuple[str, int, int, str]:
    """Return the place in a file, since merged lists have other indexes; for an object, the path alone."""
    path = _INDEX.sub("[]", problem.path) if problem.line else problem.path
    return problem.source, problem.line, problem.column, path


class Document(msgspec.Struct, frozen=True):
    """A scenario as written. Paths are keys and indexes from `root`; `problems` come from the parser."""

    root: Node
    source: str
    problems: tuple[Problem, ...] = ()

    @property
    def data(self) -> Any:
        """Return the whole document as plain values."""
        return self.root.plain()

    def position(self, path: Path, *, of_key: bool = False) -> Position:
        """Return the position of the value at `path`, or of its key, or of its nearest existing ancestor."""
        node, place = self.root, self.root.position
        for part in path:
            below = child(node, part)
            if below is None:
                return node.position
            place = node.keys.get(str(part), below.position) if of_key else below.position
            node = below
        return place


def child(node: Node, part: str | int) -> Node | None:
    """Return the node one step below, or None."""
    value = node.value
    if isinstance(value, dict) and isinstance(part, str):
        return value.get(part)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return None


def path_text(path: Path) -> str:
    """Return `payments[0].then` for ("payments", 0, "then")."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def kind_of(value: object) -> str:
    """Return the kind of a value, without the value itself."""
    if isinstance(value, bool) or value is None:
        return shown(value)
    return shown(value) if isinstance(value, dict | list) else "text" if isinstance(value, str) else "a number"


def shown_at(path: Path, value: object) -> str:
    """Return the value at this path quoted for a message; for a secret only its kind."""
    name = path[-1] if path else ""
    if name not in SECRET_KEYS or value is None or isinstance(value, bool | dict | list):
        return shown(value)
    return f"a {name} of {len(value)} characters" if isinstance(value, str) else "a number"


def shown(value: object, length_max: int = 60) -> str:
    """Return a value quoted for a message, truncated."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    names: dict[object, str] = {None: "null", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return names[value]
    text = f"'{value}'" if isinstance(value, str) else str(value)
    return text if len(text) <= length_max else text[: length_max - 2] + "…'"
