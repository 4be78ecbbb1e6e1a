"""The longest waits for a creating topup, over many payments of one server, by turns with the bare app."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench import generators
from bench.load import Load
from bench.servers import BARE, SIMULATOR, BenchError, Cores, Server, pinned, running
from bench.workloads import NAMED, Batch, client_of, fill_wallet, serving_command

SLICES = 10
SLICE_S_MAX = 120.0
WARM_UP = 2000
CONNECTIONS = (16, 64)
PAYING = NAMED["topup"]
BARE_NAME, OUR_NAME = "bare app", "simulator"


@dataclass(frozen=True, slots=True)
class Tail:
    """All slices of one server at so many connections."""

    server: str
    connections: int
    slices: tuple[Load, ...]
    starved: float | None = None  # the share of its time in which the server could have run and had no core

    def typical(self, figure: str) -> float:
        """The median over the slices."""
        return float(median(getattr(one, figure) for one in self.slices))

    def longest(self, figure: str) -> float:
        """The largest of all slices."""
        return float(max(getattr(one, figure) for one in self.slices))

    def ratio_to(self, other: "Tail", figure: str) -> float:
        """A figure in times of another server's, the median over the pairs of slices."""
        pairs = zip(self.slices, other.slices, strict=True)
        return float(median(getattr(ours, figure) / getattr(theirs, figure) for ours, theirs in pairs))

    def answers(self) -> int:
        """How many there were."""
        return sum(one.requests for one in self.slices)

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "server": self.server,
            "connections": self.connections,
            "answers": self.answers(),
            **{name: self.typical(name) for name in ("per_second", "p50_ms", "p99_ms", "p999_ms")},
            **{name: self.longest(name) for name in ("max_ms", "gap_s")},
            "starved": self.starved,
        }


def measure_tail(payments: int, cores: Cores, serve: Sequence[str] = SIMULATOR) -> list[Tail]:
    """The bare app's and ours at each number of connections; each time a new server makes so many payments."""
    tails = []
    for connections in CONNECTIONS:
        with (
            running(BARE, cores) as bare,
            running(serving_command(PAYING, serve), cores) as server,
            pinned(cores.load),
        ):
            client = client_of(server)
            fill_wallet(client)
            servers = {BARE_NAME: bare, OUR_NAME: server}
            tails += by_turns(servers, PAYING.prepare(client), connections, SLICES, payments // SLICES)
    return tails


def by_turns(servers: dict[str, Server], batch: Batch, connections: int, slices: int, size: int) -> list[Tail]:
    """One after the other gets the same requests, slice by slice; each slice is signed just before, so that no
    timestamp is too old."""
    taken: dict[str, list[Load]] = {server: [] for server in servers}
    starved: dict[str, list[float]] = {server: [] for server in servers}
    for place in range(slices + 1):
        count = size if place else min(size, WARM_UP)
        requests = batch(generators.needed(count, connections))
        for title, server in servers.items():
            before = server.waited_s()
            one = _slice(server, requests, count, connections)
            after = server.waited_s()
            if place:  # the first is to warm up
                taken[title].append(one)
                starved[title] += [] if before is None or after is None else [(after - before) / one.wall_s]
    return [
        Tail(title, connections, tuple(taken[title]), median(starved[title]) if starved[title] else None)
        for title in servers
    ]


def _slice(server: Server, requests: Sequence[bytes], count: int, connections: int) -> Load:
    one = generators.send(server, requests, connections=connections, seconds=SLICE_S_MAX, count=count)
    if one.errors or one.requests < count:
        raise BenchError(f"{one.requests} answers of {count} and {one.errors} errors at {server.url}: {one.complaints}")
    return one
