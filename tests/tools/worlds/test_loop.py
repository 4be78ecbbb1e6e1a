"""The loop of the worlds: its time jumps, and what asyncio promises of order is kept."""

import asyncio
import inspect

import pytest

from tools.worlds import loop as loops
from tools.worlds.loop import Stalled, VirtualLoop, virtual_loop


def loop() -> VirtualLoop:
    return virtual_loop(1)


def test_time_passes_only_on_command() -> None:
    made, seen = loop(), []
    made.call_later(3600, lambda: seen.append(made.time()))
    made.pass_time(3599)
    assert seen == []
    made.pass_time(2)
    assert seen == [3600]
    assert made.time() == 3601


def test_callbacks_run_in_the_order_of_becoming_ready() -> None:
    made, seen = loop(), list[int]()
    for number in range(10):
        made.call_soon(seen.append, number)
    made.settle()
    assert seen == list(range(10))


def test_timers_of_an_instant_run_in_an_order_of_the_seed() -> None:
    orders = []
    for seed in (1, 1, 2):
        made, seen = virtual_loop(seed), list[int]()
        for number in range(10):
            made.call_later(1, seen.append, number)
        made.pass_time(1)
        orders.append(seen)
    assert orders[0] == orders[1] != orders[2]


def test_asyncio_primitives_run_in_it() -> None:
    async def main() -> list[str]:
        order: list[str] = []

        async def wait(name: str, seconds: float) -> None:
            # sleep: the time is virtual
            await asyncio.sleep(seconds)
            order.append(name)

        async with asyncio.TaskGroup() as group:
            group.create_task(wait("late", 5))
            group.create_task(wait("early", 1))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 100)
        return order

    made = loop()
    assert made.run(main(), 1000) == ["early", "late"]
    assert made.time() == 105


def test_a_task_that_never_ends_is_reported() -> None:
    made = loop()
    with pytest.raises(Stalled, match="after 10 s"):
        made.run(asyncio.Event().wait(), 10)
    made.bury()


def test_a_loop_that_runs_for_ever_without_time_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "TURNS_MAX", 100)
    made = loop()

    def again() -> None:
        made.call_soon(again)

    made.call_soon(again)
    with pytest.raises(Stalled, match="without any time passing"):
        made.settle()


def test_an_uncaught_exception_is_stored() -> None:
    made = loop()

    async def fail() -> None:
        raise ValueError("ours")

    made.create_task(fail())
    made.settle()
    assert "ours" in made.errors[0]


def test_a_task_that_another_starts_at_its_end_is_ended_as_well() -> None:
    made, waiting, started = loop(), asyncio.Event(), []

    async def last_words() -> None:
        """End without having begun."""

    async def speak_at_the_end() -> None:
        try:
            await waiting.wait()
        finally:
            started.append(last_words())
            made.create_task(started[0])

    made.create_task(speak_at_the_end())
    made.settle()
    waiting.set()
    made.bury()  # before it went on
    assert inspect.getcoroutinestate(started[0]) == inspect.CORO_CLOSED
