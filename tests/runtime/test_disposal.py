"""The records of an ended life are freed in slices, and readers of that life still find all of them."""

import asyncio

import pytest

from simulator.runtime import lives
from tests.support.client import Client, running

PAYMENTS = 12


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lives, "FREED_AFTER_S", 0.0)
    monkeypatch.setattr(lives, "FREED_PER_TURN", 4)


def fill(client: Client) -> None:
    assert client.sim("POST", "/sandboxes", {"id": "a"}).status == 201
    for number in range(PAYMENTS):
        body = {"refid": f"r-{number}", "product": "RELOAD", "account": "0123456789", "amount": "10"}
        assert client.call("POST", "/v2/topup", body, sandbox="a").status == 200


@pytest.mark.parametrize(("method", "path"), [("DELETE", "/sandboxes/a"), ("POST", "/sandboxes/a/reset")])
def test_a_reader_finds_every_record_of_an_ended_life(method: str, path: str) -> None:
    with running() as client:
        fill(client)
        live = client.app.sandboxes.get("a")
        state, tape = live.core.state, live.tape
        nonces, entries = list(state.nonces), list(tape)
        assert client.sim(method, path).status < 300
        for _ in range(60):
            client.sim("GET", "/health")
        assert [one.refid for one in state.transactions.values()] == [f"r-{number}" for number in range(PAYMENTS)]
        assert len(state.agenda) == PAYMENTS
        assert list(state.nonces) == nonces
        assert list(tape) == entries


def test_each_turn_of_the_event_loop_frees_one_slice() -> None:
    records: list[object] = list(range(10))

    async def lengths() -> list[int]:
        lives._free_slice(records)
        found = [len(records)]
        while records:
            await asyncio.sleep(0)
            found.append(len(records))
        return found

    assert asyncio.run(lengths()) == [6, 2, 0]
