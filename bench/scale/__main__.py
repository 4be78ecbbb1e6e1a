"""`python -m bench.scale`: every figure at scale beside its target, each subject in a process of its own."""

import argparse
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from bench.scale import agenda, garbage, lookups, memory, restart, rules, soak, turns
from bench.scale.row import Row

SUBJECTS: Mapping[str, Callable[[], list[Row]]] = {
    "agenda": agenda.moves,
    "payment": memory.payments,
    "traced": memory.traced_payments,
    "sandboxes": memory.sandboxes,
    "server": memory.server,
    "garbage": garbage.measured,
    "lookups": lookups.transactions,
    "options": lookups.options,
    "rules": rules.many,
    "restart": restart.many,
    "soak": soak.many,
    **{f"turns-{part.__name__}": partial(turns.measured, part) for part in turns.PARTS},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the subjects that are named, or all; 1 when a figure misses its target."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    listed = f"of {', '.join(SUBJECTS)}; all of them by default"
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=listed)
    asked: list[str] = parser.parse_args(arguments).subjects
    if unknown := [name for name in asked if name not in SUBJECTS]:
        parser.error(f"there is no subject {unknown[0]!r}")
    if len(asked) == 1:
        rows = SUBJECTS[asked[0]]()
        print("\n".join(row.line() for row in rows), flush=True)
        return int(not all(row.is_met for row in rows))
    codes = [
        subprocess.run([sys.executable, "-m", "bench.scale", name], check=False).returncode  # noqa: S603 - ourselves
        for name in asked or SUBJECTS
    ]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
