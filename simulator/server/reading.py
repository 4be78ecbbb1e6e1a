"""Reads the requests of one connection: bytes in, requests out. It knows no socket and no clock."""

from collections import deque
from typing import Final

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpRequestParser

from simulator.server.head import check_size, check_version_and_host, framing_only, origin_form
from simulator.server.limits import HttpRefusal, Limits
from simulator.server.message import HttpRequest
from simulator.server.states import (
    BEGIN,
    BODY,
    DEAF,
    END,
    HEAD,
    HEAD_END,
    LAST_END,
    LATE_HEAD,
    OFFER,
    OFFERED,
    OPENED,
    PIECE,
    READING,
    REFUSED,
    Event,
)  # fmt: skip

_NOTED: Final = frozenset({b"host", b"connection", b"expect"})
_USUAL: Final = [b"host"]
_SLASH, _PERCENT, _FRAGMENT = b"/%#"


_AFTER_BEGIN, _AFTER_HEAD, _AFTER_END = (
    {state: row[event] for state, row in READING.items() if event in row} for event in (BEGIN, HEAD_END, END)
)


class Reader:
    """What has been read of a connection, and httptools' reports. `requests` are those whose head is in order, oldest
    first; `request` is the one whose body is being read, None where what comes of it is dropped.

    A budget for bodies in flight belongs into `on_body`, through which every byte of them comes.
    """

    def __init__(self, limits: Limits) -> None:
        self.state = OPENED
        self.requests: deque[HttpRequest] = deque()
        self.request: HttpRequest | None = None
        self.is_first = True  # no head has come whole
        self._limits = limits
        self._parser = HttpRequestParser(self)
        self._since_progress = 0  # bytes since the last head, piece of body or message ended

    def move(self, event: Event) -> None:
        """Take what happened into account."""
        self.state = READING[self.state][event]

    def feed(self, data: bytes | memoryview) -> None:
        """Read what came. Raises HttpRefusal for what is no request, and for one whose rest is over the bounds."""
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
            if self.state is DEAF:  # it came behind the last request
                return
            if isinstance(error, HttpParserCallbackError):
                raise
            raise HttpRefusal("malformed_request", error) from None
        state = self.state
        if state is HEAD or state is LATE_HEAD:
            self.move(PIECE)
            check_size(self._limits, self.url, self.headers)
            if self._since_progress > self._limits.head_bytes:
                raise HttpRefusal("head_too_large", self._limits.head_bytes)
        elif state is BODY and self._since_progress > self._limits.head_bytes:
            raise HttpRefusal("framing_too_large", self._limits.head_bytes)

    def _pass_offer(self) -> None:
        """Go on behind an offer to upgrade, where the parser leaves off, with a fresh one, for which the same request
        has no offer: the Java HTTP client offers h2c, body and all, and expects an ordinary answer."""
        assert self.request is not None, "nobody answers a request within a packet"
        self._parser = HttpRequestParser(self)
        self._parser.feed_data(framing_only(self.request.headers))

    def refuse(self) -> HttpRequest | None:
        """Read no more. Returns the request that was being read, if its body was wanted."""
        request, self.request = self.request, None
        self.move(REFUSED)
        return request

    def end(self) -> None:
        """Let go of the parser, which leads back here."""
        del self._parser

    # What the parser reports

    def on_message_begin(self) -> None:
        """Start a request. Behind the last one there is no entry for it in the table, which ends the parsing."""
        self.state = _AFTER_BEGIN[self.state]
        self.url = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.noted: list[bytes] = []

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header line, or one of a trailer, which goes to a list that nobody reads."""
        name = name.lower()
        if name in _NOTED:
            self.noted.append(name)
        self.headers.append((name, value.rstrip()))  # the parser leaves blanks and tabs behind it, and no others

    def on_headers_complete(self) -> None:
        """Check the head. Raises HttpRefusal, which ends the parsing."""
        state, headers, limits = self.state, self.headers, self._limits
        if state is not OFFER:
            if (
                state is not HEAD
                or len(headers) > limits.headers
                or self._since_progress > limits.head_bytes  # with all else that the packet brought
            ):
                check_size(limits, self.url, headers)
            url = self.url
            is_plain = url[0] == _SLASH and _PERCENT not in url and _FRAGMENT not in url and url.isascii()
            if is_plain and self.noted == _USUAL and self._parser.should_keep_alive():
                self.request = HttpRequest(self._parser.get_method().decode("ascii"), url, headers)
            else:
                self.request = self._unusual_request(is_plain)
            self.requests.append(self.request)
            self.headers = []
            self.is_first = False
        self.state = _AFTER_HEAD[state]
        self._since_progress = 0

    def _unusual_request(self, is_plain: bool) -> HttpRequest:
        parser, noted = self._parser, self.noted
        version = parser.get_http_version()
        if version != "1.1" or noted.count(b"host") != 1:
            check_version_and_host(version, noted.count(b"host"))
        keep_alive = version == "1.1" and parser.should_keep_alive()
        request = HttpRequest(parser.get_method().decode("ascii"), self.url, self.headers)
        if not is_plain:
            request.target = origin_form(self.url)
        if not (is_plain and keep_alive) or parser.should_upgrade():
            request.version, request.keep_alive, request.is_plain = version, keep_alive, False
        if b"expect" in noted:
            request.awaits_continue = any(
                value.lower() == b"100-continue" for name, value in self.headers if name == b"expect"
            )
        return request

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._since_progress = 0
        if self.request is not None:
            self.request.add(body)

    def on_message_complete(self) -> None:
        """End a request; one that offers an upgrade is not at its end here, but its parser is."""
        request = self.request
        if request is None:
            self.move(END)
        elif not request.is_plain and self._parser.should_upgrade():
            self.move(OFFERED)
            return
        else:
            self.state = _AFTER_END[self.state] if request.keep_alive else READING[self.state][LAST_END]
            request.is_whole = True
            self.request = None
        self._since_progress = 0
