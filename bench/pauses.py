"""The longest waits for a creating topup, beside few payments and beside many: what the garbage collector costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

from bench import generators
from bench.load import Check
from bench.rounds import measure
from bench.servers import BARE, SIMULATOR, Cores, Server, pinned, running
from bench.workloads import WORKLOADS, Batch, client_of, fill_wallet, send_all, serving_command

CONNECTIONS = 16
BATCH = 10_000
MEASURED_MAX = 20_000
ROUND_S = 120.0  # a bound; a round ends with its requests
BARE_ROUND_S = 0.5


@dataclass(frozen=True, slots=True)
class Row:
    """Latencies of requests in milliseconds, the last of which made the server's payments number `payments`."""

    title: str
    payments: int
    latencies_ms: tuple[float, ...]

    def figures(self) -> tuple[float, float, float, float]:
        """The median, the 99th and the 99.9th percentile, and the longest."""
        ranks = quantiles(self.latencies_ms, n=1000, method="inclusive")
        return ranks[499], ranks[989], ranks[998], max(self.latencies_ms)


def measure_pauses(payments: int, cores: Cores, serve: Sequence[str] = SIMULATOR) -> list[Row]:
    """The bare server, then ours beside no payments and beside `payments`: with a manual clock, and with a running one
    that sends callbacks. A fifth of them are timed, at most `MEASURED_MAX`."""
    rows: list[Row] = []
    timed = min(MEASURED_MAX, max(2, payments // 5))
    named = {workload.name: workload for workload in WORKLOADS}
    for workload in (named["topup"], named["callbacks"]):
        with (
            running(BARE, cores) as bare,
            running(serving_command(workload, serve), cores) as server,
            pinned(cores.load),
        ):
            client = client_of(server)
            fill_wallet(client)
            batch = workload.prepare(client)
            if not rows:
                rows.append(Row("bare server", timed, _latencies_ms(bare, batch, timed)))
            rows.append(Row(workload.title, timed, _latencies_ms(server, batch, timed, workload.check)))
            for done in range(timed, payments - timed, BATCH):
                requests = batch(min(BATCH, payments - timed - done))
                send_all(client, requests, workload.check, CONNECTIONS, ROUND_S)
            rows.append(Row(workload.title, payments, _latencies_ms(server, batch, timed, workload.check)))
    return rows


def _latencies_ms(server: Server, batch: Batch, count: int, check: Check | None = None) -> tuple[float, ...]:
    """Without a `check` the server is the bare one, which gets its requests over and over."""
    latencies_s: list[float] = []
    while len(latencies_s) < count:
        requests = batch(min(BATCH, count - len(latencies_s)))
        side = measure(server, requests, CONNECTIONS, ROUND_S if check else BARE_ROUND_S, check, by=generators.by_ours)
        latencies_s += side.load.latencies_s
    return tuple(latency * 1e3 for latency in latencies_s[:count])
