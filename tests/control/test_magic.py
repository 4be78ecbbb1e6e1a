"""`GET …/magic`: the magic accounts of a sandbox's scenario."""

from collections.abc import Iterator

import pytest

from tests.support.client import Client, running


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as client:
        yield client


def test_magic_accounts_match_the_scenario(client: Client) -> None:
    found = client.sim("GET", "/sandboxes/default/magic").json
    assert {"digits": "06", "outcome": "callbacks never sent"} in found["outcomes"]
    assert {"digit": "3", "seconds": 300} in found["durations"]


def test_a_scenario_may_have_no_magic_accounts(client: Client) -> None:
    wanted = {"id": "plain", "scenario": {"extends": "default", "magic": None}}
    assert client.sim("POST", "/sandboxes", wanted).status == 201
    assert client.sim("GET", "/sandboxes/plain/magic").json == {"outcomes": [], "durations": []}
