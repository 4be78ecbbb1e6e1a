"""Delays of requests, which the server begins to handle outside a task."""

import asyncio

import pytest

from simulator.runtime.wait_limits import Delays


def test_a_delay_begins_outside_a_task_and_can_be_ended() -> None:
    loop, delays = asyncio.new_event_loop(), Delays()
    request = delays.sleep(3600)  # sleep: it is ended before
    loop.call_soon(request.send, None)
    loop.call_soon(delays.end)
    loop.call_soon(loop.stop)
    loop.run_forever()
    with pytest.raises(StopIteration):
        request.send(None)
    loop.close()


def test_ended_delays_resume_in_the_order_in_which_they_began() -> None:
    resumed: list[int] = []

    async def wait(delays: Delays, number: int) -> None:
        await delays.sleep(3600)  # sleep: it is ended before
        resumed.append(number)

    async def end_all() -> None:
        delays = Delays()
        async with asyncio.TaskGroup() as group:
            for number in range(200):
                group.create_task(wait(delays, number))
            await asyncio.sleep(0)
            delays.end()

    asyncio.run(end_all())
    assert resumed == list(range(200))
