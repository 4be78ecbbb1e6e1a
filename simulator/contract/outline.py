"""Measures JSON before it is decoded: what stands outside its strings. Decoding costs so much more than reading that a
body of ten megabytes could delay all other requests for seconds; this takes a few milliseconds.
"""

from typing import Final

OUTLINE_BYTES_MAX: Final = 64 * 1024
"""Of a body: the bytes outside its strings without white space, and the quotes; also, how many backslashes it has."""

BLANK_FACTOR: Final = 16
"""With white space it may be so many times as much."""

_BLANKS: Final = b" \t\r\n"


def outline(body: bytes, bytes_max: int) -> bytes | None:
    """The beginning of what stands outside the strings of `body`, when that or its quotes or backslashes are more than
    `bytes_max`; else None, so that decoding it is cheap. Valid JSON is measured exactly; `body` need not be valid.
    """
    if len(body) <= bytes_max:
        return None
    return _excess(body[: 2 * bytes_max], bytes_max) or _excess(body, bytes_max)  # the beginning is often enough


def _excess(body: bytes, bytes_max: int) -> bytes | None:
    if b"\\" in body:
        if len(body.split(b"\\", bytes_max + 1)) > bytes_max + 1:  # stops when they are too many, as count() does not
            return body[:bytes_max]
        # Pairs first: a backslash that is left in front of a quote escapes it.
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    parts = body.split(b'"', bytes_max + 1)
    outside, quotes = b"".join(parts[::2]), len(parts) - 1
    if bytes_max < len(outside) + quotes <= BLANK_FACTOR * bytes_max:
        outside = outside.translate(None, _BLANKS)
    return outside[:bytes_max] if len(outside) + quotes > bytes_max else None


def opened(outside: bytes) -> int:
    """How many arrays and objects are open at the end of an outline: a lower bound of its depth."""
    return sum(map(outside.count, (b"[", b"{"))) - sum(map(outside.count, (b"]", b"}")))
