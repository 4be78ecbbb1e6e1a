"""Schedules snapshots of sandboxes in a store, so that a restart has few entries to replay.

A snapshot is due after `ENTRIES` new entries (more with many payments), after fewer entries followed by a pause, and at
the end of the server. Snapshots take at most half of the time. None is taken while a request waits or an advance
runs.
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from time import monotonic
from typing import Final
from weakref import WeakKeyDictionary

from simulator.persistence.gate import Gate, Storage
from simulator.persistence.snapshot.capture import parts_of, refuse_not_now
from simulator.persistence.snapshot.document import NotNow
from simulator.persistence.snapshot.forked_writer import pieces_apart
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.operations import report
from simulator.runtime.sandboxes import Sandboxes

ENTRIES: Final = 15_000
"""The number of new entries after which a busy sandbox with few payments is due for a snapshot: a restart replays them
in less than two seconds."""

PAYMENTS: Final = 20
"""A snapshot waits for another entry for each so many payments, since it writes all of them."""

RESTED_ENTRIES: Final = 1_000
"""The number of new entries that make a snapshot worthwhile in a pause."""

LOOK_S: Final = 0.25
SHARE: Final = 1  # the pause after a snapshot, as a multiple of its duration
END_S: Final = 5.0
"""The time limit for snapshots at the end of a server."""


class SnapshotSchedule:
    """Takes the snapshots of all sandboxes of a server, in turn."""

    def __init__(
        self, store: Storage, gate: Gate, sandboxes: Sandboxes, is_paused: Callable[[], bool] = lambda: False
    ) -> None:
        self._is_paused = is_paused
        self._store = store
        self._gate = gate
        self._sandboxes = sandboxes
        self._lengths: WeakKeyDictionary[LiveSandbox, int] = WeakKeyDictionary()  # when they were looked at last
        self._not_before_s = 0.0
        self._looking: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Check at intervals; needs a running event loop."""
        self._looking = asyncio.create_task(self._look())

    async def end(self) -> None:
        """Stop checking, and take the last snapshots if time permits."""
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
        with suppress(TimeoutError):
            async with asyncio.timeout(END_S):
                for live in self._sandboxes:
                    if self._may_save(live) and self._new(live) >= RESTED_ENTRIES:
                        await self.save(live)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(max(LOOK_S, self._not_before_s - monotonic()))
            try:
                for live in self._sandboxes:
                    if self._may_save(live) and self._is_due(live):
                        await self.save(live)
            except Exception as error:  # our mistake, or a disk that fails: the entries have it all
                report(error, "a snapshot")

    def _may_save(self, live: LiveSandbox) -> bool:
        """Return whether a sandbox may be saved: not after its deletion, nor after a disk failure."""
        return not live.is_deleted and self._gate.failure is None and not self._is_paused()

    def _is_due(self, live: LiveSandbox) -> bool:
        new, n = self._new(live), self._store.writer.life_of(live.id).n
        rests, self._lengths[live] = self._lengths.get(live) == n, n
        due = max(ENTRIES, len(live.core.state.transactions) // PAYMENTS)
        return monotonic() >= self._not_before_s and new >= (min(due, RESTED_ENTRIES) if rests else due)

    def _new(self, live: LiveSandbox) -> int:
        """Return how many entries have come since the newest snapshot."""
        life = self._store.writer.life_of(live.id)
        return life.n - (life.snapshots[-1].n if life.snapshots else 0)

    async def save(self, live: LiveSandbox) -> bool:
        """Take a snapshot now. Return False when that is impossible at this moment."""
        began_s = monotonic()
        try:
            refuse_not_now(live)
            writer = self._store.writer.begin_snapshot(live.id)
            async with aclosing(pieces_apart(lambda: parts_of(live))) as pieces:
                async for name, content in pieces:
                    writer.put(name, content)
        except NotNow:
            return False
        except Exception as error:  # our mistake: the entries have it all
            report(error, "a snapshot")
            return False
        finally:
            self._not_before_s = monotonic() + SHARE * (monotonic() - began_s)
        return writer.complete()  # not when the sandbox was rewound, reset or deleted meanwhile
