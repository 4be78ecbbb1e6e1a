"""The parser of a connection's requests: bytes in, requests out. It uses no socket and no clock.

A connection starts in LATE_HEAD. Each request goes through HEAD and BODY to IDLE. Reading ends with a refusal, a
request that asks to close, the end of the client's sending side, or the end of the connection.
"""

import re
from collections.abc import Sequence
from enum import Enum, auto
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import httptools

from simulator.server.message import HttpLimits, HttpRefusal, HttpRequest, RequestMemoryBudget, header_lines

QUEUED_MAX: Final = 32  # unanswered requests of a connection; parsing stops after the slice that reaches it
SLICE_BYTES: Final = 8192  # a packet may have ten thousand requests: it is parsed in slices, until the queue is full
HIGH_WATER_BYTES: Final = 65536  # of the unread part of a body, from which on the reader is full

_REQUEST_BYTES: Final = 1024  # of the objects of each request after the first, roughly
_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})
_OPTIONS: Final = frozenset({b"connection", b"expect", b"transfer-encoding"})
_BROKEN_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
# A target that is in origin form as it stands, and is not changed by being divided into path and query.
_is_plain_path = re.compile(rb"/[^%#\x80-\xff]*(?<!\?)").fullmatch


class ReadingState(Enum):
    """The next thing that the parser waits for."""

    IDLE = auto()  # the next request
    HEAD = auto()  # the end of a head that began in this packet
    LATE_HEAD = auto()  # the end of a head that began in an earlier packet, or of the first head of the connection
    OFFER = auto()  # the end of the repeated head of a request that offered an upgrade
    BODY = auto()  # the end of a body
    ENDED = auto()  # nothing: reading has ended


# Looking a state up by these names costs 40 ns, by the members of the class 300.
IDLE, HEAD, LATE_HEAD, OFFER, BODY, ENDED = ReadingState


class LastRequestRead(Exception):
    """The end of the parsing, after the last request. Later bytes are dropped."""


class RequestReader:
    """The parser of a connection, with the callbacks of httptools.

    `queue` has the requests with a valid head and without a complete answer, oldest first. Only the last may lack a
    part of its body. If it is answered before, it leaves the queue, and the rest of its body is dropped.
    `unparsed` is the end of a packet, which is parsed later since `queue` was full. The budget counts `charged` bytes.
    """

    def __init__(self, budget: RequestMemoryBudget) -> None:
        self.state = LATE_HEAD
        self.queue: list[HttpRequest] = []
        self.unparsed = b""
        self.charged = 0
        self.url = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self._budget, self._limits = budget, budget.limits
        self._parser: Any = httptools.HttpRequestParser(self)
        self._since_progress = 0  # bytes since the end of a head, a piece of body or a message

    @property
    def arriving(self) -> HttpRequest | None:
        """Return the request whose body is being read, unless it was answered."""
        return self.queue[-1] if self.queue and not self.queue[-1].is_whole else None

    @property
    def is_full(self) -> bool:
        """Return whether so many requests, or so much of a body, wait that no more should be read."""
        arriving = self.arriving
        return len(self.queue) >= QUEUED_MAX or (arriving is not None and len(arriving.body) > HIGH_WATER_BYTES)

    def feed(self, data: bytes | memoryview) -> None:
        """Parse a packet until the queue is full; the remaining bytes are `unparsed`. With b"", continue with these.

        Raises HttpRefusal for bytes that are not HTTP, and for a request above the limits.
        """
        if self.unparsed or len(data) > SLICE_BYTES:
            self._feed_slices(data)
            return
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
                return
            raise
        except httptools.HttpParserError as error:
            raise HttpRefusal("malformed_request", error) from error
        state = self.state
        if state is IDLE:
            return
        if state is not BODY:
            check_size(self._limits, self.url, self.headers)
        if self._since_progress > self._limits.head_bytes:
            raise HttpRefusal("framing_too_large" if state is BODY else "head_too_large", self._limits.head_bytes)

    def _feed_slices(self, data: bytes | memoryview) -> None:
        rest, self.unparsed = memoryview(self.unparsed + data), b""
        while rest and self.state is not ENDED and len(self.queue) < QUEUED_MAX:
            piece, rest = rest[:SLICE_BYTES], rest[SLICE_BYTES:]
            self.feed(piece)
        if self.state is not ENDED:
            self.unparsed = bytes(rest)

    def _pass_offer(self) -> None:
        """Continue after an offer to upgrade or a CONNECT, at which the parser stops. A new parser reads the rest of
        the request, as if it were another. The Java HTTP client offers h2c with any request and expects an ordinary
        answer."""
        framing = header_lines(header for header in self.queue[-1].headers if header[0] in _FRAMING)
        self._parser = httptools.HttpRequestParser(self)
        self._parser.feed_data(b"POST / HTTP/1.1\r\n" + framing + b"\r\n")

    def end(self) -> None:
        """End reading; the queue stays. Release the parser, which refers back to this object."""
        self.state = ENDED
        self.unparsed, self.headers, self._parser = b"", [], None

    def refuse(self, refusal: HttpRefusal) -> None:
        """End reading, and set `is_to_head` of the refusal of a request whose head is incomplete."""
        has_method = self.url or isinstance(refusal.__cause__, httptools.HttpParserInvalidURLError)
        if self.arriving is None and has_method:  # else the parser still has the method of the previous request
            refusal.is_to_head = self._parser.get_method() == b"HEAD"
        self.end()

    def charge(self) -> HttpRefusal | None:
        """Charge the bytes that are in memory now to the budget. Return the refusal if more do not fit."""
        unfinished = 0 if self.state in (IDLE, ENDED) else self._since_progress
        objects = _REQUEST_BYTES * max(0, len(self.queue) - 1)
        held = len(self.unparsed) + unfinished + objects + sum(request.weight for request in self.queue)
        refusal = self._budget.charge(self.charged, held)
        if refusal is None:
            self.charged = held
        return refusal

    # Callbacks of the parser

    def on_message_begin(self) -> None:
        if self.state is IDLE:
            self.state = HEAD
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
            # `_since_progress` leaves out at most a slice: the part of the head that came with an earlier message.
            if len(headers) > limits.headers or self._since_progress > limits.head_bytes - SLICE_BYTES:
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
        if self.queue:  # else the request was answered
            request = self.queue[-1]
            request.arrived += len(body)
            if not request.body:
                request.body = body
            else:
                if type(request.body) is bytes:
                    request.body = bytearray(request.body)
                request.body += body

    def on_message_complete(self) -> None:
        """End a request. If it offers an upgrade or is a CONNECT, only the parser has ended; see `_pass_offer`."""
        if self.queue:  # else the request was answered
            request = self.queue[-1]
            if not request.is_plain and self._parser.should_upgrade():
                self.state = OFFER
                return
            request.is_whole = True
            if request.is_plain and type(request.body) is bytearray:
                request.body = bytes(request.body)
            if not request.keep_alive:
                self.state = ENDED  # the parser is in use; the connection calls `end`
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
