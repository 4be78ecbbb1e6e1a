"""Takes the snapshots that a server keeps in memory: one at a time, beside all else that it does.

However many marks are set, one snapshot is being taken, and each other sandbox waits for its turn once. A turn of the
event loop has a short slice of it, and rests follow which leave most of the time to others.
"""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import Final

from simulator.persistence.replay.kept_snapshots import PART_BYTES, KeptSnapshots, Snapshot, Snapshots
from simulator.runtime.background import in_background
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.unexpected import report

SLICE_S: Final = 0.002
"""How long a turn of the event loop is held, beside the part that begins before."""

SHARE: Final = 4
"""One slice is followed by a rest of so many times its length, less one: a quarter of the time is taken at most."""


class _TooLarge(Exception):
    """A snapshot has more bytes than all of them may have."""


class _Parts(dict[str, bytes]):
    """The parts of a snapshot. Those that are as they were `before` are the same objects, so that none is in memory
    twice."""

    def __init__(self, before: Mapping[str, bytes], new_bytes_max: int) -> None:
        super().__init__()
        self._before = before
        self._room = new_bytes_max

    def put(self, name: str, content: bytes) -> None:
        """Add a part. Raises `_TooLarge`."""
        known = self._before.get(name)
        self[name] = content if known is None or known != content else known
        self._room -= PART_BYTES + (len(content) if self[name] is content else 0)
        if self._room < 0:
            raise _TooLarge


class Taking:
    """Takes snapshots of sandboxes that are wanted, in order, and keeps them in `kept`."""

    def __init__(self, snapshots: Snapshots, kept: KeptSnapshots) -> None:
        self._snapshots = snapshots
        self._kept = kept
        self._wanted: dict[LiveSandbox, None] = {}
        self._now: tuple[LiveSandbox, object, int] | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """True while one is taken or waits for its turn."""
        return self._task is not None

    def want(self, live: LiveSandbox) -> None:
        """Take one of the present of a sandbox soon, unless there is one, or it is being taken."""
        if self._has(live) or self._now == (live, live.driver, len(live.tape)):
            return
        self._wanted[live] = None
        if self._task is None:
            self._task = asyncio.create_task(self._take_all())

    async def finished(self) -> None:
        """Wait until none is wanted any more."""
        while self._task is not None:
            await asyncio.wait([self._task])

    async def _take_all(self) -> None:
        try:
            while self._wanted:
                live = next(iter(self._wanted))
                del self._wanted[live]
                if not self._has(live):
                    self._now = live, live.driver, len(live.tape)
                    await self._take(live)
        finally:
            self._now = self._task = None

    def _has(self, live: LiveSandbox) -> bool:
        """Whether there is one of its present."""
        nearest = self._kept.nearest(live, len(live.tape))
        return nearest is not None and nearest.n == len(live.tape)

    async def _take(self, live: LiveSandbox) -> None:
        """Take one; none while a request waits, or an advance runs."""
        life, before = live.beginning, self._kept.nearest(live, len(live.tape))
        known = {} if before is None else before.parts
        try:
            try:
                parts = await self._parts(live, known)
            except self._snapshots.not_now:  # something happens in it all the time: a copy of the process takes it
                parts = await self._parts_apart(live, known)
            made = await in_background(self.shared, self._snapshots.made(parts.items()), before)
        except (self._snapshots.not_now, _TooLarge):
            return
        except Exception as error:  # our mistake: the tape has it all
            report(error, "a snapshot")
            return
        if not live.is_closed:
            self._kept.add(live, life, [made])

    async def _parts(self, live: LiveSandbox, before: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the parts of one, taken in slices."""
        loop, found = asyncio.get_running_loop(), _Parts(before, self._kept.bytes_max)
        began_s = loop.time()
        for name, content in self._snapshots.pieces(live):
            found.put(name, content)
            if (taken_s := loop.time() - began_s) >= SLICE_S:
                await asyncio.sleep((SHARE - 1) * taken_s)
                began_s = loop.time()
        return found

    async def _parts_apart(self, live: LiveSandbox, before: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the parts of one as the sandbox is now."""
        self._now = live, live.driver, len(live.tape)
        found = _Parts(before, self._kept.bytes_max)
        async with aclosing(self._snapshots.apart(live)) as pieces:
            async for name, content in pieces:
                found.put(name, content)
        return found

    def shared(self, one: Snapshot, before: Snapshot | None) -> Snapshot:
        """A snapshot that shares what has not changed since the one before. It may be made beside the event loop."""
        return one if before is None else self._snapshots.sharing(one, before)
