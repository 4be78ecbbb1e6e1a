"""`python -m tools.kills.often serve ...`: a server that takes snapshots whenever a few entries have come, so
that they are due while it is rewound, forked and killed."""

import sys
from collections.abc import Sequence
from typing import Final

from simulator.cli.main import main
from simulator.keeping import saving
from tests.support.processes import PROGRAM

ENTRIES: Final = 20
LOOK_S: Final = 0.01

OFTEN: Final[Sequence[str]] = [*PROGRAM[:-1], "tools.kills.often"]
"""The command of such a server."""


def take_often() -> None:
    """From now on in this process."""
    for name, value in {
        "ENTRIES": ENTRIES,
        "ENTRIES_MIN": ENTRIES,
        "RESTED_ENTRIES": ENTRIES,
        "LOOK_S": LOOK_S,
        "SHARE": 0,
    }.items():
        setattr(saving, name, value)


if __name__ == "__main__":
    take_often()
    sys.exit(main())
