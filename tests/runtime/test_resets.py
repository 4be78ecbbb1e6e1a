"""Resets and deletions that meet: a sandbox lives once, and not at all once it is deleted."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any

import pytest

from simulator.runtime import live_sandbox
from tests.support.client import Client, running

DELIVERING = {
    "scenario": "a webhook is under way from the start",
    "extends": "default",
    "resellers": [{"code": "RS001", "balance_webhook": {"url": "inbox:slow"}}],
    "inboxes": {"slow": [{"status": 200, "delay": "60s"}]},
    "schedule": [{"at": "0s", "deposit": {"reseller": "RS001", "amount": "5.00"}}],
}
RESET = ("POST", "/sandboxes/twice/reset")


def deliveries_under_way() -> int:
    """How many deliveries any sandbox of this event loop is sending."""
    return sum("Lanes._work_through" in repr(task.get_coro()) for task in asyncio.all_tasks())


async def _until_delivering() -> None:
    async with asyncio.timeout(60):
        while not deliveries_under_way():  # noqa: ASYNC110 - a delivery that begins rings no bell
            await asyncio.sleep(0)


async def _together(client: Client, *calls: Coroutine[Any, Any, Any]) -> tuple[list[int], int]:
    """The statuses of calls made at once while a delivery is under way, and the deliveries under way afterwards."""
    await _until_delivering()
    statuses = [answer.status for answer in await asyncio.gather(*calls)]
    for _ in range(10):
        await asyncio.sleep(0)
    return statuses, deliveries_under_way()


def test_two_resets_at_once_leave_one_life() -> None:
    with running() as client:
        client.sandbox(DELIVERING, "twice", mode="real")
        statuses, under_way = client.run(_together(client, client.asim(*RESET), client.asim(*RESET)))
        assert (statuses, under_way) == ([200, 200], 1)
        assert client.sim("GET", "/sandboxes/twice/invariants").json["ok"]


def test_two_resets_at_once_open_one_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as client:
        live = client.live

        async def twice() -> tuple[int, bool]:
            goes_on = asyncio.Event()

            async def later(function: Callable[..., Any], *arguments: Any) -> Any:
                await goes_on.wait()
                return function(*arguments)

            monkeypatch.setattr(live_sandbox, "in_background", later)
            first = asyncio.create_task(live.reset())
            await asyncio.sleep(0)
            answer = await client.acall("GET", "/v2/balance")  # refused, recorded for the next life
            second = asyncio.create_task(live.reset())
            await asyncio.sleep(0)
            goes_on.set()
            await asyncio.gather(first, second)
            waiting = asyncio.create_task(live.wait_until(lambda: False, 60, live.journal.notifier))
            for _ in range(3):
                await asyncio.sleep(0)
            has_ended = waiting.done()
            waiting.cancel()
            return answer.status, has_ended

        assert client.run(twice()) == (409, False)
        assert [exchange.status for exchange in live.journal] == [409]


def test_a_sandbox_that_leaves_during_its_reset_leaves_no_bytes_in_the_budget_of_tapes() -> None:
    with running() as client:
        budget, sandboxes = client.app.sandboxes.surroundings.tape_budget, client.app.sandboxes
        before = budget.bytes
        live = client.sandbox({"scenario": "brief", "extends": "default"}, "brief")
        client.call("GET", "/v2/balance", sandbox="brief")

        async def reset_and(leave: Coroutine[Any, Any, Any]) -> None:
            resetting = asyncio.create_task(live.reset())
            await asyncio.sleep(0)
            await client.acall("GET", "/v2/balance", sandbox="brief")
            await asyncio.gather(resetting, leave, return_exceptions=True)

        assert budget.bytes > before
        client.run(reset_and(sandboxes.delete("brief")))
        assert budget.bytes == before
        live = client.sandbox({"scenario": "brief", "extends": "default"}, "brief")
        client.call("GET", "/v2/balance", sandbox="brief")
        client.run(sandboxes.give_up(live))
        assert budget.bytes == before


def test_a_sandbox_that_is_deleted_during_its_reset_does_not_live_again() -> None:
    with running(keeps_coverage=True) as client:
        client.sandbox(DELIVERING, "twice", mode="real")
        client.call("GET", "/v2/balance", sandbox="twice")
        gone = client.asim("DELETE", "/sandboxes/twice")
        statuses, under_way = client.run(_together(client, client.asim(*RESET), gone))
        assert (statuses, under_way) == ([404, 204], 0)
        answers = client.app.sandboxes.coverage().answers
        assert [count for key, count in answers.items() if "/v2/balance" in key] == [1]


def test_the_parts_of_each_life_are_attributes_of_its_sandbox() -> None:
    with running() as client:
        lives = []
        for path, body in (("marks", {"name": "here"}), ("reset", None), ("rewind", {"n": 0})):
            assert client.sim("POST", f"/sandboxes/default/{path}", body).status < 300
            live, parts = client.live, vars(client.live.life)
            assert [name for name, part in parts.items() if vars(live).get(name) is not part] == ["secrets"]
            lives.append(live.life)
        assert len(set(lives)) == 3


def test_a_request_that_meets_the_next_life_is_counted_there() -> None:
    deposits = [{"at": "1s", "deposit": {"reseller": "RS001", "amount": "1.00"}}] * 300  # more than a turn's share
    with running({"schedule": deposits, "clock": {"mode": "real"}}) as client:
        live = client.live
        settle = live.process_rest

        async def rewind_first(now: datetime) -> datetime:
            assert (await client.asim("POST", "/sandboxes/default/rewind", {"n": 0})).status == 200
            return await settle(now)

        live.process_rest = rewind_first  # type: ignore[method-assign]
        client.pass_time(2)
        assert client.call("GET", "/v2/balance").status == 200
        assert [count for key, count in live.coverage().answers.items() if "/v2/balance" in key] == [1]
