"""Explains invalid YAML in plain words where the parser's error only names its internal states, or the first text that
makes no sense, many lines below an unclosed quote or bracket."""

import re
from contextlib import suppress
from typing import Any, Final, NamedTuple

import yaml

ODD_BLANK: Final = re.compile("[\xa0\u2000-\u200b\u202f\u3000\ufeff]")
"""A character that looks like a space or like nothing, as word processors and chats write it."""

_INDENT: Final = re.compile(r" *\t")
_LINE_BREAK: Final = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_VALUE: Final = re.compile(r"(?:^|[{\[,])\s*(?:- )*([^\s:#{\[\]}'\",][^:#]*):\s+(?=[^\s'\"\[{|>])")

_NO_BLANK: Final = re.compile(r"-\w.*|\w+:\S.*")
_WORD: Final = re.compile(r"\w+")
_QUOTED: Final = "while scanning a quoted scalar"
_CLOSERS: Final = {"while parsing a flow mapping": "}", "while parsing a flow sequence": "]"}


class Mistake(NamedTuple):
    """A mistake at a place, counted from 1."""

    line: int
    column: int
    message: str


def mistake(text: str, error: Any, loader: Any) -> Mistake | None:
    """Return the mistake that causes a parser's error; None when the parser's own message is best."""
    mark = error.problem_mark or error.context_mark
    if (opener := _unclosed(text, error, mark, loader)) is not None:
        return opener
    lines, line, column = _LINE_BREAK.split(text), mark.line + 1, mark.column + 1
    problem, here = error.problem or "", lines[mark.line] if mark.line < len(lines) else ""
    sign = here[mark.column : column]
    if "\t" in here and ("tab" in problem or sign == "\t"):
        tab = _INDENT.match(here)
        return Mistake(line, tab.end() if tab else column, "a tab cannot indent; write spaces")
    if "mapping values are not allowed" in problem or sign == ":":
        return _second_colon(lines, line, column)
    if "could not find expected ':'" in problem:
        return _at(error.context_mark, "this is not a key with its value; write key: value")
    if "cannot start any token" in problem or "alphabetic or numeric" in problem:
        start = max(here.rfind(each, 0, column) for each in "*&@%`")
        return Mistake(line, start + 1, _needs_quotes(here[start])) if start >= 0 else None
    if error.context == "while scanning a block scalar":
        return _at(error.context_mark, _needs_quotes(text[error.context_mark.index]))
    if "are not allowed" in problem or "node content" in problem:
        return Mistake(line, column, _out_of_place(sign))
    if "unknown escape" in problem:
        start = here.rfind("\\", 0, column)
        escape = here[start : start + 2]
        return Mistake(line, start + 1, f"{escape} has no meaning in double quotes; write single quotes")
    if error.context in _CLOSERS:
        return Mistake(line, column, _lacking(here[: mark.column], sign, _CLOSERS[error.context]))
    return _misplaced(here[: mark.column].rstrip(), sign, error.context or "", mark)


def _at(mark: Any, message: str) -> Mistake:
    return Mistake(mark.line + 1, mark.column + 1, message)


def _needs_quotes(sign: str) -> str:
    return f"a text that begins with {sign} needs quotes"


def _unclosed(text: str, error: Any, mark: Any, loader: Any) -> Mistake | None:
    """Return the quote or bracket above that is not closed; None without such an opener."""
    if error.context == _QUOTED and "unexpected" in (error.problem or ""):
        return _at(error.context_mark, "this quote is never closed")
    if (quote := _quote_closed_later(text, mark, loader)) is not None:
        return _at(quote, f"this quote is closed only on line {mark.line + 1}, and more text follows there")
    if error.context in _CLOSERS and error.context_mark.line < mark.line:
        return _at(error.context_mark, f"this {text[error.context_mark.index]!r} is never closed")
    before = text[: mark.index].rstrip()
    if error.context == "while parsing a flow node" and before[-1:] in ("[", "{"):
        *above, last = _LINE_BREAK.split(before)
        if len(above) < mark.line:
            return Mistake(len(above) + 1, len(last), f"this {before[-1]!r} is never closed")
    return None


def _quote_closed_later(text: str, until: Any, loader: Any) -> Any:
    """Return the mark of the last quoted text that begins on an earlier line and ends on this line; None without."""
    found = None
    with suppress(yaml.YAMLError, UnicodeEncodeError):
        for token in yaml.scan(text, Loader=loader):
            start, end = token.start_mark, token.end_mark
            if isinstance(token, yaml.ScalarToken) and token.style in ("'", '"') and start.index < until.index:
                found = start if start.line < end.line == until.line else None
    return found


def _out_of_place(sign: str) -> str:
    """Explain a sign where a value is expected."""
    if sign == ",":
        return "a value is missing before this comma"
    if sign == "-":
        return "'- ' begins an item only at the start of a line; a text that begins with it needs quotes"
    return _needs_quotes(sign)


def _lacking(before: str, sign: str, closer: str) -> str:
    """Explain a text within brackets that neither a comma nor the closing bracket precedes."""
    if sign in ("{", "[") and not before[-1:].isspace():
        return f"within brackets, a text with {sign} needs quotes"
    return f"a {closer!r} is missing before this" if sign in ("}", "]") else "a comma is missing before this"


def _misplaced(before: str, sign: str, context: str, mark: Any) -> Mistake | None:
    """Explain a text that is neither a key nor an item of the mapping or list around it."""
    last = before[-1:]
    if last in ("'", '"'):
        return _at(mark, "more text follows a closed quote; put the whole text in quotes")
    if last in ("}", "]"):
        text = f"more text follows this {last!r}; remove the {last!r}, or put the whole text in quotes"
        return Mistake(mark.line + 1, len(before), text)
    if sign in ("}", "]"):
        return _at(mark, f"this {sign!r} closes nothing; remove it")
    if context == "while parsing a block collection":
        return _at(mark, "this belongs to the item above: begin it in the column of the key after its '- '")
    if context == "while parsing a block mapping":
        return _at(mark, "this line is indented unlike the lines next to it; begin all in the same column")
    return None


def _above(lines: list[str], line: int) -> Mistake | None:
    """Return the mistake that makes a text of the line above, which was meant as a key or an item."""
    for number in range(line - 1, 0, -1):
        above = lines[number - 1].partition(" #")[0].rstrip()
        if not above.strip() or above.lstrip().startswith("#"):
            continue
        if odd := ODD_BLANK.search(above):
            return Mistake(number, odd.start() + 1, "this is not an ordinary space; write one")
        text = above.strip().removeprefix("- ")
        start = len(above) - len(text) + 1
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
