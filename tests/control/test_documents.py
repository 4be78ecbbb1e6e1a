"""`/openapi.json` and `/_sim/openapi.json`: the contracts as the server publishes them."""

import json
import re
from collections.abc import Iterator

import pytest

from simulator.contract.openapi import CONTROL, OPENAPI, bundled
from tests.support.client import Client, running


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as client:
        yield client


DOCUMENTS = [("/openapi.json", OPENAPI), ("/_sim/openapi.json", CONTROL)]


@pytest.mark.parametrize(("path", "document"), DOCUMENTS)
def test_a_contract_is_served_in_its_printed_form(client: Client, path: str, document: str) -> None:
    answer = client.send("GET", path)
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json == json.loads(json.dumps(bundled(document)))
    assert client.send("POST", path).status == 405


@pytest.mark.parametrize(("path", "_"), DOCUMENTS)
def test_the_contracts_are_open_to_everybody(path: str, _: str) -> None:
    with running(control_token="let-me-in") as client:
        assert client.send("GET", path, headers={"host": "10.1.2.3"}).status == 200


def test_a_sandbox_has_no_document_of_its_own(client: Client) -> None:
    assert client.send("GET", "/s/default/openapi.json").status == 404


def test_an_answer_under_sim_has_a_request_id_as_its_contract_says(client: Client) -> None:
    pattern = bundled(CONTROL)["components"]["headers"]["X-Sim-Request-Id"]["schema"]["pattern"]
    for method, path, status in (("GET", "/_sim/health", 200), ("GET", "/_sim/no", 404), ("PUT", "/_sim/health", 405)):
        answer = client.send(method, path)
        assert (answer.status, bool(re.fullmatch(pattern, answer.headers["x-sim-request-id"]))) == (status, True)
