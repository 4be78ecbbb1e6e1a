"""A connection to a server, which sends each request once and reads the response whole or piece by piece."""

import asyncio
import select
import ssl
from collections.abc import Callable, Sequence
from typing import Final, cast

from simulator.http_client.answers import AnswerHead, AnswerReader

HIGH_WATER_BYTES: Final = 256 * 1024
"""The size of the unread part of a streamed body at which the connection pauses reading."""

Poll = Callable[[int], Sequence[object]]
"""Returns something when bytes or an end are ready to read, within so many milliseconds."""

_HAS_POLL = hasattr(select, "poll")  # takes any descriptor, select none above 1023; Windows has select alone


class NoAnswerError(Exception):
    """A missing or incomplete response. The reader has the reason."""


class Connection(asyncio.Protocol):
    """A connection on `loop`, which calls `on_lost` once it is closed."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_lost: "Callable[[Connection], object]") -> None:
        self.idle_since = 0.0
        self._loop = loop
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self._ready: Poll | None = None
        self._early = b""
        self._is_fresh = True
        self._has_pause = False  # in reading
        self._reader: AnswerReader | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._writable: asyncio.Future[None] | None = None  # while the server is slow to read

    @property
    def is_open(self) -> bool:
        """Return False once either side has closed the connection, as far as the loop knows."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_quiet(self) -> bool:
        """Return True if the server has neither sent anything nor closed, checked at the socket, not in the loop.

        Unrequested bytes (some servers send a 408 before they close) would be parsed as the response.
        """
        transport, ready = self._transport, self._ready
        return transport is not None and ready is not None and not transport.is_closing() and not ready(0)

    # One exchange: `begin`; `start`, or `send` and the reading of its response; then `end`.

    def begin(self, reader: AnswerReader) -> None:
        """Feed the response to the next request to `reader`."""
        self._reader = reader
        if not self.is_open:
            reader.end(was_reset=False)

    def start(self, request: bytes) -> None:
        """Send a whole request, unless the connection is closed meanwhile; wait for the response with `arrival`."""
        transport = self._transport
        if transport is not None and not transport.is_closing():
            transport.write(request)
        if self._is_fresh:
            self._read_early()

    def arrival(self) -> "asyncio.Future[None]":
        """Return a future that ends when the response is over, when a piece of a streamed body arrives, or by
        `wake`."""
        self._waiter = self._loop.create_future()
        return self._waiter

    def wake(self) -> None:
        """End the future of `arrival`."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def send(self, data: bytes) -> None:
        """Send a part of a request, and wait while the server reads too slowly. Raises `ConnectionError`."""
        if not self.is_open or self._transport is None:
            raise ConnectionResetError
        self._transport.write(data)
        if self._writable is not None:
            await asyncio.shield(self._writable)

    async def head(self) -> AnswerHead:
        """Return the head of the response. Raises `NoAnswerError`."""
        reader = self._expected()
        self._read_early()
        while reader.head is None:
            await self._wait_for_more(reader)
        return reader.head

    async def piece(self) -> tuple[bytes, bool]:
        """Return the next piece of the body, and whether it is known to be the last. After the last piece, return an
        empty piece. Raises `NoAnswerError`."""
        reader = self._expected()
        while not reader.pieces:
            if reader.is_complete:
                return b"", True
            self._resume_reading()
            await self._wait_for_more(reader)
        return reader.take(), reader.is_complete

    def end(self) -> None:
        """End the exchange: close the connection unless another request may follow."""
        reader, self._reader = self._reader, None
        assert reader is not None, "an exchange was begun"
        reader.release()
        if not reader.is_complete or reader.problem or reader.has_extra:
            self.abort()
        elif not reader.may_stay_open or not self._is_all_sent():
            self.close()
        elif self._has_pause:
            self._resume_reading()

    def close(self) -> None:
        """Close the connection, with a TLS close_notify; abort it when the server has not read the whole request."""
        if self._transport is None or self._transport.is_closing():
            return  # asyncio's TLS transport cannot be aborted once `close` was called twice
        if self._is_all_sent():
            self._transport.close()
        else:
            self._transport.abort()

    def abort(self) -> None:
        """Close the connection immediately."""
        if self._transport is not None:
            self._transport.abort()

    def _expected(self) -> AnswerReader:
        assert self._reader is not None, "an exchange was begun"
        return self._reader

    def _is_all_sent(self) -> bool:
        return self._transport is None or not self._transport.get_write_buffer_size()

    async def _wait_for_more(self, reader: AnswerReader) -> None:
        if reader.is_over:
            raise NoAnswerError
        await self.arrival()

    def _read_early(self) -> None:
        """Feed bytes that arrived before the first request to its reader, as the start of its response."""
        self._is_fresh = False
        if early := self._early:
            self._early = b""
            self.data_received(early)
            self._resume_reading()

    def _resume_reading(self) -> None:
        if self._has_pause and self._transport is not None and self.is_open:
            self._has_pause = False
            self._transport.resume_reading()

    def _pause(self, transport: asyncio.Transport) -> None:
        if not self._has_pause and not transport.is_closing():
            self._has_pause = True
            transport.pause_reading()

    # The callbacks of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to use the transport. With TLS, the server's certificate is already verified."""
        self._transport = cast(asyncio.Transport, transport)
        self._ready = _poll_of(transport.get_extra_info("socket").fileno())

    def data_received(self, data: bytes) -> None:
        """Parse bytes of the response, also before the first request. Later unrequested bytes close the connection."""
        if self._is_fresh and self._transport is not None:
            self._early += data
            self._pause(self._transport)
            return
        reader = self._reader
        if reader is None:
            self.abort()
            return
        if reader.feed(data) or reader.is_streamed:
            self.wake()
        if reader.is_streamed and reader.waiting > HIGH_WATER_BYTES and self._transport is not None:
            self._pause(self._transport)

    def eof_received(self) -> None:
        self._end_response(was_reset=False)

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._on_lost(self)
        self.resume_writing()
        self._end_response(was_reset=isinstance(error, OSError), tls_failure=tls_reason(error))

    def _end_response(self, *, was_reset: bool, tls_failure: str = "") -> None:
        if self._reader is not None:
            if self._early:
                self._read_early()
            self._reader.end(was_reset=was_reset, tls_failure=tls_failure)
        self.wake()

    def pause_writing(self) -> None:
        self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        writable, self._writable = self._writable, None
        if writable is not None:
            writable.set_result(None)


def _poll_of(descriptor: int) -> Poll:
    """Return the poll of a descriptor. The selectors module takes four times as long."""
    if not _HAS_POLL:
        return lambda timeout_ms: select.select([descriptor], (), (), timeout_ms / 1000)[0]
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return poller.poll


_WITHOUT_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"})
"""The reasons that OpenSSL gives for a response without TLS."""


def tls_reason(error: BaseException | None) -> str:
    """Return why TLS failed, such as the text of a server's alert; empty for other errors."""
    if not isinstance(error, ssl.SSLError):
        return ""
    if error.reason in _WITHOUT_TLS:
        return "the server speaks plain HTTP; use http:// instead of https:// in its URL"
    return getattr(error, "verify_message", None) or error.reason or "no TLS"
