"""Servers that a module's tests share, and the rule that none of them makes the server complain."""

import logging
from collections.abc import Iterator

import pytest

from tests.support.echo_at_once import EchoAtOnce
from tests.support.echo_server import Echo, Served, serving


@pytest.fixture(scope="module", params=["uvloop", pytest.param("asyncio", marks=pytest.mark.slow), "at_once"])
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A server with the limits that users get, on each kind of event loop, and with an app that answers at once."""
    is_at_once = request.param == "at_once"
    loop = "uvloop" if is_at_once else request.param
    with serving(loop, app=EchoAtOnce() if is_at_once else Echo()) as server:
        yield server


@pytest.fixture(autouse=True)
def silence(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail a test that logs at WARNING or above."""
    yield
    loud = [
        record
        for when in ("setup", "call")
        for record in caplog.get_records(when)
        if record.levelno >= logging.WARNING and record.name != "simulator.server.foreign_clients"  # of the client
    ]
    assert not loud, [record.getMessage() for record in loud]
