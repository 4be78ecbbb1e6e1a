"""Rebuilding begins at the nearest snapshot; they are taken beside requests, and bounded."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from simulator.persistence.replay import kept_snapshots, rewinding
from simulator.persistence.replay.kept_snapshots import PART_BYTES, KeptSnapshots, SnapshotCodec
from simulator.persistence.replay.moments import Asked
from simulator.persistence.replay.player import Player
from simulator.persistence.replay.rebuilding import player_of
from simulator.persistence.replay.rewinding import Rewinder
from simulator.persistence.snapshot.forked_writer import Pieces
from simulator.persistence.snapshot.restore import IN_MEMORY
from simulator.runtime.live_sandbox import LiveSandbox
from tests.support.client import Client, running
from tests.support.replaying import assert_replays
from tests.support.taped_plays import FIRST, parts


class NotNow(Exception):
    pass


@dataclass
class Plain:
    """A snapshot that has nothing but its place: who restores it plays what is before it."""

    n: int
    parts: Mapping[str, bytes]


@dataclass
class Taker:
    """Takes and restores them, and remembers where."""

    restored_at: list[int] = field(default_factory=list)
    is_broken: bool = False
    part_bytes: int = 1
    begun: list[str] = field(default_factory=list)
    at_once: int = 0
    at_once_max: int = 0

    def pieces(self, live: LiveSandbox) -> Iterator[tuple[str, bytes]]:
        n = len(live.tape)
        self.begun.append(live.id)
        self.at_once += 1
        self.at_once_max = max(self.at_once, self.at_once_max)
        try:
            for number in range(3):
                yield f"part/{number}", b"%d" % number * self.part_bytes
                if len(live.tape) != n:
                    raise NotNow
            yield "n", b"%d" % n
        finally:
            self.at_once -= 1

    def made(self, found: Iterable[tuple[str, bytes]]) -> Plain:
        named = dict(found)
        return Plain(int(named["n"]), named)

    def restored(self, snapshot: Plain, *arguments: Any, entries: Iterable[Any]) -> Player:
        if self.is_broken:
            raise ValueError("damaged")
        self.restored_at.append(snapshot.n)
        player = player_of(*arguments)
        for entry in entries:
            assert player.play(entry) is None
        assert player.place == snapshot.n
        return player

    @property
    def snapshots(self) -> SnapshotCodec:
        return SnapshotCodec(self.pieces, self.made, self.restored, NotNow, lambda one, before: one, self.apart)

    async def apart(self, live: LiveSandbox) -> Pieces:
        for name, content in list(self.pieces(live)):
            yield name, content


def rewinder_of(client: Client, taker: Taker) -> Rewinder:
    return Rewinder(client.app.again, client.app.surroundings(), taker.snapshots)


def deposits(client: Client, count: int) -> None:
    for _ in range(count):
        assert client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "1"}).status == 201


async def until_taken(rewinder: Rewinder) -> None:
    assert rewinder.taking is not None
    await rewinder.taking.finished()


def test_a_mark_has_a_snapshot_at_which_rebuilding_begins() -> None:
    taker = Taker()
    with running(FIRST) as client:
        rewinder = rewinder_of(client, taker)

        async def marked(name: str) -> None:
            rewinder.mark(client.live, name)
            await until_taken(rewinder)

        deposits(client, 5)
        client.run(marked("five"))
        there = parts(client.live.core)
        deposits(client, 3)
        client.run(marked("eight"))
        client.run(rewinder.rewind(client.live, Asked(n=7)))
        assert taker.restored_at == [5]
        assert [one.n for one in rewinder.kept.of(client.live)] == [5], "the others are of what is gone"
        client.run(rewinder.rewind(client.live, Asked(mark="five")))
        assert taker.restored_at == [5, 5]
        assert parts(client.live.core) == there
        client.run(rewinder.rewind(client.live, Asked(n=4)))
        assert taker.restored_at == [5, 5], "from the beginning"
        assert_replays(client.app)


def test_snapshots_are_taken_on_the_way_and_when_a_sandbox_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewinding, "PLAYED_AT_ONCE", 4)
    taker = Taker()
    with running(FIRST) as client:
        rewinder = rewinder_of(client, taker)
        deposits(client, 11)
        client.run(rewinder.rewind(client.live, Asked(n=10)))
        assert [one.n for one in rewinder.kept.of(client.live)] == [4, 8]
        deposits(client, 5)

        async def looks_twice() -> None:
            rewinder._look()
            assert rewinder.taking is not None
            assert not rewinder.taking.is_busy, "it has just been used"
            rewinder._look()
            await until_taken(rewinder)

        client.run(looks_twice())
        assert [one.n for one in rewinder.kept.of(client.live)] == [4, 8, 15]
        client.sim("POST", "/sandboxes/default/reset")
        assert rewinder.kept.of(client.live) == []


def test_where_something_happens_all_the_time_a_copy_of_the_process_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_snapshots, "SLICE_S", 0.0)
    with running(FIRST) as client:
        rewinder = rewinder_of(client, Taker())

        async def both() -> None:
            rewinder.mark(client.live, "here")
            await asyncio.gather(
                until_taken(rewinder),
                client.asim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "1"}),
            )

        client.run(both())
        assert [one.n for one in rewinder.kept.of(client.live)] == [1], "of the moment behind what happened"


def test_a_busy_sandbox_is_rebuilt_from_what_a_copy_of_the_process_took(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_snapshots, "SLICE_S", 0.0)
    with running(FIRST) as client:
        client.pay("one")
        rewinder = Rewinder(client.app.again, client.app.surroundings(), IN_MEMORY)

        async def busy() -> None:
            rewinder.mark(client.live, "here")
            assert rewinder.taking is not None
            while rewinder.taking.is_busy:
                await client.asim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "1"})

        client.run(busy())
        [taken] = rewinder.kept.of(client.live)
        assert taken.n > 1
        client.pay("two")
        monkeypatch.setattr(Player, "play", lambda *_: pytest.fail("the snapshot has it"))
        client.run(rewinder.rewind(client.live, Asked(n=taken.n)))
        monkeypatch.undo()
        assert len(client.live.tape) == taken.n
        assert_replays(client.app)


def test_a_snapshot_that_cannot_be_restored_is_dropped_and_everything_played() -> None:
    taker = Taker(is_broken=True)
    with running(FIRST) as client:
        rewinder = rewinder_of(client, taker)
        deposits(client, 3)

        async def mark() -> None:
            rewinder.mark(client.live, "three")
            await until_taken(rewinder)

        client.run(mark())
        deposits(client, 3)
        client.run(rewinder.rewind(client.live, Asked(n=4)))
        assert len(client.live.tape) == 4
        assert rewinder.kept.of(client.live) == []


def test_snapshots_are_bounded_by_number_and_bytes_and_stay_apart_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_snapshots, "LIFE_COUNT_MAX", 4)
    shared = b"x" * 1000
    with running(FIRST) as client:
        kept = KeptSnapshots(bytes_max=1300 + 6 * PART_BYTES)
        for n in range(10, 170, 10):
            kept.add(client.live, client.live.beginning, [Plain(n, {"shared": shared})])
        places = [one.n for one in kept.of(client.live)]
        gaps = [after - before for before, after in zip([0, *places], places, strict=False)]
        assert len(places) == 4
        assert places[-1] == 160
        assert max(gaps) <= 8 * min(gaps)
        second = client.sandbox(FIRST, "second")
        kept.add(second, second.beginning, [Plain(1, {"own": b"y" * 500})])
        kept.add(second, second.beginning, [Plain(2, {"own": b"z" * 200})])
        total = {id(part): len(part) for live in kept for one in kept.of(live) for part in one.parts.values()}
        count = sum(len(one.parts) for live in kept for one in kept.of(live))
        assert kept.bytes == sum(total.values()) + PART_BYTES * count <= kept.bytes_max
        assert len(kept.of(second)) == 2
        kept.add(second, second.beginning, [Plain(2, {"own": b"z" * 100})])
        assert [one.n for one in kept.of(second)] == [1, 2]
        for live in list(kept):
            for one in kept.of(live):
                kept.drop(live, one)
        assert kept.bytes == 0


def test_however_many_marks_are_set_one_snapshot_is_taken_at_a_time_and_one_of_each_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept_snapshots, "SLICE_S", 0.0)  # each part in a turn of its own
    taker = Taker()
    with running(FIRST) as client:
        rewinder = rewinder_of(client, taker)
        others = [client.sandbox(FIRST, f"box-{number}") for number in range(5)]

        async def storm() -> None:
            for number in range(90):
                rewinder.mark(client.live, f"m{number}")
                for live in others:
                    rewinder.mark(live, f"m{number}")
                await asyncio.sleep(0)
            await until_taken(rewinder)

        client.run(storm())
        assert taker.at_once_max == 1
        assert sorted(taker.begun) == ["box-0", "box-1", "box-2", "box-3", "box-4", "default"]
        assert all(len(rewinder.kept.of(live)) == 1 for live in (client.live, *others))


def test_a_mark_at_another_place_meanwhile_has_a_snapshot_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_snapshots, "SLICE_S", 0.0)
    taker = Taker()
    with running(FIRST) as client:
        rewinder = rewinder_of(client, taker)

        async def marks() -> None:
            rewinder.mark(client.live, "one")
            await asyncio.sleep(0)
            await client.asim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "1"})
            for number in range(20):
                rewinder.mark(client.live, f"two-{number}")
            await until_taken(rewinder)

        client.run(marks())
        assert [one.n for one in rewinder.kept.of(client.live)] == [1]
        assert len(taker.begun) == 2


def test_slices_of_a_snapshot_take_a_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        rests.append(seconds)
        await real(0)

    taker = Taker()
    with running(FIRST) as client:
        times = iter(range(100))  # each look at the clock is a second later
        monkeypatch.setattr(asyncio, "sleep", sleep)
        rewinder = rewinder_of(client, taker)

        async def take() -> None:
            monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: next(times))
            try:
                assert rewinder.taking is not None
                await rewinder.taking._parts(client.live, {})
            finally:
                monkeypatch.undo()

        client.run(take())
    assert rests == [kept_snapshots.SHARE - 1] * 4


def test_one_that_is_larger_than_all_may_be_is_given_up() -> None:
    taker = Taker(part_bytes=1_000)
    with running(FIRST) as client:
        rewinder = rewinder_of(client, taker)
        rewinder.kept.bytes_max = 2_000

        async def mark() -> None:
            rewinder.mark(client.live, "here")
            await until_taken(rewinder)

        client.run(mark())
        assert rewinder.kept.of(client.live) == []
        assert taker.at_once == 0
