"""What a finished payment, a sandbox and a server keep in memory."""

import ctypes
import gc
import os
import time
from pathlib import Path

from bench.scale.row import Row
from bench.scale.world import World
from bench.servers import SIMULATOR, Cores, Server, ask, running
from simulator.preparation import DELAY_S
from simulator.runtime.lives import SandboxSpec

KIB, MIB = 1024, 1024 * 1024
PAYMENT_KIB_MAX = 2.5
SANDBOX_MS_MAX = 2.0
SANDBOXES_MIB_MAX = 100.0
RESIDENT_MIB_MAX = 65.0
WARM_UP = 60_000  # after which the journal, the logs, the tape and the nonces are full
SANDBOXES = 1_000


def resident(pid: int | str = "self") -> int:
    """The resident memory of a process in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return KIB * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


def _settled() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return resident()


def payments(count: int = 200_000) -> list[Row]:
    """What each of so many payments with two callbacks leaves, beyond the point where all rings are full."""
    world = World()
    world.pay(WARM_UP)
    before = _settled()
    world.pay(count)
    grown = _settled() - before
    world.close()
    return [Row("a finished payment with two callbacks", grown / count / KIB, "KiB", PAYMENT_KIB_MAX)]


def sandboxes(count: int = SANDBOXES) -> list[Row]:
    """Sandboxes of the default scenario: how long one takes to be made, and what many keep."""
    world = World()
    world.run(_made(world, 5))  # what is made once
    before = _settled()
    began = time.process_time()
    world.run(_made(world, count))
    took_s = time.process_time() - began
    grown = _settled() - before
    world.close()
    return [
        Row("a sandbox of the default scenario", took_s / count * 1e3, "ms", SANDBOX_MS_MAX),
        Row(f"{count:,} of them", grown / MIB, "MiB", SANDBOXES_MIB_MAX * count / SANDBOXES),
    ]


async def _made(world: World, count: int) -> None:
    for _ in range(count):
        world.app.sandboxes.create(SandboxSpec(world.app.scenario)).start()


def server() -> list[Row]:
    """What a server process has resident, when it is ready and when it has prepared what first requests need."""
    command = [*SIMULATOR[:-1], "--port", "0", "--json"]
    with running(command, Cores(None, None)) as one:
        ask(one, "GET", "/_sim/health")
        ready = resident(one.process.pid)
        _wait_until_idle(one)
        prepared = resident(one.process.pid)
    return [
        Row("a server that is ready", ready / MIB, "MiB", RESIDENT_MIB_MAX),
        Row("a server that has prepared", prepared / MIB, "MiB", RESIDENT_MIB_MAX),
    ]


def _wait_until_idle(one: Server) -> None:
    time.sleep(2 * DELAY_S)
    before = -1.0
    while (now := one.cpu_s() or 0.0) - before > 2 / os.sysconf("SC_CLK_TCK"):
        before = now
        time.sleep(1.0)
