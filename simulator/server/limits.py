"""The bounds on one request's head and pace, and the refusals that name them (DESIGN's bad input, SPEC 7)."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from simulator.server.message import STATUS_LINE, header_lines

_refusals = count(1)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may take: counts in headers and bytes, waits in seconds.

    `head_bytes` covers the request line and the header lines with their line ends. `head_timeout_s` counts from the
    head's first byte (for a connection's first request: from its opening) to its last; `body_timeout_s` is the longest
    pause within a body.
    """

    headers: int = 100
    head_bytes: int = 65536
    head_timeout_s: float = 20.0
    body_timeout_s: float = 20.0


class HttpRefusal(Exception):
    """A request that the server answers itself: an HTTP status, a code for programs and a text for people."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message

    def encode(self, default_headers: Iterable[tuple[bytes, bytes]]) -> bytes:
        """Return the whole response as it goes out, `{"error": code, "message": text}`, the last on its connection."""
        body = json.dumps({"error": self.code, "message": self.message}).encode()
        headers = [
            *default_headers,
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"x-sim-request-id", b"server-%d" % next(_refusals)),
            (b"connection", b"close"),
        ]
        return STATUS_LINE[self.status] + header_lines(headers) + b"\r\n" + body


def not_http(reason: str) -> HttpRefusal:
    """Refuse bytes that the parser could not read; `reason` is the parser's own, fixed text."""
    return HttpRefusal(400, "malformed_request", f"This is not a valid HTTP/1.1 request: {reason}.")


def unsupported_version(version: str) -> HttpRefusal:
    """Refuse a version of HTTP that is neither 1.1 nor 1.0."""
    return HttpRefusal(400, "unsupported_http_version", f"HTTP/{version} is not spoken here; use HTTP/1.1.")


def wrong_host_count(count: int) -> HttpRefusal:
    """Refuse an HTTP/1.1 request that has no Host header, or any request that has several."""
    if count == 0:
        return HttpRefusal(400, "host_missing", "An HTTP/1.1 request needs a Host header; this one has none.")
    return HttpRefusal(400, "host_repeated", f"A request has one Host header; this one has {count}.")


def bad_target(reason: str) -> HttpRefusal:
    """Refuse a request target that is no path on this server."""
    return HttpRefusal(400, "malformed_target", f"The request target {reason}.")


def target_too_long(limits: Limits) -> HttpRefusal:
    """Refuse a request line that alone is over the bound."""
    return HttpRefusal(414, "target_too_long", f"The request line is over the limit of {limits.head_bytes} bytes.")


def head_too_large(limits: Limits) -> HttpRefusal:
    """Refuse a head that is over the bound, or an endless trailer, which is the same at the other end."""
    text = f"HttpRequest line and headers together are over the limit of {limits.head_bytes} bytes."
    return HttpRefusal(431, "head_too_large", text)


def framing_too_large(limits: Limits) -> HttpRefusal:
    """Refuse chunk extensions or trailers without an end."""
    text = f"Chunk extensions and trailers without a byte of body are over the limit of {limits.head_bytes} bytes."
    return HttpRefusal(431, "framing_too_large", text)


def too_many_headers(limits: Limits) -> HttpRefusal:
    """Refuse a head with more header lines than the bound."""
    return HttpRefusal(431, "too_many_headers", f"The request has more than the limit of {limits.headers} headers.")


def head_timed_out(limits: Limits) -> HttpRefusal:
    """Refuse a head that did not arrive whole in its time."""
    return HttpRefusal(
        408, "head_timeout", f"The request's head did not arrive within {limits.head_timeout_s:g} seconds."
    )


def body_timed_out(limits: Limits) -> HttpRefusal:
    """Refuse a body of which nothing came for too long."""
    return HttpRefusal(
        408, "body_timeout", f"No byte of the request's body came for {limits.body_timeout_s:g} seconds."
    )
