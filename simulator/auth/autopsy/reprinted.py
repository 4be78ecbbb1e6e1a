"""A JSON body as the usual encoders print it, each text with the mistake of who signed it: what a refusal can wait for.

msgspec prints in a tenth of the time of `json`, and the same of all but the rarest numbers.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

NESTED_MAX = 8
"""What is nested deeper is printed in no other way: indented it would grow with the square of its depth."""
_INDENTS = (2, 4)
_NUMBER = re.compile(rb"[:,\[]\s*-?[0-9]")
_WIDE = 0
_AGAIN, _NUMBERS = "body-serialised-again", "body-numbers-rewritten"


def reprinted(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Mistakes by their ids, and the texts that they make of a body; nothing of one that is no JSON."""
    try:
        value = msgspec.json.decode(body)
        if body.count(b"[") + body.count(b"{") > NESTED_MAX and not is_shallow(value):
            return
        yield from _printed(value, body)
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return


def _printed(value: Any, body: bytes) -> Iterator[tuple[str, bytes]]:
    tight = msgspec.json.encode(value)
    for text in (tight,) if body.isascii() and b"\\" not in body else (_escaped(value), tight):
        yield _AGAIN, text
        yield _AGAIN, msgspec.json.format(text, indent=_WIDE)
        if b"/" in text:
            yield _AGAIN, text.replace(b"/", b"\\/")  # as PHP does
        for indent in _INDENTS:
            yield _AGAIN, msgspec.json.format(text, indent=indent)
    if _NUMBER.search(body) is None:
        return
    is_wide = b'": ' in body
    for number in (as_text, as_float, as_whole):
        other = rewritten(value, number)
        if other is not value:
            text = _escaped(other) if body.isascii() and not tight.isascii() else msgspec.json.encode(other)
            yield _NUMBERS, msgspec.json.format(text, indent=_WIDE) if is_wide else text


def _escaped(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def is_shallow(value: Any) -> bool:
    """Whether a value is nested no deeper than `NESTED_MAX`."""
    level = [value]
    for _ in range(NESTED_MAX):
        inner = [one for one in level if isinstance(one, dict | list)]
        level = [each for one in inner for each in (one.values() if isinstance(one, dict) else one)]
        if not level:
            return True
    return False


def rewritten(value: Any, number: Callable[[int | float], Any]) -> Any:
    """The value with its numbers written otherwise, two levels deep as bodies of this API are; itself when it has
    none."""
    if isinstance(value, dict):
        made = {key: rewritten(one, number) if not isinstance(one, list) else one for key, one in value.items()}
        return made if any(made[key] is not one for key, one in value.items()) else value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return number(value) if is_number else value


def as_float(value: int | float) -> Any:
    """10 as 10.0."""
    return float(value) if abs(value) < 1e15 else value


def as_whole(value: int | float) -> Any:
    """10.0 as 10."""
    return int(value) if abs(value) < 1e15 and int(value) == value else value


def as_text(value: int | float) -> Any:
    """10 as "10"."""
    return str(value) if abs(value) < 1e15 else "0"
