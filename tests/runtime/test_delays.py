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
