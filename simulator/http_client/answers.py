"""Parser of an HTTP response: takes bytes, returns status, head and body pieces. It uses no socket and no clock.

Interim responses (1xx) are skipped. Parsing stops at the first limit that a response exceeds.
"""

from functools import lru_cache
from typing import Final, NamedTuple

import httptools

SWITCHING_PROTOCOLS: Final = 101
_SLICE_BYTES: Final = 16 * 1024  # for a field, the parser's work grows with the square of the bytes fed at once
_VERSIONS: Final = frozenset({"1.0", "1.1"})
_BAD_STATUS_LINE: Final = "is not HTTP: bad status line"
_IS_TLS: Final = "is TLS; use https:// instead of http:// in its URL"
_TLS_RECORDS: Final = (b"\x15\x03", b"\x16\x03")  # an alert, a handshake

Fields = tuple[tuple[bytes, bytes], ...]


class AnswerBounds(NamedTuple):
    """The limits of a response. `head_bytes` limits the head with its interim responses, and the bytes between two body
    pieces. Reading ends at `body_bytes`; None allows a body of any length, which is read piece by piece."""

    head_bytes: int
    fields: int
    body_bytes: int | None


class AnswerHead(NamedTuple):
    """The status, the reason and the fields, as received."""

    status: int
    reason: bytes
    fields: Fields


@lru_cache(maxsize=64)  # within a second, a receiver sends the same head to all attempts
def _known(head: bytes, bounds: AnswerBounds) -> dict[int, AnswerHead]:
    """Return the cache of responses with this `head`, which the reader fills: parsed heads by body size in bytes."""
    return {}


