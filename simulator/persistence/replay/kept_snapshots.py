"""The snapshots that a server keeps in memory, so that a moment is near one of them, however long the tape is.

One is taken at a time, beside everything else, and each other sandbox waits for its turn once. A turn of the event loop
has a short slice of it, and rests follow which leave most of the time to others.
"""

import asyncio
from bisect import bisect_left
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

from simulator.persistence.replay.player import Player
from simulator.runtime.background import in_background
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.operations import report
from simulator.runtime.sandbox_start import Beginning

LIFE_COUNT_MAX: Final = 32
"""Of one life of a sandbox; above it those go that leave the smallest gap."""

SERVER_BYTES_MAX: Final = 256 * 1024 * 1024

PART_BYTES: Final = 200
"""The memory of a part of one snapshot beside its content: its name and its place."""


class SnapshotParts(Protocol):
    """The state of a sandbox behind the first `n` entries of its tape, in named parts."""

    @property
    def n(self) -> int: ...

    @property
    def parts(self) -> Mapping[str, bytes]: ...


@dataclass(frozen=True, slots=True)
class SnapshotCodec:
    """How snapshots are taken and restored. `pieces` has the parts of one, a few milliseconds each, and raises
    `not_now` when there is none at this moment; `made` makes it of them; `restored` makes a player of it, with the
    arguments of `player_of` and the `entries` before it; `sharing` lets one share the memory of one before. `apart` has
    the parts as they are now, however much happens meanwhile."""

    pieces: Callable[[LiveSandbox], Iterator[tuple[str, bytes]]]
    made: Callable[[Iterable[tuple[str, bytes]]], Any]
    restored: Callable[..., Player]
    not_now: type[Exception]
    sharing: Callable[[Any, Any], SnapshotParts]
    apart: Callable[[LiveSandbox], AsyncGenerator[tuple[str, bytes], None]]


class _Life:
    """The snapshots of one life, in the order of the tape. `bytes` is the memory of all of them, in which a part that
    several share counts once."""

    def __init__(self, beginning: Beginning, snapshots: Iterable[SnapshotParts] = ()) -> None:
        self.beginning = beginning
        self.found: list[SnapshotParts] = []
        self.bytes = 0
        self._uses: Counter[int] = Counter()  # of parts, by their identity
        for one in snapshots:
            self.add(one)

    def add(self, snapshot: SnapshotParts) -> None:
        """Have one more, in the place of the one that is there."""
        place = bisect_left(self.found, snapshot.n, key=_place)
        if place < len(self.found) and self.found[place].n == snapshot.n:
            self.drop(self.found[place])
        self.found.insert(place, snapshot)
        self.bytes += PART_BYTES * len(snapshot.parts)
        for part in snapshot.parts.values():
            self._uses[id(part)] += 1
            if self._uses[id(part)] == 1:
                self.bytes += len(part)

    def drop(self, snapshot: SnapshotParts) -> None:
        """Forget one of them."""
        self.found = [one for one in self.found if one is not snapshot]
        self.bytes -= PART_BYTES * len(snapshot.parts)
        for part in snapshot.parts.values():
            self._uses[id(part)] -= 1
            if not self._uses[id(part)]:
                del self._uses[id(part)]
                self.bytes -= len(part)

    def drop_one(self) -> None:
        """Forget the one that leaves the smallest gap, the latest one last."""
        places = [0, *(one.n for one in self.found)]
        gaps = [after - before for before, after in zip(places, places[2:], strict=False)]
        self.drop(self.found[gaps.index(min(gaps)) if gaps else 0])


def _place(one: SnapshotParts) -> int:
    return one.n


class KeptSnapshots:
    """Snapshots by sandbox, those of its present life."""

    def __init__(self, bytes_max: int = SERVER_BYTES_MAX) -> None:
        self._lives: WeakKeyDictionary[LiveSandbox, _Life] = WeakKeyDictionary()
        self.bytes_max = bytes_max

    def __iter__(self) -> Iterator[LiveSandbox]:
        """The sandboxes that are followed."""
        return iter(list(self._lives))

    def follow(self, live: LiveSandbox) -> None:
        """Keep snapshots of this sandbox, from its present life on."""
        self._life(live)

    def of(self, live: LiveSandbox) -> list[SnapshotParts]:
        """Those of a sandbox, in the order of the tape."""
        return list(self._life(live).found)

    def nearest(self, live: LiveSandbox, n: int) -> SnapshotParts | None:
        """The last one before so many entries of the tape, or there."""
        return next((one for one in reversed(self._life(live).found) if one.n <= n), None)

    def add(self, live: LiveSandbox, beginning: Beginning, snapshots: Iterable[SnapshotParts]) -> None:
        """Keep these, too, as far as there is room, which are of the life with this beginning; unless it is over, since
        another one has other entries at the same places."""
        if live.beginning is not beginning:
            return
        life = self._life(live)
        for one in snapshots:
            life.add(one)
        while len(life.found) > LIFE_COUNT_MAX:
            life.drop_one()
        while self.bytes > self.bytes_max:
            max(self._lives.values(), key=lambda one: one.bytes).drop_one()

    @property
    def bytes(self) -> int:
        """The memory of all snapshots."""
        return sum(one.bytes for one in self._lives.values())

    def drop(self, live: LiveSandbox, snapshot: SnapshotParts) -> None:
        """Keep this one no more."""
        life = self._life(live)
        if any(one is snapshot for one in life.found):
            life.drop(snapshot)

    def rewound(self, live: LiveSandbox, beginning: Beginning, before: "list[SnapshotParts]", n: int) -> None:
        """The sandbox has been rewound behind so many entries, and its life with this beginning has begun; what it had
        before them is still right."""
        self.add(live, beginning, [one for one in before if one.n <= n])

    def _life(self, live: LiveSandbox) -> _Life:
        life = self._lives.get(live)
        if life is None or life.beginning is not live.beginning:  # it was reset
            life = self._lives[live] = _Life(live.beginning)
        return life


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

    def __init__(self, snapshots: SnapshotCodec, kept: KeptSnapshots) -> None:
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

    def shared(self, one: SnapshotParts, before: SnapshotParts | None) -> SnapshotParts:
        """A snapshot that shares what has not changed since the one before. It may be made beside the event loop."""
        return one if before is None else self._snapshots.sharing(one, before)
