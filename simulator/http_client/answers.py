"""Reads the answer to one request: bytes in; status, headers, start of the body out. It knows no socket and no clock.

Whatever a receiver sends, the memory and the time for it are bounded: parsing stops at the first thing beyond a bound.
"""

from typing import Final, NoReturn

import httptools

from simulator.domain.model.faults import WITHOUT_BODY
from simulator.http_client.status_line import INTERIM_MAX, SWITCHING_PROTOCOLS, StatusLine

BODY_BYTES: Final = 16 * 1024
"""The maximum of an answer's body that is read; a longer one closes the connection."""

HEADERS_CHARS: Final = 8 * 1024
"""The maximum of an answer's headers that is stored."""

STORED_BYTES: Final = 4 * HEADERS_CHARS
"""The maximum of headers that is stored until all have come; a character has up to four bytes."""

FIELDS_MAX: Final = 128
FIELD_BYTES: Final = 16 * 1024
REASON_BYTES: Final = 8190
BESIDE_BODY_BYTES: Final = 256 * 1024
"""The maximum of all that is not the body: heads, interim answers, sizes and extensions of chunks, trailers."""

PART_BYTES: Final = 48 * 1024
"""The maximum between two fields or pieces of the body; it is more than a field, since packets cut anywhere."""

_SLICE_BYTES: Final = 16 * 1024  # what the parser joins of a part grows with the square of what it is fed at once
_CODING_BYTES: Final = 64  # more than a coding that we know, with blanks
_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})
_HIDDEN_HEADERS: Final = frozenset({"set-cookie", "set-cookie2"})
_BAD_STATUS_LINE: Final = "bad status line"


class _Stop(Exception):
    """Ends the parsing in a callback; the reader knows why."""


