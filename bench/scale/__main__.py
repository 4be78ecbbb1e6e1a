"""`python -m bench.scale`: every figure at scale beside its target, each subject in a process of its own."""

import argparse
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

from bench.scale import garbage, lookups, memory, rules
from bench.scale.row import Row

SUBJECTS: Mapping[str, Callable[[], list[Row]]] = {
    "payment": memory.payments,
    "traced": memory.traced_payments,
    "sandboxes": memory.sandboxes,
    "server": memory.server,
    "garbage": garbage.payments,
    "lookups": lookups.transactions,
    "options": lookups.options,
    "rules": rules.many,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the subjects that are named, or all; 1 when a figure misses its target."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("subjects", nargs="*", choices=[[], *SUBJECTS], help="which ones; all of them by default")
    asked: list[str] = parser.parse_args(arguments).subjects
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
