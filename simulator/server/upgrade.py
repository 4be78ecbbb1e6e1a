"""Upgrade requests (h2c, websocket) taken as ordinary ones: the parser leaves off after their head, this takes over.

The Java HTTP client offers h2c with its first request, body and all, and expects an ordinary answer.
"""

from collections.abc import Iterable
from typing import Protocol

from httptools import HttpRequestParser


class ParserCallbacks(Protocol):
    """What a parser reports to."""

    def on_message_begin(self) -> None: ...
    def on_url(self, url: bytes) -> None: ...
    def on_header(self, name: bytes, value: bytes) -> None: ...
    def on_headers_complete(self) -> None: ...
    def on_body(self, body: bytes) -> None: ...
    def on_message_complete(self) -> None: ...


class _AfterTheHead:
    """Passes a parser's reports on, from the end of the first head."""

    def __init__(self, target: ParserCallbacks) -> None:
        self._target = target
        self._in_first_head = True
        self.on_body = target.on_body
        self.on_message_complete = target.on_message_complete

    def on_message_begin(self) -> None:
        if not self._in_first_head:
            self._target.on_message_begin()

    def on_url(self, url: bytes) -> None:
        if not self._in_first_head:
            self._target.on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_first_head:
            self._target.on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._in_first_head:
            self._in_first_head = False
        else:
            self._target.on_headers_complete()


def parser_after_head(target: ParserCallbacks) -> HttpRequestParser:
    """Return a parser that wants `framing_only` of a request's head, and reports its body and all that follows."""
    return HttpRequestParser(_AfterTheHead(target))


def framing_only(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return a head that announces the same body as `headers` (names in lower case) and nothing else."""
    framing = [b"%b: %b\r\n" % header for header in headers if header[0] in (b"content-length", b"transfer-encoding")]
    return b"POST / HTTP/1.1\r\n" + b"".join(framing) + b"\r\n"
