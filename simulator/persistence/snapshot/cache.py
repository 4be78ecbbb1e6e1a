"""The snapshots that a server keeps in memory, so that any moment is near a snapshot, for any length of the tape."""

import asyncio
from contextlib import aclosing
from functools import partial
from weakref import WeakKeyDictionary

from simulator.persistence.snapshot.capture import parts_of
from simulator.persistence.snapshot.document import NotNow, Snapshot, snapshot_of
from simulator.persistence.snapshot.forked_writer import pieces_apart
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import Life
from simulator.runtime.operations import report


class SnapshotCache:
    """Snapshots of sandboxes, by life. Above `bytes_max` for all of them, the largest life loses the snapshot that
    leaves the smallest gap."""

    def __init__(self, bytes_max: float) -> None:
        self.bytes_max = bytes_max
        self._by_life: WeakKeyDictionary[Life, list[Snapshot]] = WeakKeyDictionary()
        self._wanted: dict[LiveSandbox, None] = {}
        self._task: asyncio.Task[None] | None = None

    def of(self, live: LiveSandbox) -> list[Snapshot]:
        """Return the snapshots of a sandbox in the order of the tape."""
        return self._by_life.get(live.life, [])

    def nearest(self, live: LiveSandbox, n: int) -> Snapshot | None:
        """Return the last snapshot at or before the place after `n` entries of the tape."""
        return next((snapshot for snapshot in reversed(self.of(live)) if snapshot.n <= n), None)

    def add(self, live: LiveSandbox, life: Life, *snapshots: Snapshot) -> None:
        """Add snapshots of this life, unless it has ended: another life has other entries at the same places."""
        if live.life is not life or live.is_closed:
            return
        found = {snapshot.n: snapshot for snapshot in (*self.of(live), *snapshots)}
        self._by_life[life] = [found[n] for n in sorted(found)]
        lives = list(self._by_life.values())
        while sum(map(_bytes_of, lives)) > self.bytes_max:
            largest = max(lives, key=_bytes_of)
            places = [0, *(snapshot.n for snapshot in largest)]
            gaps = [after - before for before, after in zip(places, places[2:], strict=False)]
            del largest[gaps.index(min(gaps)) if gaps else 0]  # the latest snapshot goes last

    def forget(self, life: Life) -> None:
        """Forget the snapshots of a life that has ended, which the garbage collector may free much later."""
        self._by_life.pop(life, None)

    def drop(self, live: LiveSandbox, snapshot: Snapshot) -> None:
        found = self.of(live)
        found[:] = [other for other in found if other is not snapshot]

    def want(self, live: LiveSandbox) -> None:
        """Take a snapshot of the present of a sandbox soon, unless it exists."""
        self._wanted[live] = None
        if self._task is None:
            self._task = asyncio.create_task(self._take_wanted())

    async def _take_wanted(self) -> None:
        try:
            while self._wanted:
                live = next(iter(self._wanted))
                del self._wanted[live]
                try:
                    if all(snapshot.n != len(live.tape) for snapshot in self.of(live)):
                        life = live.life
                        async with aclosing(pieces_apart(partial(parts_of, live))) as pieces:
                            self.add(live, life, snapshot_of([piece async for piece in pieces]))
                except NotNow:
                    continue
                except Exception as error:  # our mistake: the tape has it all
                    report(error, "a snapshot")
        finally:
            self._task = None


def _bytes_of(snapshots: list[Snapshot]) -> int:
    return sum(len(content) for snapshot in snapshots for content in snapshot.parts.values())
