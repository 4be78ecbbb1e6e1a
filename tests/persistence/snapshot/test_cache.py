"""Rebuilding begins at the nearest snapshot; they are taken beside requests, and bounded."""

import asyncio
from typing import Any

import pytest

from simulator.persistence import rewinding
from simulator.persistence.replay.differences import state_digest
from simulator.persistence.replay.player import Player
from simulator.persistence.rewinding import MomentRef, Rewinder
from simulator.persistence.snapshot.cache import SnapshotCache
from simulator.persistence.snapshot.document import Snapshot
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import Life
from tests.support.client import Client, running
from tests.support.replaying import assert_replays
from tests.support.snapshots import all_taken
from tests.support.taped_plays import FIRST


def rewinder_of(client: Client) -> Rewinder:
    return Rewinder(client.app.replayer, client.app.sandboxes.surroundings)


def deposits(client: Client, count: int) -> None:
    for _ in range(count):
        assert client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "1"}).status == 201


def mark(client: Client, rewinder: Rewinder, name: str) -> None:
    """Mark the present, and wait for its snapshot."""

    async def marked() -> None:
        rewinder.mark(client.live, name)
        await all_taken(rewinder.snapshots)

    client.run(marked())


def places(rewinder: Rewinder, live: LiveSandbox) -> list[int]:
    return [snapshot.n for snapshot in rewinder.snapshots.of(live)]


@pytest.fixture
def restored_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The places of the snapshots at which rebuilding begins."""
    found: list[int] = []
    real = rewinding.restored  # type: ignore[attr-defined]

    def restored(snapshot: Snapshot, *arguments: Any, **options: Any) -> Player:
        found.append(snapshot.n)
        return real(snapshot, *arguments, **options)

    monkeypatch.setattr(rewinding, "restored", restored)
    return found


def test_a_mark_has_a_snapshot_at_which_rebuilding_begins(restored_at: list[int]) -> None:
    with running(FIRST) as client:
        rewinder = rewinder_of(client)
        deposits(client, 5)
        mark(client, rewinder, "five")
        there = state_digest(client.live)
        deposits(client, 3)
        mark(client, rewinder, "eight")
        client.run(rewinder.rewind(client.live, MomentRef(n=7)))
        assert restored_at == [5]
        assert places(rewinder, client.live) == [5], "the others are of what is gone"
        client.run(rewinder.rewind(client.live, MomentRef(mark="five")))
        assert restored_at == [5, 5]
        assert state_digest(client.live) == there
        client.run(rewinder.rewind(client.live, MomentRef(n=4)))
        assert restored_at == [5, 5], "from the beginning"
        assert_replays(client.app)


def test_snapshots_are_taken_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewinding, "PLAYED_AT_ONCE", 4)
    with running(FIRST) as client:
        rewinder = rewinder_of(client)
        deposits(client, 11)
        client.run(rewinder.rewind(client.live, MomentRef(n=10)))
        assert places(rewinder, client.live) == [4, 8]
        client.sim("POST", "/sandboxes/default/reset")
        assert places(rewinder, client.live) == []


def test_a_long_tape_has_a_snapshot_beside_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(FIRST) as client:
        client.pay("one")
        rewinder = rewinder_of(client)

        async def busy() -> None:
            rewinder.mark(client.live, "here")
            await asyncio.gather(
                all_taken(rewinder.snapshots),
                client.asim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "1"}),
            )

        client.run(busy())
        [taken] = rewinder.snapshots.of(client.live)
        client.pay("two")
        monkeypatch.setattr(Player, "play", lambda *_: pytest.fail("the snapshot has it"))
        client.run(rewinder.rewind(client.live, MomentRef(n=taken.n)))
        monkeypatch.undo()
        assert len(client.live.tape) == taken.n
        assert_replays(client.app)


def test_a_snapshot_that_cannot_be_restored_is_dropped_and_everything_played(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Player:
        raise ValueError("damaged")

    monkeypatch.setattr(rewinding, "restored", broken)
    with running(FIRST) as client:
        rewinder = rewinder_of(client)
        deposits(client, 3)
        mark(client, rewinder, "three")
        deposits(client, 3)
        client.run(rewinder.rewind(client.live, MomentRef(n=4)))
        assert len(client.live.tape) == 4
        assert places(rewinder, client.live) == []


def test_snapshots_are_bounded_by_their_bytes_and_stay_apart_evenly() -> None:
    def sized(live: LiveSandbox, n: int, size: int) -> Snapshot:
        return Snapshot(n, live.clock.now(), {"state": b"x" * size})

    def size() -> int:
        return sum(len(one.parts["state"]) for each in (live, second) for one in kept.of(each))

    with running(FIRST) as client:
        live, second = client.live, client.sandbox(FIRST, "second")
        kept = SnapshotCache(bytes_max=4_500)
        for n in range(10, 170, 10):
            kept.add(live, live.life, sized(live, n, 1_000))
        found = [snapshot.n for snapshot in kept.of(live)]
        gaps = [after - before for before, after in zip([0, *found], found, strict=False)]
        assert len(found) == 4
        assert found[-1] == 160
        assert max(gaps) <= 8 * min(gaps)
        kept.add(second, second.life, sized(second, 1, 500), sized(second, 2, 200))
        assert size() == 3_700, "the larger sandbox has a snapshot less"
        kept.add(second, second.life, sized(second, 2, 100))
        assert [(snapshot.n, len(snapshot.parts["state"])) for snapshot in kept.of(second)] == [(1, 500), (2, 100)]
        kept.add(second, second.life, sized(second, 3, 5_000))
        assert size() <= kept.bytes_max, "one that is larger than all may be is given up"


@pytest.fixture
def taken_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the sandboxes with snapshots."""
    found: list[str] = []
    real = SnapshotCache.add

    def add(snapshots: SnapshotCache, live: LiveSandbox, life: Life, *more: Snapshot) -> None:
        found.append(live.id)
        real(snapshots, live, life, *more)

    monkeypatch.setattr(SnapshotCache, "add", add)
    return found


def test_however_many_marks_are_set_one_snapshot_is_taken_of_each_place(taken_of: list[str]) -> None:
    with running(FIRST) as client:
        rewinder = rewinder_of(client)
        boxes = [client.live, *(client.sandbox(FIRST, f"box-{number}") for number in range(5))]

        async def storm() -> None:
            for number in range(90):
                for live in boxes:
                    rewinder.mark(live, f"m{number}")
                await asyncio.sleep(0)
            await all_taken(rewinder.snapshots)

        client.run(storm())
        assert sorted(taken_of) == ["box-0", "box-1", "box-2", "box-3", "box-4", "default"]
        assert all(len(rewinder.snapshots.of(live)) == 1 for live in boxes)
