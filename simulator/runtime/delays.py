"""The delays that requests wait for in a sandbox, which are over when its life is."""

import asyncio


class Delays:
    """Waits of so many seconds each. Whoever waits goes on at once when they are ended, and looks what has happened."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def count(self) -> int:
        """How many wait."""
        return len(self._waiting)

    async def sleep(self, seconds: float) -> None:
        """Wait so long, or until they are ended."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(seconds, _end, future)
        self._waiting.add(future)
        try:
            await future
        finally:
            timer.cancel()
            self._waiting.discard(future)

    def end(self) -> None:
        """Let all who wait go on."""
        for future in self._waiting:
            _end(future)


def _end(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
