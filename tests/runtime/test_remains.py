"""A large sandbox that is gone is freed a share a turn, unless somebody still reads it."""

from typing import Any

import pytest

from simulator.runtime import remains
from tests.support.client import Client, running

PAYMENTS = 12


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"SMALL_MAX": 5, "SHARE": 4, "WAIT_S": 0.0}.items():
        monkeypatch.setattr(remains, name, value)


@pytest.fixture
def freed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How much each turn has freed."""
    shares: list[int] = []
    go_on, free = remains._Remains.go_on, remains._Remains._free

    def counted_turn(self: Any) -> None:
        shares.append(0)
        go_on(self)

    def counted(self: Any, most: int) -> int:
        done = free(self, most)
        shares[-1] += done
        return done

    monkeypatch.setattr(remains._Remains, "go_on", counted_turn)
    monkeypatch.setattr(remains._Remains, "_free", counted)
    return shares


def filled(client: Client) -> None:
    assert client.sim("POST", "/sandboxes", {"id": "a"}).status == 201
    for number in range(PAYMENTS):
        body = {"refid": f"r-{number}", "product": "RELOAD", "account": "0123456789", "amount": "10"}
        assert client.call("POST", "/v2/topup", body, sandbox="a").status == 200


def turns(client: Client) -> None:
    for _ in range(60):
        client.sim("GET", "/health")


@pytest.mark.parametrize(("method", "path"), [("DELETE", "/sandboxes/a"), ("POST", "/sandboxes/a/reset")])
def test_it_takes_many_turns_of_a_share_each(freed: list[int], method: str, path: str) -> None:
    with running() as client:
        filled(client)
        holdings = client.app.sandboxes.get("a").core.state.transactions.holdings()
        assert PAYMENTS in [len(one.records) for one in holdings], "the index of trxids"
        del holdings
        assert client.sim(method, path).status < 300
        turns(client)
    assert sum(freed) > 4 * PAYMENTS, "payments, refids, nonces, the agenda, the tape"
    assert max(freed) < 4 + 256, "a share, and at most one block of open payments"
    assert len([share for share in freed if share]) > PAYMENTS


def test_whoever_still_reads_it_finds_all_of_it(freed: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remains, "TRIES_MAX", 5)
    with running() as client:
        filled(client)
        state = client.app.sandboxes.get("a").core.state
        assert client.sim("DELETE", "/sandboxes/a").status == 204
        turns(client)
        assert len(list(state.transactions.values())) == PAYMENTS
        assert len(state.agenda) == PAYMENTS
    assert sum(freed) == 0
    assert len(freed) == 5, "then it is left to them"


def test_a_small_one_is_freed_at_once(freed: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remains, "SMALL_MAX", 20_000)
    with running() as client:
        filled(client)
        assert client.sim("DELETE", "/sandboxes/a").status == 204
        turns(client)
    assert freed == []
