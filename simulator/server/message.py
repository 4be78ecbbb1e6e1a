"""One request as it was read, and the lines that the head of an answer is made of."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

import msgspec

Headers = Iterable[tuple[bytes, bytes]]

BODYLESS: Final = frozenset({*range(100, 200), 204, 304})
"""Statuses whose answers end with their head (RFC 9112 6.3)."""

FRAMING: Final = (b"content-length", b"transfer-encoding")
"""The headers that say how long a body is."""

_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}
STATUS_LINE: Final = {
    status: f"HTTP/1.1 {status} {_PHRASES.get(status, '')}\r\n".encode() for status in range(100, 600)
}


class HttpRequest(msgspec.Struct, gc=False):  # no cycle leads through it
    """A request whose head is in order. `headers` have names in lower case and values without blanks around them,
    `body` is what has come and nobody took yet. `is_plain`: the application may answer it at once, when it is whole."""

    method: str
    target: bytes
    headers: list[tuple[bytes, bytes]]
    version: str = "1.1"
    keep_alive: bool = True
    awaits_continue: bool = False
    is_plain: bool = True
    is_whole: bool = False
    body: bytes | bytearray = b""

    def add(self, piece: bytes) -> None:
        """Take a further piece of the body, which ASGI alone takes."""
        self.is_plain = False
        if type(self.body) is bytes:
            self.body = bytearray(self.body)
        self.body += piece

    def take(self) -> bytes:
        """The body as far as it is here; the next call gives what came since."""
        body, self.body = self.body, b""
        return bytes(body)


def header_lines(headers: Headers) -> bytes:
    """Header lines with their ends."""
    return b"".join([b"%b: %b\r\n" % header for header in headers])


def unframed(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Headers without those that say how long the body is."""
    return [header for header in headers if header[0].lower() not in FRAMING]
