"""The longest waits for a creating topup, over many payments of one server, by turns with the bare app."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

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
    cpu_us: float | None = None  # CPU time of the server for a request, with all its threads

    def typical(self, figure: str) -> float:
        """The median over the slices."""
        return float(median(getattr(one, figure) for one in self.slices))

    def longest(self, figure: str) -> float:
        """The largest of all slices."""
        return float(max(getattr(one, figure) for one in self.slices))

    def ratio_to(self, other: "Tail", figure: str) -> float | None:
        """A figure in times of another server's, the median over the pairs of slices; None when all of its slices were
        too short for it, in which the generator tells zero."""
        pairs = zip(self.slices, other.slices, strict=True)
        ratios = [getattr(ours, figure) / theirs for ours, other in pairs if (theirs := getattr(other, figure))]
        return float(median(ratios)) if ratios else None

    def answers(self) -> int:
        """How many there were."""
        return sum(one.requests for one in self.slices)


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
    names = list(servers)
    taken: dict[str, list[_Watched]] = {server: [] for server in names}
    for place in range(slices + 1):
        count = size if place else min(size, WARM_UP)
        requests = batch(generators.needed(count, connections))
        first = place % len(names)  # another one in each slice, so that the order favours none
        for title in (*names[first:], *names[:first]):
            one = _watched(servers[title], requests, count, connections)
            if place:  # the first slice is to warm up
                taken[title].append(one)
    return [_summed(title, connections, taken[title]) for title in names]


@dataclass(frozen=True, slots=True)
class _Watched:
    """A slice, with how long the server ran meanwhile and how long it waited to run."""

    load: Load
    cpu_s: float | None
    waited_s: float | None


def _watched(server: Server, requests: Sequence[bytes], count: int, connections: int) -> _Watched:
    cpu_s, waited_s = server.cpu_s(), server.waited_s()
    one = generators.send(server, requests, generators.Asked(connections, SLICE_S_MAX, count))
    if one.errors or one.requests < count:
        raise BenchError(f"{one.requests} answers of {count} and {one.errors} errors at {server.url}: {one.complaints}")
    return _Watched(one, _since(cpu_s, server.cpu_s()), _since(waited_s, server.waited_s()))


def _since(before: float | None, now: float | None) -> float | None:
    return None if before is None or now is None else now - before


def _summed(title: str, connections: int, taken: Sequence[_Watched]) -> Tail:
    starved = [one.waited_s / one.load.wall_s for one in taken if one.waited_s is not None]
    cpu_us = [one.cpu_s / one.load.requests * 1e6 for one in taken if one.cpu_s]
    slices = tuple(one.load for one in taken)
    return Tail(title, connections, slices, median(starved) if starved else None, median(cpu_us) if cpu_us else None)
