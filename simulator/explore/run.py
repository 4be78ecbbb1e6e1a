"""Run the command once, within limits of time and output, against a simulator of its own."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from reseller_sim.exchange import Unanswered, exchange
from simulator.app import App, build_app
from simulator.environment import environment
from simulator.explore.observation import Outcome, Seen, Watch
from simulator.options import CONTROL_PATH, LOOPBACK, Options
from simulator.redaction import redact
from simulator.runtime.sandboxes import DEFAULT
from simulator.scenario.yaml import block
from simulator.server.serve import Server, make_server

OUTPUT_BYTES_MAX = 16 * 1024
_CHUNK_BYTES = 4096
_READ_GRACE_S = 1.0


class Command:
    """A process in a group of its own, which ends as a whole. A child that calls setsid leaves the group."""

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


TIMEOUT_S = 10.0
OK = 200


def fetched(url: str, token: str | None) -> bytes | None:
    """The tape of the default sandbox; None when there is none to have."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        answer = exchange("GET", f"{url}{CONTROL_PATH}/sandboxes/{DEFAULT}/tape", None, headers, TIMEOUT_S)
    except Unanswered:
        return None
    return answer.body if answer.status == OK else None


STOP_TIMEOUT_S = 5.0
RUNNING = "running-"


@dataclass(frozen=True, slots=True)
class Setting:
    """What all runs have in common. `folder` is where the scenario of a run is written for as long as it lasts: what it
    extends is named relative to it."""

    command: tuple[str, ...]
    options: Options
    host: str
    port: int
    folder: Path


@dataclass(frozen=True, slots=True)
class Job:
    """One run: its scenario as a document, for how long the command may take, whether its tape is wanted, and whether
    nothing else may run meanwhile."""

    document: dict[str, Any]
    timeout_s: float
    wants_tape: bool = True
    alone: bool = False


def text_of(document: dict[str, Any]) -> str:
    """A scenario file."""
    return "\n".join(block(document)) + "\n"


def run(setting: Setting, job: Job) -> Outcome:
    """Run it. Raises `ScenarioError` for a scenario that cannot be loaded, and `OSError` for a command that cannot be
    started."""
    app = _app(setting, job)
    watch = Watch(app)
    tape = None
    with _serving(app, setting) as server:
        with _started(setting.command, environment(app, server.url)) as command:
            exit_code = command.wait(job.timeout_s)
        if job.wants_tape:
            tape = fetched(server.url, app.options.control_token)
    seen: Seen = watch.end()
    output = redact(command.output, app.sandboxes.secrets)
    return Outcome(exit_code, command.duration_s, output, seen, tape)


def _app(setting: Setting, job: Job) -> App:
    path = setting.folder / f"{RUNNING}{os.getpid()}.yaml"
    path.write_text(text_of(job.document), encoding="utf-8")
    try:
        return build_app(setting.options._replace(scenario=str(path)))
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def _serving(app: App, setting: Setting) -> Iterator[Server]:
    """A server in a thread, which ends with this process, however that ends."""
    answers_or_ended = threading.Event()
    server = make_server(
        app, setting.host or LOOPBACK, setting.port, on_ready=answers_or_ended.set, on_stop=app.sandboxes.end_waits
    )
    app.options = app.options._replace(url=server.url)

    def serve() -> None:
        try:
            server.run()
        finally:
            answers_or_ended.set()

    thread = threading.Thread(target=serve, name="simulator", daemon=True)
    thread.start()
    answers_or_ended.wait()
    try:
        yield server
    finally:
        server.should_exit = True
        thread.join(STOP_TIMEOUT_S)


_running: list[Command] = []


@contextmanager
def _started(words: tuple[str, ...], variables: dict[str, str]) -> Iterator[Command]:
    command = Command(words, variables)
    _running.append(command)
    try:
        yield command
    finally:
        command.end()
        _running.remove(command)


def end_commands() -> None:
    """End what runs in this process, which is about to end itself."""
    for one in list(_running):
        with suppress(Exception):
            one.end()
