"""The log of the server: without secrets, as text or as JSON."""

import asyncio
import io
import json
import logging
import re
import subprocess
import sys
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from simulator.app import App, build_app
from simulator.cli import process
from simulator.cli.process import LogFormat, hide_secrets, use_log_format
from simulator.cli.server import BoundServer, prepare
from simulator.cli.server_flags import ServerFlags
from simulator.options import Options
from simulator.redaction import MASKED
from tests.support.processes import ROOT

TOKEN = "control-token-0123456789"


class Log:
    """What the log of the process writes, in a logger of its own."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self._handler = logging.StreamHandler(self.stream)
        assert logging.lastResort is not None
        self._handler.setFormatter(logging.lastResort.formatter)
        self.logger = logging.Logger("simulator.test")
        self.logger.addHandler(self._handler)


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> App:
    """An application whose secrets the log hides."""
    monkeypatch.setattr(process, "_LOG_FORMAT", LogFormat())
    monkeypatch.setattr(logging.lastResort, "formatter", None)
    made = build_app(Options(control_token=TOKEN))
    hide_secrets(lambda: made.sandboxes.secrets)
    return made


def test_a_traceback_and_a_message_are_masked(app: App) -> None:
    secret = next(iter(app.sandboxes.get("default").core.state.resellers.values())).keys[0].secret
    log = Log()
    try:
        try:
            raise ValueError(f"the cause has {secret}")
        except ValueError as cause:
            raise KeyError(f"{secret} \x1b[2J\u202e {TOKEN}") from cause
    except KeyError as error:
        log.logger.error("failed for %s and %s\x1b of %s", secret, TOKEN, "http://ann:hunter2@host/", exc_info=error)
    printed = log.stream.getvalue()
    assert "Traceback" in printed
    assert f"ValueError: the cause has {MASKED}" in printed
    assert f"failed for {MASKED} and {MASKED}\\x1b" in printed
    for hostile in (secret, TOKEN, "\x1b", "\u202e", "hunter2"):
        assert hostile not in printed


def test_a_server_that_was_made_from_flags_hides_its_secrets(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    flags: dict[str, Any] = dict.fromkeys(ServerFlags._fields)
    flags |= {"scenario": "default", "host": "127.0.0.1", "port": 0, "allow_host": (), "control_token": TOKEN}
    served: list[BoundServer] = []

    def fails(app: App, *_: Any) -> None:
        reseller = next(iter(app.sandboxes.get("default").core.state.resellers.values()))
        raise KeyError(f"{TOKEN} {reseller.keys[0].secret}")

    def on_ready(running: BoundServer) -> None:
        served.append(running)
        loop = asyncio.get_running_loop()
        asking = loop.run_in_executor(None, ask, running)
        asking.add_done_callback(lambda _: setattr(running.server, "should_exit", True))

    def ask(running: BoundServer) -> None:
        with pytest.raises(URLError):
            urlopen(f"{running.url}/v2/balance")  # noqa: S310 - http

    monkeypatch.setattr(App, "_answer", fails)
    prepare(ServerFlags(**flags), on_ready).server.run()
    secret = served[0].resellers()[0]["api_secret"]
    log = Log()
    for record in caplog.records:
        log.logger.handle(record)
    printed = log.stream.getvalue()
    assert f"KeyError: '{MASKED} {MASKED}'" in printed
    assert TOKEN not in printed
    assert secret not in printed


def test_a_later_server_takes_an_earlier_ones_place(app: App) -> None:
    hide_secrets(lambda: ())
    log = Log()
    log.logger.error(TOKEN)
    assert log.stream.getvalue() == f"{TOKEN}\n"


def test_as_json_every_record_is_a_single_line(app: App) -> None:
    use_log_format(is_json=True)
    log = Log()
    try:
        log.logger.warning("two\nlines of %s and %s", "\u202e", TOKEN)
        raise KeyError(TOKEN)
    except KeyError as error:
        log.logger.error("failed", exc_info=error)
    told, failed = map(json.loads, log.stream.getvalue().splitlines())
    assert list(told) == ["kind", "wall", "level", "logger", "message"]
    assert (told["kind"], told["level"], told["logger"]) == ("log", "warning", "simulator.test")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", told["wall"])
    assert MASKED in told["message"]
    assert failed["traceback"].startswith("Traceback")
    assert TOKEN not in log.stream.getvalue()


def test_the_log_of_a_process_is_json_when_requested() -> None:
    program = (
        "import logging\nfrom simulator.cli.process import use_log_format\nuse_log_format(is_json=True)\n"
        "logging.getLogger('uvicorn.error').error('it failed')\nlogging.getLogger('other').info('unseen')"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stderr)["message"] == "it failed"
