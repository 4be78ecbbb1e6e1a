"""A request as it was read, and the lines of an answer's head."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

import msgspec

from simulator.wire.headers import WITHOUT_BODY

Headers = Iterable[tuple[bytes, bytes]]

BODYLESS: Final = frozenset({*range(100, 200), *WITHOUT_BODY})
"""Statuses whose answers end with their head (RFC 9112 6.3)."""

FRAMING: Final = (b"content-length", b"transfer-encoding")
"""The headers that give the length of a body."""

_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}
STATUS_LINE: Final = {
    status: f"HTTP/1.1 {status} {_PHRASES.get(status, '')}\r\n".encode() for status in range(100, 600)
}


class HttpRequest(msgspec.Struct, gc=False):  # no cycle leads through it
    """A request with a valid head. Header names are in lower case, values are stripped of blanks; `by_name` has the
    last value of each name. `body` is the part that has arrived and was not taken yet. The application may answer one
    that `is_plain` at once when all has arrived."""

    method: str
    target: bytes
    headers: list[tuple[bytes, bytes]]
    by_name: dict[bytes, bytes]
    version: str = "1.1"
    keep_alive: bool = True
    awaits_continue: bool = False
    is_plain: bool = True
    is_whole: bool = False
    body: bytes | bytearray = b""

    def add(self, piece: bytes) -> None:
        """Append a further piece of the body; only ASGI reads one in several pieces."""
        self.is_plain = False
        if type(self.body) is bytes:
            self.body = bytearray(self.body)
        self.body += piece

    def take(self) -> bytes:
        """Return the body that has arrived since the last call."""
        body, self.body = self.body, b""
        return bytes(body)


def header_lines(headers: Headers) -> bytes:
    """Join headers into lines, each with its line end."""
    return b"".join([b"%b: %b\r\n" % header for header in headers])


def without_framing(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return the headers without those of `FRAMING`."""
    return [header for header in headers if header[0].lower() not in FRAMING]
