"""The copy of a process that writes a snapshot: when it is cancelled, at any moment, all of it ends at once."""

import asyncio
import os
from collections.abc import Callable, Iterator

import pytest
import uvloop

from simulator.persistence.snapshot import forked_writer
from simulator.persistence.snapshot.document import NotNow
from simulator.persistence.snapshot.forked_writer import pieces_apart

pytestmark = pytest.mark.skipif(not forked_writer.CAN_FORK, reason="processes are not forked here")

LOOPS = [uvloop.new_event_loop, asyncio.new_event_loop]
LARGE = os.urandom(3_000_000)


def parts() -> Iterator[tuple[str, bytes]]:
    yield "small", b"1"
    yield "large", LARGE


def endless() -> Iterator[tuple[str, bytes]]:
    """These take long enough to be interrupted, however fast the copy is."""
    while True:
        yield from parts()


async def taken(made: forked_writer.Parts = parts) -> dict[str, bytes]:
    return {name: content async for name, content in pieces_apart(made)}


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()


@pytest.fixture(params=LOOPS, ids=["uvloop", "asyncio"])
def runner(request: pytest.FixtureRequest) -> Iterator[asyncio.Runner]:
    make: Callable[[], asyncio.AbstractEventLoop] = request.param
    with asyncio.Runner(loop_factory=make) as running:
        running.run(asyncio.sleep(0))
        yield running


def test_the_parts_come_as_they_were(runner: asyncio.Runner) -> None:
    assert runner.run(taken()) == {"small": b"1", "large": LARGE}


def test_a_copy_that_ends_too_early_is_reported(runner: asyncio.Runner) -> None:
    def ending() -> Iterator[tuple[str, bytes]]:
        yield "small", b"1"
        os._exit(1)

    async def take() -> None:
        async for _ in pieces_apart(ending):
            pass

    with pytest.raises(NotNow):
        runner.run(take())


@pytest.mark.slow
@pytest.mark.parametrize("turns", range(8))
def test_a_cancelled_snapshot_leaves_nothing_at_any_moment(
    runner: asyncio.Runner, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids: list[int] = []
    fork = forked_writer._fork

    def noted(parts: forked_writer.Parts) -> tuple[int, int]:
        pid, descriptor = fork(parts)
        pids.append(pid)
        return pid, descriptor

    async def cancelled() -> bool:
        taking = asyncio.create_task(taken(endless))
        for _ in range(turns):
            await asyncio.sleep(0)
        taking.cancel()
        await asyncio.wait([taking])
        return taking.cancelled()

    monkeypatch.setattr(forked_writer, "_fork", noted)
    before = descriptors()
    assert runner.run(cancelled())
    assert descriptors() == before
    assert len(pids) == (turns > 0)
    for pid in pids:
        with pytest.raises(ChildProcessError):  # it has been waited for
            os.waitpid(pid, os.WNOHANG)
