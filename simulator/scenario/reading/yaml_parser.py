"""Parser of YAML, or of an object decoded from JSON, that rejects YAML's surprising features.

Only `true`, `false`, `null`, plain integers and plain decimals are not text: `NO`, `010`, `12:30`, `0x10` and dates
stay text, and decimals keep their digits. Duplicate keys, anchors, aliases, tags and second documents are problems.
Objects have the same limits; parsing stops at them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path as FilePath
from typing import Any

import yaml

from simulator.scenario.reading.nodes import (
    CONTROL,
    DEPTH_MAX,
    DIGITS_MAX,
    Document,
    Node,
    Path,
    Position,
    Problem,
    ProblemReport,
    Scalar,
    ScenarioError,
)
from simulator.scenario.reading.scenario_files import FROM_ANYWHERE, OWN_FILE, Bounds, Unreadable, read_bytes
from simulator.scenario.reading.syntax import mistake

_TOO_DEEP = f"values are nested at most {DEPTH_MAX} deep"
_PARSER_TOO_DEEP = "maximum nesting depth"  # newer versions of libyaml stop before they emit an event
_NOT_UTF_8 = "this is not UTF-8 text; save the file as UTF-8"
_BAD_TEXT = "text must not have control characters except tab and line feed"
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)", re.ASCII)
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+", re.ASCII)
_WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None, "": None}
_MAYBE_NUMBER = frozenset("-0123456789")

# libyaml if PyYAML was built with it: the same events, ten times as fast.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_file(path: FilePath) -> Document:
    """Parse a scenario file. Raises `ScenarioError`."""
    return load_text(file_text(path), str(path), OWN_FILE)


def file_text(path: FilePath) -> str:
    """Return the text of a file. Raises `ScenarioError`."""
    try:
        return _decoded(read_bytes(path), str(path), OWN_FILE)
    except Unreadable as error:
        raise ScenarioError([Problem(str(path), 1, 1, "", "no_file", error.reason)]) from None


def load_text(text: str | bytes, source: str, bounds: Bounds = FROM_ANYWHERE) -> Document:
    """Parse YAML. Recoverable problems are added to the document's `problems`; others raise `ScenarioError`."""
    report = ProblemReport()
    root = _Composer(source, _decoded(text, source, bounds), report, bounds).document()
    return Document(root, source, tuple(report.problems()))


def load_object(value: object, source: str = "scenario", bounds: Bounds = FROM_ANYWHERE) -> Document:
    """Convert an object decoded from JSON, as `load_text` parses; problems have paths and no lines."""
    report = ProblemReport()
    root = _ObjectReader(source, report, bounds).node(value, (), 1)
    return Document(root, source, tuple(report.problems()))


def scalar(text: str) -> Scalar:
    """Return the value of an unquoted scalar. Raises `ValueError` for a number of more than `DIGITS_MAX` digits."""
    if text[:1] not in _MAYBE_NUMBER:
        return _WORDS.get(text, text)
    whole = _INTEGER.fullmatch(text)
    if whole is None and _DECIMAL.fullmatch(text) is None:
        return text
    if len(text) > DIGITS_MAX:
        raise ValueError(f"a number has at most {DIGITS_MAX} digits; write it in quotes if it is text")
    return int(text) if whole else Decimal(text)


def _decoded(text: str | bytes, source: str, bounds: Bounds) -> str:
    if len(text) > bounds.bytes_max:
        raise ScenarioError([Problem(source, 1, 1, "", "too_big", f"a scenario has at most {bounds.bytes_max} bytes")])
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = text[: error.start]
        line, column = before.count(b"\n") + 1, len(before) - (before.rfind(b"\n") + 1) + 1
        raise ScenarioError([Problem(source, line, column, "", "encoding", _NOT_UTF_8)]) from None


class _Builder:
    """Builds nodes within the limits of a scenario, and reports problems."""

    def __init__(self, source: str, report: ProblemReport, bounds: Bounds) -> None:
        self._source = source
        self._bounds = bounds
        self._report = report
        self._nodes = 0

    def _count(self, position: Position, path: Path, depth: int) -> None:
        """Count a node. Raises `ScenarioError` beyond the limits."""
        self._nodes += 1
        if depth > DEPTH_MAX:
            raise self._stop(position, path, "too_deep", _TOO_DEEP)
        if self._nodes > self._bounds.nodes_max:
            text = f"a scenario has at most {self._bounds.nodes_max} values"
            raise self._stop(position, path, "too_big", text)

    def _stop(self, position: Position, path: Path, code: str, message: str) -> ScenarioError:
        """Return the error that ends the parsing: all earlier problems, and this problem."""
        self._report.add(position, path, code, message)
        return ScenarioError(self._report.problems() or [Problem.at(position, "", code, message)])


