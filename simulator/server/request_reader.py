"""The parser of a connection's requests: bytes in, requests out. It uses no socket and no clock.

A connection reads and answers at the same time. Requests arrive one after the other, each as a head and a body: the
state goes from OPENED or IDLE to HEAD, BODY and IDLE. A refusal, a request that asks to close, a client that closes its
sending side, or a server that stops leads to DRAINING: earlier requests are still answered, later bytes are dropped,
and so is a request with an incomplete body, unless the application is reading the body: it gets a disconnect. LINGERING
follows when everything is written: closing at once would reset the connection and could lose the answer.
"""

import re
from collections import deque
from collections.abc import Sequence
from enum import IntEnum, auto
from typing import Final
from urllib.parse import unquote_to_bytes

import httptools

from simulator.server.message import HttpLimits, HttpRefusal, HttpRequest, header_lines

QUEUED_MAX: Final = 32  # unanswered requests of a connection; parsing stops after the slice that reaches it
SLICE_BYTES: Final = 8192  # a packet may have ten thousand requests: it is parsed in slices, until the queue is full

_REQUEST_BYTES: Final = 1024  # of a request's objects, roughly
_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})
_OPTIONS: Final = frozenset({b"connection", b"expect", b"transfer-encoding"})
_BROKEN_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
# A target that is in origin form as it stands, and is not changed by being divided into path and query.
_is_plain_path = re.compile(rb"/[^%#\x80-\xff]*(?<!\?)").fullmatch


class ReadingState(IntEnum):
    """The state of reading. Before DRAINING a connection reads bytes, from DRAINING on it drops them."""

    OPENED = auto()  # the first byte
    IDLE = auto()  # the next request
    HEAD = auto()  # the end of a head whose packet is still being parsed
    LATE_HEAD = auto()  # the end of a head that spans packets, or of the first one
    OFFER = auto()  # the end of the repeated head of a request that offered an upgrade
    BODY = auto()  # the end of a body
    DRAINING = auto()  # the answers to earlier requests; bytes are dropped
    LINGERING = auto()  # the client to close; our side is closed
    CLOSED = auto()  # nothing


# Looking a state up by these names costs 40 ns, by the members of the class 300.
OPENED, IDLE, HEAD, LATE_HEAD, OFFER, BODY, DRAINING, LINGERING, CLOSED = ReadingState
_BEGUN: Final = {OPENED: LATE_HEAD, IDLE: HEAD, OFFER: OFFER}  # by a message's first byte


class LastRequestRead(Exception):
    """The end of the parsing, after the last request. Later bytes are dropped."""


