"""Texts of somebody else in what people read on a terminal: without control characters, and bounded."""

from typing import Any

CHARS_MAX = 4000
LINE_CHARS_MAX = 300


def printable(text: str) -> str:
    """The text with a backslash escape for each character that does not print; lines stay lines."""
    return "".join(one if one.isprintable() or one == "\n" else _escaped(one) for one in text)


def printable_line(text: str) -> str:
    """The text as one line of at most 300 characters and an ellipsis, its own ends of lines escaped as well."""
    shown = printable(text[: LINE_CHARS_MAX + 1]).replace("\n", "\\n")
    return shown if len(text) <= LINE_CHARS_MAX else shown[:LINE_CHARS_MAX] + "…"


def shortened(value: Any) -> str:
    """A decoded value as printable text of at most 4000 characters and an ellipsis; of a list only its kind."""
    if not isinstance(value, str):
        value = str(value) if isinstance(value, int | float | None) else f"({type(value).__name__})"
    return printable(value[:CHARS_MAX]) + ("…" if len(value) > CHARS_MAX else "")


def _escaped(one: str) -> str:
    return one.encode("unicode_escape").decode("ascii")
