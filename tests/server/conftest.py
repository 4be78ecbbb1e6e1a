"""Servers that a module's tests share, and the rule that none of them makes the server complain."""

import logging
from collections.abc import Iterator

import pytest

from tests.support.echo_server import Echo, Served, serving
from tests.support.prompt_echo import PromptEcho


@pytest.fixture(scope="module", params=["uvloop", pytest.param("asyncio", marks=pytest.mark.slow), "prompt"])
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A server with the limits that users get, on each kind of event loop, and with an app that answers at once."""
    is_prompt = request.param == "prompt"
    loop = "uvloop" if is_prompt else request.param
    with serving(loop, app=PromptEcho() if is_prompt else Echo()) as server:
        yield server


@pytest.fixture(autouse=True)
def silence(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test in which anything is logged at WARNING or above."""
    yield
    loud = [
        record for when in ("setup", "call") for record in caplog.get_records(when) if record.levelno >= logging.WARNING
    ]
    assert not loud, [record.getMessage() for record in loud]
