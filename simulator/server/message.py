"""HTTP messages: a request as it was read, its limits, the refusals that the server sends itself (SPEC 7), and lines of
an answer's head."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from itertools import count
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
    is_plain: bool = True  # `answer_now` may answer it once it is whole
    raw_target: bytes = b""  # the target as sent, if it is not in origin form
    is_whole: bool = False
    body: bytes | bytearray = b""  # the bytes that `take` has not returned yet
    arrived: int = 0  # bytes of the body, including those that `take` returned
    has_left: bool = False  # the client closed the connection or its sending side, or the answer is over
    on_left: Callable[[], object] | None = None  # called then
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

    def mark_last(self) -> None:
        """Let the answer say that the connection closes after it, which only a responder's answer can say."""
        self.keep_alive = self.is_plain = False

    def take(self) -> bytes:
        """Return the body that has arrived since the last call."""
        body, self.body = self.body, b""
        return bytes(body)


def is_browser_at_root(method: str, path: str, headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a browser requests `/`: it gets the console. The service has no such path."""
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


_refusals = count(1)


class HttpLimits(msgspec.Struct, frozen=True):
    """The limits of a request, and the limits of all connections together."""

    headers: int = 100
    head_bytes: int = 65536  # the request line and the header lines with their line ends
    head_timeout_s: float = 20.0  # for a head; for a connection's first request from when the connection opens
    body_timeout_s: float = 20.0  # the longest pause within a body
    body_total_s: float = 60.0  # for a body, from the end of the head
    half_closed_s: float = 30.0  # until the answer to a client that has closed its sending side
    linger_s: float = 2.0  # for a client to read its last answer and to close
    write_timeout_s: float = 30.0  # without a byte of an answer that the client has read
    unsent_bytes: int = 64 * 1024 * 1024  # of all answers that clients read too slowly
    small_body_bytes: int = 16 * 1024  # that a connection may hold in any case
    bodies_bytes: int = 64 * 1024 * 1024  # of all requests that are being read or wait
    connections: int = 4096


class RequestMemoryBudget:
    """The memory of all connections of a server: `used` bytes of incomplete, waiting and running requests and of large
    packets, and `unsent` bytes of answers that clients do not read.

    A connection that holds at most `small_body_bytes` is charged, but never refused; the limit of connections bounds
    the sum of these.
    """

    def __init__(self, limits: HttpLimits) -> None:
        self.limits = limits
        self.used = self.unsent = 0

    def charge(self, before: int, total: int) -> "HttpRefusal | None":
        """Charge a connection `total` bytes instead of `before`. Return the refusal (503) if more do not fit."""
        added = total - before
        if added > 0 and total > self.limits.small_body_bytes and self.used + added > self.limits.bodies_bytes:
            return HttpRefusal("too_many_bodies", self.limits.bodies_bytes)
        self.used += added
        return None


REFUSALS: Final = {
    "malformed_request": (400, "This is not a valid HTTP/1.1 request: {}."),
    "unsupported_http_version": (400, "HTTP/{} is not supported; use HTTP/1.1."),
    "host_missing": (400, "An HTTP/1.1 request needs a Host header; this request has no Host header."),
    "host_repeated": (400, "A request has a single Host header; this request has {}."),
    "malformed_target": (400, "The request target {}."),
    "target_too_long": (414, "The request line is over the limit of {} bytes."),
    "head_too_large": (431, "Request line and headers together are over the limit of {} bytes."),
    "framing_too_large": (431, "Chunk extensions and trailers without a byte of body are over the limit of {} bytes."),
    "too_many_headers": (431, "The request has more than the limit of {} headers."),
    "head_timeout": (408, "The request's head did not arrive within {:g} seconds."),
    "unknown_transfer_coding": (501, "Transfer-Encoding may be chunked alone; no other coding is supported."),
    "body_timeout": (408, "No byte of the request's body came for {:g} seconds."),
    "body_too_slow": (408, "The request's body did not arrive within {:g} seconds."),
    "too_many_bodies": (503, "Requests of more than {} bytes are being read or answered; retry."),
    "too_many_connections": (503, "More than {} connections are open; retry."),
    "tls_only": (400, "This port speaks TLS: use https:// instead of http:// in the address."),
}
"""Status and text by code. `{}` stands for a part of the request or for the limit."""

REFUSAL_COUNTS: Final = dict.fromkeys(REFUSALS, 0)
"""The number of refusals of each code that this process has sent."""


class HttpRefusal(Exception):
    """A request that the server refuses itself: a code of `REFUSALS`, and the detail for its text."""

    def __init__(self, code: str, detail: object = "") -> None:
        self.code = code
        self.status, text = REFUSALS[code]
        self.is_to_head = False  # then HTTP allows no body
        super().__init__(text.format(detail))

    def encode(self, default_lines: bytes) -> bytes:
        """Return the whole response, with the body `{"error": code, "message": text}`; it closes the connection."""
        REFUSAL_COUNTS[self.code] += 1
        body = json.dumps({"error": self.code, "message": str(self)}).encode()
        lines = b"content-type: application/json\r\ncontent-length: %d\r\n" % len(body)
        lines += b"x-sim-request-id: server-%d\r\n" % next(_refusals)
        if self.status == 503:
            lines += b"retry-after: 5\r\n"
        head = STATUS_LINE[self.status] + default_lines + lines + b"connection: close\r\n\r\n"
        return head if self.is_to_head else head + body
