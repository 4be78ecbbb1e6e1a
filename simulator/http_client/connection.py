"""One connection to a receiver: writes a request once, and has its answer read within a time."""

import asyncio
import ssl
from typing import Final, Protocol, cast

from simulator.http_client.answers import AnswerReader
from simulator.http_client.readable import is_readable

PIECE_BYTES: Final = 64 * 1024
"""How much of a request is handed over at once; the next piece follows when the receiver has taken most of it."""


class Register(Protocol):
    """Has all connections that are open."""

    def add(self, connection: "Connection", /) -> None:
        """It is connected."""
        ...

    def discard(self, connection: "Connection", /) -> None:
        """It is closed."""
        ...


class Connection(asyncio.Protocol):
    """A connection on `loop`, which is in `opened` from when it is connected until it is closed."""

    __slots__ = (
        "_descriptor",
        "_early",
        "_is_fresh",
        "_is_paused",
        "_loop",
        "_opened",
        "_reader",
        "_transport",
        "_unsent",
        "_waiter",
        "idle_since",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop, opened: "Register") -> None:
        self.idle_since = 0.0
        self._loop = loop
        self._opened = opened
        self._transport: asyncio.Transport | None = None
        self._descriptor = -1
        self._early = b""
        self._is_fresh = True
        self._reader: AnswerReader | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._unsent = memoryview(b"")
        self._is_paused = False

    @property
    def is_open(self) -> bool:
        """False once either side has closed it, as far as the loop knows."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_quiet(self) -> bool:
        """True when the receiver has neither sent anything nor closed, as seen by the socket, not the loop.

        Unrequested bytes (some servers send a 408 before they close) would be parsed as the answer.
        """
        return self.is_open and not is_readable(self._descriptor)

    async def exchange(self, request: bytes, reader: AnswerReader, timeout_s: float) -> bool:
        """Send `request` and let `reader` have what comes. Returns False when that is not over after `timeout_s`.

        The connection is closed unless another request may follow: at once when this is cancelled, too.
        """
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._reader, self._waiter = reader, waiter
        timer = self._loop.call_later(timeout_s, _wake, waiter)
        try:
            self._send(request)
            if self._is_fresh:
                self._read_early()
            await waiter
        finally:
            timer.cancel()
            self._reader = self._waiter = None
            reader.release()
            if not reader.is_over or reader.error:
                self.abort()
            elif not reader.may_stay_open or not self._is_all_sent():
                self.close()
        return reader.is_over

    def close(self) -> None:
        """Close it, with a farewell where TLS wants one; at once when the receiver has not read the whole request."""
        if self._transport is None or self._transport.is_closing():
            return  # asyncio's transport of TLS, closed twice, could not be aborted any more
        if self._is_all_sent():
            self._transport.close()
        else:
            self._transport.abort()

    def abort(self) -> None:
        """Close it at once."""
        if self._transport is not None:
            self._transport.abort()

    def _is_all_sent(self) -> bool:
        return self._transport is None or not (self._unsent or self._transport.get_write_buffer_size())

    def _send(self, request: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            self._over(was_reset=False)
        elif len(request) <= PIECE_BYTES:
            self._transport.write(request)
        else:
            self._unsent = memoryview(request)
            self._send_on()

    def _send_on(self) -> None:
        while self._unsent and not self._is_paused and self._transport is not None:
            piece, self._unsent = self._unsent[:PIECE_BYTES], self._unsent[PIECE_BYTES:]
            self._transport.write(piece)

    def _read_early(self) -> None:
        """The first request is sent, so that whatever came before it is its answer."""
        self._is_fresh = False
        if early := self._early:
            self._early = b""
            self.data_received(early)
            if self._transport is not None and self.is_open:
                self._transport.resume_reading()

    def _over(self, *, was_reset: bool, tls_failure: str = "") -> None:
        if self._reader is not None:
            self._reader.end(was_reset=was_reset, tls_failure=tls_failure)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None:
            _wake(self._waiter)

    # The callbacks of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is connected; with TLS, the receiver has also proved who it is."""
        self._transport = cast(asyncio.Transport, transport)
        self._descriptor = transport.get_extra_info("socket").fileno()
        self._opened.add(self)

    def data_received(self, data: bytes) -> None:
        """Bytes of the answer, even if they come before the first request; later ones that nobody requested end it."""
        if self._reader is not None:
            if self._reader.feed(data):
                self._wake()
        elif self._is_fresh and self._transport is not None:
            self._early += data
            self._transport.pause_reading()
        else:
            self.abort()

    def eof_received(self) -> None:
        """The receiver sends no more; the transport closes itself."""
        self._over(was_reset=False)

    def connection_lost(self, error: Exception | None) -> None:
        """It is closed."""
        self._transport = None
        self._unsent = memoryview(b"")
        self._opened.discard(self)
        self._over(was_reset=isinstance(error, OSError), tls_failure=tls_reason(error))

    def pause_writing(self) -> None:
        """The receiver is slow to read."""
        self._is_paused = True

    def resume_writing(self) -> None:
        """It has read most of what was written."""
        self._is_paused = False
        self._send_on()


def tls_reason(error: BaseException | None) -> str:
    """Why TLS failed, in words of its own such as those of a receiver's alert; empty for other errors."""
    if not isinstance(error, ssl.SSLError):
        return ""
    return getattr(error, "verify_message", None) or error.reason or "no TLS"


def _wake(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)
