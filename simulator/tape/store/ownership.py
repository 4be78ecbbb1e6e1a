"""One process owns a folder: it holds a lock on the file `lock` there, whose text says who it is, and since when.

The operating system lets go of the lock when the process ends, however it ends, so a lock never has to be removed by
hand. The text stays. It says whether the last owner closed the store, and whether the machine was started since: of one
that was killed, the whole write-ahead log must be there, too, as long as the second line says.
"""

import fcntl
import os
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from simulator.tape.store.committed import Length
from simulator.tape.store.errors import InUse, Unusable
from simulator.tape.store.layout import LOCK

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


class Owner(NamedTuple):
    """Who wrote the text. One that `is_open` has not closed the store; with one that `is_closing` the log is in the
    database, or not yet. `is_of_this_boot` unless the machine was started since. `committed` is how long the log was at
    the latest commit that somebody was told of, at least; None where nothing says so."""

    is_open: bool = False
    is_closing: bool = False
    waits_for_disk: bool = False
    is_of_this_boot: bool = True
    committed: Length | None = None


class Ownership:
    """Of one folder, from `__init__` to `release`. One who `only_reads` changes nothing, shares the folder with others
    of the kind, and needs no lock where there is none. Raises `InUse` and `Unusable`."""

    ours: ClassVar[set[Path]] = set()  # the locks that this process has
    OPEN = "pid"
    CLOSING = "closing"
    CLOSED = "closed"

    def __init__(self, folder: Path, *, only_reads: bool = False) -> None:
        self.path = folder / LOCK
        self.text_before = ""
        self._is_announced = False
        self._descriptor = -1
        self._noted_at = 0  # where in the file the length of the log is
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
        told, *noted = self.text_before.splitlines() or [""]
        first, *words = told.split() or [""]
        is_of_this_boot = not boot() or f"boot={boot()}" in words
        committed = Length.of_text(noted[0]) if noted and first == self.OPEN else None
        return Owner(first == self.OPEN, first == self.CLOSING, "power" in words, is_of_this_boot, committed)

    def announce(self, durability: str, log: Length) -> None:
        """Write who the owner is, once there is a log. Raises `OSError`."""
        self._is_announced = True
        text = self._told(f"{self.OPEN} {os.getpid()} since", durability)
        self._write(f"{text}{log}\n")
        self._noted_at = len(text)

    def note(self, log: Length) -> None:
        """Write how long the log is, behind a commit, before anybody is told of it."""
        if self._noted_at:
            with suppress(OSError):  # an earlier length is true, too
                os.pwrite(self._descriptor, str(log).encode(), self._noted_at)

    def closing(self) -> None:
        """Write that the store is about to be closed, before its log is brought into the database."""
        if self._is_announced:
            self._noted_at = 0
            with suppress(OSError):
                self._write(self._told(f"{self.CLOSING} by {os.getpid()} at"))

    def farewell(self) -> None:
        """Write that the store is closed, before its log goes, and wait for the disk: a later start of the machine must
        not find a log missing. It may never have been open."""
        if not self._is_announced:
            return
        self._noted_at = 0
        with suppress(OSError):
            self._write(self._told(f"{self.CLOSED} by {os.getpid()} at"))
            os.fsync(self._descriptor)

    def release(self) -> None:
        """Let go of the folder."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self.ours.discard(self.path.resolve())

    def _told(self, what: str, durability: str = "") -> str:
        words = (what, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", durability, boot() and f"boot={boot()}")
        return " ".join(filter(None, words)) + "\n"

    def _text(self) -> str:
        return os.pread(self._descriptor, 200, 0).decode("ascii", "replace").strip()

    def _write(self, text: str) -> None:
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
