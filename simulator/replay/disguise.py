"""Disguises a credential in whatever form it was sent: letters and digits become others, all signs stay where they are.

So a broken JSON text stays broken in the same place, an escape stays an escape, a list of cookies a list. What is drawn
says nothing of what it stands for.
"""

import re
from hashlib import shake_256
from string import ascii_lowercase, ascii_uppercase
from typing import Final


def _drawn_from(signs: bytes) -> bytes:
    """A table that makes one of these signs of each byte."""
    return bytes(signs[each % len(signs)] for each in range(256))


_LOWER: Final = _drawn_from(ascii_lowercase.encode())
_UPPER: Final = _drawn_from(ascii_uppercase.encode())
_DIGIT: Final = _drawn_from(b"123456789")  # a number has no 0 before others
_CONTINUATION: Final = _drawn_from(bytes(range(0x80, 0xC0)))
_KINDS: Final = {"lower": _LOWER, "upper": _UPPER, "digits": _DIGIT, "continuation": _CONTINUATION}
_UNIT: Final = re.compile(
    # Not each continuation may follow these first bytes of UTF-8.
    rb"[\xe0\xed\xf0\xf4][\x80-\xbf]|%(?:25)*(?:E0|ED|F0|F4)%(?:25)*[89AB][0-9A-F]|%(?:25)*(?:e0|ed|f0|f4)%(?:25)*[89ab][0-9a-f]"
    rb"|%(?:25)*(?P<octet>[0-9A-Fa-f]{2})"
    rb"|\\u(?P<code>[0-9A-Fa-f]{4})"
    rb"|\\."
    rb"|(?P<lower>[a-z]+)|(?P<upper>[A-Z]+)|(?P<digits>[0-9]+)|(?P<continuation>[\x80-\xbf]+)",
    re.DOTALL,
)
_ATTEMPTS: Final = 8
_LOW_SURROGATES: Final = range(0xDC00, 0xE000)
_HIGH_SURROGATES: Final = range(0xD800, 0xDC00)


def disguised(raw: bytes, number: int) -> bytes:
    """The text with other letters and digits, drawn by the number; one that has nothing but signs as it is."""
    for attempt in range(_ATTEMPTS):  # a short one may be drawn as it was
        drawn = shake_256(b"disguise %d %d" % (number, attempt)).digest(len(raw))
        made = _UNIT.sub(lambda found, drawn=drawn: _unit(found, drawn[found.start() : found.end()]), raw)  # type: ignore[misc]
        if made != raw:
            return made
    return raw


def _unit(found: re.Match[bytes], drawn: bytes) -> bytes:
    kind = found.lastgroup
    if kind is None:
        return found[0]
    if kind in _KINDS:
        return drawn.translate(_KINDS[kind])
    digits = found[kind]
    made = _other(int(digits, 16), drawn, is_octet=kind == "octet")
    written = b"%0*x" % (len(digits), made)
    return found[0][: -len(digits)] + (written if digits != digits.upper() else written.upper())


def _other(code: int, drawn: bytes, *, is_octet: bool) -> int:
    """Another character of the same kind, which takes as many bytes in UTF-8."""
    of_two, of_one = int.from_bytes(drawn[:2], "big"), drawn[:1]
    if code < 0x80:
        sign = bytes([code])
        table = _LOWER if sign.islower() else _UPPER if sign.isupper() else _DIGIT if sign.isdigit() else None
        return code if table is None else of_one.translate(table)[0]
    if is_octet:
        return of_one.translate(_CONTINUATION)[0] if code < 0xC0 else code
    if code in _HIGH_SURROGATES:
        return code
    if code in _LOW_SURROGATES:
        return 0xDC00 + of_two % 0x400
    return 0x100 + of_two % 0x500 if code < 0x800 else 0x4E00 + of_two % 0x5000
