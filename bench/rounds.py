"""Interleaved rounds: bare, ours, bare, ours; the ratio is taken pair by pair because machines drift."""

import asyncio
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from bench import load
from bench.servers import BARE, SIMULATOR, BenchError, Cores, Server, ask, pinned, running
from bench.workloads import Batch, Workload, client_of, fill_wallet, serving_command

WARM_UP_S = 0.4
WARM_UP_REQUESTS = 4000
IDLE_TIMEOUT_S = 60.0
CLOCK = "/_sim/sandboxes/default/clock"


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    rounds: int
    seconds: float
    connections: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One round of one side. `measured_cpu_s` is the server's (or the sender's); None where it cannot be read."""

    load: load.Load
    measured_cpu_s: float | None = None

    def cpu_us(self) -> float | None:
        """CPU microseconds of what is measured, for one request."""
        return None if self.measured_cpu_s is None else self.measured_cpu_s / self.load.requests * 1e6


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of the table: a workload, so many connections, and its pairs of rounds (bare, ours)."""

    name: str
    title: str
    connections: int
    pairs: tuple[tuple[Side, Side], ...]

    def ratios(self) -> list[float]:
        """Ours divided by bare, one for each pair."""
        return [ours.load.per_second / bare.load.per_second for bare, ours in self.pairs]

    def cpu_ratio(self) -> float | None:
        """Bare's CPU time for a request divided by ours, the median of the pairs; a busy machine disturbs it less."""
        bare, ours = self.cpu_us(0), self.cpu_us(1)
        return median(b / o for b, o in zip(bare, ours, strict=True)) if bare and ours else None

    def typical(self, side: int, figure: str) -> float:
        """The median of a figure of `Load` over one side's rounds; 0 is bare and 1 is ours."""
        return float(median(getattr(pair[side].load, figure) for pair in self.pairs))

    def cpu_us(self, side: int) -> list[float]:
        """CPU microseconds that one side spent on a request, one for each pair; empty where unknown."""
        return [us for pair in self.pairs if (us := pair[side].cpu_us())]

    def load_cpu(self) -> float:
        """The largest share of its CPU that the load generator used in any round."""
        return max(side.load.cpu_s / side.load.wall_s for pair in self.pairs for side in pair)


class Subject:
    """Ours, the side that needs fresh requests: how many are signed ahead follows the fastest round so far."""

    def __init__(self, server: Server, workload: Workload, batch: Batch) -> None:
        self.server, self.workload, self.batch = server, workload, batch
        self.fastest = 0.0

    def requests(self, seconds: float) -> Sequence[bytes]:
        return self.batch(int(self.fastest * seconds * 1.25) + 1000)

    def measured(self, requests: Sequence[bytes], connections: int, seconds: float) -> Side:
        side = measure(self.server, requests, connections, seconds, self.workload.check)
        self.fastest = max(self.fastest, side.load.per_second)
        return side


def measure(
    server: Server, requests: Sequence[bytes], connections: int, seconds: float, check: load.Check | None = None
) -> Side:
    """One round against one server. The bare server, known by having no `check`, gets its requests over and over."""
    before = server.cpu_s()
    source = requests if check else itertools.cycle(requests)
    result = load.run(server.host, server.port, source, connections=connections, seconds=seconds, check=check)
    after = server.cpu_s()
    if result.errors or not result.requests:
        raise BenchError(f"{result.errors} errors in {result.requests} answers of {server.url}: {result.complaints}")
    return Side(result, None if before is None or after is None else after - before)


def measure_workload(workload: Workload, plan: Plan, cores: Cores, serve: Sequence[str] = SIMULATOR) -> list[Cell]:
    """All cells of one workload, on a fresh pair of servers that share a CPU, one idle while the other is asked."""
    cells = []
    with (
        running(BARE, cores) as bare,
        running(serving_command(workload, serve), cores) as server,
        pinned(cores.load),
    ):
        client = client_of(server)
        fill_wallet(client)
        subject = Subject(server, workload, workload.prepare(client))
        for connections in workload.only_connections or plan.connections:
            cells += _cells(workload, subject, bare, connections, plan)
    return cells


def _cells(workload: Workload, subject: Subject, bare: Server, connections: int, plan: Plan) -> list[Cell]:
    warm = subject.batch(WARM_UP_REQUESTS)
    measure(bare, warm, connections, WARM_UP_S)
    subject.measured(warm, connections, WARM_UP_S)
    if workload.delivers:
        _until_idle(subject.server)
    pairs, delivered = [], []
    for _ in range(plan.rounds):
        requests = subject.requests(plan.seconds)
        yardstick = measure(bare, requests, connections, plan.seconds)
        ours = subject.measured(requests, connections, plan.seconds)
        pairs.append((yardstick, ours))
        if workload.delivers:
            _until_idle(subject.server)
            whole = replace(ours.load, wall_s=time.perf_counter() - ours.load.began)
            delivered.append((yardstick, replace(ours, load=whole)))
    cells = [Cell(workload.name, workload.title, connections, tuple(pairs))]
    if workload.delivers:
        title = "  the same, until the last callback"
        cells.append(Cell(f"{workload.name}-delivered", title, connections, tuple(delivered)))
    return cells


def _until_idle(server: Server) -> None:
    """Wait until the sandbox has nothing left to do, so that its callbacks do not run into the bare server's round."""
    asyncio.run(_agenda_empty(server))
    # What left the agenda may still be on its way; this moves no clock any more, it waits for that.
    if not ask(server, "POST", f"{CLOCK}/advance", {"until": "idle"})["idle"]:
        raise BenchError("callbacks were still under way after the agenda was empty")


async def _agenda_empty(server: Server) -> None:
    deadline = time.perf_counter() + IDLE_TIMEOUT_S
    while pending := ask(server, "GET", CLOCK)["pending"]:
        if time.perf_counter() > deadline:
            raise BenchError(f"{pending} entries are still due after {IDLE_TIMEOUT_S:g} s")
        await asyncio.sleep(0.02)
