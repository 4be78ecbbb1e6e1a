"""Run the command once, within limits of time and output, against a simulator of its own."""

import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from reseller_sim.exchange import Unanswered, exchange
from simulator.app import App, build_app
from simulator.environment import environment
from simulator.explore.command import Command, Restarts
from simulator.explore.observation import Outcome, Seen, Watch
from simulator.options import CONTROL_PATH, LOOPBACK, Options
from simulator.redaction import redact
from simulator.runtime.sandboxes import DEFAULT
from simulator.scenario.yaml import block
from simulator.server.serve import Server, make_server

STOP_TIMEOUT_S = 5.0
TIMEOUT_S = 10.0
RUNNING = "running-"


@dataclass(frozen=True, slots=True)
class Setting:
    """What all runs have in common. `folder` is where the scenario of a run is written for as long as it lasts: what it
    extends is named relative to it. `restart` is the command that restarts the client; empty for none."""

    command: tuple[str, ...]
    options: Options
    host: str
    port: int
    folder: Path
    restart: tuple[str, ...] = ()


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
        with closing(Command(setting.command, environment(app, server.url))) as command:
            with closing(Restarts(setting.restart, app, server.url, command)):
                exit_code = command.wait(job.timeout_s)
            duration_s = command.duration_s
        if job.wants_tape:
            tape = tape_of(server.url, app.options.control_token)
    seen: Seen = watch.end()
    output = redact(command.output, app.sandboxes.secrets)
    return Outcome(exit_code, duration_s, output, seen, tape)


def tape_of(url: str, token: str | None) -> bytes | None:
    """Return the tape of the default sandbox; None when there is none to have."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        answer = exchange("GET", f"{url}{CONTROL_PATH}/sandboxes/{DEFAULT}/tape", None, headers, TIMEOUT_S)
    except Unanswered:
        return None
    return answer.body if answer.status == HTTPStatus.OK else None


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
