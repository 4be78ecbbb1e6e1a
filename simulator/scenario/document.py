"""What a scenario says and where it says it: nodes with their marks, and problems that point at them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

Path = tuple[str | int, ...]
Scalar = str | int | Decimal | bool | None

# What a scenario may hold, whichever way it came.
DEPTH_MAX = 32
NODES_MAX = 25_000
DIGITS_MAX = 40
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")

PROBLEMS_MAX = 100


class Mark(NamedTuple):
    """A place in a file; line and column count from 1. Line 0 is a scenario that came as an object, without lines."""

    source: str
    line: int = 0
    column: int = 0


@dataclass(slots=True, eq=False, weakref_slot=True)
class Node:
    """A value with its mark; `keys` has the marks of a mapping's keys. Nodes are shared and never changed."""

    value: "dict[str, Node] | list[Node] | Scalar"
    mark: Mark
    keys: dict[str, Mark] = field(default_factory=dict)

    def plain(self) -> Any:
        """The value without its marks: dict, list, str, int, Decimal, bool, None."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `code` is for machines and stable, `message` is for people; `path` says which value,
    such as `payments[0].then[1].status`."""

    source: str
    line: int
    column: int
    path: str
    code: str
    message: str

    def __str__(self) -> str:
        where = f"{self.source}:{self.line}:{self.column}" if self.line else self.path or self.source
        return f"{where}: {self.code} {self.message}"


class ScenarioError(Exception):
    """A scenario that cannot be used; `problems` holds all that is wrong with it, at least one."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class Report:
    """Collects problems, at most `PROBLEMS_MAX`. It may begin with those that another one found."""

    def __init__(self, found: Iterable[Problem] = ()) -> None:
        self._found = dict.fromkeys(found)
        self._places = {_place(problem) for problem in self._found}
        self._settled = frozenset(self._places)

    @property
    def is_full(self) -> bool:
        """True when more would not be told."""
        return len(self._found) >= PROBLEMS_MAX

    def add(self, mark: Mark, path: Path, code: str, message: str) -> None:
        """Note a problem, unless there is one with this value already."""
        problem = Problem(*mark, path_text(path), code, message)
        if _place(problem) not in self._places:
            self._note(problem)

    def add_another(self, mark: Mark, path: Path, code: str, message: str) -> None:
        """Note a problem beside others with this value, but for those that this report began with."""
        problem = Problem(*mark, path_text(path), code, message)
        if _place(problem) not in self._settled:
            self._note(problem)

    def raise_if_any(self) -> None:
        """Raise `ScenarioError` with all problems, when there are any."""
        if self._found:
            raise ScenarioError(self.problems())

    def problems(self) -> list[Problem]:
        """All problems, those of one file together and in its order."""
        sources = list(dict.fromkeys(problem.source for problem in self._found))
        return sorted(self._found, key=lambda problem: (sources.index(problem.source), problem.line, problem.column))

    def has_below(self, path: Path) -> bool:
        """True when something was reported, or may be left out, about the value at `path` or what it holds."""
        if self.is_full:
            return True
        where = path_text(path)
        return any(problem.path.startswith(where) for problem in self._found)

    def _note(self, problem: Problem) -> None:
        if not self.is_full:
            self._found[problem] = None
            self._places.add(_place(problem))


def _place(problem: Problem) -> tuple[str, int, int, str]:
    return problem.source, problem.line, problem.column, problem.path


@dataclass(frozen=True, slots=True)
class Document:
    """A scenario as it was written. Paths lead from `root` by keys and places; `problems` were found while reading."""

    root: Node
    source: str
    problems: tuple[Problem, ...] = ()

    @property
    def data(self) -> Any:
        """All of it as plain values."""
        return self.root.plain()

    def mark(self, path: Path) -> Mark:
        """Where the value at `path` begins; the nearest value above it when there is none."""
        node = self.root
        for part in path:
            below = child(node, part)
            if below is None:
                break
            node = below
        return node.mark

    def key_mark(self, path: Path) -> Mark:
        """Where the key begins that `path` ends with; the value when it is no key."""
        parent = self.root
        for part in path[:-1]:
            below = child(parent, part)
            if below is None:
                return parent.mark
            parent = below
        found = parent.keys.get(path[-1]) if path and isinstance(path[-1], str) else None
        return found or self.mark(path)


def child(node: Node, part: str | int) -> Node | None:
    """The node one step below, or None."""
    value = node.value
    if isinstance(value, dict) and isinstance(part, str):
        return value.get(part)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return None


def path_text(path: Path) -> str:
    """`payments[0].then` for ("payments", 0, "then")."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def shown(value: object, length_max: int = 60) -> str:
    """A value as a message quotes it, shortened."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    names: dict[object, str] = {None: "null", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return names[value]
    text = f"'{value}'" if isinstance(value, str) else str(value)
    return text if len(text) <= length_max else text[: length_max - 2] + "…'"