class AnswerReader:
    """The answer to a request with `method`, and the callbacks of httptools.

    `headers` are None until the head has ended; `status` is known before. Reading is over when the answer is whole, as
    far as it is kept, or `error` says what was wrong with it. Reader and parser hold each other; `release` ends that.
    """

    __slots__ = (
        "_beside_body",
        "_field_count",
        "_fields",
        "_fields_bytes",
        "_framing",
        "_has_line",
        "_interim",
        "_is_complete",
        "_is_head",
        "_line",
        "_parser",
        "_part_bytes",
        "_reason_bytes",
        "_refusal",
        "body",
        "error",
        "headers",
        "is_over",
        "may_stay_open",
    )

    def __init__(self, method: str) -> None:
        self.headers: tuple[tuple[str, str], ...] | None = None
        self.body = bytearray()
        self.error = ""
        self.is_over = False
        self.may_stay_open = False
        self._is_head = method.upper() == "HEAD"
        self._line = StatusLine()
        self._fields: list[tuple[bytes, bytes]] = []
        self._framing: dict[bytes, bytes] = {}  # fields that say where the body ends, behind those that are stored
        self._has_line = False  # the line of the message that is being parsed was good
        self._is_complete = False  # the final answer was parsed to its end
        self._field_count = self._fields_bytes = 0
        self._interim = self._reason_bytes = self._part_bytes = self._beside_body = 0
        self._refusal = ""
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)
        # What common servers and proxies overlook, too.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_keep_alive=True,  # an answer may follow an interim one with `Connection: close`
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )

    @property
    def status(self) -> int | None:
        """The status of the final answer, once its line is complete."""
        return self._line.status

    def feed(self, data: bytes) -> bool:
        """Read more. True when reading is over; bytes behind that make the connection unusable."""
        if len(data) <= _SLICE_BYTES:
            return self._feed(data)
        is_over = False
        for at in range(0, len(data), _SLICE_BYTES):
            is_over = self._feed(data[at : at + _SLICE_BYTES])
        return is_over

    def _feed(self, data: bytes) -> bool:
        if self.is_over or self._parser is None:
            self.may_stay_open = False
            return True
        if self.headers is None:
            self._line.feed(data)
        kept = len(self.body)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._stopped(error)
        if self._is_complete or self.is_over:
            self.is_over = True
            return True
        if len(self.body) == BODY_BYTES:
            self._end("", may_stay_open=False)
        else:
            self._part_bytes += len(data)
            self._beside_body += len(data) + kept - len(self.body)
            if self._part_bytes > PART_BYTES:
                self._refuse(f"more than {PART_BYTES // 1024} KiB without a field or a piece of its body")
            elif self._beside_body > BESIDE_BODY_BYTES:
                self._refuse(f"more than {BESIDE_BODY_BYTES // 1024} KiB beside its body")
        return self.is_over

    def end(self, *, was_reset: bool, tls_failure: str = "") -> None:
        """The connection has ended. An answer without a length is whole then, unless the end was a reset."""
        if self.is_over:
            self.may_stay_open = False
        elif self.status is None:
            how = f"TLS failed ({tls_failure})" if tls_failure else ""
            how = how or f"the connection was {'reset' if was_reset else 'closed'}"
            self._end(f"{how} before an answer came", may_stay_open=False)
        elif was_reset or self.headers is None or self._has_length():
            self._end(f"status {self.status} came, then the answer broke off", may_stay_open=False)
        else:
            self._end("", may_stay_open=False)

    def release(self) -> None:
        """Let go of the parser, so that neither is left to the garbage collector."""
        self._parser = None

    def _end(self, error: str, *, may_stay_open: bool) -> None:
        self.is_over, self.error, self.may_stay_open = True, error, may_stay_open

    def _refuse(self, reason: str) -> None:
        if self._interim < self._line.interim:  # it is an interim answer that is wrong; no status behind it counts
            self._line.status = None
        words = f"the answer is not HTTP: {reason}"
        self._end(words if self.status is None else f"status {self.status} came, but {words}", may_stay_open=False)

    def _stopped(self, error: httptools.HttpParserError) -> None:
        """The parser or a callback has refused to go on."""
        is_ours = isinstance(error.__context__, _Stop)
        if isinstance(error, httptools.HttpParserCallbackError) and not is_ours:
            raise error
        if self._is_complete:
            self._behind(is_refused=not is_ours)
        elif self._refusal or not is_ours:
            self._refuse(self._refusal or (_parser_words(error) if self._has_line else _BAD_STATUS_LINE))
        else:
            self._end("", may_stay_open=False)  # the body is as long as it is kept

    def _behind(self, *, is_refused: bool) -> None:
        """Something came behind the answer. Another answer is no error, only bytes that cannot be one."""
        extra = "a body, which HTTP forbids" if self.status in WITHOUT_BODY else "more bytes than the answer has"
        words = f"status {self.status} came with {extra}; the status counts"
        self._end(words if is_refused or self._refusal else "", may_stay_open=False)

    def _stop(self, refusal: str = "") -> NoReturn:
        self._refusal = refusal
        raise _Stop

    def _has_length(self) -> bool:
        """Whether the head says where the body ends, as the parser sees it."""
        named = {_plain(name): value for name, value in self._fields} | self._framing
        codings = named.get(b"transfer-encoding")
        if codings is None:
            return b"content-length" in named
        return codings.rpartition(b",")[2].lstrip(b" \t").rstrip(b" ").lower() == b"chunked"

    # The callbacks of httptools

    def on_message_begin(self) -> None:
        self._has_line = False
        if self._is_complete:
            self.may_stay_open = False

    def on_status(self, reason: bytes) -> None:
        self._has_line = True
        self._reason_bytes += len(reason)
        if self._reason_bytes > REASON_BYTES:
            self._stop(f"a status line of more than {REASON_BYTES} bytes")

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._is_complete:
            self._stop()
        self._has_line = True
        self._part_bytes = 0
        if len(name) + len(value) > FIELD_BYTES:
            self._stop(f"a field of more than {FIELD_BYTES} bytes")
        if b"\0" in value:
            self._stop("a field with a NUL")
        self._field_count += 1
        if self._field_count > FIELDS_MAX:
            self._stop(f"more than {FIELDS_MAX} fields")
        if self.headers is None:
            self._fields_bytes += len(name) + len(value)
            if self._fields_bytes <= STORED_BYTES:
                self._fields.append((name, value))
            elif (framing := _plain(name)) in _FRAMING:
                self._framing[framing] = value[-_CODING_BYTES:]

    def on_headers_complete(self) -> None:
        if self._is_complete or self._parser is None:
            self._stop()
        self._has_line = True
        status = self._parser.get_status_code()
        if 100 <= status < 200 and status != SWITCHING_PROTOCOLS:
            return
        if self.status is None:  # the parser also accepts RTSP, versions of HTTP with another framing, and status 0
            self._stop(_BAD_STATUS_LINE)
        self.headers = _kept(self._fields)
        if status == SWITCHING_PROTOCOLS:  # nobody asked for one, so that nothing follows
            self._is_complete = True
            self._stop()
        self.may_stay_open = self._parser.should_keep_alive()
        if self._is_head:  # the parser does not know the method, and goes on to read a body
            self._is_complete = True
            self.may_stay_open = self.may_stay_open and not self._has_length()

    def on_body(self, piece: bytes) -> None:
        if self.headers is None:  # of an interim answer
            return
        if self._is_complete:
            self._stop("a body of an answer to HEAD")
        self._part_bytes = 0
        room = BODY_BYTES - len(self.body)
        if not room:
            self._stop()
        self.body += piece if len(piece) <= room else piece[:room]

    def on_message_complete(self) -> None:
        if self.headers is not None:
            self._is_complete = True
            return
        self._fields.clear()
        self._framing.clear()
        self._field_count = self._fields_bytes = self._reason_bytes = self._part_bytes = 0
        self._interim += 1
        if self._interim > INTERIM_MAX:
            self._stop(f"more than {INTERIM_MAX} interim answers")


def _plain(name: bytes) -> bytes:
    return name.rstrip(b" \t").lower()


def _kept(fields: list[tuple[bytes, bytes]]) -> tuple[tuple[str, str], ...]:
    """Headers without cookies, up to `HEADERS_CHARS`."""
    kept: list[tuple[str, str]] = []
    left = HEADERS_CHARS
    for raw_name, raw_value in fields:
        name, value = raw_name.decode("latin-1").rstrip(), raw_value.rstrip(b" \t").decode("utf-8", "replace")
        left -= len(name) + len(value)
        if left < 0:
            break
        if name.lower() not in _HIDDEN_HEADERS:
            kept.append((name, value))
    return tuple(kept)


def _parser_words(error: Exception) -> str:
    """The parser's message up to the colon, after which it could quote the receiver's bytes."""
    return str(error).strip().partition(":")[0][:200]
