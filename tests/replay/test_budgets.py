"""Forks share what never changes with their originals, and what they hold for themselves has a budget in bytes."""

import asyncio
import gc
import tracemalloc
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from simulator import persistence
from simulator.domain.errors import Conflict
from simulator.persistence.replay import budgets, rewinding
from simulator.persistence.replay.budgets import ForkBudget, RebuildBudget, size_of
from simulator.persistence.replay.moments import Asked
from simulator.persistence.replay.rewinding import Rewinder
from simulator.persistence.snapshot.restore import IN_MEMORY
from simulator.runtime.live_sandbox import LiveSandbox
from tests.support.client import Client, running
from tests.support.replaying import assert_replays
from tests.support.taped_plays import FIRST, a_load, set_callback

CODE = str(Path(persistence.__file__).parents[1] / "*")


def rewinder_of(client: Client) -> Rewinder:
    return Rewinder(client.app.again, client.app.surroundings(), IN_MEMORY)


async def marked(rewinder: Rewinder, live: LiveSandbox) -> None:
    """Mark the present, and wait for its snapshot."""
    rewinder.mark(live, "here")
    assert rewinder.taking is not None
    await rewinder.taking.finished()


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


def shared(fork: LiveSandbox, original: LiveSandbox) -> tuple[bool, bool, bool]:
    """Whether all requests, entries and what attempts sent are the very same objects."""
    sent = zip(fork.courier.sent, original.courier.sent, strict=True)
    return (
        all(a is b for a, b in zip(fork.journal, original.journal, strict=True)),
        all(a is b for a, b in zip(fork.tape, original.tape, strict=True)),
        all(a[2] is b[2] for a, b in sent),
    )


@pytest.mark.slow
@pytest.mark.parametrize("happens", [a_load, payments])
def test_a_fork_has_the_records_of_its_original_and_none_of_its_own(happens: Callable[[Client], None]) -> None:
    with running(FIRST) as client:
        set_callback(client)
        happens(client)
        played = client.run(rewinder_of(client).fork(client.live, Asked(), client.app.sandboxes, "played"))
        assert shared(played, client.live) == (True, True, True)
        rewinder = rewinder_of(client)
        client.run(marked(rewinder, client.live))
        restored = client.run(rewinder.fork(client.live, Asked(), client.app.sandboxes, "restored"))
        assert rewinder.kept.nearest(client.live, len(client.live.tape)) is not None
        assert shared(restored, client.live) == (True, True, True)
        for box in ("played", "restored"):
            assert client.sim("POST", f"/sandboxes/{box}/rewind", {"n": 3}).status == 200
        client.pay("on", sandbox="restored")
        assert_replays(client.app)


def test_what_was_answered_otherwise_is_not_shared() -> None:
    with running(FIRST) as client:
        balances(client, 3)
        rewinder = rewinder_of(client)
        client.run(marked(rewinder, client.live))
        client.live.journal.find(2).content += b" "  # type: ignore[union-attr]  # as after a mistake of ours
        made = client.run(rewinder.fork(client.live, Asked(), client.app.sandboxes, "fork"))
        own = [one.content for one in made.journal]
        assert own == [own[0]] * 3
        client.live.journal.find(2).content = own[0]  # type: ignore[union-attr]


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
            before = forks(2)  # what is made once is there
            held = (forks(4) - before) / 4
        finally:
            tracemalloc.stop()
        size = size_of(client.app.sandboxes.get("fork-5"))
        assert held <= size <= 2.5 * held + budgets.FORK_BYTES
        if happens is balances:
            assert held < 400 * 450 + budgets.FORK_BYTES, "a request alone has more than a kilobyte"


def test_forks_beyond_the_budget_are_refused_until_some_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewinding, "ForkBudget", lambda: ForkBudget(bytes_max=2 * budgets.FORK_BYTES + 50_000))
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
        assert client.sim("POST", "/sandboxes/default/rewind", {"n": 3}).status == 200, "that makes no other sandbox"
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
            with pytest.raises(Exception, match=r"until now|no mark"):
                client.run(rewinder.fork(client.live, Asked(**wanted), client.app.sandboxes, "x"))
        client.live.journal.find(2).content += b" "  # type: ignore[union-attr]
        with pytest.raises(Conflict, match="cannot be repeated"):
            client.run(rewinder.fork(client.live, Asked(), client.app.sandboxes, "x"))
        client.live.journal.find(2).content = client.live.journal.find(1).content  # type: ignore[union-attr]
        assert (rewinder.forks.bytes, rewinder.rebuilt.bytes) == (0, 0)
        with rewinder.forks.room_for(rewinder.forks.bytes_max):
            pass


def test_what_is_rebuilt_beyond_the_budget_waits_for_its_turn() -> None:
    most = 0
    with running(FIRST) as client:
        balances(client, 20)
        rewinder = rewinder_of(client)
        rewinder.rebuilt.bytes_max = 1
        one = budgets.share_of(size_of(client.live) + client.live.tape.bytes, 20, client.live)

        async def together() -> None:
            nonlocal most
            names = [f"f{number}" for number in range(6)]
            tasks = [asyncio.create_task(rewinder.fork(client.live, Asked(), client.app.sandboxes, n)) for n in names]
            while not all(task.done() for task in tasks):
                most = max(most, rewinder.rebuilt.bytes)
                await asyncio.sleep(0)
            await asyncio.gather(*tasks)

        client.run(together())
        assert 0 < most <= one
        assert len(list(client.app.sandboxes)) == 7


def test_who_waits_for_room_comes_in_order_and_may_leave() -> None:
    async def main() -> list[str]:
        budget, came = RebuildBudget(bytes_max=10), list[str]()

        async def rebuild(name: str, size: int) -> None:
            async with budget.room_for(size):
                came.append(name)
                await asyncio.sleep(0)

        async with budget.room_for(8):
            waiting = [asyncio.create_task(rebuild(*one)) for one in (("large", 50), ("left", 5), ("small", 1))]
            await asyncio.sleep(0)
            waiting[1].cancel()
            await asyncio.sleep(0)
            assert came == []
        await asyncio.gather(*waiting, return_exceptions=True)
        assert budget.bytes == 0
        return came

    assert asyncio.run(main()) == ["large", "small"]
