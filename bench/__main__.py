"""`python -m bench`: measure the simulator beside a bare server and print a table, without thresholds."""

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bench import report
from bench.keeping import measure_keeping
from bench.pauses import Row, measure_pauses
from bench.profiling import profile_topup
from bench.rounds import Cell, Plan, measure_workload
from bench.servers import SIMULATOR, BenchError, Cores, choose_cores
from bench.startup import Startup, measure_startup
from bench.workloads import WORKLOADS, Workload

SECTIONS = (*(workload.name for workload in WORKLOADS), "pauses", "startup", "deliveries", "keeping")


@dataclass(slots=True)
class Results:
    """What was measured, and what could not be."""

    cells: list[Cell] = field(default_factory=list)
    pauses: list[Row] = field(default_factory=list)
    startup: Startup | None = None
    failures: list[str] = field(default_factory=list)

    def attempt(self, name: str, work: Callable[[], None]) -> None:
        """Do one section; when it fails, the others are still worth having."""
        print(f"measuring {name}", file=sys.stderr, flush=True)
        try:
            work()
        except (BenchError, OSError, ImportError) as error:
            self.failures.append(f"{name}: {error}")

    def document(self, cores: Cores) -> dict[str, Any]:
        """Everything for `--json`."""
        return {
            "machine": report.machine(cores),
            "cells": [report.cell_document(cell) for cell in self.cells],
            "pauses": report.pauses_document(self.pauses),
            "startup": report.startup_document(self.startup) if self.startup else None,
            "failures": self.failures,
        }

    def show(self, cores: Cores) -> None:
        """The tables to stdout, failures to stderr."""
        if cores.load is None:
            print("load and servers share all CPUs: processes cannot be pinned here, so expect noise\n")
        if self.cells:
            print(report.cell_table(self.cells), report.LEGEND, sep="\n\n", end="\n\n")
        if self.pauses:
            print(report.pauses_table(self.pauses), end="\n\n")
        if self.startup:
            print(report.startup_table(self.startup))
        for failure in self.failures:
            print(f"failed: {failure}", file=sys.stderr)


def measure(
    sections: Sequence[str], plan: Plan, starts: int, payments: int, serve: Sequence[str], cores: Cores
) -> Results:
    """Measure the named sections in the order of `SECTIONS`."""
    results = Results()

    def startup() -> None:
        results.startup = measure_startup(starts, cores, serve)

    def deliveries() -> None:
        from bench.deliveries import measure_deliveries  # imports the simulator, which the other sections only start

        results.cells += measure_deliveries(plan, cores)

    def keeping() -> None:
        results.cells += measure_keeping(plan, cores, serve)

    def rows(workload: Workload) -> None:
        results.cells += measure_workload(workload, plan, cores, serve)

    def waits() -> None:
        results.pauses += measure_pauses(payments, cores, serve)

    for workload in WORKLOADS:
        if workload.name in sections:
            results.attempt(workload.name, partial(rows, workload))
    if "keeping" in sections:
        results.attempt("keeping", keeping)
    if "deliveries" in sections:
        results.attempt("deliveries", deliveries)
    if "pauses" in sections:
        results.attempt("pauses", waits)
    if "startup" in sections:
        results.attempt("startup", startup)
    return results


def main(argv: Sequence[str] | None = None) -> int:
    """0, or 1 when something could not be measured."""
    options = _parser().parse_args(argv)
    cores = choose_cores()
    if options.profile:
        return _profile(cores)
    plan = Plan(options.rounds, options.seconds, tuple(options.connections))
    starts, payments = options.starts, options.payments
    if options.quick:
        plan, starts, payments = Plan(2, 0.5, plan.connections), 2, min(payments, 40_000)
    results = measure(options.only or SECTIONS, plan, starts, payments, shlex.split(options.server), cores)
    results.show(cores)
    if options.json:
        options.json.write_text(json.dumps(results.document(cores), indent=2) + "\n")
    return 1 if results.failures else 0


def _profile(cores: Cores) -> int:
    try:
        print(profile_topup(cores))
    except (BenchError, OSError) as error:
        print(f"failed: profile: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two short rounds: to see that it runs, not to quote")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, help="measure only these")
    parser.add_argument("--connections", nargs="+", type=int, default=[1, 16, 64])
    parser.add_argument("--rounds", type=int, default=5, help="pairs of rounds in each cell")
    parser.add_argument("--seconds", type=float, default=1.5, help="length of a round")
    parser.add_argument("--starts", type=int, default=7, help="runs of the start time")
    parser.add_argument("--payments", type=int, default=100_000, help="payments that the pauses are measured beside")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to FILE as well")
    parser.add_argument(
        "--server",
        default=shlex.join(SIMULATOR),
        metavar="COMMAND",
        help="instead of `python -m simulator serve bench/unlimited.yaml`; gets --port 0 --json [--clock MODE]",
    )
    parser.add_argument("--profile", action="store_true", help="where the time of a creating topup goes, by function")
    return parser


if __name__ == "__main__":
    sys.exit(main())
