"""Explains invalid YAML in plain words where the parser's error only names its internal states, or the first text that
makes no sense, many lines below an unclosed quote or bracket."""

import re
from typing import Any, Final, NamedTuple

import yaml

_BLANKS: Final = "\u00a0\u1680\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff"
ODD_BLANK: Final = re.compile(rf"(?:^|(?<=[-:?,\[\]{{}} ]))[{_BLANKS}]|[{_BLANKS}](?=$|[:#,\]}}])", re.MULTILINE)
"""A character that looks like a space where YAML requires a space. Inside a text it belongs to the text."""

_DASH: Final = re.compile(r"\s*([\u2010-\u2015\u2212])\s")
_INDENT: Final = re.compile(r" *\t")
_VALUE: Final = re.compile(r"(?:^|[{,])\s*(?:- )*([^\s:#{\[\]}'\",][^:#]*):\s+(?=[^\s'\"\[{|>])")

_NO_BLANK: Final = re.compile(r"-\w.*|\w+:\S.*")
_WORD: Final = re.compile(r"\w+")
_CLOSING: Final = {"{": "}", "[": "]"}


_QUOTED: Final = "while scanning a quoted scalar"


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
    if (unclosed := _unclosed(text, mark, loader)) is not None:
        return unclosed
    lines, line, column = text.split("\n"), mark.line + 1, mark.column + 1
    for number in range(max(1, line - 2), min(line, len(lines)) + 1):
        if (found := odd_blank(lines[number - 1])) is not None:
            return Mistake(number, *found)
        if (dash := _DASH.match(lines[number - 1])) is not None:
            return Mistake(number, dash.start(1) + 1, f"a dash (U+{ord(dash[1]):04X}) stands here; write an ordinary -")
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
        return Mistake(line, column, "this is indented unlike its neighbours; begin all in the same column")
    return None


def _at(mark: Any, message: str) -> Mistake:
    return Mistake(mark.line + 1, mark.column + 1, message)


def _unclosed(text: str, until: Any, loader: Any) -> Mistake | None:
    """Return the innermost bracket before a place that is never closed, or the quoted text that ends in its line."""
    opened: list[Any] = []
    quoted = None
    try:
        for token in yaml.scan(text, Loader=loader):
            start, is_before = token.start_mark, token.start_mark.index < until.index
            if isinstance(token, yaml.FlowMappingStartToken | yaml.FlowSequenceStartToken):
                opened.append(start)
            elif isinstance(token, yaml.FlowMappingEndToken | yaml.FlowSequenceEndToken) and opened:
                if text[start.index : start.index + 1] != _CLOSING.get(text[opened[-1].index]):
                    break
                opened.pop()
            elif isinstance(token, yaml.ScalarToken) and token.style in ("'", '"') and is_before:
                quoted = token if start.line < token.end_mark.line else quoted
    except (yaml.YAMLError, UnicodeEncodeError):
        opened = []  # what follows may close them
    if quoted is not None and quoted.end_mark.line == until.line:
        words = f"this quote is closed only on line {until.line + 1}, and more text follows there"
        return _at(quoted.start_mark, words)
    bracket = next((mark for mark in reversed(opened) if mark.index < until.index), None)
    return None if bracket is None else _at(bracket, f"this {text[bracket.index]!r} is never closed")


def _above(lines: list[str], line: int) -> Mistake | None:
    """Return the mistake that makes a text of the line above, which was meant as a key or an item."""
    for number in range(line - 1, 0, -1):
        above = lines[number - 1].partition(" #")[0].rstrip()
        if not above.strip() or above.lstrip().startswith("#"):
            continue
        start = len(above) - len(above.lstrip()) + 1
        text = above.strip()
        if text.startswith("//"):
            return Mistake(number, start, "a comment begins with #")
        if _NO_BLANK.fullmatch(text):
            return Mistake(number, start, f"write a space after the {'-' if text.startswith('-') else 'colon'}")
        if _WORD.fullmatch(text):
            return Mistake(number, start, f"a colon is missing after {text!r}")
        return None
    return None


def odd_blank(text: str) -> tuple[int, str] | None:
    """Return the column of a character that stands for a space, and the problem; None without such a character."""
    found = ODD_BLANK.search(text.partition(" #")[0])
    if found is None:
        return None
    kind = "no-break space" if found[0] in "\u00a0\u202f" else "space of another kind"
    return found.start() + 1, f"a {kind} (U+{ord(found[0]):04X}) stands here; write an ordinary space"


def _second_colon(lines: list[str], line: int, column: int) -> Mistake:
    """Explain an unexpected colon: it is in an unquoted text, or its key is indented too deep, or the line before it is
    not a key."""
    here = lines[line - 1]
    value = _VALUE.search(here[: column - 1] + " ")
    if value is None:
        return _above(lines, line) or Mistake(
            line,
            len(here) - len(here.lstrip()) + 1,
            "this key is indented deeper than the key above it; begin both in the same column",
        )
    return Mistake(line, column, f"a text with ': ' needs quotes: write {value[1].strip()}: \"…\"")
