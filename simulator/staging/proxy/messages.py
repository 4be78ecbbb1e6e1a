"""A message on its way through the proxy: its destination, its header fields, and its stored body."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import unquote_to_bytes

from simulator.options import CONTROL_PATH
from simulator.wire.traffic import Headers

_DOTS = (b".", b"..")


def has_dots(path: bytes) -> bool:
    """Return True if a segment is `.` or `..`, which could lead out of a base path."""
    return any(segment in _DOTS for segment in _segments(path))


def is_control(path: bytes) -> bool:
    """Return True for a path that, decoded and resolved, a simulator may take for its control API."""
    kept: list[bytes] = []
    for segment in _segments(path):
        if segment == b"..":
            kept[-1:] = []
        elif segment not in (b"", b"."):
            kept.append(segment)
    return bool(kept) and kept[0] == CONTROL_PATH[1:].encode()


def _segments(path: bytes) -> Iterator[bytes]:
    """Yield segments as servers may read them: some split at a backslash, and cut parameters at a semicolon."""
    for segment in unquote_to_bytes(path).replace(b"\\", b"/").split(b"/"):
        yield segment.partition(b";")[0]


MESSAGE_BYTES_MAX: Final = 16 * 1024 * 1024
IN_FLIGHT_BYTES_MAX: Final = 128 * 1024 * 1024


class BodyBudget:
    """The stored bytes of all messages in flight, at most `bytes_max`."""

    def __init__(self, bytes_max: int = IN_FLIGHT_BYTES_MAX) -> None:
        self.bytes_max = bytes_max
        self.used = 0


class BufferedBody:
    """A body on its way. `total` counts its bytes; `body` is empty if it was too long to store."""

    def __init__(self, budget: BodyBudget, bytes_max: int = MESSAGE_BYTES_MAX) -> None:
        self.total = 0
        self.is_whole = True
        self._budget = budget
        self._bytes_max = bytes_max
        self._pieces: list[bytes] = []
        self._held = 0

    def add(self, piece: bytes) -> None:
        """Store another piece, or drop the whole body when a limit is reached."""
        self.total += len(piece)
        budget = self._budget
        if not self.is_whole or not piece:
            return
        if self.total > self._bytes_max or budget.used + len(piece) > budget.bytes_max:
            self.is_whole = False
            self.release()
            return
        self._held += len(piece)
        budget.used += len(piece)
        self._pieces.append(piece)

    @property
    def body(self) -> bytes:
        """Return the stored bytes."""
        return b"".join(self._pieces)

    def release(self) -> None:
        """Return the stored bytes to the budget."""
        self._budget.used -= self._held
        self._held = 0
        self._pieces = []


_HOP_BY_HOP = frozenset({
    b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te", b"trailer",
    b"transfer-encoding", b"upgrade",
})  # fmt: skip
# The proxy's own server has answered it with 100 Continue, and the body is on its way (RFC 9110 10.1.1).
_ANSWERED_HERE = frozenset({b"expect"})
# Connection may not name the fields that a message needs.
_END_TO_END = frozenset({b"content-length", b"content-type", b"host", b"authorization"})


def passed_on(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the end-to-end fields, unchanged and in order."""
    fields = tuple(headers)
    named = b",".join(value for name, value in fields if name.lower() == b"connection").split(b",")
    dropped = _HOP_BY_HOP | ({name.strip().lower() for name in named} - _END_TO_END)
    return tuple((name, value) for name, value in fields if name.lower() not in dropped)


def to_upstream(headers: Iterable[tuple[bytes, bytes]], authority: str, *, is_chunked: bool) -> Headers:
    """Return a request's fields with the upstream's Host; `is_chunked` frames its body again."""
    fields = tuple((name, value) for name, value in passed_on(headers) if name.lower() not in _ANSWERED_HERE)
    host = authority.encode()
    if not any(name.lower() == b"host" for name, _ in fields):  # HTTP/1.0 may omit it
        fields = ((b"host", host), *fields)
    replaced = tuple((name, host if name.lower() == b"host" else value) for name, value in fields)
    return (*replaced, (b"transfer-encoding", b"chunked")) if is_chunked else replaced


def value_of(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes:
    """Return the last value of a field, whose `name` is in lower case; empty if it is absent."""
    return next((value for each, value in reversed(tuple(headers)) if each.lower() == name), b"")


@dataclass(frozen=True, slots=True)
class PassedExchange:
    """A relayed exchange. `headers` and `answer_headers` are as received; `status` is 0 without an answer. `error` is
    the proxy's code and `words` describe the failure; the client then gets `own_status`, or 0 when its connection was
    cut. The counts cover the whole bodies, which are stored unless they were too long."""

    at: datetime
    method: str
    target: bytes
    headers: Headers
    client: str
    body: bytes
    body_bytes: int
    status: int
    answer_headers: Headers
    answer: bytes
    answer_bytes: int
    is_whole: bool
    duration_us: int
    error: str = ""
    words: str = ""
    own_status: int = 0

    @property
    def path(self) -> str:
        """Return the target without its query."""
        return self.target.partition(b"?")[0].decode("latin-1")

    @property
    def query(self) -> bytes:
        """Return the query of the target."""
        return self.target.partition(b"?")[2]

    @property
    def answered(self) -> int:
        """Return the status of a complete answer; 0 without such an answer."""
        return self.status if not self.error else 0
