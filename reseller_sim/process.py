"""A simulator in a process of its own."""

import atexit
import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from reseller_sim.errors import NotStarted

CHILD = str(Path(__file__).absolute().parent / "child.py")
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
LINES_KEPT = 1000


class Process:
    """The command `serve` on a free port, ready to answer: `ready` is what it printed as JSON, `lines` the latest lines
    that it printed since. Raises `NotStarted`."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.lines: deque[str] = deque(maxlen=LINES_KEPT)
        self._owner = os.getpid()
        command = [sys.executable, CHILD, "serve", "--json", "--port", "0", *arguments]
        self._process = subprocess.Popen(  # noqa: S603  # our own command
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl-C ends the tests, which then clean up
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        atexit.register(self.close)
        errors = self._drain(self._process.stderr)
        self.ready = self._await_ready(self._process.stdout, errors)

    def _await_ready(self, out: IO[str], errors: threading.Thread) -> dict[str, Any]:
        timer = threading.Timer(START_TIMEOUT_S, self._process.kill)
        timer.start()
        line = out.readline()
        timer.cancel()
        self._drain(out)
        try:
            ready: dict[str, Any] = json.loads(line)
        except ValueError:
            self.close()
            errors.join(STOP_TIMEOUT_S)
            raise NotStarted("\n".join([*self.lines, line]).strip() or "the simulator ended without a word") from None
        return ready

    def _drain(self, stream: IO[str]) -> threading.Thread:
        """Read what it prints until it ends, since a full pipe would hold it up."""
        thread = threading.Thread(target=self._read, args=(stream,), name="reseller-sim output", daemon=True)
        thread.start()
        return thread

    def _read(self, stream: IO[str]) -> None:
        with stream:
            self.lines.extend(line.rstrip("\n") for line in stream)

    def close(self) -> None:
        """End it; once it has ended, do nothing. In a forked copy of the process that started it, nothing either."""
        atexit.unregister(self.close)
        if self._owner != os.getpid():
            return
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.terminate()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _environment() -> dict[str, str]:
    """This process's, without what was set for another simulator or for its clients."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RESELLER_")}
