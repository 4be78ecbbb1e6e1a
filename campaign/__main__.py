"""`python -m campaign`: all parts, one table. Exit code 1 when a promise was not kept."""

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from bench.servers import BenchError
from campaign import outcome, results
from campaign.faults import callbacks, retried, webhooks
from campaign.floods import floods
from campaign.imports import imports
from campaign.outcome import Outcome
from campaign.races import races
from campaign.soak import soak

PARTS: dict[str, Callable[[float], list[Outcome]]] = {
    "floods": floods,
    "faults": lambda scale: [webhooks(scale), callbacks(scale), retried(scale)],
    "races": races,
    "imports": imports,
    "soak": lambda scale: [soak(scale)],
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; what was not kept goes to stderr."""
    parser = argparse.ArgumentParser(prog="python -m campaign", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, help="run only these parts")
    parser.add_argument("--scale", type=float, default=1.0, help="how much of everything: 0.1 is a tenth")
    parser.add_argument("--save", action="store_true", help="save the figures for docs/reliability.md; needs scale 1")
    options = parser.parse_args(arguments)
    if options.save and options.scale != 1:
        parser.error("--save keeps the figures of a whole run: leave --scale out")
    outcomes: list[Outcome] = []
    failures: list[Outcome] = []
    for name in options.only or PARTS:
        print(f"trying {name}", file=sys.stderr, flush=True)
        try:
            outcomes += PARTS[name](options.scale)
        except (BenchError, OSError) as error:
            failures.append(Outcome(name, "the server lives", broken=[f"{type(error).__name__}: {error}"]))
    before = results.load()
    results.hold(outcomes, before)
    if options.save:
        results.save(results.merged(before, outcomes, datetime.now(UTC).date()))
    outcomes += failures
    print(outcome.table(outcomes))
    complaints = outcome.complaints(outcomes)
    for line in complaints:
        print(line, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
