"""Reads the requests of one connection: bytes in, requests out. It knows no socket and no clock."""

from collections import deque
from typing import Final

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpRequestParser

from simulator.server import states
from simulator.server.limits import HttpLimits, HttpRefusal, check_size, check_version_and_host, origin_form
from simulator.server.message import FRAMING, HttpRequest, header_lines

_NOTED: Final = frozenset({b"host", b"connection", b"expect"})
_SLASH, _PERCENT, _FRAGMENT = b"/%#"


class RequestReader:
    """What has been read of a connection, and httptools' reports. `requests` are those whose head is in order, oldest
    first; `request` is the one whose body is being read, None where what comes of it is dropped.

    A budget for bodies in flight belongs into `on_body`, through which every byte of them comes.
    """

    __slots__ = ("_limits", "_parser", "_since_progress", "headers", "noted", "request", "requests", "state", "url")

    def __init__(self, limits: HttpLimits) -> None:
        self.state = states.OPENED
        self.requests: deque[HttpRequest] = deque()
        self.request: HttpRequest | None = None
        self._limits = limits
        self._parser = HttpRequestParser(self)
        self._since_progress = 0  # bytes since the last head, piece of body or message ended

    def move(self, event: states.ReadingEvent) -> None:
        """Take what happened into account."""
        self.state = states.READING[self.state][event]

    def feed(self, data: bytes | memoryview) -> bool:
        """Read what came, and say whether a head began in it whose rest is late.

        Raises HttpRefusal for what is no request, and for one whose rest is over the bounds.
        """
        self._since_progress += len(data)
        try:
            while True:
                try:
                    self._parser.feed_data(data)
                    break
                except HttpParserUpgrade as upgrade:
                    data = memoryview(data)[upgrade.args[0] :]
                self._pass_offer()
        except HttpParserError as error:
            if isinstance(error.__context__, HttpRefusal):
                raise error.__context__ from None
            if self.state is states.DEAF:  # it came behind the last request
                return False
            if isinstance(error, HttpParserCallbackError):
                raise
            raise HttpRefusal("malformed_request", error) from None
        return self.state is not states.IDLE and self._check_rest(self.state)

    def _check_rest(self, state: states.Reading) -> bool:
        """Measure what has come of a request that is not whole; see `feed`."""
        is_late = state is states.HEAD or state is states.LATE_HEAD
        if is_late:
            self.move(states.PIECE)
            check_size(self._limits, self.url, self.headers)
        if self._since_progress > self._limits.head_bytes and (is_late or state is states.BODY):
            raise HttpRefusal("head_too_large" if is_late else "framing_too_large", self._limits.head_bytes)
        return state is states.HEAD

    def _pass_offer(self) -> None:
        """Go on behind an offer to upgrade, where the parser leaves off, with a fresh one, for which the same request
        has no offer: the Java HTTP client offers h2c, body and all, and expects an ordinary answer."""
        assert self.request is not None, "nobody answers a request within a packet"
        framing = header_lines(header for header in self.request.headers if header[0] in FRAMING)
        self._parser = HttpRequestParser(self)
        self._parser.feed_data(b"POST / HTTP/1.1\r\n" + framing + b"\r\n")

    def refuse(self) -> HttpRequest | None:
        """Read no more. Returns the request that was being read, if its body was wanted."""
        request, self.request = self.request, None
        self.move(states.REFUSED)
        return request

    def end(self) -> None:
        """Let go of the parser, which leads back here."""
        del self._parser

    # What the parser reports

    def on_message_begin(self) -> None:
        """Start a request. Behind the last one there is no entry for it in the table, which ends the parsing."""
        self.state = states.READING[self.state][states.BEGIN]
        self.url = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.noted = b""

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header line, or one of a trailer, which goes to a list that nobody reads."""
        name = name.lower()
        if name in _NOTED:
            self.noted += name
        self.headers.append((name, value.rstrip()))  # the parser leaves blanks and tabs behind it, and no others

    def on_headers_complete(self) -> None:
        """Check the head. Raises HttpRefusal, which ends the parsing."""
        state = self.state
        if state is not states.OFFER:
            headers, url, limits, parser = self.headers, self.url, self._limits, self._parser
            # The bytes since the last progress are an upper bound: with all else that the packet brought.
            if state is not states.HEAD or len(headers) > limits.headers or self._since_progress > limits.head_bytes:
                check_size(limits, url, headers)
            request = HttpRequest(parser.get_method().decode("ascii"), url, headers)
            if self.noted != b"host" or not parser.should_keep_alive():
                self._take_notes(request)
            if url[0] != _SLASH or _PERCENT in url or _FRAGMENT in url or not url.isascii():
                request.is_plain = False
                request.target = origin_form(url)
            self.request = request
            self.requests.append(request)
            self.headers = []
        self.state = states.READING[state][states.HEAD_END]
        self._since_progress = 0

    def _take_notes(self, request: HttpRequest) -> None:
        """See to a head that has no Host, more than one, or something to say about the connection."""
        version = request.version = self._parser.get_http_version()
        check_version_and_host(version, self.noted.count(b"host"))
        request.keep_alive = version == "1.1" and self._parser.should_keep_alive()
        request.is_plain = request.keep_alive and not self._parser.should_upgrade()
        if b"expect" in self.noted:
            request.awaits_continue = any(
                name == b"expect" and value.lower() == b"100-continue" for name, value in self.headers
            )

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._since_progress = 0
        if self.request is not None:
            self.request.add(body)

    def on_message_complete(self) -> None:
        """End a request; one that offers an upgrade is not at its end here, but its parser is."""
        request = self.request
        if request is None:
            self.move(states.END)
        elif not request.is_plain and self._parser.should_upgrade():
            self.move(states.OFFERED)
            return
        else:
            self.state = states.READING[self.state][states.END if request.keep_alive else states.LAST_END]
            request.is_whole = True
            self.request = None
        self._since_progress = 0
