"""How the slots of network attempts are shared: fairly between owners, within a total, some at each receiver."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.http_client.slots import Receiver, Slot, Slots

HERE: Receiver = ("127.0.0.1", 80)


class Attempts:
    """Attempts that hold their slot until the test ends them."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.running: list[tuple[str, Receiver, asyncio.Event]] = []
        self.tasks: list[asyncio.Task[None]] = []

    def start(self, owner: str, receiver: Receiver = HERE) -> asyncio.Task[None]:
        """Begin an attempt, which may have to wait for its turn."""
        task = asyncio.create_task(self._attempt(owner, receiver))
        self.tasks.append(task)
        return task

    async def _attempt(self, owner: str, receiver: Receiver) -> None:
        async with Slot(self.slots, owner, receiver):
            running = (owner, receiver, asyncio.Event())
            self.running.append(running)
            try:
                await running[2].wait()
            finally:
                self.running.remove(running)

    def held(self) -> Counter[str]:
        """How many slots each owner holds."""
        return Counter(owner for owner, _, _ in self.running)

    def end_one(self, owner: str) -> None:
        """End the oldest attempt of the owner that runs."""
        next(ending for name, _, ending in self.running if name == owner).set()


async def settle() -> None:
    """Let everything happen that can."""
    for _ in range(5):
        await asyncio.sleep(0)


@contextmanager
def attempts(total: int, per_receiver: int = 1000) -> Iterator[Attempts]:
    """Attempts within these bounds; the fixture ends the rest."""
    made = Attempts(Slots(total, per_receiver))
    try:
        yield made
    finally:
        for task in made.tasks:
            task.cancel()


def test_one_sandbox_leaves_half_of_the_slots_free() -> None:
    async def main() -> None:
        with attempts(total=8) as them:
            for _ in range(20):
                them.start("a")
            await settle()
            assert them.held() == {"a": 4}

    asyncio.run(main())


def test_a_sandbox_whose_receivers_are_dead_keeps_no_other_waiting() -> None:
    async def main() -> None:
        with attempts(total=8) as them:
            for port in range(100):
                them.start("dead", ("127.0.0.1", port))
            await settle()
            them.start("other")
            await settle()
            assert them.held()["other"] == 1

    asyncio.run(main())


def test_two_sandboxes_at_one_receiver_have_slots_of_their_own() -> None:
    async def main() -> None:
        with attempts(total=100, per_receiver=3) as them:
            for _ in range(10):
                them.start("a")
                them.start("b")
            await settle()
            assert them.held() == {"a": 3, "b": 3}

    asyncio.run(main())


def test_a_freed_slot_goes_to_the_sandboxes_in_turn() -> None:
    async def main() -> None:
        with attempts(total=4) as them:
            for owner in ("a", "a", "b"):
                them.start(owner)
            await settle()
            assert them.held() == {"a": 2, "b": 1}
            for owner in ("a", "b", "a", "b"):
                them.start(owner)
            them.end_one("a")
            await settle()
            assert them.held() == {"a": 2, "b": 1}
            them.end_one("a")
            await settle()
            assert them.held() == {"a": 1, "b": 2}

    asyncio.run(main())


def test_attempts_to_one_receiver_keep_their_order() -> None:
    async def main() -> None:
        order: list[int] = []
        slots = Slots(total=10, per_receiver=1)

        async def attempt(number: int) -> None:
            async with Slot(slots, "a", HERE):
                order.append(number)
                await asyncio.sleep(0)

        await asyncio.gather(*map(attempt, range(20)))
        assert order == list(range(20))

    asyncio.run(main())


def test_a_cancelled_attempt_gives_its_place_to_the_next() -> None:
    async def main() -> None:
        with attempts(total=100, per_receiver=1) as them:
            first, second, _ = (them.start("a") for _ in range(3))
            await settle()
            second.cancel()
            await settle()
            first.cancel()
            await settle()
            assert them.held() == {"a": 1}

    asyncio.run(main())


class Compared(asyncio.Future[None]):
    """Counts comparisons of all instances."""

    times = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return self is other

    __hash__ = asyncio.Future.__hash__


def test_waiting_attempts_are_cancelled_in_any_order_without_a_scan() -> None:
    """A sandbox whose receiver is dead may have tens of thousands of them when it is deleted."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        with pytest.MonkeyPatch.context() as patched, attempts(total=2) as them:
            patched.setattr(loop, "create_future", lambda: Compared(loop=loop))
            waiting = [them.start("a") for _ in range(1000)]
            await settle()
            Compared.times = 0
            for task in reversed(waiting):
                task.cancel()
            await settle()
            assert all(task.done() for task in waiting)
            assert Compared.times < 10_000

    asyncio.run(main())


def test_an_attempt_that_is_cancelled_as_its_turn_comes_gives_it_back() -> None:
    async def main() -> None:
        with attempts(total=100, per_receiver=1) as them:
            them.start("a")
            second = them.start("a")
            them.start("a")
            await settle()
            them.end_one("a")
            await asyncio.sleep(0)  # the first ends and grants the second its turn, which has not run yet
            await asyncio.sleep(0)
            second.cancel()
            await settle()
            assert them.held() == {"a": 1}

    asyncio.run(main())


def test_idle_slots_take_no_memory() -> None:
    async def main() -> None:
        slots = Slots(total=4, per_receiver=1)

        async def attempt(number: int) -> None:
            async with Slot(slots, f"sandbox-{number % 7}", ("127.0.0.1", number % 5)):
                await asyncio.sleep(0)

        await asyncio.gather(*map(attempt, range(200)))
        assert not slots._owners
        assert not slots._in_turn
        assert slots._free == 4

    asyncio.run(main())


OWNERS = st.sampled_from("abc")
STEPS = st.lists(
    st.tuples(st.sampled_from(["start", "start", "end", "cancel"]), OWNERS, st.integers(0, 2)), min_size=1, max_size=60
)


@given(total=st.integers(2, 6), per_receiver=st.integers(1, 3), steps=STEPS)
def test_no_slot_is_lost_or_given_twice_and_no_attempt_waits_beside_a_free_slot(
    total: int, per_receiver: int, steps: list[tuple[str, str, int]]
) -> None:
    async def main() -> None:
        with attempts(total, per_receiver) as them:
            for step, owner, port in steps:
                if step == "start":
                    them.start(owner, ("127.0.0.1", port))
                elif step == "cancel" and them.tasks:
                    them.tasks[port % len(them.tasks)].cancel()
                elif them.held()[owner]:
                    them.end_one(owner)
                await settle()
                _check(them, total, per_receiver)

    asyncio.run(main())


def _check(them: Attempts, total: int, per_receiver: int) -> None:
    held, at = them.held(), Counter((owner, receiver) for owner, receiver, _ in them.running)
    free = total - sum(held.values())
    assert them.slots._free == free >= 0
    assert all(count <= per_receiver for count in at.values())
    for name, owner in them.slots._owners.items():
        assert owner.held == held[name]
        for lane in owner.lanes.values():
            if lane.waiting:
                assert lane.held == per_receiver or owner.held >= free
