"""The bytes that backslashes stand for: in `$'...'` of bash, and in the `printf %b '...'` of our own commands."""

import re

_ESCAPE = re.compile(
    r"\\(?:x\{(?P<braced>[0-9a-fA-F]*+)\}?|x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{1,4})"
    r"|U(?P<long>[0-9a-fA-F]{1,8})|(?P<octal>[0-7]{1,3})|c(?P<control>\\\\|.)|(?P<letter>.))",
    re.DOTALL,
)
_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
PRINTED = r"(?:[^'\\]++|\\0[0-3][0-7][0-7])*+"
"""What our commands have between the quotes of `printf %b '...'`, as a pattern."""
_OCTAL = re.compile(rb"\\0([0-3][0-7]{2})")
_UTF8_BYTES_MAX = 6


def ansi_c(text: str) -> str:
    """The text of `$'...'`, up to its first NUL, as bash keeps it; bytes that are no UTF-8 are surrogates."""
    whole = _ESCAPE.sub(_escape, text).partition("\0")[0]
    # Two halves of a character, each written as a byte, are one character.
    return whole.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def printed_bytes(text: str) -> bytes:
    """The bytes of a text that `PRINTED` matches."""
    return _OCTAL.sub(lambda found: bytes([int(found[1], 8)]), text.encode("utf-8", "surrogateescape"))


def _escape(found: re.Match[str]) -> str:
    if (digits := found["braced"]) is not None:
        return _text(bytes([int(digits[-2:] or "0", 16)]))
    if digits := found["hex"] or found["octal"]:
        return _text(bytes([int(digits, 16 if found["hex"] else 8) & 0xFF]))
    if digits := found["short"] or found["long"]:
        return _text(_utf8(int(digits, 16)))
    if found["control"]:
        return _control(found["control"][0])
    return _LETTERS.get(found["letter"], found[0])


def _control(character: str) -> str:
    """Of a character of several bytes, bash makes the first one a control character, and keeps the others."""
    first, *rest = character.encode("utf-8", "surrogateescape")
    return _text(bytes([0x7F if character == "?" else first & 0x1F, *rest]))


def _utf8(code: int) -> bytes:
    """A number in UTF-8 as bash writes it: halves of pairs too, and up to 31 bits; nothing beyond."""
    if code < 0x80:
        return bytes([code])
    for length in range(2, _UTF8_BYTES_MAX + 1):
        if code < 1 << 5 * length + 1:
            more = [0x80 | code >> 6 * place & 0x3F for place in reversed(range(length - 1))]
            return bytes([0xFF00 >> length & 0xFF | code >> 6 * (length - 1), *more])
    return b""


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
