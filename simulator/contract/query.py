"""Query strings in: percent-decoded as UTF-8, never guessed at."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

_MALFORMED = re.compile(rb"%(?![0-9A-Fa-f]{2})")

NAME_CHARS_MAX = 60


def decode_query(raw: bytes) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The parameters of a raw query, and what is wrong with its encoding: texts by parameter.

    `+` is a space, a parameter without `=` is empty. One that is sent several times becomes a list, which no schema
    of a single parameter lets through: refused where it means something, ignored where it does not.
    """
    values: dict[str, list[str]] = {}
    problems: dict[str, list[str]] = {}
    for part in raw.split(b"&") if raw else ():
        name, _, value = part.partition(b"=")
        if not part:
            continue
        try:
            values.setdefault(_decoded(name), []).append(_decoded(value))
        except ValueError as bad:
            problems[_shown(name)] = [str(bad)]
    return {name: sent[0] if len(sent) == 1 else sent for name, sent in values.items()}, problems


def with_repeats(values: Mapping[str, Any], problems: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Problems of parameters, by name, that begin with how often a parameter was sent when it was not once."""
    return {
        name: [f"was sent {len(sent)} times", *texts] if isinstance(sent := values.get(name), list) else texts
        for name, texts in problems.items()
    }


def flag(fields: Mapping[str, str], name: str) -> bool | None:
    """A boolean, or None when it was not sent."""
    sent = fields.get(name)
    return None if sent is None else sent.lower() == "true"


def whole(fields: Mapping[str, str], name: str, default: int) -> int:
    """A whole number, or `default` when it was not sent."""
    sent = fields.get(name)
    return default if sent is None else int(sent)


def _decoded(text: bytes) -> str:
    """Raises `ValueError` with what is wrong."""
    if _MALFORMED.search(text):
        raise ValueError("has a % that two hexadecimal digits must follow")
    try:
        return unquote_to_bytes(text.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 when its percent-encoding is decoded") from None


def _shown(name: bytes) -> str:
    return name.decode("ascii", "backslashreplace")[:NAME_CHARS_MAX]
