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
_DIGITS: Final = b"0123456789abcdefABCDEF"
_FREQUENT: Final = {
    **{b"\\" + bytes([short]): _SHORT.get(bytes([short]), bytes([short])) for short in b'"\\/bfnrt'},
    **{b"%%%c%c" % (high, low): bytes.fromhex(f"{high:c}{low:c}") for high in _DIGITS for low in _DIGITS},
}


class Unescaped:
    """`text` is the original without its escapes, as UTF-8; with `is_plain` it has none."""

    def __init__(self, raw: bytes, *, is_plain: bool = False) -> None:
        self._raw = raw
        self.text = raw if is_plain else _ESCAPE.sub(_meaning, raw)
        self._ends: list[int] = []  # where escapes end in `text`
        self._raw_ends: list[int] = []  # where they end in the original

    def place(self, at: int) -> int:
        """Where in the original the place `at` of `text` is, which is not within an escape."""
        if not self._ends:
            self._find_escapes()
        last = bisect_right(self._ends, at) - 1
        return self._raw_ends[last] + at - self._ends[last]

    def _find_escapes(self) -> None:
        """Most texts have no secret, and nobody asks for a place in them."""
        self._ends, self._raw_ends = [0], [0]
        if self.text is self._raw:
            return
        length, after = 0, 0
        for escape in _ESCAPE.finditer(self._raw):
            length += escape.start() - after + len(_meaning(escape))
            after = escape.end()
            self._ends.append(length)
            self._raw_ends.append(after)


def _meaning(escape: re.Match[bytes]) -> bytes:
    """What an escape stands for, as UTF-8."""
    known = _FREQUENT.get(escape[0])
    if known is not None:
        return known
    octet, high, low, unit, short = escape.groups()
    if octet:
        return bytes.fromhex(octet.decode())
    if short:
        return _SHORT.get(short, short)
    if high:
        return (bytes.fromhex(high.decode()) + bytes.fromhex(low.decode())).decode("utf-16-be").encode()
    return chr(int(unit, 16)).encode("utf-8", "surrogatepass")
