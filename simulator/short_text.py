"""Client text quoted in messages: on one line, and only the beginning of long text."""

import json
from collections.abc import Mapping
from typing import Any

from reseller_sim.formats import one_line as one_line
from reseller_sim.formats import whole_line as whole_line

ELLIPSIS = "..."
QUOTED_CHARS_MAX = 100
"""The characters of a client's name or value that a sentence quotes."""
SENTENCE_CHARS_MAX = 500
"""The characters of a sentence, and of a value that a report or a list shows."""


def shortened(text: str | bytes, chars_max: int = QUOTED_CHARS_MAX, ellipsis: str = ELLIPSIS) -> str:
    """Return the text, or its first `chars_max` characters and an ellipsis. Bytes beyond ASCII are escaped."""
    if isinstance(text, bytes):
        text = text.decode("ascii", "backslashreplace")
    return text if len(text) <= chars_max else text[:chars_max] + ellipsis


def shortened_value(value: Any, bytes_max: int) -> Any:
    """Return a value whose texts and lists are cut until its JSON has at most so many bytes; None if it cannot be."""
    candidates = (value, *(_cut(value, most) for most in (1000, 200, 50, 20, 5, 1)))
    return next((found for found in candidates if json_size(found) <= bytes_max), None)


def _cut(value: Any, most: int) -> Any:
    """Return a value with at most so many items in a list, and ten times as many characters in a text."""
    if isinstance(value, str):
        return value if len(value) <= 10 * most else f"{value[: 10 * most]}… ({len(value)} characters)"
    if isinstance(value, Mapping):
        return {name: _cut(part, most) for name, part in value.items()}
    if isinstance(value, list):
        return [*(_cut(part, most) for part in value[:most]), *([f"… {len(value) - most} more"] * (len(value) > most))]
    return value


def json_size(value: Any) -> int:
    """Return the bytes of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
