"""Snapshots of a world's sandboxes. A server forks a process to write them; here the state is read at once, and
written while the sandbox continues."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from simulator.persistence import snapshot_schedule
from simulator.persistence.snapshot import cache
from simulator.persistence.snapshot.forked_writer import Parts, Pieces
from simulator.persistence.snapshot_schedule import SnapshotSchedule
from simulator.runtime.live_sandbox import LiveSandbox

Object = Callable[[str], None]


async def take(saver: SnapshotSchedule, sandboxes: list[LiveSandbox]) -> None:
    """Take a snapshot of each sandbox."""
    for live in sandboxes:
        if not live.is_deleted:
            await saver.save(live)


@contextmanager
def taken_here(delay_s: Callable[[], float], objected: Object) -> Iterator[None]:
    """Take snapshots in the loop, each half written for a while. `objected` gets the failures."""

    def apart(parts: Parts) -> Pieces:
        return _pieces(parts, delay_s())

    def report(error: BaseException, what: str) -> None:
        objected(f"{what} failed: {type(error).__name__}: {error}")

    with ExitStack() as stack:
        for module in (snapshot_schedule, cache):
            stack.enter_context(patch.object(module, "pieces_apart", apart))
        stack.enter_context(patch.object(snapshot_schedule, "report", report))
        yield


async def _pieces(parts: Parts, delay_s: float) -> AsyncGenerator[tuple[str, bytes], None]:
    made = list(parts())
    for place, piece in enumerate(made):
        if place == len(made) // 2 and delay_s:
            await asyncio.sleep(delay_s)
        yield piece
