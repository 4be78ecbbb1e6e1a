"""`python -m bench.scale`: what payments, sandboxes, memory and a restart cost, each beside its target, in a process
each."""

import argparse
import asyncio
import ctypes
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from threading import Timer
from typing import Any, NamedTuple, TypeVar

from bench import load
from bench.servers import BARE, SIMULATOR, BenchError, Cores, Server, running
from bench.sign import nonce, signed
from bench.startup import bare_start_s, signed_start
from bench.workloads import NAMED, client_of, fill_wallet, serving_command
from simulator.app import App, build_app
from simulator.domain.commands import Credit
from simulator.domain.model.money import parse_amount
from simulator.options import Options
from simulator.runtime.lives import SandboxSpec
from simulator.runtime.sandboxes import DEFAULT
from simulator.scenario.library import scenario_from_object
from simulator.server.message import HttpRequest
from tools.tables import aligned

T = TypeVar("T")
HOST = "127.0.0.1:8080"
START = datetime(2026, 11, 1, tzinfo=UTC)
BATCH = 50
BATCH_S = 10.0  # within which all that belongs to a payment has happened
UNLIMITED: Mapping[str, Any] = {
    "scenario": "scale",
    "extends": "default",
    "clock": {"mode": "manual", "start": START.isoformat()},
    "limits": {"requests_per_interval": None},
}
KIB, MIB, MB = 1024, 1024 * 1024, 1_000_000
PAYMENT_KIB_MAX = 2.5
SANDBOX_MS_MAX = 2.0
SANDBOXES_MIB_MAX = 100.0
WARM_UP = 60_000  # after which the journal, the logs, the tape and the nonces are full
SANDBOXES = 1_000
PAYMENTS, PAID_AT_ONCE, CONNECTIONS = 100_000, 20_000, 32
BATCH_S_MAX = 600.0  # a batch ends with its payments
KILLED_AFTER_S = 2.0
RESTARTS = 3
TARGET_S = 2.0
RESIDENT_MB_MAX = 260.0
PAYING = NAMED["topup"]
ANYWHERE = Cores(None, None)


class Row(NamedTuple):
    """What was measured and what it may be at most, both in the same unit. A figure without a target only explains
    another."""

    title: str
    measured: float
    unit: str
    target: float | None = None

    @property
    def is_met(self) -> bool:
        """True when it is within its target, or has none."""
        return self.target is None or self.measured <= self.target

    def cells(self) -> tuple[str, str, str, str]:
        """Return the row of a table, with a mark when it misses its target."""
        target = "" if self.target is None else f"at most {self.target:,.4g}"
        return self.title, f"{self.measured:,.4g} {self.unit}", target, "" if self.is_met else "MISSED"


class World:
    """The whole application in this process, paid over its pipeline. Its wall clock is moved by hand."""

    def __init__(self) -> None:
        self.wall = START
        self.runner = asyncio.Runner()
        scenario = scenario_from_object(dict(UNLIMITED))
        self.app: App = build_app(Options(), lambda: self.wall, scenario=scenario)
        self.live = self.app.sandboxes.get(DEFAULT)
        reseller = self.app.scenario.resellers[0]
        self._key = reseller.keys[0]
        self.run(self._begin())
        wallet = parse_amount("90000000000")
        assert wallet is not None
        self.live.apply(Credit(reseller.code, wallet))

    async def _begin(self) -> None:
        self.live.start()

    def run(self, awaitable: Awaitable[T]) -> T:
        """Run something in the loop of the application."""

        async def main() -> T:
            return await awaitable

        return self.runner.run(main())

    def pay(self, count: int) -> None:
        """Make so many payments, each with all that follows it, callbacks included."""
        for done in range(0, count, BATCH):
            self.run(self._pay(min(BATCH, count - done)))

    async def _pay(self, count: int) -> None:
        for _ in range(count):
            pending = self.app.answer_now(self._topup(), "127.0.0.1")
            assert pending is not None, "it is one of the reseller API"
            status, _, body, _ = await pending
            if status != 200:
                raise BenchError(f"a payment was answered {status}: {body[:300]!r}")
        self.wall += timedelta(seconds=BATCH_S)
        await self.live.driver.advance(self.live.clock.now() + timedelta(seconds=BATCH_S))

    def _topup(self) -> HttpRequest:
        """A signed payment with a refid of its own, as the server has read it."""
        wanted = {"refid": nonce(), "product": "RELOAD", "account": "0123456789", "amount": "10"}
        key, body, at_s = self._key, json.dumps(wanted, separators=(",", ":")).encode(), self.wall.timestamp()
        raw = signed("POST", "/v2/topup", "", body, key.key, key.secret, HOST, at_s=at_s)
        _, *lines = raw.partition(b"\r\n\r\n")[0].split(b"\r\n")
        headers = [(name.lower(), value) for name, _, value in (line.partition(b": ") for line in lines)]
        return HttpRequest("POST", b"/v2/topup", headers, dict(headers), is_whole=True, body=body)