class RequestReader:
    """The reading side of a connection, and the callbacks of httptools. `queue` has the unanswered requests with a
    valid head, oldest first. `request` is the request whose body is being read; None when its body is dropped.
    `unparsed` is the end of a packet that is parsed later, since `queue` was full."""

    def __init__(self, limits: HttpLimits) -> None:
        self.state = OPENED
        self.queue: deque[HttpRequest] = deque()
        self.request: HttpRequest | None = None
        self.unparsed = memoryview(b"")
        self.url = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self._limits = limits
        self._parser = httptools.HttpRequestParser(self)
        self._since_progress = 0  # bytes since the end of a head, a piece of body or a message

    def feed(self, data: bytes | memoryview) -> bool:
        """Parse a packet of at most `SLICE_BYTES`, when nothing is `unparsed`. Return whether it begins a head without
        its end.

        Raises HttpRefusal for bytes that are not HTTP, and for a request above the limits.
        """
        self._since_progress += len(data)
        try:
            while True:
                try:
                    self._parser.feed_data(data)
                    break
                except httptools.HttpParserUpgrade as upgrade:
                    data = memoryview(data)[upgrade.args[0] :]
                self._pass_offer()
        except httptools.HttpParserCallbackError as error:
            if isinstance(error.__context__, HttpRefusal):
                raise error.__context__ from None
            if isinstance(error.__context__, LastRequestRead):
                return False
            raise
        except httptools.HttpParserError as error:
            raise HttpRefusal("malformed_request", error) from error
        state = self.state
        if state is IDLE:
            return False
        if state is HEAD or state is LATE_HEAD:
            self.state = LATE_HEAD
            check_size(self._limits, self.url, self.headers)
        if self._since_progress > self._limits.head_bytes and (state is BODY or self.state is LATE_HEAD):
            raise HttpRefusal("framing_too_large" if state is BODY else "head_too_large", self._limits.head_bytes)
        return state is HEAD

    def feed_sliced(self, data: bytes) -> bool:
        """Parse a packet of any length as `feed` does, until the queue is full; the remaining bytes are `unparsed`.
        Without `data`, continue with these."""
        self.unparsed = memoryview(bytes(self.unparsed) + data) if data else self.unparsed
        has_begun_head = False
        while self.unparsed and self.state < DRAINING and len(self.queue) < QUEUED_MAX:
            piece, self.unparsed = self.unparsed[:SLICE_BYTES], self.unparsed[SLICE_BYTES:]
            has_begun_head = self.feed(piece) or (has_begun_head and self.state is LATE_HEAD)
        return has_begun_head

    def _pass_offer(self) -> None:
        """Continue after an offer to upgrade or a CONNECT, at which the parser stops. A new parser reads the rest of
        the request, as if it were another. The Java HTTP client offers h2c with any request and expects an ordinary
        answer."""
        assert self.request is not None, "no request is answered while its packet is parsed"
        framing = header_lines(header for header in self.request.headers if header[0] in _FRAMING)
        self._parser = httptools.HttpRequestParser(self)
        self._parser.feed_data(b"POST / HTTP/1.1\r\n" + framing + b"\r\n")

    def refuse(self, refusal: HttpRefusal) -> HttpRequest | None:
        """Stop reading, and set `is_to_head` of the refusal. Return the request that was being read, unless its body
        was dropped."""
        request, self.request = self.request, None
        self.unparsed, self.headers = memoryview(b""), []
        if request is not None:
            refusal.is_to_head = request.method == "HEAD"
        elif self.url or isinstance(refusal.__cause__, httptools.HttpParserInvalidURLError):
            # Before the target, the parser still has the method of the previous request.
            refusal.is_to_head = self._parser.get_method() == b"HEAD"
        self.state = DRAINING
        return request

    @property
    def held_bytes(self) -> int:
        """Return the bytes in memory: unparsed bytes, an incomplete request, and waiting requests."""
        unread = len(self.unparsed.obj) if self.unparsed else 0  # type: ignore[arg-type]  # a view of bytes keeps all of them
        unfinished = self._since_progress if IDLE < self.state < DRAINING else 0
        return unread + unfinished + sum(request.weight + _REQUEST_BYTES for request in self.queue)

    def end(self) -> None:
        """Release the parser, which refers back to this object."""
        del self._parser

    # Callbacks of the parser

    def on_message_begin(self) -> None:
        self.state = _BEGUN[self.state]
        self.url = b""
        self.headers = []

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Append a header line. Trailer lines go to a list that is not used."""
        self.headers.append((name.lower(), value.rstrip()))  # the parser leaves trailing blanks and tabs

    def on_headers_complete(self) -> None:
        """Check the head. Raises HttpRefusal, which ends the parsing."""
        if self.state is not OFFER:
            headers, url, limits, parser = self.headers, self.url, self._limits, self._parser
            # `_since_progress` is an upper bound of the head: it includes the rest of the packet.
            if self.state is not HEAD or len(headers) > limits.headers or self._since_progress > limits.head_bytes:
                check_size(limits, url, headers)
            names = dict(headers)
            request = HttpRequest(parser.get_method().decode("ascii"), url, headers, names)
            if (
                request.method == "CONNECT"  # the parser stops after it, as after an offer to upgrade
                or len(names) < len(headers)  # some header was sent twice, perhaps Host
                or b"host" not in names
                or not _OPTIONS.isdisjoint(names)
                or not parser.should_keep_alive()
            ):
                self._read_options(request)
            if not _is_plain_path(url):
                request.is_plain = False
                request.raw_target = url
                request.target = origin_form(url)
                if not url.startswith(b"/"):  # the host of an absolute URL overrides the header (RFC 9112 3.2.2)
                    authority = re.split(rb"[/?#]", url.partition(b"://")[2], maxsplit=1)[0]
                    host = names[b"host"] = authority.rpartition(b"@")[2]
                    request.headers = [(b"host", host), *(pair for pair in headers if pair[0] != b"host")]
            self.request = request
            self.queue.append(request)
            self.headers = []
        self.state = BODY
        self._since_progress = 0

    def _read_options(self, request: HttpRequest) -> None:
        """Check and apply Host, Expect, Transfer-Encoding and Connection of a head that has an unusual one of them."""
        version = request.version = self._parser.get_http_version()
        check_head(version, self.headers)
        request.keep_alive = version == "1.1" and self._parser.should_keep_alive()
        request.is_plain = request.keep_alive and not self._parser.should_upgrade()
        if version == "1.1":  # an older client expects no interim answer
            request.awaits_continue = any(
                name == b"expect" and value.lower() == b"100-continue" for name, value in self.headers
            )

    def on_body(self, body: bytes) -> None:
        self._since_progress = 0
        request = self.request
        if request is not None:
            request.arrived += len(body)
            if not request.body:
                request.body = body
            else:
                if type(request.body) is bytes:
                    request.body = bytearray(request.body)
                request.body += body

    def on_message_complete(self) -> None:
        """End a request. If it offers an upgrade or is a CONNECT, only the parser has ended; see `_pass_offer`."""
        request = self.request
        if request is not None:
            if not request.is_plain and self._parser.should_upgrade():
                self.state = OFFER
                return
            request.is_whole = True
            if request.is_plain and type(request.body) is bytearray:
                request.body = bytes(request.body)
            self.request = None
            if not request.keep_alive:
                self.state = DRAINING
                raise LastRequestRead
        self.state = IDLE
        self._since_progress = 0


def check_size(limits: HttpLimits, target: bytes, headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Check the size of a head, complete or not. Raises HttpRefusal (414, 431)."""
    if len(headers) > limits.headers:
        raise HttpRefusal("too_many_headers", limits.headers)
    request_line = len(target) + len("GET  HTTP/1.1\r\n")
    if request_line > limits.head_bytes:
        raise HttpRefusal("target_too_long", limits.head_bytes)
    lines = sum(len(name) + len(value) + len(": \r\n") for name, value in headers)
    if request_line + lines + len("\r\n") > limits.head_bytes:
        raise HttpRefusal("head_too_large", limits.head_bytes)


