"""`python -m bench.scale`: figures of large sandboxes beside their targets, each subject in a process of its own."""

import argparse
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

from bench.scale import memory, restart, rules
from bench.scale.row import Row
from tools.tables import aligned

SUBJECTS: Mapping[str, Callable[[], list[Row]]] = {
    "payment": memory.payments,
    "sandboxes": memory.sandboxes,
    "rules": rules.many,
    "restart": restart.many,
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
        print(aligned([row.cells() for row in rows]), flush=True)
        return int(not all(row.is_met for row in rows))
    codes = [
        subprocess.run([sys.executable, "-m", "bench.scale", name], check=False).returncode  # noqa: S603 - ourselves
        for name in asked or SUBJECTS
    ]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
