"""Runs the command once, with bounds: of time, and of what is kept of its output."""

import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from typing import IO

from simulator.explore.orphans import end_orphans

OUTPUT_BYTES_MAX = 16 * 1024
_CHUNK_BYTES = 4096
_READ_GRACE_S = 1.0


class Command:
    """A process in a group of its own, so that what it has started ends with it; where this process adopts orphans,
    also what has left the group."""

    def __init__(self, words: tuple[str, ...], variables: dict[str, str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # the user's own command
            words,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._began = time.monotonic()
        self._last = b""
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()

    def wait(self, timeout_s: float) -> int | None:
        """Wait for its end; returns its exit code, 128+N after signal N, None when it had to be ended."""
        try:
            status = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            status = None
        self.end()
        self._reader.join(_READ_GRACE_S)
        return 128 - status if status is not None and status < 0 else status

    def end(self) -> None:
        """End all that is left of it, and what it has started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        end_orphans()

    @property
    def duration_s(self) -> float:
        """How long it has been running, in wall time."""
        return time.monotonic() - self._began

    @property
    def output(self) -> str:
        """The last of what it has printed."""
        return self._last.decode("utf-8", "replace")

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            while chunk := os.read(stream.fileno(), _CHUNK_BYTES):
                self._last = (self._last + chunk)[-OUTPUT_BYTES_MAX:]
