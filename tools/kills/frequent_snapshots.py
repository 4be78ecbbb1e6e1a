"""`python -m tools.kills.frequent_snapshots serve ...`: a server that takes a snapshot after a few entries.

So a snapshot is likely to be due while the server is rewound, forked or killed.
"""

import sys
from collections.abc import Sequence
from typing import Final

from simulator.cli.main import main
from simulator.persistence import snapshot_schedule
from tests.support.processes import PROGRAM

ENTRIES: Final = 20
LOOK_S: Final = 0.01

SERVER: Final[Sequence[str]] = [*PROGRAM[:-1], "tools.kills.frequent_snapshots"]
"""The command of such a server."""


def use_short_intervals() -> None:
    """Set the intervals of snapshots in this process."""
    for name, value in {
        "ENTRIES": ENTRIES,
        "RESTED_ENTRIES": ENTRIES,
        "LOOK_S": LOOK_S,
        "SHARE": 0,
    }.items():
        setattr(snapshot_schedule, name, value)


if __name__ == "__main__":
    use_short_intervals()
    sys.exit(main())
