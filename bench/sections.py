"""The sections of a run: which there are, in what order, and how much of each is measured."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from bench.comparisons import keeping, postgres, refusals
from bench.results import Results
from bench.rounds import Cell, Plan, measure_workload
from bench.servers import Cores
from bench.startup import measure_startup
from bench.tail import measure_tail
from bench.workloads import NAMED

COMPARISONS = {"refusals": refusals, "keeping": keeping, "postgres": postgres}
SECTIONS = (*NAMED, *COMPARISONS, "tail", "startup")


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
    measured: dict[str, Callable[[], Iterable[Cell]]] = {
        **{name: partial(measure_workload, one, plan, cores, serve) for name, one in NAMED.items()},
        **{name: partial(one, plan, cores, serve) for name, one in COMPARISONS.items()},
    }

    def work(name: str) -> None:
        if name == "tail":
            results.tails += measure_tail(extent.tail_payments, cores, serve)
        elif name == "startup":
            results.startup = measure_startup(extent.starts, cores, serve)
        else:
            results.cells += measured[name]()

    for name in SECTIONS:
        if name in sections:
            results.attempt(name, partial(work, name))
