"""Small files with secrets, which a running server may read again: for their owner alone."""

import os
import stat
from typing import Final

from simulator.cli.output import print_to_stderr
from simulator.shortened import one_line

SECRET_MODE: Final = 0o600
"""Of a new file that has secrets."""


def warn_of_readers(path: str | os.PathLike[str]) -> None:
    """Say on stderr that others than its owner can read a file with secrets, if they can."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    if stat.S_ISREG(mode) and mode & (stat.S_IRGRP | stat.S_IROTH):
        who = "everybody" if mode & stat.S_IROTH else "its group"
        name = os.fspath(path)
        print_to_stderr(one_line(f"reseller-sim: {name}: {who} can read this secret; chmod 600 {name}"))
