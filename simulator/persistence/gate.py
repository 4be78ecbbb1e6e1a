"""Nothing leaves before the inputs that led to it are durable: one commit for all of a turn of the event loop."""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager

from simulator.domain.model.effects import AttemptResult, Outgoing
from simulator.persistence.errors import StoreError, WriteFailed
from simulator.persistence.store import Store
from simulator.runtime.courier import Sender

Act = Callable[[], None]

_LOG = logging.getLogger(__name__)


class Gate:
    """Commits what was written into a store, at the latest at the end of the turn, and says when all is durable.

    `on_failure` is called once, in the event loop: from then on the gate stays closed, since what would leave is not
    durable. That is so when the disk fails, and when something could not be written that is so in memory already.
    """

    def __init__(self, store: Store, on_failure: Callable[[StoreError], None]) -> None:
        self._store = store
        store.writer.on_pending = self.note
        self._on_failure = on_failure
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.get_ident()
        self._has_new = False
        self._requested = self._durable = 0  # commits, counted
        self._waiting: deque[tuple[int, Act]] = deque()
        self.failure: StoreError | None = None
        self._is_closed = False

    def start(self) -> None:
        """Commit at the end of turns from now on; needs a running event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.commit()

    def note(self) -> None:
        """Something was written: the store says so."""
        if not self._has_new:
            self._has_new = True
            if self._loop is not None:
                self._loop.call_soon(self.commit)

    def commit(self) -> None:
        """Commit what was written until now."""
        if self._has_new and self.failure is None and not self._is_closed:
            self._has_new = False
            self._requested += 1
            self._store.request_commit(self._done)

    def close(self) -> None:
        """Commit the last; nothing is written from now on."""
        self.commit()
        self._has_new = True  # so that nobody asks for another commit
        self._is_closed = True

    def is_open(self, act: Act) -> bool:
        """True when all is durable; else `act` is called when all is that was written until now. After a failure it
        never is."""
        self.commit()
        if self._durable == self._requested and self.failure is None:
            return True
        self._waiting.append((self._requested, act))
        return False

    async def passed(self) -> None:
        """Wait until all is durable that was written until now."""
        opened = asyncio.Event()
        if not self.is_open(opened.set):
            await opened.wait()

    @contextmanager
    def whole(self) -> Iterator[None]:
        """What is written within is written as a whole, or nothing leaves any more. Raises `StoreError` then."""
        try:
            yield
        except Exception as error:
            raise self.fail(error) from error

    def fail(self, error: Exception) -> StoreError:
        """Stay closed, since something could not be written, which is answered to be raised. Nothing else is written
        either: it might belong to that."""
        if self.failure is None:
            text = f"{self._store.path}: what happened cannot be kept ({type(error).__name__}: {error})"
            self.failure = error if isinstance(error, StoreError) else WriteFailed(text)
            self._store.give_up(self.failure)
            if self._loop is not None:
                self._on_failure(self.failure)
        return self.failure

    def _done(self, error: StoreError | None) -> None:
        if threading.get_ident() == self._thread:
            self._settle(error)
        elif self._loop is not None:
            self._loop.call_soon_threadsafe(self._settle, error)

    def _settle(self, error: StoreError | None) -> None:
        if error is not None:
            if self.failure is None:
                self.failure = error
                self._on_failure(error)
            return
        self._durable += 1
        while self._waiting and self._waiting[0][0] <= self._durable:
            _, act = self._waiting.popleft()
            try:
                act()
            except Exception:  # must not keep back what others wait for
                _LOG.exception("What waited for a commit failed")


class GatedSender:
    """A sender that waits for a gate."""

    def __init__(self, sender: Sender, gate: Gate) -> None:
        self.sender = sender
        self._gate = gate

    def turn(self, url: str, owner: str) -> AbstractAsyncContextManager[None]:
        """See `Sender`."""
        return self.sender.turn(url, owner)

    async def send(self, outgoing: Outgoing, timeout_s: float, owner: str) -> AttemptResult:
        """Send when all is durable that was written until now."""
        await self._gate.passed()
        return await self.sender.send(outgoing, timeout_s, owner)
