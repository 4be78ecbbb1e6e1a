"""Runs of the command, each against its own simulator and within limits of time and output. Worker processes run
several at once."""

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, TypeVar, cast

from reseller_sim.exchange import Unanswered, exchange
from simulator.app import App, build_app
from simulator.explore.command import ClientCommand, Restarts, end_process
from simulator.explore.environment import environment
from simulator.explore.observation import Observation, RunOutcome, Watch
from simulator.options import CONTROL_PATH, LOOPBACK, Options
from simulator.redaction import redact
from simulator.runtime.sandboxes import DEFAULT
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.yaml import block
from simulator.server.serve import Server, make_server

STOP_TIMEOUT_S = 5.0
TIMEOUT_S = 10.0
RUNNING = "running-"


@dataclass(frozen=True, slots=True)
class Setting:
    """The common part of all runs. During a run `folder` has its scenario, which names the extended scenario relative
    to `folder`. `restart` is the command that restarts the client; empty for none."""

    command: tuple[str, ...]
    options: Options
    host: str
    port: int
    folder: Path
    restart: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunJob:
    """A run: its scenario as a document, the timeout of the command, whether the tape is wanted, and whether the run
    needs an otherwise idle machine."""

    document: dict[str, Any]
    timeout_s: float
    wants_tape: bool = True
    alone: bool = False


def text_of(document: dict[str, Any]) -> str:
    """Return the text of a scenario file."""
    return "\n".join(block(document)) + "\n"


def run(setting: Setting, job: RunJob) -> RunOutcome:
    """Run the command. Raises `ScenarioError` for a scenario that cannot be loaded, and `OSError` for a command that
    cannot be started."""
    app = _app(setting, job)
    watch = Watch(app)
    tape = None
    with _serving(app, setting) as server:
        with closing(ClientCommand(setting.command, environment(app, server.url))) as command:
            with closing(Restarts(setting.restart, app, server.url, command)):
                exit_code = command.wait(job.timeout_s)
            duration_s = command.duration_s
        if job.wants_tape:
            tape = tape_of(server.url, app.options.control_token)
    seen: Observation = watch.end()
    output = redact(command.output, app.sandboxes.secrets)
    return RunOutcome(exit_code, duration_s, output, seen, tape)


def tape_of(url: str, token: str | None) -> bytes | None:
    """Return the tape of the default sandbox; None if it was not recorded."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        answer = exchange("GET", f"{url}{CONTROL_PATH}/sandboxes/{DEFAULT}/tape", None, headers, TIMEOUT_S)
    except Unanswered:
        return None
    return answer.body if answer.status == HTTPStatus.OK else None


def _app(setting: Setting, job: RunJob) -> App:
    path = setting.folder / f"{RUNNING}{os.getpid()}.yaml"
    path.write_text(text_of(job.document), encoding="utf-8")
    try:
        return build_app(setting.options._replace(scenario=str(path)))
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def _serving(app: App, setting: Setting) -> Iterator[Server]:
    """Serve in a thread that ends with this process."""
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


Key = TypeVar("Key", bound=Hashable)


class CannotRun(Exception):
    """A run was not possible. The text says why."""


class Workers:
    """Worker processes; a context manager that ends them."""

    def __init__(self, setting: Setting, count: int) -> None:
        self._setting = setting
        self._count = count
        self._processes: dict[Connection, BaseProcess] = {}
        self._busy: dict[Connection, tuple[object, Hashable]] = {}  # with the owner of the job, and its key
        self._is_alone = False  # a job with `alone` runs

    def __enter__(self) -> "Workers":
        context = multiprocessing.get_context("spawn")
        for _ in range(self._count):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, self._setting), daemon=True)
            process.start()
            theirs.close()
            self._processes[ours] = process
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for connection in self._processes:
            connection.close()
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.join(STOP_TIMEOUT_S)
            (self._setting.folder / f"{RUNNING}{process.pid}.yaml").unlink(missing_ok=True)

    def run_one(self, job: RunJob) -> RunOutcome:
        """Return the outcome of a run. Raises `CannotRun`, also for a scenario that cannot be loaded."""
        jobs = iter([("one", job)])
        [(_, outcome)] = self.run(lambda: next(jobs, None))
        if isinstance(outcome, str):
            raise CannotRun(outcome)
        return outcome

    def run(
        self, following: Callable[[], tuple[Key, RunJob] | None], left_s: Callable[[], float | None] = lambda: None
    ) -> Iterator[tuple[Key, RunOutcome | str]]:
        """Yield the outcomes as runs end; a text for a scenario that cannot be loaded.

        `following` returns the next job. It is called for each idle worker, and again after each outcome even if it
        returned None. The iteration ends when no time is left. If the caller stops iterating, runs that have begun
        continue. Raises `CannotRun`.
        """
        owner, held = object(), None
        while True:
            held = self._give(owner, held, following)
            if held is None and all(whose is not owner for whose, _ in self._busy.values()):
                return
            found = wait(list(self._busy), left_s())
            if not found:
                return
            for ready in found:
                assert isinstance(ready, Connection)
                whose, done = self._busy.pop(ready)
                self._is_alone = False
                outcome = _received(ready)
                if whose is owner:
                    yield cast(Key, done), outcome

    def _give(
        self, owner: object, held: tuple[Key, RunJob] | None, following: Callable[[], tuple[Key, RunJob] | None]
    ) -> tuple[Key, RunJob] | None:
        """Give jobs to idle workers. Return a job that has to wait until no other runs."""
        for connection in self._processes:
            if connection in self._busy or self._is_alone:
                continue
            held = held or following()
            if held is None or (held[1].alone and self._busy):
                return held
            (key, job), held = held, None
            connection.send(job)
            self._busy[connection] = owner, key
            self._is_alone = job.alone
        return held


def _received(connection: Connection) -> RunOutcome | str:
    try:
        found: RunOutcome | str | OSError = connection.recv()
    except (EOFError, OSError):
        raise CannotRun("a worker ended unexpectedly; is there enough memory for so many workers?") from None
    if isinstance(found, OSError):
        raise CannotRun(str(found))
    return found


def _work(connection: Connection, setting: Setting) -> None:
    """Run jobs until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles SIGINT and ends this process
    signal.signal(signal.SIGTERM, _end)
    logging.disable()
    with suppress(EOFError, OSError):
        while True:
            job = connection.recv()
            connection.send(_outcome(setting, job))


def _outcome(setting: Setting, job: RunJob) -> RunOutcome | str | OSError:
    try:
        return run(setting, job)
    except ScenarioError as error:
        return "; ".join(map(str, error.problems))
    except OSError as error:
        return error


def _end(number: int, frame: FrameType | None) -> None:
    end_process(128 + number)
