"""A request as it was read, and the lines of an answer's head."""

import re
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Final

import msgspec

BODYLESS: Final = frozenset({*range(100, 200), 204, 304})
"""Statuses whose answers end with their head (RFC 9112 6.3)."""

_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}
STATUS_LINE: Final = {
    status: f"HTTP/1.1 {status} {_PHRASES.get(status, '')}\r\n".encode() for status in range(100, 600)
}
_UNSAFE: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_FRAMING: Final = re.compile(rb"^(?:content-length|transfer-encoding):.*\n", re.IGNORECASE | re.MULTILINE)


class HttpRequest(msgspec.Struct, gc=False):  # no cycle leads through it
    """A request with a valid head. Header names are in lower case, values are stripped of blanks."""

    method: str
    target: bytes
    headers: list[tuple[bytes, bytes]]
    by_name: dict[bytes, bytes]  # the last value of each name
    version: str = "1.1"
    keep_alive: bool = True
    awaits_continue: bool = False
    is_plain: bool = True  # the application may answer it at once when all has arrived
    as_sent: bytes = b""  # its target as it came, where that is not plain
    is_whole: bool = False
    body: bytes | bytearray = b""  # what has arrived and was not taken yet
    is_late: bool = False  # it did not end in the packet of its head
    arrived: int = 0  # bytes of the body
    has_left: bool = False  # the client closed the connection or its sending side before its answer
    on_left: Callable[[], object] | None = None
    _head_bytes: int = 0

    @property
    def weight(self) -> int:
        """Return the bytes of its head, and of its body as far as it has arrived, including bytes that were taken."""
        if not self._head_bytes:
            self._head_bytes = len(self.target) + sum(len(name) + len(value) for name, value in self.headers)
        return self._head_bytes + self.arrived

    def report_departure(self) -> None:
        """Set `has_left`, and call `on_left`, if it is set."""
        self.has_left = True
        if self.on_left is not None:
            self.on_left()

    def take(self) -> bytes:
        """Return the body that has arrived since the last call."""
        body, self.body = self.body, b""
        return bytes(body)


def is_browser_at_root(method: str, path: str, headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a person opens the server's address, which the service knows nothing of: the console is shown."""
    return path == "/" and method == "GET" and b"text/html" in headers.get(b"accept", b"").lower()


def header_lines(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Join headers into lines, each with its line end. Raises ValueError for a control character."""
    lines = [b"%b: %b" % header for header in headers]
    if any(map(_UNSAFE.search, lines)):
        raise ValueError("a header has a control character")
    return b"".join([line + b"\r\n" for line in lines])


def without_framing(lines: bytes) -> bytes:
    """Return header lines without lines about the length of a body."""
    return _FRAMING.sub(b"", lines)


def sized(lines: bytes, body: bytes) -> bytes:
    """Return header lines with the Content-Length of `body` instead of any other framing."""
    return without_framing(lines) + b"content-length: %d\r\n" % len(body)
