"""One run: a simulator of its own with one scenario, the command against it, and what both did."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.app import App, build_app
from simulator.environment import environment
from simulator.explore.command import Command
from simulator.explore.seen import Outcome, Seen
from simulator.explore.tapes import fetched
from simulator.explore.watching import Watch
from simulator.options import LOOPBACK, Options
from simulator.redaction import redact
from simulator.scenario.yaml import block
from simulator.server.serve import Server, make_server

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
