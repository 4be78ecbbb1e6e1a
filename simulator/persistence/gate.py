"""A gate for outgoing data, which opens when its inputs are durable: a single commit covers a turn of the event loop.

`Storage` is the interface of a store: the folder of `store`, or the PostgreSQL of `simulator/postgres`. A store has the
sandboxes that this server owns.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from simulator.domain.model.delivery_attempts import AttemptResult, OutgoingRequest
from simulator.persistence.errors import LeaseLost, StoreError, WriteFailed
from simulator.persistence.reader import Reader
from simulator.persistence.writer import Writer
from simulator.runtime.courier import Sender, Turn

Act = Callable[[], None]
CommitCallback = Callable[[StoreError | None], object]


def call_waiting(act: Callable[[], object]) -> None:
    """Call what waited for a commit, surviving its errors, since the others must be called, too: its event loop may be
    closed by now."""
    try:
        act()
    except Exception:
        logging.getLogger(__name__).exception("what waited for a commit failed")


class Storage(Protocol):
    """An open store, which messages call `place`."""

    place: str
    writer: Writer
    reader: Reader

    def request_commit(self, on_commit: CommitCallback) -> None:
        """Commit everything queued so far, and call `on_commit` with the error, or None when it is durable, in any
        thread and in the order of the requests. After an error all later requests fail with it."""

    def give_up(self, error: StoreError) -> None:
        """Drop the incomplete queue and all later writes."""


class Gate:
    """Commits all writes to a store, at the latest at the end of the turn, and reports when all are durable.

    `on_failure` is called once, in the event loop: from then on the gate stays closed, since outgoing data would not be
    durable. The gate fails when the disk fails, or when a change that is already in memory could not be written. When
    the lease of the server is lost, waiting answers are refused, until the gate begins again.
    """

    def __init__(self, store: Storage, on_failure: Callable[[StoreError], None]) -> None:
        self._store = store
        store.writer.on_pending = self.note
        self._on_failure = on_failure
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.get_ident()
        self._has_new = False
        self._requested = self._durable = 0  # commits, counted
        self._waiting: deque[tuple[int, Act, Act]] = deque()
        self.failure: StoreError | None = None
        self._is_closed = False

    def start(self) -> None:
        """Commit at the end of turns from now on; needs a running event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.commit()

    def note(self) -> None:
        """Schedule a commit; the store calls this after a write."""
        if not self._has_new:
            self._has_new = True
            if self._loop is not None:
                self._loop.call_soon(self.commit)

    def commit(self) -> None:
        """Commit everything written so far."""
        if self._has_new and self.failure is None and not self._is_closed:
            self._has_new = False
            self._requested += 1
            with suppress(StoreError), self.all_or_nothing():  # an entry may be impossible to encode
                self._store.request_commit(self._on_commit)

    def close(self) -> None:
        """Make the last commit; nothing is written afterwards."""
        self.commit()
        self._has_new = True  # prevents further commits
        self._is_closed = True

    def is_open(self, act: Act, refuse: Act = lambda: None) -> bool:
        """Return whether everything is durable; otherwise call `act` when everything written so far is. After a failure
        `act` is never called; `refuse` is called when the lease was lost."""
        self.commit()
        if self._durable == self._requested and self.failure is None:
            return True
        if isinstance(self.failure, LeaseLost) and self._loop is not None:
            self._loop.call_soon(refuse)
        else:
            self._waiting.append((self._requested, act, refuse))
        return False

    def begin_again(self) -> None:
        """Open after a lost lease, for a store that begins again."""
        self._requested = self._durable = 0
        self._has_new = False
        self.failure = None

    async def until_durable(self) -> bool:
        """Wait until everything written so far is durable; after a failure, forever. Return False when the lease was
        lost."""
        ended = asyncio.Event()
        if not self.is_open(ended.set, ended.set):
            await ended.wait()
        return not isinstance(self.failure, LeaseLost)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Write everything within as a whole, or close the gate for good and raise `StoreError`."""
        try:
            yield
        except Exception as error:
            raise self.fail(error) from error

    def fail(self, error: Exception) -> StoreError:
        """Close the gate for good after a failed write, and return the error to raise. Later writes are dropped, since
        they might depend on the failed write."""
        if self.failure is None:
            text = f"{self._store.place}: what happened cannot be kept ({type(error).__name__}: {error})"
            self.failure = error if isinstance(error, StoreError) else WriteFailed(text)
            self._store.give_up(self.failure)
            if self._loop is not None:
                self._on_failure(self.failure)
        return self.failure

    def _on_commit(self, error: StoreError | None) -> None:
        if threading.get_ident() == self._thread:
            self._settle(error)
        elif self._loop is not None:
            self._loop.call_soon_threadsafe(self._settle, error)

    def _settle(self, error: StoreError | None) -> None:
        if error is not None:
            self.close_for(error)
            return
        self._durable += 1
        while self._waiting and self._waiting[0][0] <= self._durable:
            call_waiting(self._waiting.popleft()[1])

    def close_for(self, error: StoreError) -> None:
        """Close after an error of the store, in the event loop."""
        if self.failure is not None:
            return
        self.failure = error
        if isinstance(error, LeaseLost):
            waiting, self._waiting = self._waiting, deque()
            for _, _, refuse in waiting:
                call_waiting(refuse)
        self._on_failure(error)


class GatedSender:
    """A sender that sends when `until_durable` returns, such as that of a gate."""

    def __init__(self, sender: Sender, until_durable: Callable[[], Awaitable[object]]) -> None:
        self.sender = sender
        self._passed = until_durable

    def turn(self, url: str, owner: str) -> Turn:
        """See `Sender`."""
        return self.sender.turn(url, owner)

    async def send(self, outgoing: OutgoingRequest, timeout_s: float, owner: str) -> AttemptResult:
        """See `Sender`."""
        await self._passed()
        return await self.sender.send(outgoing, timeout_s, owner)
