"""Explains invalid YAML in plain words where the parser's error only names its internal states, or the first text that
makes no sense, many lines below an unclosed quote or bracket."""

import re
from contextlib import suppress
from typing import Any, Final, NamedTuple

import yaml

_INDENT: Final = re.compile(r" *\t")
_VALUE: Final = re.compile(r"(?:^|[{,])\s*(?:- )*([^\s:#{\[\]}'\",][^:#]*):\s+(?=[^\s'\"\[{|>])")

_NO_BLANK: Final = re.compile(r"-\w.*|\w+:\S.*")
_WORD: Final = re.compile(r"\w+")
_QUOTED: Final = "while scanning a quoted scalar"
_FLOWS: Final = ("while parsing a flow mapping", "while parsing a flow sequence")


class Mistake(NamedTuple):
    """A mistake at a place, counted from 1."""

    line: int
    column: int
    message: str


def mistake(text: str, error: Any, loader: Any) -> Mistake | None:
    """Return the mistake that causes a parser's error; None when the parser's own message is best."""
    problem, mark = error.problem or "", error.problem_mark or error.context_mark
    if error.context == _QUOTED and "unexpected" in problem:
        return _at(error.context_mark, "this quote is never closed")
    if (quote := _quote_closed_later(text, mark, loader)) is not None:
        return _at(quote, f"this quote is closed only on line {mark.line + 1}, and more text follows there")
    if error.context in _FLOWS and error.context_mark.line < mark.line:
        return _at(error.context_mark, f"this {text[error.context_mark.index]!r} is never closed")
    before = text[: mark.index].rstrip()
    if error.context == "while parsing a flow node" and before[-1:] in ("[", "{"):
        start = len(before) - (before.rfind("\n") + 1)
        return Mistake(before.count("\n") + 1, start, f"this {before[-1]!r} is never closed")
    lines, line, column = text.split("\n"), mark.line + 1, mark.column + 1
    here = lines[line - 1] if line <= len(lines) else ""
    if "\t" in here and ("tab" in problem or here[column - 1 : column] == "\t"):
        tab = _INDENT.match(here)
        return Mistake(line, tab.end() if tab else column, "a tab cannot indent; write spaces")
    if "mapping values are not allowed" in problem or here[column - 1 : column] == ":":
        return _second_colon(lines, line, column)
    if "cannot start any token" in problem or "alphabetic or numeric" in problem:
        sign = max(here.rfind(each, 0, column) for each in "*&@%`")
        return Mistake(line, sign + 1, f"a text that begins with {here[sign]} needs quotes") if sign >= 0 else None
    if "expected '-' indicator" in problem:
        text = "this belongs to the item above: begin it in the column of the key after its '- '"
        return Mistake(line, column, text)
    if "did not find expected key" in problem:
        if here[: column - 1].rstrip()[-1:] in ("'", '"'):
            return Mistake(line, column, "more text follows a closed quote; put the whole text in quotes")
        return Mistake(line, column, "this line is indented unlike the lines next to it; begin all in the same column")
    return None


def _at(mark: Any, message: str) -> Mistake:
    return Mistake(mark.line + 1, mark.column + 1, message)


def _quote_closed_later(text: str, until: Any, loader: Any) -> Any:
    """Return the mark of the last quoted text that begins on an earlier line and ends on this line; None without."""
    found = None
    with suppress(yaml.YAMLError, UnicodeEncodeError):
        for token in yaml.scan(text, Loader=loader):
            start, end = token.start_mark, token.end_mark
            if isinstance(token, yaml.ScalarToken) and token.style in ("'", '"') and start.index < until.index:
                found = start if start.line < end.line == until.line else None
    return found


def _above(lines: list[str], line: int) -> Mistake | None:
    """Return the mistake that makes a text of the line above, which was meant as a key or an item."""
    for number in range(line - 1, 0, -1):
        above = lines[number - 1].partition(" #")[0].rstrip()
        if not above.strip() or above.lstrip().startswith("#"):
            continue
        start = len(above) - len(above.lstrip()) + 1
        text = above.strip()
        if _NO_BLANK.fullmatch(text):
            return Mistake(number, start, f"write a space after the {'-' if text.startswith('-') else 'colon'}")
        if _WORD.fullmatch(text):
            return Mistake(number, start, f"a colon is missing after {text!r}")
        return None
    return None


def _second_colon(lines: list[str], line: int, column: int) -> Mistake:
    """Explain an unexpected colon: it is in an unquoted text, or its key is indented too deep, or the line before it is
    not a key."""
    here = lines[line - 1]
    values = [*_VALUE.finditer(here[: column - 1] + " ")]
    if not values:
        return _above(lines, line) or Mistake(
            line,
            len(here) - len(here.lstrip()) + 1,
            "this key is indented deeper than the key above it; begin both in the same column",
        )
    return Mistake(line, column, f"a text with ': ' needs quotes: write {values[-1][1].strip()}: \"…\"")
