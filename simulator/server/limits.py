"""The bounds on one request's head and pace, and the refusals that name them (DESIGN's bad input, SPEC 7)."""

import json
from dataclasses import dataclass
from itertools import count
from typing import Final

from simulator.server.message import STATUS_LINE

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


REFUSALS: Final = {
    "malformed_request": (400, "This is not a valid HTTP/1.1 request: {}."),
    "unsupported_http_version": (400, "HTTP/{} is not spoken here; use HTTP/1.1."),
    "host_missing": (400, "An HTTP/1.1 request needs a Host header; this one has none."),
    "host_repeated": (400, "A request has one Host header; this one has {}."),
    "malformed_target": (400, "The request target {}."),
    "target_too_long": (414, "The request line is over the limit of {} bytes."),
    "head_too_large": (431, "Request line and headers together are over the limit of {} bytes."),
    "framing_too_large": (431, "Chunk extensions and trailers without a byte of body are over the limit of {} bytes."),
    "too_many_headers": (431, "The request has more than the limit of {} headers."),
    "head_timeout": (408, "The request's head did not arrive within {:g} seconds."),
    "body_timeout": (408, "No byte of the request's body came for {:g} seconds."),
}
"""By code: the status and a text, in which something of the request or a limit may stand."""


class HttpRefusal(Exception):
    """A request that the server answers itself, by a code of `REFUSALS` and what stands in its text."""

    def __init__(self, code: str, detail: object = "") -> None:
        self.code = code
        self.status, text = REFUSALS[code]
        self.message = text.format(detail)
        super().__init__(self.message)

    def encode(self, default_lines: bytes) -> bytes:
        """Return the whole response as it goes out, `{"error": code, "message": text}`, the last on its connection."""
        body = json.dumps({"error": self.code, "message": self.message}).encode()
        lines = b"content-type: application/json\r\ncontent-length: %d\r\nx-sim-request-id: server-%d\r\n" % (
            len(body),
            next(_refusals),
        )
        return STATUS_LINE[self.status] + default_lines + lines + b"connection: close\r\n\r\n" + body
