"""The output of commands on a terminal."""

import os
import pty
import subprocess
from collections.abc import Mapping
from pathlib import Path
from threading import Timer

from tests.support.processes import DEADLINE_S


def shown_on_terminal(
    command: list[str],
    variables: Mapping[str, str],
    columns: int = 120,
    folder: Path | None = None,
    deadline_s: float = 4 * DEADLINE_S,
) -> str:
    """Return the output of a command on a terminal of this width, with plain line feeds."""
    ours, its = pty.openpty()
    sized = {"TERM": "xterm", **variables, "COLUMNS": str(columns)}
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=sized, cwd=folder)
    os.close(its)
    killer = Timer(deadline_s, process.kill)
    killer.start()
    try:
        return _all_of(ours).decode().replace("\r\n", "\n")
    finally:
        process.wait()
        killer.cancel()
        os.close(ours)


def _all_of(terminal: int) -> bytes:
    """Return the output until the last process has closed the terminal, which is an error on Linux."""
    read = bytearray()
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:
            return bytes(read)
        if not piece:
            return bytes(read)
        read += piece
