"""What a finished payment, and a sandbox keep in memory."""

import ctypes
import gc
import time
from pathlib import Path

from bench.scale.row import Row
from bench.scale.world import World
from simulator.runtime.lives import SandboxSpec

KIB, MIB = 1024, 1024 * 1024
PAYMENT_KIB_MAX = 2.5
SANDBOX_MS_MAX = 2.0
SANDBOXES_MIB_MAX = 100.0
WARM_UP = 60_000  # after which the journal, the logs, the tape and the nonces are full
SANDBOXES = 1_000


def _resident() -> int:
    """The resident memory of this process in bytes, without what could be freed."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    status = Path("/proc/self/status").read_text()
    return KIB * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


def payments(count: int = 200_000) -> list[Row]:
    """What each of so many payments with two callbacks leaves, beyond the point where all rings are full."""
    world = World()
    world.pay(WARM_UP)
    before = _resident()
    world.pay(count)
    grown = _resident() - before
    world.close()
    return [Row("a finished payment with two callbacks", grown / count / KIB, "KiB", PAYMENT_KIB_MAX)]


def sandboxes(count: int = SANDBOXES) -> list[Row]:
    """Sandboxes of the default scenario: how long one takes to be made, and what many keep."""
    world = World()
    world.run(_made(world, 5))  # what is made once
    before = _resident()
    began = time.process_time()
    world.run(_made(world, count))
    took_s = time.process_time() - began
    grown = _resident() - before
    world.close()
    return [
        Row("a sandbox of the default scenario", took_s / count * 1e3, "ms", SANDBOX_MS_MAX),
        Row(f"{count:,} of them", grown / MIB, "MiB", SANDBOXES_MIB_MAX * count / SANDBOXES),
    ]


async def _made(world: World, count: int) -> None:
    for _ in range(count):
        world.app.sandboxes.create(SandboxSpec(world.app.scenario)).start()
