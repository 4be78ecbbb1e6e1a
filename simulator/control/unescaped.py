"""Undoes percent-encoding and the escapes of JSON in any text, and finds places of the result in the original."""

import re
from bisect import bisect_right
from typing import Final

_ESCAPE: Final = re.compile(
    rb"%(?:25)*([0-9A-Fa-f]{2})"  # `%252F` was encoded twice
    rb"|\\u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})"  # a surrogate pair
    rb"|\\u([0-9A-Fa-f]{4})"
    rb"|\\([\"\\/bfnrt])"
)
_SHORT: Final = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}


class Unescaped:
    """`text` is the original without its escapes, as UTF-8; with `is_plain` it has none."""

    def __init__(self, raw: bytes, *, is_plain: bool = False) -> None:
        self.text = raw
        self._ends = [0]  # where escapes end in `text`
        self._raw_ends = [0]  # where they end in the original
        if not is_plain:
            self._unescape(raw)

    def _unescape(self, raw: bytes) -> None:
        pieces, length, after = [], 0, 0
        for escape in _ESCAPE.finditer(raw):
            piece = raw[after : escape.start()] + _meaning(escape)
            pieces.append(piece)
            length, after = length + len(piece), escape.end()
            self._ends.append(length)
            self._raw_ends.append(after)
        self.text = b"".join((*pieces, raw[after:]))

    def place(self, at: int) -> int:
        """Where in the original the place `at` of `text` is, which is not within an escape."""
        last = bisect_right(self._ends, at) - 1
        return self._raw_ends[last] + at - self._ends[last]


def _meaning(escape: re.Match[bytes]) -> bytes:
    """What an escape stands for, as UTF-8."""
    octet, high, low, unit, short = escape.groups()
    if octet:
        return bytes.fromhex(octet.decode())
    if short:
        return _SHORT.get(short, short)
    if high:
        return (bytes.fromhex(high.decode()) + bytes.fromhex(low.decode())).decode("utf-16-be").encode()
    return chr(int(unit, 16)).encode("utf-8", "surrogatepass")
