"""The processes of a run, which end with it: the command, and the command that restarts its client."""

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Final
from urllib.parse import urlsplit

from reseller_sim.simulator import Simulator
from simulator.app import App
from simulator.explore.environment import environment
from simulator.explore.fault_catalogue import RESTART
from simulator.runtime.sandboxes import DEFAULT

OUTPUT_BYTES_MAX = 16 * 1024
_CHUNK_BYTES = 4096
_READ_GRACE_S = 1.0


class ClientCommand:
    """A process in a group of its own, which ends as a whole. A child that calls setsid leaves the group."""

    def __init__(self, words: tuple[str, ...], variables: dict[str, str]) -> None:
        with _starting():
            self._process = subprocess.Popen(  # noqa: S603  # the user's own command
                words,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self.pid, self._began_s = self._process.pid, time.monotonic()
            self._last = b""
            assert self._process.stdout is not None
            self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
            self._reader.start()
            _running.append(self)

    @property
    def is_running(self) -> bool:
        """Return whether the process itself is running; its children do not count."""
        return self._process.poll() is None

    def wait(self, timeout_s: float) -> int | None:
        """Wait for the end of the process. Return its exit code, 128+N after signal N, None after a timeout."""
        try:
            status = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            status = None
        self.close()
        return 128 - status if status is not None and status < 0 else status

    def kill(self) -> None:
        """Kill the process and its children. A signal's handler may call this: it takes no lock."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and its children."""
        self.kill()
        self._process.wait()
        self._reader.join(_READ_GRACE_S)
        with suppress(ValueError):
            _running.remove(self)

    @property
    def duration_s(self) -> float:
        """Return how long the process has been running, in seconds of wall time."""
        return time.monotonic() - self._began_s

    @property
    def output(self) -> str:
        """Return the end of the output."""
        return self._last.decode("utf-8", "replace")

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            while chunk := os.read(stream.fileno(), _CHUNK_BYTES):
                self._last = (self._last + chunk)[-OUTPUT_BYTES_MAX:]


_running: list[ClientCommand] = []
_starts: list[object] = []
_exit_codes: list[int] = []


@contextmanager
def _starting() -> Iterator[None]:
    """Put off the end of this process while a command starts, until the command can be ended, too."""
    start = object()
    _starts.append(start)
    try:
        yield
    finally:
        _starts.remove(start)
        if _exit_codes:
            end_process(_exit_codes[0])


def end_process(exit_code: int) -> None:
    """End all commands of this process, then the process. May be called by a signal's handler."""
    _exit_codes.append(exit_code)
    if _starts:
        return
    for command in list(_running):
        command.kill()
    os._exit(exit_code)


PID_VARIABLE: Final = "RESELLER_COMMAND_PID"
"""The environment variable with the command's process id, for the command that restarts it."""

HOLD_WAIT_S, LISTEN_POLL_S, CONNECT_TIMEOUT_S = 60.0, 0.01, 1.0


class Restarts:
    """Restarts the client with the command `words`, whenever a callback is held for a restart, while the run continues.

    The callback is released when nothing listens at its address any more, or when the restart has ended. Without
    `words` there are no restarts.
    """

    def __init__(self, words: tuple[str, ...], app: App, url: str, command: ClientCommand) -> None:
        self._words = words
        self._app = app
        self._url = url
        self._variables = environment(app, url) | {PID_VARIABLE: str(command.pid)}
        self._is_over = threading.Event()
        self._restarts: list[ClientCommand] = []
        if words:
            threading.Thread(target=self._run, name="restarts", daemon=True).start()

    def close(self) -> None:
        """End the processes that restarts have started, such as the client."""
        self._is_over.set()
        for restart in self._restarts:
            restart.close()

    def _run(self) -> None:
        hold = Simulator(self._url, self._app.options.control_token).open(DEFAULT).hold(RESTART)
        with suppress(Exception):  # the server stops
            while not self._is_over.is_set():
                with suppress(AssertionError):  # nothing is held yet
                    held = hold.wait(timeout_s=HOLD_WAIT_S)
                    self._restart(held[0]["job"])
                    hold.release()

    def _restart(self, job: str) -> None:
        callback = self._app.sandboxes.get(DEFAULT).core.state.callbacks.find(job)
        restart = ClientCommand(self._words, self._variables)
        self._restarts.append(restart)
        while restart.is_running and not self._is_over.is_set() and (callback is None or _listens(callback.url)):
            self._is_over.wait(LISTEN_POLL_S)


def _listens(url: str) -> bool:
    """Return whether a server accepts connections at an address; True for an inbox."""
    parts = urlsplit(url)
    if not parts.hostname:
        return True
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname, port), CONNECT_TIMEOUT_S).close()
    except OSError:
        return False
    return True
