"""Finds the unclosed quote, bracket or brace that makes YAML unreadable. The parser notices the error only at the first
text that makes no sense, which may be many lines below."""

import re
from typing import Any, NamedTuple

import yaml

_CLOSING = {"{": "}", "[": "]"}
# The tokens that matter for brackets: quoted text and comments are skipped whole.
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|(?<=[\s,\[\]{}])#[^\n]*|[\[\]{}]', re.DOTALL)
_QUOTED = "while scanning a quoted scalar"


class Opening(NamedTuple):
    """The place, counted from 1, of an unclosed character, and the problem."""

    line: int
    column: int
    message: str


def opening(text: str, error: Any, loader: Any) -> Opening | None:
    """Return the unclosed character, given the parser's error; None for other errors."""
    if getattr(error, "context", None) == _QUOTED and "unexpected" in (error.problem or ""):
        return _at(error.context_mark, "this quote is never closed")
    problem = getattr(error, "problem_mark", None)
    if problem is None:
        return None
    opened, quoted = _tokens(text, (problem.line, problem.column), loader)
    if quoted is not None and quoted.end_mark.line == problem.line:
        line = problem.line + 1
        return _at(quoted.start_mark, f"this quote is closed only on line {line}, and more text follows there")
    for mark in reversed(opened):
        bracket = text[mark.index : mark.index + 1]
        if bracket in _CLOSING and not _is_closed(text, mark.index):
            return _at(mark, f"this {bracket!r} is never closed")
    return None


def _at(mark: Any, message: str) -> Opening:
    return Opening(mark.line + 1, mark.column + 1, message)


def _tokens(text: str, until: tuple[int, int], loader: Any) -> tuple[list[Any], Any]:
    """Return the brackets that are open at a place, outermost first, and the last multi-line quoted text before it."""
    opened: list[Any] = []
    quoted = None
    try:
        for token in yaml.scan(text, Loader=loader):
            start = token.start_mark
            if (start.line, start.column) >= until:
                break
            if isinstance(token, yaml.FlowMappingStartToken | yaml.FlowSequenceStartToken):
                opened.append(start)
            elif isinstance(token, yaml.FlowMappingEndToken | yaml.FlowSequenceEndToken) and opened:
                opened.pop()
            elif isinstance(token, yaml.ScalarToken) and token.style in ("'", '"') and start.line < token.end_mark.line:
                quoted = token
    except (yaml.YAMLError, UnicodeEncodeError):
        pass  # the tokens before it are known
    return opened, quoted


def _is_closed(text: str, start: int) -> bool:
    """Return True if the bracket at `start` is closed."""
    wanted: list[str] = []
    for piece in _PIECE.finditer(text, start):
        found = piece.group()
        if found in _CLOSING:
            wanted.append(_CLOSING[found])
        elif found in ("}", "]"):
            if wanted.pop() != found:
                return False
            if not wanted:
                return True
    return False
