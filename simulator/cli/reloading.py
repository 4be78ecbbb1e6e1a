"""SIGHUP to a server: the files of its certificate and its tokens are read again, and what cannot be used changes
nothing."""

import asyncio
from collections.abc import Awaitable, Callable

Apply = Callable[[], None]


class Unusable(ValueError):
    """What was read cannot be used; the text says which file, and why."""


class Reloading:
    """Reads again what can be: each part is read beside the event loop, and what it returns is then done in the loop,
    or it raises `Unusable`. Signals that come meanwhile lead to one more round, however many there are."""

    def __init__(
        self, tell: Callable[[str], None], background: Callable[[Callable[[], Apply]], Awaitable[Apply]]
    ) -> None:
        self._tell = tell
        self._background = background
        self._parts: dict[str, Callable[[], Apply]] = {}
        self._round: asyncio.Task[None] | None = None
        self._is_asked_again = False

    def add(self, what: str, read: Callable[[], Apply]) -> None:
        """One more part; `what` is how it is told of."""
        self._parts[what] = read

    def __bool__(self) -> bool:
        return bool(self._parts)

    def on_hangup(self) -> None:
        """Begin a round, or one more behind the one that is under way. In the event loop."""
        if self._round is not None and not self._round.done():
            self._is_asked_again = True
        else:
            self._round = asyncio.get_running_loop().create_task(self._rounds())

    async def _rounds(self) -> None:
        self._is_asked_again = True
        while self._is_asked_again:
            self._is_asked_again = False
            for what, read in self._parts.items():
                try:
                    apply = await self._background(read)
                except Unusable as wrong:
                    self._tell(f"SIGHUP: {wrong}; {what} stays as it was")
                else:
                    apply()
                    self._tell(f"SIGHUP: {what} is read again")
