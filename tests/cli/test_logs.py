"""What the server logs about an unexpected error has no secret in it, and nothing that controls a terminal."""

import io
import logging
from collections.abc import Iterator

import pytest

from simulator.app import App, build_app
from simulator.cli.logs import LOGGERS, WithoutSecrets, hide_secrets
from simulator.options import Options
from simulator.wire.secrets import MASKED

TOKEN = "control-token-0123456789"


@pytest.fixture
def app() -> Iterator[App]:
    """An application whose secrets the loggers hide."""
    made = build_app(Options(control_token=TOKEN))
    hide_secrets(made.sandboxes)
    yield made
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.filters[:] = [each for each in logger.filters if not isinstance(each, WithoutSecrets)]


@pytest.mark.parametrize("name", LOGGERS)
def test_a_traceback_and_a_message_are_masked(app: App, name: str) -> None:
    secret = next(iter(app.sandboxes.get("default").core.state.resellers.values())).keys[0].secret
    stream = io.StringIO()
    logger, handler = logging.getLogger(name), logging.StreamHandler(stream)
    logger.addHandler(handler)
    try:
        raise KeyError(f"{secret} \x1b[2J\u202e {TOKEN}")
    except KeyError as error:
        logger.error("failed for %s and %s\x1b", secret, TOKEN, exc_info=error)
    finally:
        logger.removeHandler(handler)
    printed = stream.getvalue()
    assert "Traceback" in printed
    assert f"failed for {MASKED} and {MASKED}\\x1b" in printed
    for hostile in (secret, TOKEN, "\x1b", "\u202e"):
        assert hostile not in printed


def test_a_later_server_takes_an_earlier_ones_place(app: App) -> None:
    hide_secrets(build_app(Options()).sandboxes)
    for name in LOGGERS:
        assert sum(isinstance(each, WithoutSecrets) for each in logging.getLogger(name).filters) == 1