class _Composer(_Builder):
    """Builds nodes from the parser's events, without lookahead."""

    def __init__(self, source: str, text: str, report: ProblemReport, bounds: Bounds) -> None:
        super().__init__(source, report, bounds)
        self._text = text
        self._next: Callable[[], Any]  # the parser's next event

    def document(self) -> Node:
        """Return the only document of the text. Raises `ScenarioError` for unrecoverable problems."""
        try:
            self._next = LOADER(self._text).get_event
            return self._only_document()
        except yaml.YAMLError as error:
            line, column, message = self._syntax(error)
            code = "syntax"
            if _PARSER_TOO_DEEP in (getattr(error, "problem", None) or ""):
                code, message = "too_deep", _TOO_DEEP
            raise self._stop(Position(self._source, line, column), (), code, message) from None
        except UnicodeEncodeError:
            raise self._stop(Position(self._source, 1, 1), (), "encoding", _NOT_UTF_8) from None

    def _only_document(self) -> Node:
        self._next()  # the stream
        first = self._next()
        if isinstance(first, yaml.StreamEndEvent):
            return Node({}, Position(self._source, 1, 1))
        root = self._node(self._next(), (), 1)
        self._next()  # the document's end
        second = self._next()
        if not isinstance(second, yaml.StreamEndEvent):
            text = "a scenario file must hold a single YAML document; remove this '---'"
            raise self._stop(self._position(second), (), "documents", text)
        return root

    def _node(self, event: Any, path: Path, depth: int) -> Node:
        position = self._position(event)
        self._count(position, path, depth)
        if isinstance(event, yaml.AliasEvent):
            text = f"aliases such as *{event.anchor} are not supported; write the value out, or a text in quotes"
            self._report.add(position, path, "alias", text)
            return Node(None, position)
        if event.anchor:
            self._report.add(position, path, "anchor", f"anchors are not supported; remove &{event.anchor}")
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._report.add(position, path, "tag", f"tags such as {tag} are not supported; remove the tag")
        if isinstance(event, yaml.ScalarEvent):
            return Node(self._scalar(event, position, path), position)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(position, path, depth)
        return self._mapping(position, path, depth)

    def _sequence(self, position: Position, path: Path, depth: int) -> Node:
        items: list[Node] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._node(event, (*path, len(items)), depth + 1))
        return Node(items, position)

    def _mapping(self, position: Position, path: Path, depth: int) -> Node:
        values: dict[str, Node] = {}
        keys: dict[str, Position] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key_node = self._node(event, path, depth + 1)
            key = key_node.value
            value = self._node(self._next(), (*path, key) if isinstance(key, str) else path, depth + 1)
            if not isinstance(key, str):
                self._report.add(key_node.position, path, "key_not_text", "a key is text; write it in quotes")
            elif key in values:
                text = f"{key!r} is written twice; it was first on line {keys[key].line}"
                self._report.add(key_node.position, (*path, key), "duplicate_key", text)
            else:
                values[key], keys[key] = value, key_node.position
        return Node(values, position, keys)

    def _scalar(self, event: Any, position: Position, path: Path) -> Scalar:
        text: str = event.value
        if CONTROL.search(text):
            self._report.add(position, path, "bad_text", _BAD_TEXT)
            return ""
        if not event.implicit[0]:
            return text
        try:
            return scalar(text)
        except ValueError as error:
            self._report.add(position, path, "bad_number", str(error))
            return 0

    def _position(self, event: Any) -> Position:
        mark = event.start_mark
        return Position(self._source, mark.line + 1, mark.column + 1)

    def _syntax(self, error: Exception) -> tuple[int, int, str]:
        """Return line, column and text of a parser's error; the two parsers word it differently."""
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        if mark is None:
            before = self._text[: getattr(error, "position", 0)]
            return before.count("\n") + 1, len(before) - before.rfind("\n"), "YAML does not allow this character"
        found = mistake(self._text, error, LOADER)
        words = ", ".join(filter(None, (getattr(error, "context", None), getattr(error, "problem", None))))
        line, column, message = found or (mark.line + 1, mark.column + 1, words)
        return line, column, f"cannot be read as YAML: {message}"


class _ObjectReader(_Builder):
    """Builds nodes from decoded JSON."""

    def __init__(self, source: str, report: ProblemReport, bounds: Bounds) -> None:
        super().__init__(source, report, bounds)
        self._position = Position(source)

    def node(self, value: object, path: Path, depth: int) -> Node:
        """Return the node of `value`, with all nodes below it."""
        self._count(self._position, path, depth)
        if isinstance(value, Mapping):
            return self._mapping(value, path, depth)
        if isinstance(value, Sequence) and not isinstance(value, str):
            return Node([self.node(item, (*path, at), depth + 1) for at, item in enumerate(value)], self._position)
        return Node(self._scalar(value, path), self._position)

    def _mapping(self, value: Mapping[Any, object], path: Path, depth: int) -> Node:
        for key in value:
            if not isinstance(key, str) or CONTROL.search(key):
                self._report.add(self._position, path, "key_not_text", "a key is text")
                return Node({}, self._position)
        values = {key: self.node(item, (*path, key), depth + 1) for key, item in value.items()}
        return Node(values, self._position, dict.fromkeys(values, self._position))

    def _scalar(self, value: object, path: Path) -> Scalar:
        if isinstance(value, float):
            value = Decimal(repr(value))
        if isinstance(value, str) and CONTROL.search(value):
            self._report.add(self._position, path, "bad_text", _BAD_TEXT)
        elif isinstance(value, int | Decimal) and not isinstance(value, bool):
            return self._number(value, path)
        elif value is None or isinstance(value, str | bool):
            return value
        else:
            self._report.add(self._position, path, "type", "this is not a JSON value")
        return None

    def _number(self, value: int | Decimal, path: Path) -> int | Decimal:
        if isinstance(value, int):
            fits = abs(value) < 10**DIGITS_MAX
        else:
            exponent = value.as_tuple().exponent
            fits = isinstance(exponent, int) and exponent > -DIGITS_MAX and value.adjusted() < DIGITS_MAX
        if not fits:
            self._report.add(self._position, path, "bad_number", f"a number has at most {DIGITS_MAX} digits")
            return 0
        return int(value) if value == int(value) else value
