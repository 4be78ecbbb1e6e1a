"""Lazy imports of first requests are warmed up after the start, without slowing it."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from simulator import preparation
from simulator.scenario.sections import templates
from tests.support.client import running

IMPORTED = """
import asyncio, sys
from simulator import preparation
from simulator.app import build_app
from simulator.options import Options

HEAVY = ("faker", "simulator.control.control_app", "simulator.control.access")
build_app(Options())
assert not [name for name in (*HEAVY, "jwt") if name in sys.modules], "they are not part of the start"
from simulator.cli import server
assert "sqlite3" not in sys.modules, "only servers with a data folder need it"
preparation.DELAY_S = 0
asyncio.run(preparation.prepare())
assert all(name in sys.modules for name in HEAVY)
assert "jwt" not in sys.modules, "it takes 10 MB with cryptography, and most servers never see a token"
"""


@pytest.mark.slow
def test_the_start_imports_nothing_heavy_and_the_preparation_all_of_it() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTED], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_it_is_done_beside_the_event_loop_after_the_start_and_ends_with_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began, may_end = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def step() -> None:
        threads.append(threading.current_thread())
        began.set()
        assert may_end.wait(10)

    monkeypatch.setattr(preparation, "DELAY_S", 0)
    monkeypatch.setattr(preparation, "STEPS", (step, step))

    async def until_it_began() -> None:
        async with asyncio.timeout(60):
            while not began.is_set():  # noqa: ASYNC110 - an event of threads
                await asyncio.sleep(0)

    with running() as client:
        client.run(until_it_began())
        assert client.call("GET", "/v2/balance").status == 200, "while the step is under way"
        client.app.sandboxes.close = _then(may_end.set, client.app.sandboxes.close)  # type: ignore[method-assign]
    assert may_end.is_set()
    assert len(threads) == 1, "the second step was not begun"
    assert threads[0] is not threading.main_thread()


def _then(
    first: Callable[[], None], close: Callable[[], Coroutine[Any, Any, None]]
) -> Callable[[], Coroutine[Any, Any, None]]:
    """A close that lets the step end, which the process waits for; by then the preparation is stopping."""

    async def both() -> None:
        first()
        await close()

    return both


def test_people_that_two_threads_draw_up_at_once_are_the_same() -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: templates.person_pools.__wrapped__(), range(2))
    assert first == second == templates.person_pools()
