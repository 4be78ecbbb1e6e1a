"""`python -m bench`: measure the simulator beside a bare server, print tables and write `bench/RESULTS.md`.

That page is written by a whole run alone, neither `--quick` nor `--only`, unless `--page` names another file.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import documents, page, report
from bench.peers.measured import Plan as PeersPlan
from bench.profiling import profile_topup
from bench.results import Machine, Results
from bench.rounds import Plan
from bench.sections import ALWAYS, SECTIONS, Extent, measure
from bench.servers import ROOT, SIMULATOR, BenchError, Cores, choose_cores

PAGE = ROOT / "bench" / "RESULTS.md"


def main(argv: Sequence[str] | None = None) -> int:
    """0, or 1 when something could not be measured."""
    options = _parser().parse_args(argv)
    cores = choose_cores()
    if options.profile:
        return _profile(cores)
    results = Results(Machine(cores))
    sections = options.only or (SECTIONS if options.peers else ALWAYS)
    measure([*sections, "peers"] if options.peers else sections, _extent(options, cores), results)
    report.show(results)
    if options.json:
        options.json.write_text(json.dumps(documents.of(results), indent=2) + "\n")
    written = options.page or (None if options.quick or options.only or options.server != OURS else PAGE)
    if written:
        written.write_text(page.of(results))
        print(f"written: {written.name}", file=sys.stderr)
    return 1 if results.failures else 0


def _extent(options: argparse.Namespace, cores: Cores) -> Extent:
    serve = tuple(shlex.split(options.server))
    if options.quick:
        payments, tail = min(options.payments, 10_000), min(options.tail_payments, 10_000)
        plan = Plan(1, 0.3, tuple(options.connections or [16]))
        return Extent(plan, 1, payments, tail, PeersPlan(1, 500, 0.3), serve, cores)
    plan = Plan(options.rounds, options.seconds, tuple(options.connections or [16, 64]))
    peers = PeersPlan(6, options.peer_requests, 5.0)
    return Extent(plan, options.starts, options.payments, options.tail_payments, peers, serve, cores)


def _profile(cores: Cores) -> int:
    try:
        print(profile_topup(cores))
    except (BenchError, OSError) as error:
        print(f"failed: profile: {error}", file=sys.stderr)
        return 1
    return 0


OURS = shlex.join(SIMULATOR)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short round: to see that it runs, not to quote")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, help="measure only these")
    parser.add_argument("--peers", action="store_true", help="other people's mock servers, too")
    parser.add_argument("--connections", nargs="+", type=int, help="by default 16 and 64; with --quick 16")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of rounds in each cell")
    parser.add_argument("--seconds", type=float, default=1.5, help="length of a round")
    parser.add_argument("--starts", type=int, default=7, help="runs of the start time")
    parser.add_argument("--payments", type=int, default=100_000, help="payments that the pauses are measured beside")
    parser.add_argument("--tail-payments", type=int, default=200_000, help="payments of the tail")
    parser.add_argument("--peer-requests", type=int, default=3000, help="requests in a slice of each peer")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to FILE as well")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the page to FILE, whatever was measured")
    parser.add_argument(
        "--server",
        default=OURS,
        metavar="COMMAND",
        help="instead of `python -m simulator serve bench/unlimited.yaml`; gets --port 0 --json [--clock MODE]",
    )
    parser.add_argument("--profile", action="store_true", help="where the time of a creating topup goes, by function")
    return parser


if __name__ == "__main__":
    sys.exit(main())
