"""One server for the tests of the client, each with a sandbox of its own; every answer is held against the contract."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from reseller_sim import Sandbox, Simulator, control, sandbox
from reseller_sim.exchange import Answer, Trust, exchange
from tests.support.both_clients import client_of
from tests.support.contract_check import assert_in_contract
from tests.support.processes import serving


@pytest.fixture(autouse=True)
def _answers_are_in_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    def checked(
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        timeout_s: float,
        trust: Trust | None = None,
    ) -> Answer:
        answer = exchange(method, url, body, headers, timeout_s, trust)
        number = answer.headers.get("x-sim-request-id", "server-")
        if not number.startswith("server-"):  # as refusals have it that are about a connection, not about an endpoint
            assert_in_contract(method, urlsplit(url).path, answer.status, answer.headers, answer.body)
        return answer

    monkeypatch.setattr(control, "exchange", checked)
    monkeypatch.setattr(sandbox, "exchange", checked)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a server."""
    with serving("--port", "0", "--json", "--clock", "manual") as running:
        yield running.ready["url"]


@pytest.fixture
def simulator(server: str) -> Simulator:
    """The synchronous client."""
    return Simulator(server)


@pytest.fixture
def own(simulator: Simulator) -> Iterator[Sandbox]:
    """A sandbox of the test's own, by the synchronous client."""
    with simulator.sandbox() as made:
        yield made


@pytest.fixture(params=["sync", "async"])
def client(request: pytest.FixtureRequest, server: str) -> Iterator[Any]:
    """Either client, called alike."""
    with client_of(request.param, server) as made:
        yield made
