"""A simulator in a process of its own."""

import atexit
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from reseller_sim.decoding import decoded
from reseller_sim.errors import NotStarted
from reseller_sim.proxies import bypass

CHILD = str(Path(__file__).absolute().parent / "child.py")
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
CLOSED_TIMEOUT_S = 1.0  # between the end of its output and its own
LINES_KEPT = 1000
LINES_SHOWN = 20
LINE_CHARS_MAX = 16_384  # a longer line counts as several
LINE_CHARS_SHOWN = 200


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
        """What it prints as its first line, once it answers. Raises `NotStarted`, after its end."""
        late = threading.Event()
        timer = threading.Timer(START_TIMEOUT_S, self._give_up, [late])
        timer.daemon = True
        timer.start()
        line = out.readline(LINE_CHARS_MAX)
        timer.cancel()
        self._drain(out)
        try:
            ready = decoded(line)
            if not isinstance(ready, dict) or not isinstance(ready.get("url"), str):
                raise ValueError
        except ValueError:
            reason = self._reason(line, late.is_set())
            self.close()
            errors.join(STOP_TIMEOUT_S)
            said = [text[:LINE_CHARS_SHOWN] for text in self.lines if text.strip()][-LINES_SHOWN:]
            raise NotStarted("\n  ".join([reason, *said])) from None
        found: dict[str, Any] = ready
        return found

    def _give_up(self, late: threading.Event) -> None:
        late.set()
        self._process.kill()

    def _reason(self, line: str, is_late: bool) -> str:
        """Why it did not start, as far as its first line says."""
        if is_late:
            return f"the simulator was not ready in {START_TIMEOUT_S:g} s"
        if line.strip():
            return f"the simulator printed {line.strip()[:LINE_CHARS_SHOWN]!r}, which is not how it begins"
        try:
            return f"the simulator ended at once, with exit code {self._process.wait(CLOSED_TIMEOUT_S)}"
        except subprocess.TimeoutExpired:
            return "the simulator closed its output before it was ready"

    def _drain(self, stream: IO[str]) -> threading.Thread:
        """Read what it prints until it ends, since a full pipe would hold it up."""
        thread = threading.Thread(target=self._read, args=(stream,), name="reseller-sim output", daemon=True)
        thread.start()
        return thread

    def _read(self, stream: IO[str]) -> None:
        with stream:
            while line := stream.readline(LINE_CHARS_MAX):
                self.lines.append(line.rstrip("\n"))

    def close(self) -> None:
        """End it; once it has ended, do nothing. In a forked copy of the process that started it, nothing either."""
        atexit.unregister(self.close)
        if self._owner != os.getpid():
            return
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.terminate()
        killer = threading.Timer(STOP_TIMEOUT_S, self._process.kill)  # `wait` has a clock that a test may freeze
        killer.daemon = True
        killer.start()
        self._process.wait()
        killer.cancel()


def _environment() -> dict[str, str]:
    """This process's, without what was set for another simulator or for its clients; no proxy leads to this host."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RESELLER_")}
    return kept | bypass(kept, "http://127.0.0.1")
