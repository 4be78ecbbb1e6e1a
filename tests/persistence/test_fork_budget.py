"""The memory of forks has a budget in bytes."""

import asyncio
import gc
import tracemalloc
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from simulator import persistence
from simulator.domain.errors import Conflict
from simulator.persistence import rewinding
from simulator.persistence.fork_budget import SANDBOX_BYTES, ForkBudget, size_of
from simulator.persistence.replay.player import Player
from simulator.persistence.rewinding import Asked, Rewinder
from tests.support.client import Client, running
from tests.support.taped_plays import FIRST, set_callback

CODE = str(Path(persistence.__file__).parents[1] / "*")


def rewinder_of(client: Client) -> Rewinder:
    return Rewinder(client.app.replayer, client.app.surroundings())


def balances(client: Client, times: int = 400) -> None:
    for _ in range(times):
        assert client.call("GET", "/v2/balance").status == 200


def payments(client: Client) -> None:
    set_callback(client)
    for number in range(300):
        client.pay(f"r{number}", amount="5")
    client.advance(600)


def open_payments(client: Client) -> None:
    for number in range(300):
        client.pay(f"r{number}", amount="5")


def voids(client: Client) -> None:
    for number in range(150):
        client.pay(f"r{number}")
        client.advance(60)
        client.call("POST", "/v2/transactions/void", {"trxid": f"r{number}"})


def webhooks(client: Client) -> None:
    assert client.call("PUT", "/v2/balance-webhook", {"url": "inbox:hooks"}).status == 200
    for _ in range(200):
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "5"})
    client.advance(60)


KINDS = [balances, payments, open_payments, voids, webhooks]


@pytest.mark.slow
@pytest.mark.parametrize("happens", KINDS)
def test_the_size_of_a_fork_is_what_it_holds(happens: Callable[[Client], None]) -> None:
    with running(FIRST) as client:
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "100000"})
        happens(client)
        rewinder = rewinder_of(client)
        names = (f"fork-{number}" for number in count())

        def forks(times: int) -> int:
            for _ in range(times):
                client.run(rewinder.fork(client.live, Asked(), client.app.sandboxes, next(names)))
            gc.collect()
            traced = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, CODE)])
            return sum(one.size for one in traced.statistics("filename"))

        tracemalloc.start()
        try:
            before = forks(2)  # shared parts exist
            held = (forks(4) - before) / 4
        finally:
            tracemalloc.stop()
        size = size_of(client.app.sandboxes.get("fork-5"))
        assert held <= size <= 4 * held + SANDBOX_BYTES


def test_forks_beyond_the_budget_are_refused_until_some_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewinding, "ForkBudget", lambda: ForkBudget(bytes_max=2 * SANDBOX_BYTES + 150_000))
    fork = {"fork": {"of": "default"}}
    with running(FIRST) as client:
        balances(client, 20)
        made = [client.sim("POST", "/sandboxes", fork) for _ in range(4)]
        assert [one.status for one in made] == [201, 201, 409, 409]
        refused = made[-1].json
        assert (refused["error"], refused["path"]) == ("too_many_fork_bytes", "fork")
        assert "delete or reset some first" in refused["message"]
        assert len(list(client.app.sandboxes)) == 3
        first, second = (one.json["id"] for one in made[:2])
        assert client.sim("POST", "/sandboxes/default/rewind", {"n": 19}).status == 200, "that makes no other sandbox"
        assert client.sim("DELETE", f"/sandboxes/{first}").status == 204
        assert client.sim("POST", "/sandboxes", fork).status == 201
        assert client.sim("POST", "/sandboxes", fork).status == 409
        assert client.sim("POST", f"/sandboxes/{second}/reset").status == 200
        assert client.sim("POST", "/sandboxes", fork).status == 201


def test_a_fork_that_fails_holds_nothing() -> None:
    with running(FIRST) as client:
        balances(client, 5)
        rewinder = rewinder_of(client)
        for wanted in ({"n": 99}, {"mark": "none"}):
            with pytest.raises(Exception, match=r"N is from 0 to 5|no mark"):
                client.run(rewinder.fork(client.live, Asked(**wanted), client.app.sandboxes, "x"))
        client.live.journal.find(2).content += b" "  # type: ignore[union-attr]
        with pytest.raises(Conflict, match="cannot be repeated"):
            client.run(rewinder.fork(client.live, Asked(), client.app.sandboxes, "x"))
        client.live.journal.find(2).content = client.live.journal.find(1).content  # type: ignore[union-attr]
        assert rewinder.forks.bytes == 0
        with rewinder.forks.room_for(rewinder.forks.bytes_max):
            pass


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
            await asyncio.gather(*(rewinder.fork(client.live, Asked(), client.app.sandboxes, n) for n in names))

        client.run(together())
        assert most == 2
        assert len(list(client.app.sandboxes)) == 7
