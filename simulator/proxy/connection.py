"""One connection to an upstream, used for one request after another; nothing is sent twice."""

import asyncio
from typing import cast

from simulator.http_client.readable import is_readable
from simulator.proxy.answers import AnswerReader, Head, NotHttp

_HIGH_WATER_BYTES = 256 * 1024


class Broken(Exception):
    """The connection ended before the answer did; `has_begun` when a part of it came."""

    def __init__(self, text: str, *, has_begun: bool) -> None:
        super().__init__(text)
        self.has_begun = has_begun


class UpstreamConnection(asyncio.Protocol):
    """The protocol of one socket. An idle one that gets a byte, or an end, is closed: what came would be taken for the
    answer to the next request."""

    def __init__(self) -> None:
        self.is_open = True
        self._reader: AnswerReader | None = None
        self._failure: Exception | None = None
        self._news = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.Transport | None = None
        self._is_paused = False

    @property
    def is_quiet(self) -> bool:
        """True when an idle one can be used: it is open, and nothing waits in its socket."""
        if not self.is_open or self._transport is None or self._transport.is_closing():
            return False
        return not is_readable(self._transport.get_extra_info("socket").fileno())

    # What a request does

    def begin(self, method: str) -> None:
        """Expect the answer to a request with this method."""
        self._reader, self._failure = AnswerReader(method), None

    async def send(self, data: bytes) -> None:
        """Write, and wait while the upstream does not take more. Raises `ConnectionError`."""
        if not self.is_open or self._transport is None or self._transport.is_closing():
            raise ConnectionResetError
        self._transport.write(data)
        await self._writable.wait()

    async def head(self) -> Head:
        """The head of the answer. Raises `Broken`, `NotHttp`."""
        reader = self._expected()
        while reader.head is None:
            await self._more(reader)
        return reader.head

    async def piece(self) -> tuple[bytes, bool]:
        """The next piece of the body, and whether it is known to be the last; an empty one when it was the last before.
        Raises `Broken`, `NotHttp`."""
        reader = self._expected()
        while not reader.pieces:
            if reader.is_complete:
                return b"", True
            self._read_on()
            await self._more(reader)
        return reader.take(), reader.is_complete and not reader.pieces

    def end(self) -> bool:
        """The exchange is over; True when the connection can be used again."""
        reader, self._reader = self._reader, None
        can_stay = self.is_open and reader is not None and reader.is_complete and reader.may_stay_open
        if can_stay:
            self._read_on()
        else:
            self.close()
        return can_stay

    def close(self) -> None:
        """Close it at once."""
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    def _expected(self) -> AnswerReader:
        assert self._reader is not None, "a request was begun"
        return self._reader

    async def _more(self, reader: AnswerReader) -> None:
        if self._failure is not None:
            raise self._failure
        if not self.is_open:
            raise Broken("the connection was closed", has_begun=reader.has_begun)
        self._news.clear()
        await self._news.wait()

    def _read_on(self) -> None:
        if self._is_paused and self._transport is not None and not self._transport.is_closing():
            self._is_paused = False
            self._transport.resume_reading()

    # asyncio's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        reader = self._reader
        if reader is None:
            self.close()
            return
        try:
            reader.feed(data)
        except NotHttp as wrong:
            self._failure = wrong
            self.close()
        if reader.waiting > _HIGH_WATER_BYTES and self._transport is not None and self.is_open:
            self._is_paused = True
            self._transport.pause_reading()
        self._news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self._writable.set()
        reader = self._reader
        if reader is not None and not reader.is_complete:
            is_reset = isinstance(exc, OSError)
            if is_reset or not reader.end():
                how = "reset" if is_reset else "closed"
                self._failure = self._failure or Broken(f"the connection was {how}", has_begun=reader.has_begun)
        self._news.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()
