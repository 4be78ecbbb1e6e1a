"""Explains requests that the server refuses before any sandbox: other protocols, and requests that are not HTTP/1.1."""

import logging
import time
from collections.abc import Callable
from typing import Final

from simulator.server.message import HttpRefusal

LINES_EVERY_S: Final = 60.0  # for each kind
LOGGED: Final = {
    "plain": "a client sent plain HTTP to this port, which speaks TLS: use https:// in its address",
    "tls": "a client spoke TLS to this port, which speaks plain HTTP: use http:// instead of https:// in its address",
    "socks": "a client spoke SOCKS to this port: the server is no forward proxy, take it out of the client's settings",
}
"""Lines about clients that do not read the answer. The others are logged with their answer."""
_ANSWERS: Final = {
    "http2": "HTTP/2 is not supported; use HTTP/1.1",
    "proxy": "the PROXY protocol is not supported; switch it off, and use X-Forwarded-For with --trusted-forwarders",
    "raw_target": "its target has bytes beyond ASCII; percent-encode them, é as %C3%A9",
    "blank_target": "its target has blanks; percent-encode them as %20",
    "version": "its request line must end in HTTP/1.1, in capitals: GET /v2/balance HTTP/1.1",
    "method": "its method is not one of HTTP; write methods in capital letters, GET",
    "line_feed": "a header has a line feed in its value, as Base64 of openssl and encodestring has after each line",
    "connect": "CONNECT is for forward proxies, and this server is none; except it in NO_PROXY, or unset HTTPS_PROXY",
}
_BEGINNINGS: Final = (
    (b"\x16\x03", "tls"),
    (b"PRI * HTTP/2", "http2"),
    (b"PROXY ", "proxy"),
    (b"\r\n\r\n\0\r\nQUIT\n", "proxy"),
    (b"CONNECT ", "connect"),
    (b"\x05", "socks"),
    (b"\x04\x01", "socks"),
)
_PARSER_TEXTS: Final = {
    "PRI/Upgrade": "http2",  # the preface came in pieces
    "Invalid method encountered": "method",
    "Missing expected CR after header value": "line_feed",
}
_VERSIONS: Final = (b" HTTP/1.1", b" HTTP/1.0")
_LOG: Final = logging.getLogger(__name__)


class ForeignClients:
    """The clients of a server that speak something else. Each kind is logged once a minute, and passed to `notice`."""

    def __init__(self, notice: Callable[[str], object] = lambda text: None) -> None:
        self._notice = notice
        self._said_at: dict[str, float] = {}

    def explained(self, data: bytes, target: bytes, refusal: HttpRefusal, *, is_tls: bool = False) -> HttpRefusal:
        """Log why a packet is refused, and return the refusal, with an answer that explains it if possible."""
        kind = _kind_of(data, target, refusal)
        if kind == "tls" and is_tls:
            kind = ""  # the client speaks TLS to a port with TLS, so the advice for plain ports is wrong
        if kind in _ANSWERS:
            cause = refusal.__cause__
            refusal = HttpRefusal("malformed_request", _ANSWERS[kind])
            refusal.__cause__ = cause  # the reader needs it to recognize a HEAD
        text = f"a request was refused with {refusal.status} before it reached a sandbox: {refusal}"
        self.log(kind or refusal.code, LOGGED.get(kind, text))
        return refusal

    def log(self, kind: str, text: str) -> None:
        """Log a line about a client of this kind, one a minute at most."""
        now = time.monotonic()
        if now - self._said_at.get(kind, -LINES_EVERY_S) >= LINES_EVERY_S:
            self._said_at[kind] = now
            _LOG.warning("%s", text)
            self._notice(text)


def _kind_of(data: bytes, target: bytes, refusal: HttpRefusal) -> str:
    if refusal.code not in ("malformed_request", "malformed_target"):
        return ""
    for beginning, kind in _BEGINNINGS:
        if data.startswith(beginning):
            return kind
    for text, kind in _PARSER_TEXTS.items():
        if text in str(refusal):
            return kind
    has_no_version = "Expected HTTP/" in str(refusal)
    if has_no_version and any(line.endswith(_VERSIONS) and line.count(b" ") > 2 for line in data.split(b"\r\n")):
        return "blank_target"
    in_pieces = "Invalid char in url" in str(refusal)  # then what stood before is gone, or is the target so far
    line = data.partition(b"\r\n")[0] if in_pieces or not target else target
    is_request = refusal.code == "malformed_target" or b" /" in line or in_pieces
    if is_request and any(byte >= 0x80 for byte in line):
        return "raw_target"
    return "version" if has_no_version else ""