def payments(count: int = 200_000) -> list[Row]:
    """What each of so many payments with two callbacks leaves, beyond the point where all rings are full."""
    world = World()
    world.pay(WARM_UP)
    before = _resident()
    world.pay(count)
    grown = _resident() - before
    world.runner.close()
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
    world.runner.close()
    return [
        Row("a sandbox of the default scenario", took_s / count * 1e3, "ms", SANDBOX_MS_MAX),
        Row(f"{count:,} of them", grown / MIB, "MiB", SANDBOXES_MIB_MAX * count / SANDBOXES),
    ]


async def _made(world: World, count: int) -> None:
    for _ in range(count):
        world.app.sandboxes.create(SandboxSpec(world.app.scenario)).start()


def _resident() -> int:
    """The resident memory of this process in bytes, without what could be freed."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    status = Path("/proc/self/status").read_text()
    return KIB * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


def memory(payments: int = PAYMENTS) -> list[Row]:
    """The resident memory of a server directly after so many payments, most of which a running clock has finished."""
    with running([*SIMULATOR, "--port", "0", "--json"], ANYWHERE) as server:
        _pay(server, payments)
        size = server.resident_bytes() or 0
    return [Row(f"a server with {payments:,} payments", size / MB, "MB", RESIDENT_MB_MAX)]


def restarts(payments: int = PAYMENTS) -> list[Row]:
    """So many payments into a data folder, whose server is killed at full speed; then starts: all but the first
    find a folder at rest."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*serving_command(PAYING), "--data-dir", str(Path(folder, "data"))]
        with running(command, ANYWHERE) as server:
            _pay_and_kill(server, payments)
        killed_s, _ = signed_start(command, ANYWHERE)
        rested = [signed_start(command, ANYWHERE) for _ in range(RESTARTS)]
    count = f"{payments:,} open payments"
    return [
        Row(f"a start beside {count} to a signed answer", median(at for at, _ in rested), "s", TARGET_S),
        Row("resident memory then", median(size or 0.0 for _, size in rested), "MiB"),
        Row("the same start behind a kill at full speed", killed_s, "s"),
        Row("a start of the bare server to its first answer", bare_start_s(BARE, ANYWHERE), "s"),
    ]


def _pay(server: Server, payments: int) -> Callable[[int], Sequence[bytes]]:
    """Make so many payments. Return a function that signs more."""
    client = client_of(server)
    fill_wallet(client)
    batch = PAYING.prepare(client)
    for begin in range(0, payments, PAID_AT_ONCE):
        raw = batch(min(PAID_AT_ONCE, payments - begin))
        found = load.run(server.host, server.port, raw, connections=CONNECTIONS, seconds=BATCH_S_MAX)
        if found.requests != len(raw):
            raise BenchError(f"of {len(raw)} payments {found.requests} were answered")
    return batch


def _pay_and_kill(server: Server, payments: int) -> None:
    """Make so many payments, then more, in the middle of which the server is killed."""
    more = _pay(server, payments)(PAID_AT_ONCE)
    Timer(KILLED_AFTER_S, server.process.kill).start()
    load.run(server.host, server.port, more, connections=CONNECTIONS, seconds=BATCH_S_MAX)
    server.process.wait()


SUBJECTS: Mapping[str, Callable[[], list[Row]]] = {
    "payment": payments,
    "sandboxes": sandboxes,
    "memory": memory,
    "restart": restarts,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the subjects that are named, or all; 1 when a figure misses its target."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=f"of {', '.join(SUBJECTS)}; by default all")
    asked: list[str] = parser.parse_args(arguments).subjects
    if unknown := [name for name in asked if name not in SUBJECTS]:
        parser.error(f"there is no subject {unknown[0]!r}")
    if len(asked) == 1:
        rows = SUBJECTS[asked[0]]()
        print(aligned([row.cells() for row in rows]), flush=True)
        return int(not all(row.is_met for row in rows))
    codes = [
        subprocess.run([sys.executable, "-m", "bench.scale", name], check=False).returncode  # noqa: S603 - ourselves
        for name in asked or SUBJECTS
    ]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
