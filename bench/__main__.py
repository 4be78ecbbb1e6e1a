"""`python -m bench`: measure the simulator beside a bare server, print tables and write `bench/RESULTS.md`.

That page is written by a whole run alone, neither `--quick` nor `--only`, unless `--page` names another file.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import report
from bench.profile import profile_topup
from bench.results import Machine, Results
from bench.rounds import Plan
from bench.sections import SECTIONS, Extent, measure
from bench.servers import ROOT, SIMULATOR, choose_cores

PAGE = ROOT / "bench" / "RESULTS.md"
OURS = shlex.join(SIMULATOR)


def main(argv: Sequence[str] | None = None) -> int:
    """0, or 1 when something could not be measured."""
    options = _parser().parse_args(argv)
    cores = choose_cores()
    if options.profile:
        print(profile_topup(cores))
        return 0
    results = Results(Machine(cores))
    serve, connections = tuple(shlex.split(options.server)), options.connections
    if options.quick:
        extent = Extent(Plan(1, 0.3, tuple(connections or [16])), 1, min(options.tail_payments, 10_000), serve, cores)
    else:
        plan = Plan(options.rounds, options.seconds, tuple(connections or [16, 64]))
        extent = Extent(plan, options.starts, options.tail_payments, serve, cores)
    if cores.load is None:
        print("load and servers share all CPUs: processes cannot be pinned here, so expect noise", file=sys.stderr)
    measure(options.only or SECTIONS, extent, results)
    print(report.text(results))
    for failure in results.failures:
        print(f"failed: {failure}", file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps(report.document(results), indent=2) + "\n")
    written = options.page or (None if options.quick or options.only or options.server != OURS else PAGE)
    if written:
        written.write_text(report.page(results))
        print(f"written: {written.name}", file=sys.stderr)
    return 1 if results.failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short round: to see that it runs, not to quote")
    parser.add_argument("--profile", action="store_true", help="profile a creating topup instead, by function")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, help="measure only these")
    parser.add_argument("--connections", nargs="+", type=int, help="by default 16 and 64; with --quick 16")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of rounds in each cell")
    parser.add_argument("--seconds", type=float, default=1.5, help="length of a round")
    parser.add_argument("--starts", type=int, default=7, help="runs of the start time")
    parser.add_argument("--tail-payments", type=int, default=200_000, help="payments of the tail")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables to FILE as well")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the page to FILE, whatever was measured")
    parser.add_argument(
        "--server",
        default=OURS,
        metavar="COMMAND",
        help="instead of `python -m simulator serve bench/unlimited.yaml`; gets --port 0 --json [--clock MODE]",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