class AnswerReader:
    """The response to a request with `method`, and the callbacks of httptools.

    `status` is known before the `head` is complete. `pieces` are the unread body pieces and `waiting` is their size in
    bytes. An `is_streamed` body has no limit. Reading `is_over` when the response `is_complete` up to its limit, when
    it has a `problem` (worded to follow "the answer"), or when the connection ended early, with the reason in
    `broke_off`. Reader and parser reference each other; `release` breaks the cycle.
    """

    status: int | None = None
    head: AnswerHead | None = None
    waiting = 0
    is_over = is_complete = False
    problem = broke_off = ""
    has_begun = has_extra = may_stay_open = False
    _has_line = False  # the status line of the current message was valid
    _is_whole = False  # the final response was parsed to its own end
    _reason = b""
    _fields_count = 0
    _overhead_bytes = 0  # since the last body piece

    def __init__(self, method: str, bounds: AnswerBounds) -> None:
        self.pieces: list[bytes] = []
        self.is_streamed = bounds.body_bytes is None
        self._bounds = bounds
        self._is_head = method.upper() == "HEAD"
        self._fields: list[tuple[bytes, bytes]] = []
        self._parser: httptools.HttpResponseParser | None = None

    def feed(self, data: bytes) -> bool:
        """Parse more bytes. Return True when reading is over; surplus bytes make the connection unusable."""
        if len(data) > _SLICE_BYTES:
            for at in range(0, len(data), _SLICE_BYTES):
                self.feed(data[at : at + _SLICE_BYTES])
            return self.is_over
        if self.is_over:
            self.may_stay_open = False
            return True
        if self.has_begun:
            return self._parse(data)
        self.has_begun = True
        head, end_of_head, body = data.partition(b"\r\n\r\n")
        known = _known(head, self._bounds) if end_of_head else {}
        self.head = None if self._is_head else known.get(len(body))
        if self.head is not None:
            self.status, self.pieces, self.waiting = self.head.status, [body] if body else [], len(body)
            self.is_over = self.is_complete = self._is_whole = self.may_stay_open = True
            return True
        self._parse(data)
        if self.head is not None and self._is_whole and self.may_stay_open and self.waiting == len(body):
            known[len(body)] = self.head  # a single message, whose body has the length in its head
        return self.is_over

    def _parse(self, data: bytes) -> bool:
        if self._parser is None:
            self._parser = httptools.HttpResponseParser(self)
            # Common servers and proxies tolerate these errors, too.
            self._parser.set_dangerous_leniencies(
                lenient_headers=True,
                lenient_keep_alive=True,  # an answer may follow an interim one with `Connection: close`
                lenient_optional_cr_before_lf=True,
                lenient_spaces_after_chunk_size=True,
            )
        self._overhead_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            return self.is_over  # raised for status 101, which has already ended the answer
        except httptools.HttpParserCallbackError:
            raise
        except httptools.HttpParserError as error:
            self._stop(error, is_tls=data.startswith(_TLS_RECORDS))
        if not self.is_complete and self._overhead_bytes > self._bounds.head_bytes:
            part = (
                "a head over {} bytes" if self.head is None else "over {} bytes of trailers or of a chunk's extensions"
            )
            self._refuse("has " + part.format(self._bounds.head_bytes))
        return self.is_over

    def _stop(self, error: Exception, *, is_tls: bool) -> None:
        """Stop parsing. The parser's message is quoted up to the colon, since the rest could repeat the response."""
        if self.is_complete:
            self.may_stay_open, self.has_extra = False, self._is_whole
        elif self._has_line:
            self._refuse("is not HTTP: " + str(error).strip().partition(":")[0])
        else:
            self._refuse(_IS_TLS if is_tls else _BAD_STATUS_LINE)

    def end(self, *, was_reset: bool, tls_failure: str = "") -> None:
        """Record the end of the connection. It completes a response without a length, unless the end was a reset."""
        self.may_stay_open = False
        if self.is_over:
            return
        if self.head is not None and not self._has_length() and not was_reset:
            self.is_complete = True
        elif tls_failure:
            self.broke_off = f"TLS failed ({tls_failure})"
        else:
            self.broke_off = f"the connection was {'reset' if was_reset else 'closed'}"
        self.is_over = True

    def take(self) -> bytes:
        """Return the body pieces received since the last call."""
        body, self.waiting = b"".join(self.pieces), 0
        self.pieces.clear()
        return body

    def release(self) -> None:
        """Break the cycle with the parser, so that neither waits for the garbage collector. Reading is over."""
        self._parser, self.is_over = None, True

    def _refuse(self, problem: str) -> None:
        self.problem, self.may_stay_open, self.is_over = self.problem or problem, False, True

    def _has_length(self) -> bool:
        """Return whether the head defines where the body ends, by the parser's rules."""
        fields = {name.rstrip(b" \t").lower(): value for name, value in (self.head.fields if self.head else ())}
        codings = fields.get(b"transfer-encoding")
        if codings is None:
            return b"content-length" in fields
        return codings.rpartition(b",")[2].lstrip(b" \t").rstrip(b" ").lower() == b"chunked"

    # The callbacks of httptools

    def on_message_begin(self) -> None:
        self._has_line = False
        if self.is_complete:
            self.may_stay_open = False

    def on_status(self, reason: bytes) -> None:
        if not self.is_complete:
            self._reason += reason
            if not self._has_line:
                self._read_line()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.is_complete:
            return
        if not self._has_line:
            self._read_line()
        self._fields_count += 1
        if b"\0" in value:
            self._refuse("is not HTTP: a field with a NUL")
        elif self._fields_count > self._bounds.fields:
            self._refuse(f"has more than {self._bounds.fields} fields")
        elif self.head is None:  # after the head come trailers, which are ignored
            self._fields.append((name, value))

    def _read_line(self) -> None:
        """Record the status line. The parser also accepts a status below 100, and versions with another framing."""
        if self._parser is None or self.problem:
            return
        self._has_line = True
        status = self._parser.get_status_code()
        if self._parser.get_http_version() not in _VERSIONS:
            self._refuse(_BAD_STATUS_LINE)
        elif status < 100:
            self._refuse(f"has the status {status}, which HTTP does not have")
        elif status >= 200 or status == SWITCHING_PROTOCOLS:
            self.status = status

    def on_headers_complete(self) -> None:
        if self.is_complete or self._parser is None:
            return
        if not self._has_line:
            self._read_line()
        if self.status is None or self.problem:
            return
        self.head = AnswerHead(self.status, self._reason, tuple(self._fields))
        if self.status == SWITCHING_PROTOCOLS:  # the request asked for no upgrade, so no other protocol follows
            self.is_complete = self.is_over = True
            return
        if self._is_head:  # the parser does not know the method, and expects a body
            self.is_complete = self._is_whole = self.is_over = True
        else:
            self.may_stay_open = self._parser.should_keep_alive()

    def on_body(self, piece: bytes) -> None:
        if self.is_complete:
            self.has_extra = self.has_extra or (self._is_head and self._has_line)
        elif self.head is not None and not self.problem:
            self._overhead_bytes = 0
            body_max = self._bounds.body_bytes
            if body_max is not None and self.waiting + len(piece) >= body_max:
                piece = piece[: body_max - self.waiting]
                self.is_complete, self.is_over, self.may_stay_open = True, True, False
            self.pieces.append(piece)
            self.waiting += len(piece)

    def on_message_complete(self) -> None:
        if self.is_complete:
            return
        if self.head is not None:
            self.is_complete = self._is_whole = not self.problem
            self.is_over = True
            return
        self._fields.clear()
        self._reason, self._fields_count = b"", 0
