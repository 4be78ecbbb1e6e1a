"""The sections of a run: which there are, in what order, and how much of each is measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bench.keeping import compared, measure_keeping
from bench.refusals import measure_refusals
from bench.results import Results
from bench.rounds import Cell, Plan, measure_workload
from bench.servers import Cores
from bench.startup import measure_startup
from bench.tail import measure_tail
from bench.workloads import NAMED

SECTIONS = (*NAMED, "refusals", "keeping", "postgres", "tail", "startup")


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured, and of which server."""

    plan: Plan
    starts: int
    tail_payments: int
    serve: tuple[str, ...]
    cores: Cores


def measure(sections: Sequence[str], extent: Extent, results: Results) -> None:
    """Measure the named sections, in the order of `SECTIONS`, into `results`."""
    plan, cores, serve = extent.plan, extent.cores, extent.serve

    def cells(measured: Callable[[], list[Cell]]) -> None:
        results.cells += measured()

    def postgres() -> list[Cell]:
        from bench.postgres import measure_postgres  # imports psycopg

        return measure_postgres(plan, cores)

    def tail() -> None:
        results.tails += measure_tail(extent.tail_payments, cores, serve)

    def startup() -> None:
        results.startup = measure_startup(extent.starts, cores, serve)

    for name in SECTIONS:
        if name not in sections:
            continue
        if name == "keeping":
            for one in compared(serve):
                results.attempt(f"keeping, {one.name}", partial(cells, partial(measure_keeping, one, plan, cores)))
        elif name in NAMED:
            results.attempt(name, partial(cells, partial(measure_workload, NAMED[name], plan, cores, serve)))
        else:
            work: dict[str, Callable[[], None]] = {
                "refusals": partial(cells, partial(measure_refusals, plan, cores, serve)),
                "postgres": partial(cells, postgres),
                "tail": tail,
                "startup": startup,
            }
            results.attempt(name, work[name])
