"""Long polls: many may wait, each change is looked at once for each of them, and their number is bounded."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from decimal import Decimal
from typing import Any

import pytest

from simulator.control import journal_endpoints
from simulator.domain.commands import Credit, RemoveWebhook
from simulator.runtime import wait_limits
from simulator.runtime.wait_limits import WAITERS_MAX
from tests.support.client import Client, Response, running

SIM = "/sandboxes/default"
WAITERS = 40
SCENARIO: dict[str, Any] = {
    "resellers": [{"code": "RS001", "balance_webhook": {"url": "inbox:hooks"}}],
    "limits": {"journal": 5},
}
Polls = list[asyncio.Task[Response]]


@pytest.fixture
def client() -> Iterator[Client]:
    with running(SCENARIO) as client:
        client.call("POST", "/v2/callback-url?url=inbox%3Acallbacks&method=POST")
        yield client


async def polling(client: Client, path: str, count: int = 1) -> Polls:
    """So many long polls that wait."""
    polls = [asyncio.create_task(client.asim("GET", f"{SIM}/{path}&timeout=60")) for _ in range(count)]
    for _ in range(3):
        await asyncio.sleep(0)
    return polls


async def answered(polls: Polls) -> list[Response]:
    return list(await asyncio.wait_for(asyncio.gather(*polls), 60))


def test_each_exchange_is_looked_at_once_for_each_that_waits(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: Counter[int] = Counter()

    def path_of(exchange: Any) -> str:
        looked_at[exchange.n] += 1
        return str(exchange.path)

    monkeypatch.setitem(journal_endpoints._FILTERS, "path", path_of)

    async def story() -> None:
        first = client.live.journal.last_n
        polls = await polling(client, "requests?path=/v2/balance&wait_for=3", WAITERS)
        looked_at.clear()
        for call in ("/v2/balance", "/v2/catalog", "/v2/balance"):
            await client.acall("GET", call)
        assert looked_at == {first + n: WAITERS for n in (1, 2, 3)}
        assert not any(poll.done() for poll in polls)
        await client.acall("GET", "/v2/balance")
        assert {answer.json["complete"] for answer in await answered(polls)} == {True}

    client.run(story())


def test_each_callback_is_looked_at_once_for_each_that_waits(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        client.pay(f"r{number}")
    looked_at: Counter[str] = Counter()
    ended = type(client.live.driver.job_ends).tally

    def tally(jobs: Any, matches: Callable[[Any], bool], counted: int) -> Any:
        def watched(job: Any) -> bool:
            looked_at[job.id] += 1
            return matches(job)

        return ended(jobs, watched, counted)

    monkeypatch.setattr(type(client.live.driver.job_ends), "tally", tally)

    async def story() -> None:
        polls = await polling(client, "callbacks?wait_for=10", WAITERS)
        await client.asim("POST", f"{SIM}/clock/advance", {"until": "idle"})
        assert [len(answer.json["callbacks"]) for answer in await answered(polls)] == [10] * WAITERS
        assert len(looked_at) == 10
        assert set(looked_at.values()) == {WAITERS}

    client.run(story())


async def remove_webhook(client: Client) -> None:
    client.live.apply_and_record(Credit("RS001", Decimal(5)))
    client.live.apply_and_record(RemoveWebhook("RS001"))
    await advance(client)


async def deposit(client: Client) -> None:
    await client.asim("POST", f"{SIM}/resellers/RS001/deposits", {"amount": "5.00"})
    await advance(client)


async def advance(client: Client) -> None:
    await client.asim("POST", f"{SIM}/clock/advance", {"until": "idle"})


async def balances(client: Client) -> None:
    for _ in range(8):  # more than the journal holds
        await client.acall("GET", "/v2/balance")


async def payment(client: Client) -> None:
    await client.acall(
        "POST", "/v2/topup", {"refid": "r", "product": "RELOAD", "account": "0123456789", "amount": "10"}
    )
    await advance(client)


WAITS: list[tuple[str, Callable[[Client], Coroutine[Any, Any, None]]]] = [
    ("requests?path=/v2/balance&wait_for=8", balances),
    ("callbacks?refid=r&wait_for=2", payment),
    ("callbacks?wait_for=2", payment),
    ("deliveries?wait_for=1", deposit),
    ("deliveries?state=success&reseller=RS001&wait_for=1", deposit),
    ("deliveries?state=failed&wait_for=1", remove_webhook),
    ("inbox/callbacks?wait_for=2", payment),
]


@pytest.mark.parametrize(("path", "event"), WAITS, ids=[path for path, _ in WAITS])
def test_a_wait_ends_with_its_message(
    client: Client, path: str, event: Callable[[Client], Coroutine[Any, Any, None]]
) -> None:
    async def story() -> Any:
        [poll] = await polling(client, path)
        assert not poll.done()
        await event(client)
        [answer] = await answered([poll])
        return answer.json["complete"]

    assert client.run(story()) is True
    assert not client.live.is_busy


def test_a_wait_ignores_messages_that_do_not_match(client: Client) -> None:
    async def story() -> None:
        paths = ("callbacks?refid=other&wait_for=1", "deliveries?state=failed&wait_for=1", "notifications?wait_for=1")
        polls = [poll for path in paths for poll in await polling(client, path)]
        await payment(client)
        await deposit(client)
        assert not any(poll.done() for poll in polls)
        client.live.stop()
        assert [answer.json["complete"] for answer in await answered(polls)] == [False, False, False]

    client.run(story())


@pytest.mark.parametrize("path", ["requests?", "callbacks?", "deliveries?", "notifications?", "inbox/callbacks?"])
def test_more_than_may_wait_are_refused_until_one_has_its_answer(client: Client, path: str) -> None:
    async def story() -> None:
        polls = await polling(client, f"{path}wait_for=9", WAITERS_MAX)
        refused = await client.asim("GET", f"{SIM}/{path}wait_for=9")
        assert (refused.status, refused.json["error"], refused.headers["retry-after"]) == (429, "too_many_waiting", "1")
        assert (await client.asim("GET", f"{SIM}/{path}wait_for=0")).status == 200
        polls.pop().cancel()
        polls += await polling(client, f"{path}wait_for=9")
        assert not polls[-1].done()
        client.live.stop()
        assert {answer.status for answer in await answered(polls)} == {200}

    client.run(story())


def test_clients_that_wait_at_different_inboxes_share_the_bound_of_their_sandbox(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wait_limits, "SANDBOX_WAITERS_MAX", 4)

    async def story(client: Client) -> None:
        polls = [poll for n in range(4) for poll in await polling(client, f"inbox/a{n}?wait_for=1")]
        polls.append(asyncio.create_task(client.asim("GET", "/sandboxes/other/inbox/b?wait_for=1&timeout=60")))
        await asyncio.sleep(0)
        for path in ("inbox/new?", "requests?", "callbacks?", "deliveries?", "notifications?"):
            refused = await client.asim("GET", f"{SIM}/{path}wait_for=9")
            assert (refused.status, refused.json["error"]) == (429, "too_many_waiting")
            assert "4 requests wait in this sandbox" in refused.json["message"]
        client.app.sandboxes.end_waits()
        assert {answer.status for answer in await answered(polls)} == {200}

    with running(SCENARIO) as client:
        client.sandbox({"extends": "default"}, "other")
        client.run(story(client))


def test_clients_that_are_woken_together_are_answered_a_few_per_turn(client: Client) -> None:
    async def story() -> None:
        polls = [
            poll
            for n in range(3 * wait_limits.STARTED_PER_TURN_MAX)
            for poll in await polling(client, f"inbox/a{n}?wait_for=1")
        ]
        client.live.stop()
        done, most = 0, 0
        while done < len(polls):
            await asyncio.sleep(0)
            now = sum(poll.done() for poll in polls)
            done, most = now, max(most, now - done)
        assert most <= wait_limits.STARTED_PER_TURN_MAX

    client.run(story())


def test_a_client_that_leaves_before_its_turn_does_not_delay_others() -> None:
    async def story() -> None:
        turnstile = wait_limits.Turnstile()
        tasks = [asyncio.create_task(turnstile.enter()) for _ in range(3 * wait_limits.STARTED_PER_TURN_MAX)]
        await asyncio.sleep(0)
        for task in tasks[wait_limits.STARTED_PER_TURN_MAX : 2 * wait_limits.STARTED_PER_TURN_MAX]:
            task.cancel()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60)
        await asyncio.wait_for(turnstile.enter(), 60)

    asyncio.run(story())
