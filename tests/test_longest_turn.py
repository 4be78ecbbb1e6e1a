"""The measure of the longest turn itself: what counts, and what does not."""

import asyncio
import gc
from datetime import datetime

import pytest

from simulator.runtime.live_sandbox import LiveSandbox
from tests.support.client import running
from tests.support.longest_turn import LIMIT_S, LONGEST_TURN, keep_busy

WORK_S = 0.05


def work() -> None:
    keep_busy(WORK_S)


def test_a_callback_counts() -> None:
    async def main() -> None:
        asyncio.get_running_loop().call_soon(work)
        await asyncio.sleep(0)

    asyncio.run(main())
    assert WORK_S <= LONGEST_TURN.seconds < LIMIT_S
    assert "work" in LONGEST_TURN.callback


def test_time_of_a_browser_driver_does_not_count() -> None:
    def driven() -> None:
        work()

    driven.__code__ = driven.__code__.replace(co_filename="/x/site-packages/playwright/_impl/_greenlets.py")

    async def main() -> None:
        asyncio.get_running_loop().call_soon(driven)
        await asyncio.sleep(0)

    asyncio.run(main())
    assert LONGEST_TURN.seconds < WORK_S


def test_a_request_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    signing_time = LiveSandbox.signing_time

    def slow(live: LiveSandbox, wall: datetime | None = None) -> datetime:
        work()
        return signing_time(live, wall)

    monkeypatch.setattr(LiveSandbox, "signing_time", slow)
    with running() as client:
        client.call("GET", "/v2/balance")
    assert LONGEST_TURN.seconds >= WORK_S
    assert "App.__call__" in LONGEST_TURN.callback


@pytest.mark.slow
def test_a_tests_own_work_and_collections_of_garbage_do_not_count() -> None:
    async def main() -> None:
        work()
        asyncio.get_running_loop().call_soon(gc.collect)
        await asyncio.sleep(0)

    def collect(phase: str, _: object) -> None:
        if phase == "start":
            work()

    gc.callbacks.append(collect)
    try:
        asyncio.run(main())
    finally:
        gc.callbacks.remove(collect)
    assert LONGEST_TURN.seconds < WORK_S
