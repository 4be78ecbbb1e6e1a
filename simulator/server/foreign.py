"""Explains requests that are not HTTP/1.1. They reach no sandbox, so the server itself says what to change."""

import logging
import time
from collections.abc import Callable
from typing import Final

from simulator.server.http_limits import HttpRefusal

LINES_EVERY_S: Final = 60.0  # for each kind
TEXTS: Final = {
    "tls": "a client spoke TLS to this port, which speaks plain HTTP: use http:// instead of https:// in its address",
    "http2": "a client spoke HTTP/2 without asking for it: let it speak HTTP/1.1",
    "proxy": "a proxy sent its PROXY protocol: switch that off, and use X-Forwarded-For with --trusted-forwarders",
    "raw_target": "a client sent a request target with bytes beyond ASCII: percent-encode them, é as %C3%A9",
}
_BEGINNINGS: Final = ((b"\x16\x03", "tls"), (b"PRI * HTTP/2", "http2"), (b"PROXY ", "proxy"))
_ANSWERS: Final = {
    "http2": "HTTP/2 is not supported; use HTTP/1.1",
    "proxy": "the PROXY protocol is not supported",
    "raw_target": "its target has bytes beyond ASCII; percent-encode them, é as %C3%A9",
}
_LOG: Final = logging.getLogger(__name__)


class ForeignClients:
    """The clients of a server that speak something else. Each kind is logged once a minute, and passed to `notice`."""

    def __init__(
        self, notice: Callable[[str], object] = lambda text: None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._notice = notice
        self._clock = clock
        self._said_at: dict[str, float] = {}

    def explained(self, data: bytes, target: bytes, refusal: HttpRefusal) -> HttpRefusal:
        """Log the protocol of a refused packet, and return the refusal, with an answer that explains it if possible."""
        kind = _kind_of(data, target, refusal)
        if not kind:
            return refusal
        now = self._clock()
        if now - self._said_at.get(kind, -LINES_EVERY_S) >= LINES_EVERY_S:
            self._said_at[kind] = now
            _LOG.warning("%s", TEXTS[kind])
            self._notice(TEXTS[kind])
        if kind not in _ANSWERS:
            return refusal
        explained = HttpRefusal("malformed_request", _ANSWERS[kind])
        explained.__cause__ = refusal.__cause__  # the reader needs it to recognize a HEAD
        return explained


def _kind_of(data: bytes, target: bytes, refusal: HttpRefusal) -> str:
    if refusal.code not in ("malformed_request", "malformed_target"):
        return ""
    for beginning, kind in _BEGINNINGS:
        if data.startswith(beginning):
            return kind
    if "PRI/Upgrade" in str(refusal):  # the preface came in pieces
        return "http2"
    in_pieces = "Invalid char in url" in str(refusal)  # then what stood before is gone, or is the target so far
    line = data.partition(b"\r\n")[0] if in_pieces or not target else target
    is_request = refusal.code == "malformed_target" or b" /" in line or in_pieces
    return "raw_target" if is_request and any(byte >= 0x80 for byte in line) else ""
