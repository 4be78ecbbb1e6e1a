"""Reads the answer to one request: bytes in, head and pieces of the body out. It knows no socket and no clock.

Interim answers (1xx) are read and dropped. What follows the answer makes the connection unusable.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

import httptools

from simulator.server.message import BODYLESS, header_lines
from simulator.traffic.seen import Headers

HEAD_BYTES_MAX: Final = 256 * 1024
INTERIM_MAX: Final = 16
_LONG_HEAD: Final = f"has a head over {HEAD_BYTES_MAX} bytes"
_FIELD_BYTES: Final = len(": \r\n")
SWITCHING_PROTOCOLS: Final = 101


class NotHttp(Exception):
    """What came is no answer in HTTP/1, or one above the limits; the text continues "the answer"."""


@dataclass(frozen=True, slots=True)
class Head:
    """The status, the reason as it came, and the fields as they came."""

    status: int
    reason: bytes
    headers: Headers


class AnswerReader:
    """The answer to a request with `method`. `pieces` are those of the body that nobody took yet; `waiting` is their
    sum in bytes."""

    def __init__(self, method: str) -> None:
        self.head: Head | None = None
        self.pieces: deque[bytes] = deque()
        self.waiting = 0
        self.is_complete = False
        self.may_stay_open = False
        self._method = method
        self._parser = httptools.HttpResponseParser(self)
        self._reason = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._head_bytes = 0
        self._field_bytes = 0
        self._idle_bytes = 0  # since the last byte of the body; the parser keeps a field until it ends
        self._interim = 0
        self._ends_with_connection = False
        self._problem = ""

    @property
    def has_begun(self) -> bool:
        """True once a byte came."""
        return self._head_bytes > 0

    def feed(self, data: bytes) -> None:
        """Read more. Raises `NotHttp`."""
        if self.is_complete:
            self.may_stay_open = False
            return
        if self.head is None:
            self._head_bytes += len(data)
        self._idle_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._problem = self._problem or "offers another protocol, which nobody asked for"
        except httptools.HttpParserError as error:
            if not self.is_complete:
                raise NotHttp(f"is not HTTP: {error}"[:200]) from None
            self.may_stay_open = False
        if self._problem:
            raise NotHttp(self._problem)
        if self.head is None and self._head_bytes > HEAD_BYTES_MAX:
            raise NotHttp(_LONG_HEAD)
        if self.head is not None and not self.is_complete and self._idle_bytes > HEAD_BYTES_MAX:
            raise NotHttp(f"has over {HEAD_BYTES_MAX} bytes of trailers or of a chunk's extensions")

    def end(self) -> bool:
        """Note that the connection ended; False when the answer needed more of it."""
        if self.head is not None and self._ends_with_connection:
            self.is_complete = True
        return self.is_complete

    def take(self) -> bytes:
        """The next piece of the body."""
        piece = self.pieces.popleft()
        self.waiting -= len(piece)
        return piece

    # The callbacks of httptools

    def on_status(self, reason: bytes) -> None:
        if self.head is None:
            self._reason += reason
            self._count(len(reason))

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.head is None:  # else it is a trailer
            self._headers.append((name, value))
            self._count(len(name) + len(value) + _FIELD_BYTES)

    def _count(self, size: int) -> None:
        """Count what is known to be of the head, which may have ended in what is being fed."""
        self._field_bytes += size
        if self._field_bytes > HEAD_BYTES_MAX:
            self._problem = self._problem or _LONG_HEAD

    def on_headers_complete(self) -> None:
        if self.is_complete or self.head is not None or self._problem:
            return
        status = self._parser.get_status_code()
        if status == SWITCHING_PROTOCOLS or status < 100:
            self._problem = f"has the status {status}, which nobody asked for"
        elif status >= 200:
            self._begin(status)

    def _begin(self, status: int) -> None:
        try:
            header_lines([(b"", self._reason), *self._headers])
        except ValueError:
            self._problem = "has a control character in its head"
            return
        self.head = Head(status, self._reason, tuple(self._headers))
        names = {name.lower() for name, _ in self._headers}
        is_bodyless = self._method == "HEAD" or status in BODYLESS
        self._ends_with_connection = not names & {b"content-length", b"transfer-encoding"}
        if is_bodyless:
            self.is_complete = True  # the parser does not know the method, and would read a body
        self.may_stay_open = self._parser.should_keep_alive() and self._method != "HEAD"

    def on_body(self, piece: bytes) -> None:
        if not self.is_complete:
            self._idle_bytes = 0
            self.pieces.append(piece)
            self.waiting += len(piece)

    def on_message_begin(self) -> None:
        if self.is_complete:
            self.may_stay_open = False

    def on_message_complete(self) -> None:
        if self.head is not None:
            self.is_complete = True
            return
        self._interim += 1
        self._reason, self._headers = b"", []
        if self._interim > INTERIM_MAX and not self._problem:
            self._problem = f"has more than {INTERIM_MAX} interim answers"
