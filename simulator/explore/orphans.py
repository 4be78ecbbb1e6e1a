"""What a command has started and left: it ends with the command's run, whatever session it is in.

A process whose parent has ended becomes a child of the nearest ancestor that adopts, on Linux: here of the worker.
Elsewhere only the command's own process group is ended.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
ROUNDS_MAX = 1000
"""So many generations are ended: a command that forks without end is not outrun for ever."""

_PROCESSES = Path("/proc")
_adopts = False


def adopt() -> None:
    """Let this process adopt orphans from now on. It must have no children but commands and what they start."""
    global _adopts
    if sys.platform == "linux":
        _adopts = ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def end_orphans() -> None:
    """End all children of this process, and theirs, which it then adopts, if it adopts any."""
    for _ in range(ROUNDS_MAX if _adopts else 0):
        ended = [pid for pid in _children() if _is_killed(pid)]
        if not ended:
            return
        for pid in ended:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _is_killed(pid: int) -> bool:
    """False for one that belongs to another user."""
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _children() -> Iterator[int]:
    """Those of this process, also those that have ended and that nobody has waited for."""
    for folder in _PROCESSES.iterdir():
        if folder.name.isdigit() and _parent(folder) == os.getpid():
            yield int(folder.name)


def _parent(folder: Path) -> int | None:
    try:
        status = (folder / "stat").read_bytes()
    except OSError:  # it has ended meanwhile
        return None
    return int(status.rpartition(b")")[2].split()[1])
