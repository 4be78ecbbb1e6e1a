"""One HTTP request and its response, with the standard library and a connection of its own."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from io import BufferedReader, RawIOBase
from math import isfinite
from socket import socket
from typing import Any
from urllib.parse import urlsplit

from reseller_sim.authorities import Https
from reseller_sim.clocks import real_monotonic
from reseller_sim.decoding import decoded

BODY_BYTES_MAX = 64 << 20
PIECE_BYTES = 1 << 16
CHUNK_LINE_BYTES_MAX = 1 << 10
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")  # int() would also take -1, which reads to the end, and 1_0


@dataclass(frozen=True, slots=True)
class Answer:
    """A response; the names of `headers` are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The decoded body. Raises `ValueError` when it is no JSON."""
        return decoded(self.body)

    @property
    def diagnosis(self) -> str:
        """What the simulator says about the request beyond the service's response; empty when there is nothing."""
        return self.headers.get("x-sim-diagnosis", "")


class Unanswered(Exception):
    """There was no complete response; the text is the reason."""


class Unreachable(Unanswered):
    """Nobody listens there."""


class Malformed(Unanswered):
    """Something answered, but not as HTTP has it, or with too much."""


def exchange(method: str, url: str, body: bytes | None, headers: Mapping[str, str], timeout_s: float) -> Answer:
    """Send a request as it is and follow no redirect; the response may take `timeout_s` seconds in all, and its body
    have 64 MiB. Raises `Unanswered`."""
    ends = real_monotonic() + timeout_s
    if timeout_s <= 0:
        raise Unanswered("timed out")
    parts = urlsplit(url)
    assert parts.hostname is not None
    kind = Https if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=timeout_s)
    try:
        target = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
        connection.request(method, target, body, dict(headers))
        return _answer(connection, ends)
    except (HTTPException, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise _kind(error)(reason) from error
    finally:
        connection.close()


def _kind(error: Exception) -> type[Unanswered]:
    if isinstance(error, ConnectionRefusedError):
        return Unreachable
    # A connection that ends before an answer is an error of both families.
    return Unanswered if isinstance(error, OSError) else Malformed


def _answer(connection: HTTPConnection, ends: float) -> Answer:
    """The response, read until it is complete or the time is over. Raises `HTTPException` and `OSError`."""

    class Response(HTTPResponse):
        def __init__(self, sock: socket, *args: Any, **kwargs: Any) -> None:
            super().__init__(sock, *args, **kwargs)
            self.fp = BufferedReader(Until(self.fp.detach(), sock, ends))

        def _read_next_chunk_size(self) -> int:
            line = self.fp.readline(CHUNK_LINE_BYTES_MAX)
            size = line.partition(b";")[0].strip(b" \t\r\n")
            if not line.endswith(b"\n") or _CHUNK_SIZE.fullmatch(size) is None:
                raise HTTPException(f"the response is malformed: {size[:40]!r} is no length of a chunk")
            return int(size, 16)

    connection.response_class = Response
    try:
        response = connection.getresponse()
        return Answer(response.status, {name.lower(): text for name, text in response.getheaders()}, _body(response))
    except ValueError as error:  # numbers that are none, as the length of a chunk
        raise HTTPException(f"the response is malformed: {error}") from None


def _body(response: HTTPResponse) -> bytes:
    pieces, size = [], 0
    while piece := response.read(PIECE_BYTES):
        pieces.append(piece)
        size += len(piece)
        if size > BODY_BYTES_MAX:
            raise HTTPException(f"the response has more than {BODY_BYTES_MAX} bytes")
    if response.length:
        raise IncompleteRead(b"".join(pieces), response.length)
    return b"".join(pieces)


class Until(RawIOBase):
    """What a socket receives until some time: its own timeout is that of each read."""

    def __init__(self, raw: RawIOBase, sock: socket, ends: float) -> None:
        self._raw = raw
        self._sock = sock
        self.ends = ends
        self.has_ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self.ends - real_monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(left)
        count = self._raw.readinto(buffer)
        self.has_ended = count == 0
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


def encoded(value: Any) -> bytes:
    """A value as JSON; a `Decimal` is a number. Raises `TypeError` and `ValueError` for what JSON does not have."""
    try:
        return json.dumps(_plain(value), separators=(",", ":")).encode()
    except RecursionError:
        raise ValueError("the JSON contains itself, or is nested too deeply") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        if wrong := [name for name in value if not isinstance(name, str)]:
            raise TypeError(f"the names of a JSON object are text, not {wrong[0]!r:.60}")
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float | Decimal) and not isfinite(value):
        raise ValueError(f"JSON has no number {value}")
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if not isinstance(value, str | int | float | None):
        raise TypeError(f"JSON has no {type(value).__name__}: {value!r:.60}")
    return value
