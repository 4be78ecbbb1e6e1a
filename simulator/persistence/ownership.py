"""One process owns a folder: it holds a lock on the file `lock` there, whose text says who it is, and since when.

The operating system lets go of the lock when the process ends, however it ends, so a lock never has to be removed by
hand. The text stays. It says whether the last owner closed the store, and whether the machine was started since: then
the power may have failed, which takes the latest commits of one that does not wait for the disk.
"""

import fcntl
import os
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from simulator.persistence.errors import InUse, Unusable
from simulator.persistence.layout import LOCK

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


class Owner(NamedTuple):
    """Who wrote the text. One that `is_open` has not closed the store. `is_of_this_boot` unless the machine was started
    since."""

    is_open: bool = False
    waits_for_disk: bool = False
    is_of_this_boot: bool = True


class Ownership:
    """Of one folder, from `__init__` to `release`. One who `only_reads` changes nothing, shares the folder with others
    of the kind, and needs no lock where there is none. Raises `InUse` and `Unusable`."""

    ours: ClassVar[set[Path]] = set()  # the locks that this process has
    OPEN = "pid"
    CLOSED = "closed"

    def __init__(self, folder: Path, *, only_reads: bool = False) -> None:
        self.path = folder / LOCK
        self.text_before = ""
        self._is_announced = False
        self._descriptor = -1
        if only_reads and not self.path.exists():
            return
        try:
            self._descriptor = os.open(self.path, os.O_RDONLY if only_reads else os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            what = "read" if only_reads else "written"
            raise Unusable(f"{self.path}: cannot be {what} ({error.strerror}): give a folder that can be") from None
        try:
            fcntl.flock(self._descriptor, (fcntl.LOCK_SH if only_reads else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            self.text_before = self._text()
            if not only_reads:
                self.ours.add(self.path.resolve())
        except BlockingIOError:
            text = self._text()
            os.close(self._descriptor)
            raise InUse(_in_use(folder, text)) from None
        except OSError as error:
            os.close(self._descriptor)
            raise Unusable(f"{self.path}: cannot be locked ({error.strerror}): give a folder that can be") from None

    @property
    def before(self) -> Owner:
        """Who had the folder before."""
        first, *words = self.text_before.split() or [""]
        return Owner(first == self.OPEN, "power" in words, not boot() or f"boot={boot()}" in words)

    def announce(self, durability: str) -> None:
        """Write who the owner is. Raises `OSError`."""
        self._is_announced = True
        self._write(f"{self.OPEN} {os.getpid()} since", durability)

    def mark_closed(self) -> None:
        """Write that the store is closed. It may never have been open."""
        if self._is_announced:
            with suppress(OSError):
                self._write(f"{self.CLOSED} by {os.getpid()} at")

    def release(self) -> None:
        """Let go of the folder."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self.ours.discard(self.path.resolve())

    def _text(self) -> str:
        return os.pread(self._descriptor, 200, 0).decode("ascii", "replace").strip()

    def _write(self, what: str, durability: str = "") -> None:
        words = (what, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", durability, boot() and f"boot={boot()}")
        text = " ".join(filter(None, words)) + "\n"
        os.pwrite(self._descriptor, text.encode(), 0)
        os.ftruncate(self._descriptor, len(text))


@cache
def boot() -> str:
    """What tells this run of the machine from others; empty where the system does not say."""
    try:
        return _BOOT.read_bytes().decode().strip()
    except (OSError, ValueError):
        return ""


def _in_use(folder: Path, text: str) -> str:
    words = text.split()
    if len(words) < 4 or words[0] != Ownership.OPEN:
        return f"{folder}: another process is just opening or closing this folder: try again"
    if (folder / LOCK).resolve() in Ownership.ours:
        return f"{folder}: this process (pid {words[1]}) has it open already, since {words[3]}: close it there first"
    # In another container its number may be the same as ours.
    return f"{folder}: in use by the process with pid {words[1]}, since {words[3]}: stop it, or give another folder"
