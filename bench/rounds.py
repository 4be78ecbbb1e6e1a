"""Interleaved rounds: bare, ours, bare, ours; the ratio is taken pair by pair because machines drift."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from bench import generators, load
from bench.servers import BARE, SIMULATOR, BenchError, Cores, Server, ask, pinned, running
from bench.workloads import Client, Workload, client_of, fill_wallet, serving_command

WARM_UP_S = 0.4
WARM_UP_REQUESTS = 4000
ADVANCE = "/_sim/sandboxes/default/clock/advance"


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
        spent = [(bare.cpu_us(), ours.cpu_us()) for bare, ours in self.pairs]
        ratios = [bare / ours for bare, ours in spent if bare and ours]  # a short round may show no tick of a clock
        return median(ratios) if ratios else None

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

    def __init__(self, client: Client, workload: Workload) -> None:
        self.client, self.server, self.workload = client, client.server, workload
        self.batch = workload.prepare(client)
        self.fastest = 0.0

    def requests(self, seconds: float) -> Sequence[bytes]:
        return self.batch(int(self.fastest * seconds * 1.25) + 1000)

    def warm_up(self, connections: int) -> None:
        """Until it runs as it does in a round; here the bodies of the answers are checked."""
        requests, workload = self.batch(WARM_UP_REQUESTS), self.workload
        measure(self.server, requests, connections, WARM_UP_S, workload.check, workload.status, by=generators.by_ours)
        self.measured(self.batch(WARM_UP_REQUESTS), connections, WARM_UP_S)

    def measured(self, requests: Sequence[bytes], connections: int, seconds: float) -> Side:
        workload = self.workload
        side = measure(self.server, requests, connections, seconds, workload.check, workload.status)
        self.fastest = max(self.fastest, side.load.per_second)
        return self._with_deliveries(side) if workload.delivers else side

    def _with_deliveries(self, side: Side) -> Side:
        """Let the callbacks be sent that are left, and count their time: they belong to the payments of the round."""
        before, began = self.server.cpu_s(), time.perf_counter()
        if not ask(self.server, "POST", ADVANCE, {"until": "idle"})["idle"]:
            raise BenchError("callbacks were still under way after the agenda was empty")
        wall_s = side.load.wall_s + time.perf_counter() - began
        cpu_s, after = side.measured_cpu_s, self.server.cpu_s()
        spent = None if cpu_s is None or before is None or after is None else cpu_s + after - before
        return Side(replace(side.load, wall_s=wall_s), spent)


def measure(
    server: Server,
    requests: Sequence[bytes],
    connections: int,
    seconds: float,
    check: load.Check | None = None,
    status: int = 200,
    *,
    by: Callable[..., load.Load] = generators.send,
) -> Side:
    """One round against one server. The bare server, known by having no `check`, gets its requests over and over.
    `by` is a generator: our own, `generators.by_ours`, looks at bodies and keeps each latency."""
    before = server.cpu_s()
    asked = generators.Asked(connections, seconds, check=check, status=status, is_cycled=check is None)
    return _side(server, by(server, requests, asked), before)


def _side(server: Server, result: load.Load, before_cpu_s: float | None) -> Side:
    after = server.cpu_s()
    if result.errors or not result.requests:
        raise BenchError(f"{result.errors} errors in {result.requests} answers of {server.url}: {result.complaints}")
    return Side(result, None if before_cpu_s is None or after is None else after - before_cpu_s)


def measure_workload(workload: Workload, plan: Plan, cores: Cores, serve: Sequence[str] = SIMULATOR) -> list[Cell]:
    """All cells of one workload, on a fresh pair of servers that share a CPU, one idle while the other is asked."""
    with served(workload, cores, serve) as subject, pinned(cores.load):
        size = ("--bytes", str(len(answer_body(subject)))) if workload.is_sized else ()
        with running((*BARE, *size), cores) as bare:
            return [_cell(workload, subject, bare, connections, plan) for connections in plan.connections]


@contextlib.contextmanager
def served(workload: Workload, cores: Cores, serve: Sequence[str] = SIMULATOR) -> Iterator[Subject]:
    """A server of ours that is ready for a workload, with what it needs beside it: a receiver, a scenario."""
    with contextlib.ExitStack() as stack:
        command = serving_command(workload, serve)
        if workload.delivers:  # beside the load, since the server has a core of its own
            sink = stack.enter_context(running(BARE, Cores(cores.load, cores.load)))
            command += ["--callback", f"{sink.url}/callback"]
        server = stack.enter_context(running(command, cores))
        client = client_of(server)
        fill_wallet(client)
        yield Subject(client, workload)


def answer_body(subject: Subject) -> bytes:
    """The body of one answer."""
    bodies: list[bytes] = []

    def is_right(body: bytes) -> bool:
        bodies.append(body)
        return subject.workload.check(body)

    server = subject.server
    result = load.run(server.host, server.port, subject.batch(1), connections=1, seconds=10.0, check=is_right)
    if result.errors or not bodies:
        raise BenchError(f"{subject.workload.title}: {result.complaints or 'no answer'}")
    return bodies[0]


def by_turns(name: str, title: str, sides: Sequence[Subject], plan: Plan) -> list[Cell]:
    """The cells of two servers that both need fresh requests. Each is the first in every other pair, so that the order
    favours neither."""
    cells = []
    for connections in plan.connections:
        for side in sides:
            side.warm_up(connections)
        pairs = [_in_turn(sides, connections, plan.seconds, place) for place in range(plan.rounds)]
        cells.append(Cell(name, title, connections, tuple(pairs)))
    return cells


def _in_turn(sides: Sequence[Subject], connections: int, seconds: float, place: int) -> tuple[Side, Side]:
    order = (0, 1) if place % 2 else (1, 0)
    measured = {one: sides[one].measured(sides[one].requests(seconds), connections, seconds) for one in order}
    return measured[0], measured[1]


def _cell(workload: Workload, subject: Subject, bare: Server, connections: int, plan: Plan) -> Cell:
    subject.warm_up(connections)
    measure(bare, subject.batch(WARM_UP_REQUESTS), connections, WARM_UP_S)
    pairs = []
    for _ in range(plan.rounds):
        requests = subject.requests(plan.seconds)
        yardstick = measure(bare, requests, connections, plan.seconds)
        pairs.append((yardstick, subject.measured(requests, connections, plan.seconds)))
    return Cell(workload.name, workload.title, connections, tuple(pairs))
