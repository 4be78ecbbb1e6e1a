"""Writes values as YAML that every parser reads alike: ambiguous texts are quoted."""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

LINE_CHARS_MAX = 200
LEVELS_MAX = 2
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 ._/-]*[A-Za-z0-9]|[A-Za-z]", re.ASCII)
# Keywords of YAML 1.1, which other programs may read the file as.
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"}


def block(value: Any, indent: int = 0) -> Iterator[str]:
    """Yield the lines of an object or a list, each part of it on one line when it fits."""
    margin = " " * indent
    if isinstance(value, list):
        for item in value:
            yield from _item(item, indent)
        return
    for key, part in value.items():
        name = f"{margin}{scalar(key)}:"
        short = _on_one_line(f"{name} ", part)
        if short is not None:
            yield short
        else:
            yield name
            yield from block(part, indent + 2)


def comment(lines: Iterable[str], indent: int = 0) -> Iterator[str]:
    """Yield the lines as comments."""
    for line in lines:
        yield f"{' ' * indent}# {line}".rstrip()


def _item(item: Any, indent: int) -> Iterator[str]:
    short = _on_one_line(f"{' ' * indent}- ", item)
    if short is not None:
        yield short
        return
    first, *rest = block(item, indent + 2)
    yield f"{' ' * indent}- {first[indent + 2 :]}"
    yield from rest


def _on_one_line(before: str, value: Any) -> str | None:
    """Return the line of a value; None for a value that is too long or too deep."""
    if not _is_shallow(value, LEVELS_MAX):
        return None
    line = before + flow(value)
    return line if len(line) <= LINE_CHARS_MAX or not value or not isinstance(value, dict | list) else None


def _is_shallow(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    parts = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(part, levels - 1) for part in parts)


def flow(value: Any) -> str:
    """Return a value on a single line."""
    if isinstance(value, dict):
        inner = ", ".join(f"{scalar(key)}: {flow(part)}" for key, part in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    return scalar(value)


def scalar(value: Any) -> str:
    """Return a text, number, boolean or null."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | Decimal):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