def check_head(version: str, headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Raise HttpRefusal for a version other than 1.1 and 1.0, a missing Host (1.0 may omit it) or several (400), and
    for a transfer coding beside chunked (501, RFC 9112 6.1)."""
    if version not in ("1.1", "1.0"):
        raise HttpRefusal("unsupported_http_version", version)
    hosts = sum(name == b"host" for name, _ in headers)
    if hosts > 1 or (hosts == 0 and version == "1.1"):
        raise HttpRefusal("host_repeated" if hosts else "host_missing", hosts)
    codings = b",".join(value for name, value in headers if name == b"transfer-encoding").lower().split(b",")
    if codings.pop().strip() == b"chunked" and any(coding.strip() for coding in codings):  # else the parser refuses it
        raise HttpRefusal("unknown_transfer_coding")


def origin_form(target: bytes) -> bytes:
    """Return a target as `/path?query`; it may be an absolute URL (RFC 9112 3.2.2). Raises HttpRefusal (400).

    The path's percent-escapes must be valid UTF-8. The application checks the query.
    """
    try:
        parsed = httptools.parse_url(target)
    except httptools.HttpParserInvalidURLError as error:
        raise HttpRefusal("malformed_target", "is not a valid URL") from error
    path = parsed.path or b"/"
    if parsed.schema is not None and parsed.schema.lower() not in (b"http", b"https"):
        raise HttpRefusal("malformed_target", "is an absolute URL of another scheme than http")
    if not path.startswith(b"/"):
        raise HttpRefusal("malformed_target", "must be a path that begins with /")
    if _BROKEN_ESCAPE.search(path):
        raise HttpRefusal("malformed_target", "has a % in its path that two hexadecimal digits do not follow")
    try:
        unquote_to_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise HttpRefusal("malformed_target", "has percent-escapes in its path that are not UTF-8") from error
    query = parsed.query
    if query is None and target.endswith(b"?"):
        query = b""  # which the parser takes for none
    return path if query is None else path + b"?" + query
