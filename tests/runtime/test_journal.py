"""Bounded memory, and waiting on it."""

import asyncio
from dataclasses import dataclass

import pytest

from simulator.domain.errors import Busy
from simulator.runtime.journal import BoundedLog, Tally
from simulator.runtime.wait_limits import WAITERS_MAX, Notifier


@dataclass
class Item:
    size: int = 10
    n: int = 0


def filled(count: int, count_max: int = 100, bytes_max: int = 10_000) -> BoundedLog[Item]:
    ring: BoundedLog[Item] = BoundedLog(count_max, bytes_max)
    for _ in range(count):
        ring.add(Item())
    return ring


def test_the_oldest_leave_when_there_are_too_many() -> None:
    ring = filled(7, count_max=5)
    assert ([item.n for item in ring], ring.left_out) == ([3, 4, 5, 6, 7], 2)


def test_the_oldest_leave_when_they_are_too_large_together() -> None:
    ring = filled(7, bytes_max=35)
    assert [item.n for item in ring] == [5, 6, 7]


def test_the_newest_entry_is_kept_at_any_size() -> None:
    ring = filled(3, bytes_max=35)
    ring.add(Item(size=1000))
    assert [item.n for item in ring] == [4]


def test_records_are_found_by_number_and_numbers_continue_after_clearing() -> None:
    ring = filled(3)
    assert (found := ring.find(2)) is not None
    assert found.n == 2
    assert ring.find(9) is None
    ring.clear()
    assert len(ring) == 0
    ring.add(Item())
    assert [item.n for item in ring] == [4]


def test_every_record_is_found_by_number_after_evictions() -> None:
    for count in range(12):
        ring = filled(count, count_max=5)
        found = [record.n for n in range(-3, 20) if (record := ring.find(n)) is not None]
        assert found == [record.n for record in ring]


def test_waiting_ends_as_soon_as_it_is_true() -> None:
    async def main() -> None:
        ring = filled(0)
        waiting = asyncio.create_task(ring.notifier.wait_until(lambda: len(ring) >= 2, 30))
        for _ in range(2):
            await asyncio.sleep(0)
            ring.add(Item())
        assert await asyncio.wait_for(waiting, 60)

    asyncio.run(main())


def test_waiting_ends_when_the_time_is_up() -> None:
    async def main() -> None:
        assert not await Notifier().wait_until(lambda: False, 0.01)
        assert not await Notifier().wait_until(lambda: False, 0)
        assert await Notifier().wait_until(lambda: True, 0)

    asyncio.run(main())


def test_a_tally_reads_each_record_once_and_includes_evicted_records() -> None:
    looked_at: list[int] = []

    def is_even(item: Item) -> bool:
        looked_at.append(item.n)
        return item.n % 2 == 0

    ring = filled(3, count_max=3)
    tally = Tally(ring, is_even)
    assert (tally.count(), tally.count()) == (1, 1)
    for n in range(4, 9):
        ring.add(Item())
        assert tally.count() == n // 2
    assert sorted(looked_at) == list(range(1, 9))
    assert Tally(ring, is_even, after=ring.last_n, counted=7).count() == 7


def test_more_may_not_wait_than_the_limit() -> None:
    async def main() -> None:
        notifier = Notifier()
        tasks = [asyncio.create_task(notifier.wait_until(lambda: False, 30)) for _ in range(WAITERS_MAX)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await notifier.wait_until(lambda: False, 30)
        assert await notifier.wait_until(lambda: True, 30), "it needs no place"
        notifier.close()
        assert await asyncio.wait_for(asyncio.gather(*tasks), 60) == [False] * WAITERS_MAX
        assert notifier.waiting == []

    asyncio.run(main())
