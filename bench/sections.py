"""The sections of a run: which there are, in what order, and how much of each is measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bench.keeping import Compared, compared, measure_keeping
from bench.pauses import measure_pauses
from bench.peers.measured import Plan as PeersPlan
from bench.peers.measured import measure_peers
from bench.refusals import measure_refusals
from bench.results import Results
from bench.rounds import Plan, measure_workload
from bench.servers import Cores
from bench.sharded import measure_sharded
from bench.startup import measure_startup
from bench.tail import measure_tail
from bench.workloads import NAMED, WORKLOADS, Workload

ALWAYS = (*NAMED, "refusals", "keeping", "sharded", "deliveries", "tail", "pauses", "startup")
SECTIONS = (*ALWAYS, "peers")


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured, and of which server."""

    plan: Plan
    starts: int
    payments: int  # that the pauses are measured beside
    tail_payments: int
    peers: PeersPlan
    serve: tuple[str, ...]
    cores: Cores


def measure(sections: Sequence[str], extent: Extent, results: Results) -> None:
    """Measure the named sections, in the order of `SECTIONS`, into `results`."""
    plan, cores, serve = extent.plan, extent.cores, extent.serve

    def rows(workload: Workload) -> None:
        results.cells += measure_workload(workload, plan, cores, serve)

    def refusals() -> None:
        results.cells += measure_refusals(plan, cores, serve)

    def kept(one: Compared) -> None:
        results.cells += measure_keeping(one, plan, cores)

    def keeping() -> None:
        for one in compared(serve):
            results.attempt(f"keeping, {one.name}", partial(kept, one))

    def sharded() -> None:
        results.cells += measure_sharded(plan, serve)

    def deliveries() -> None:
        from bench.deliveries import measure_deliveries  # imports the simulator, which the other sections only start

        results.cells += measure_deliveries(plan, cores)

    def tail() -> None:
        results.tails += measure_tail(extent.tail_payments, cores, serve)

    def pauses() -> None:
        results.pauses += measure_pauses(extent.payments, cores, serve)

    def startup() -> None:
        results.startup = measure_startup(extent.starts, cores, serve)

    def peers() -> None:
        results.peers = measure_peers(extent.peers, cores, serve)

    work: dict[str, Callable[[], None]] = {workload.name: partial(rows, workload) for workload in WORKLOADS}
    work |= {each.__name__: each for each in (refusals, keeping, sharded, deliveries, tail, pauses, startup, peers)}
    for name in SECTIONS:
        if name in sections:
            results.attempt(name, work[name])
