"""`python -m campaign`: all parts, one table. Exit code 1 when a promise was not kept."""

import argparse
import sys
from collections.abc import Callable, Sequence

from bench.servers import BenchError
from campaign import outcome
from campaign.faults import callbacks, retried, webhooks
from campaign.floods import floods
from campaign.imports import imports
from campaign.load import mixed, mutated
from campaign.outcome import Outcome
from campaign.races import races
from campaign.soak import soak

PARTS: dict[str, Callable[[float], list[Outcome]]] = {
    "load": lambda scale: [mixed(scale)],
    "fuzz": lambda scale: [mutated(scale)],
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
    options = parser.parse_args(arguments)
    outcomes: list[Outcome] = []
    for name in options.only or PARTS:
        print(f"trying {name}", file=sys.stderr, flush=True)
        try:
            outcomes += PARTS[name](options.scale)
        except (BenchError, OSError) as error:
            outcomes.append(Outcome(name, "the server lives", broken=[f"{type(error).__name__}: {error}"]))
    print(outcome.table(outcomes))
    complaints = outcome.complaints(outcomes)
    for line in complaints:
        print(line, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
