"""A fork needs room for its tape, and only some are built at once."""

import asyncio
from typing import Any

import pytest

from simulator.domain.errors import Conflict
from simulator.persistence import rewinding
from simulator.persistence.replay.player import Player
from simulator.persistence.rewinding import MomentRef, Rewinder
from tests.support.client import Client, running
from tests.support.taped_plays import FIRST


def rewinder_of(client: Client) -> Rewinder:
    return Rewinder(client.app.replayer, client.app.sandboxes.surroundings)


def balances(client: Client, times: int) -> None:
    for _ in range(times):
        assert client.call("GET", "/v2/balance").status == 200


def test_forks_whose_tapes_have_no_room_are_refused_until_some_go() -> None:
    fork = {"fork": {"of": "default"}}
    with running(FIRST) as client:
        balances(client, 20)
        budget = client.app.sandboxes.surroundings.tape_budget
        budget.bytes_max = 3 * budget.bytes
        made = [client.sim("POST", "/sandboxes", fork) for _ in range(4)]
        assert [one.status for one in made] == [201, 201, 409, 409]
        refused = made[-1].json
        assert (refused["error"], refused["path"]) == ("too_many_fork_bytes", "fork")
        assert "delete or reset some first" in refused["message"]
        assert len(list(client.app.sandboxes)) == 3
        first, second = (one.json["id"] for one in made[:2])
        assert client.sim("POST", "/sandboxes/default/rewind", {"n": 20}).status == 200, "that makes no other sandbox"
        assert client.sim("DELETE", f"/sandboxes/{first}").status == 204
        assert client.sim("POST", "/sandboxes", fork).status == 201
        assert client.sim("POST", "/sandboxes", fork).status == 409
        assert client.sim("POST", f"/sandboxes/{second}/reset").status == 200
        assert client.sim("POST", "/sandboxes", fork).status == 201


def test_a_fork_that_fails_holds_nothing() -> None:
    with running(FIRST) as client:
        balances(client, 5)
        rewinder, budget = rewinder_of(client), client.app.sandboxes.surroundings.tape_budget
        before = budget.bytes
        for wanted in ({"n": 99}, {"mark": "none"}):
            with pytest.raises(Exception, match=r"N is from 0 to 5|no mark"):
                client.run(rewinder.fork(client.live, MomentRef(**wanted), client.app.sandboxes, "x"))
        client.live.journal.find(2).content += b" "  # type: ignore[union-attr]
        with pytest.raises(Conflict, match="cannot be repeated"):
            client.run(rewinder.fork(client.live, MomentRef(), client.app.sandboxes, "x"))
        assert budget.bytes == before


def test_only_some_sandboxes_are_rebuilt_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewinding, "REBUILT_MAX", 2)
    at_once, most = 0, 0
    real = Rewinder._rebuilt

    async def played(self: Rewinder, *arguments: Any) -> Player:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        try:
            return await real(self, *arguments)
        finally:
            at_once -= 1

    monkeypatch.setattr(Rewinder, "_rebuilt", played)
    with running(FIRST) as client:
        balances(client, 20)
        rewinder = rewinder_of(client)

        async def together() -> None:
            names = [f"f{number}" for number in range(6)]
            await asyncio.gather(*(rewinder.fork(client.live, MomentRef(), client.app.sandboxes, n) for n in names))

        client.run(together())
        assert most == 2
        assert len(list(client.app.sandboxes)) == 7
