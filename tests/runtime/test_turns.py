"""No turn of the event loop processes more than its share of an agenda, and the size of the share changes nothing."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import nullcontext
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from simulator.domain.commands import CreatePayment, Credit, PassTime
from simulator.domain.sandbox import Sandbox
from simulator.http_client.slots import PER_RECEIVER, Slot, Slots, Turn
from simulator.runtime.driver import ITEMS_PER_TURN_MAX
from simulator.runtime.lanes import Lanes
from simulator.runtime.live_sandbox import LiveSandbox
from tests.support.anatomy import anatomy
from tests.support.client import Client, running
from tests.support.wall import Wall

DUE_S = 5.0  # when the default scenario's payments have their final status
PAYMENTS = 3 * ITEMS_PER_TURN_MAX // 2
ITEMS = 4  # of each payment: two statuses, and a callback for each
SIM = "/sandboxes/default"
TOPUP = {"refid": "r0", "product": "RELOAD", "account": "0123456789", "amount": "10"}
RICH: dict[str, Any] = {"resellers": [{"code": "RS001", "balance": "1000000.00"}]}
BUSY = RICH | {"clock": "real"}


class Turns:
    """Records the work of each turn while it is installed: items by number of the turn, and the commands."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.items: Counter[int] = Counter()
        self.commands: list[Any] = []
        self.paying: list[int] = []  # the turn of each payment
        self._turn = 0
        apply = Sandbox.apply

        def watched(box: Sandbox, command: Any, now: datetime) -> Any:
            answer = apply(box, command, now)
            if isinstance(command, PassTime):
                self.items[self._turn] += len(answer)
            else:
                self.commands.append(command)
            if isinstance(command, CreatePayment):
                self.paying.append(self._turn)
            return answer

        monkeypatch.setattr(Sandbox, "apply", watched)

    async def during(self, *awaitables: Awaitable[Any]) -> list[Any]:
        """The results of these, with the turns counted that they take."""
        counting = asyncio.create_task(self._count())
        try:
            return await asyncio.gather(*awaitables)
        finally:
            counting.cancel()

    async def _count(self) -> None:
        while True:
            self._turn += 1
            await asyncio.sleep(0)


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    return Turns(monkeypatch)


@pytest.fixture
def client() -> Iterator[Client]:
    with running(BUSY) as client:
        client.pay("r0")
        fill(client.live)
        yield client


def fill(live: LiveSandbox, count: int = PAYMENTS) -> None:
    for number in range(count):
        live.apply_and_record(CreatePayment("RS001", f"p{number}", "RELOAD", "0123456789", "10"))


def later(client: Client, seconds: float = 60) -> str:
    return (client.live.clock.now() + timedelta(seconds=seconds)).isoformat()


Path = Callable[[Client], Awaitable[Any]]
PATHS: dict[str, Path] = {
    "a request": lambda client: client.acall("POST", "/v2/topup", TOPUP),
    "reading the control API": lambda client: client.asim("GET", f"{SIM}/transactions?refid=r0"),
    "a command of the control API": lambda client: client.asim(
        "POST", f"{SIM}/resellers/RS001/deposits", {"amount": "1.00"}
    ),
    "setting the clock": lambda client: client.asim("PUT", f"{SIM}/clock", {"now": later(client)}),
    "an advance": lambda client: client.asim("POST", f"{SIM}/clock/advance", {"seconds": 0}),
}


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_overdue_items_happen_in_shares_and_before_the_answer(client: Client, turns: Turns, path: str) -> None:
    client.pass_time(DUE_S)
    [answer] = client.run(turns.during(PATHS[path](client)))
    assert answer.status in (200, 201)
    assert sum(turns.items.values()) == ITEMS * (PAYMENTS + 1)
    assert max(turns.items.values()) <= ITEMS_PER_TURN_MAX
    assert client.live.core.violations() == []


def test_a_reload_waits_for_what_is_overdue_which_happens_in_shares(client: Client, turns: Turns) -> None:
    client.pass_time(DUE_S)
    client.run(turns.during(client.app.load(client.app.scenario)))
    assert sum(turns.items.values()) == ITEMS * (PAYMENTS + 1)
    assert max(turns.items.values()) <= ITEMS_PER_TURN_MAX


def test_a_jump_of_a_running_clock_makes_things_happen_in_shares(client: Client, turns: Turns) -> None:
    [answer] = client.run(turns.during(PATHS["setting the clock"](client)))
    assert (answer.status, answer.json["pending"]) == (200, 0)
    assert max(turns.items.values()) <= ITEMS_PER_TURN_MAX


def test_the_timer_takes_shares_too(client: Client, turns: Turns) -> None:
    async def until_idle() -> None:
        client.pass_time(DUE_S)
        client.live.driver._tick()
        async with asyncio.timeout(60):
            while client.live.core.state.agenda.next_due is not None:  # noqa: ASYNC110 - the timer rings no bell
                await asyncio.sleep(0)

    client.run(turns.during(until_idle()))
    assert sum(turns.items.values()) == ITEMS * (PAYMENTS + 1)
    assert max(turns.items.values()) <= ITEMS_PER_TURN_MAX


def test_an_advance_of_a_manual_clock_takes_shares(turns: Turns) -> None:
    with running(RICH) as client:
        fill(client.live)
        client.run(turns.during(client.asim("POST", f"{SIM}/clock/advance", {"until": "idle"})))
        assert sum(turns.items.values()) == ITEMS * PAYMENTS
        assert max(turns.items.values()) <= ITEMS_PER_TURN_MAX


def test_a_re_query_sees_the_status_that_was_due_before_it_came(client: Client) -> None:
    client.pass_time(DUE_S)
    assert client.pay("r0").data["status"] == "Succesful"
    assert all(one.is_settled for one in client.live.core.state.transactions.values())


def test_requests_of_other_sandboxes_are_answered_meanwhile(client: Client) -> None:
    client.sandbox({"scenario": "other", "extends": "default"}, "other")

    async def both() -> list[str]:
        order: list[str] = []

        async def answered(name: str, **more: Any) -> None:
            await client.acall("GET", "/v2/balance", **more)
            order.append(name)

        client.pass_time(DUE_S)
        await asyncio.gather(answered("busy"), answered("other", sandbox="other"))
        return order

    assert client.run(both()) == ["other", "busy"]


def test_requests_that_wait_are_executed_in_the_order_of_arrival(client: Client, turns: Turns) -> None:
    async def arrive() -> None:
        client.pass_time(DUE_S)
        calls = []
        for number in range(20):
            deposit = {"amount": "1.00", "description": str(number)}
            body = TOPUP | {"refid": f"n{number}"}
            if number % 3 == 0:
                call = client.asim("POST", f"{SIM}/resellers/RS001/deposits", deposit)
            else:
                call = client.acall("POST", "/v2/topup", body)
            calls.append(asyncio.create_task(call))
            await asyncio.sleep(0)
            client.pass_time(0.001)
        await asyncio.gather(*calls)

    client.run(arrive())
    paid = [int(one.refid[1:]) for one in turns.commands if isinstance(one, CreatePayment)]
    assert paid == [number for number in range(20) if number % 3]
    credited = [int(one.description) for one in turns.commands if isinstance(one, Credit)]
    assert credited == list(range(0, 20, 3))


def test_requests_that_waited_are_executed_in_one_turn(client: Client, turns: Turns) -> None:
    client.pass_time(DUE_S)
    calls = [client.acall("POST", "/v2/topup", TOPUP | {"refid": f"n{number}"}) for number in range(20)]
    client.run(turns.during(*calls))
    assert len(turns.paying) == 20
    assert len(set(turns.paying)) == 1


def at_once(url: str) -> Turn:
    return nullcontext(lambda: False)


def test_the_deliveries_of_a_catch_up_start_a_few_in_each_turn() -> None:
    started: Counter[int] = Counter()
    turn = 0

    async def deliver(lane: Any) -> None:
        started[turn] += 1
        await asyncio.sleep(0)

    async def story() -> None:
        nonlocal turn
        lanes = Lanes(at_once, deliver, lambda send: False, deliver)
        lanes.collect(SimpleNamespace(job=SimpleNamespace(lane=str(n), url=f"http://{n}.test")) for n in range(300))  # type: ignore[misc]
        lanes.start()
        while lanes.tasks:
            await asyncio.sleep(0)
            turn += 1

    asyncio.run(story())
    assert sum(started.values()) == 300
    assert max(started.values()) <= 50


def test_deliveries_to_a_slow_receiver_wait_without_tasks_and_in_order_and_delay_no_other() -> None:
    begun: list[str] = []

    async def story() -> None:
        is_answering = asyncio.Event()

        async def deliver(lane: Any) -> None:
            begun.append(lane[0].job.lane)
            if "slow" in lane[0].job.url:
                await is_answering.wait()

        lanes = Lanes(at_once, deliver, lambda send: False, deliver)
        slow = [f"slow {n:03}" for n in range(300)]
        for name in (*slow, "swift"):
            url = f"http://{name.split()[0]}.test"
            lanes.collect([SimpleNamespace(job=SimpleNamespace(lane=name, url=url))])  # type: ignore[list-item]
        lanes.start()
        while "swift" not in begun:  # noqa: ASYNC110 - a delivery that begins rings no bell
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert begun == [*slow[:PER_RECEIVER], "swift"]
        assert len(lanes.tasks) <= PER_RECEIVER + 1
        is_answering.set()
        await lanes.finish()
        assert begun == [*slow[:PER_RECEIVER], "swift", *slow[PER_RECEIVER:]]
        assert not lanes.tasks

    asyncio.run(story())


def test_deliveries_that_wait_for_a_url_do_not_pass_those_that_wait_for_another_at_its_host() -> None:
    begun: list[str] = []

    async def story() -> None:
        slots, is_answering = Slots(per_receiver=1), asyncio.Event()

        async def deliver(lane: Any) -> None:
            begun.append(lane[0].job.lane)
            await is_answering.wait()

        lanes = Lanes(lambda url: Slot(slots, "a", ("one.test", 80)), deliver, lambda send: False, deliver)
        for name in (*many, "z"):
            job = SimpleNamespace(lane=name, url="http://one.test/many" if name in many else "http://one.test/")
            lanes.collect([SimpleNamespace(job=job)])  # type: ignore[list-item]
        lanes.start()
        for _ in many:
            await asyncio.sleep(0)
        is_answering.set()
        await lanes.finish()
        assert not lanes.tasks

    many = [f"{n:03}" for n in range(PER_RECEIVER + 5)]
    asyncio.run(story())
    assert begun == [*many[:PER_RECEIVER], "z", *many[PER_RECEIVER:]]


def test_deliveries_that_wait_for_a_receiver_are_sent_after_others_fail_by_a_mistake_of_ours() -> None:
    begun: list[str] = []

    async def story() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        is_failing = asyncio.Event()

        async def deliver(lane: Any) -> None:
            begun.append(lane[0].job.lane)
            await is_failing.wait()
            raise ZeroDivisionError

        lanes = Lanes(at_once, deliver, lambda send: False, deliver)
        names = [f"{n:03}" for n in range(3 * PER_RECEIVER)]
        lanes.collect(SimpleNamespace(job=SimpleNamespace(lane=name, url="http://one.test")) for name in names)  # type: ignore[misc]
        lanes.start()
        for _ in names:
            await asyncio.sleep(0)
        assert begun == names[:PER_RECEIVER]
        is_failing.set()
        await lanes.finish()
        assert begun == names

    asyncio.run(story())


@pytest.mark.parametrize("path", PATHS)
def test_a_server_that_is_stopped_ends_this_at_the_next_share_and_changes_nothing_more(
    client: Client, turns: Turns, path: str
) -> None:
    async def story() -> None:
        client.pass_time(DUE_S)
        waiting = asyncio.create_task(turns.during(PATHS[path](client)))
        while not turns.items:  # noqa: ASYNC110 - a turn rings no bell
            await asyncio.sleep(0)
        client.app.sandboxes.end_waits()
        [answer] = await asyncio.wait_for(waiting, 60)
        assert answer.status != 500
        assert (answer.status == 200) == (path == "reading the control API")
        if path not in ("a request", "reading the control API"):
            assert (answer.status, answer.json["error"]) == (409, "server_stopping")

    client.run(story())
    assert sum(turns.items.values()) <= 2 * ITEMS_PER_TURN_MAX
    assert turns.commands == []
    assert client.live.core.violations() == []


STORY: dict[str, Any] = BUSY | {
    "inboxes": {"callbacks": [{"status": 500}, {"status": 200}]},
    "webhooks": {"catalog": {"url": "inbox:catalog"}},
    "schedule": [
        {"at": f"{second}s", "deposit": {"reseller": "RS001", "amount": 5, "description": f"at {second}"}}
        for second in range(1, 30)
    ],
}


def lived(monkeypatch: pytest.MonkeyPatch, share: int) -> Any:
    """A sandbox's state after a story of jumps and requests, with this many items in a turn."""
    monkeypatch.setattr("simulator.runtime.driver.ITEMS_PER_TURN_MAX", share)

    async def story(client: Client) -> list[bytes]:
        answers = []
        for number in range(4):
            fill(client.live, 10 * number)
            client.pass_time(3)
            for call in (
                client.acall("POST", "/v2/topup", TOPUP | {"refid": f"s{number}"}, nonce=f"nonce-of-{number:08d}"),
                client.asim("GET", f"{SIM}/transactions"),
                client.asim("PUT", f"{SIM}/clock", {"now": later(client, 4)}),
            ):
                answers.append((await call).body)
            await idle(client)
        return answers

    with running(STORY, Wall()) as client:
        assert client.call("POST", "/v2/callback-url?url=inbox%3Acallbacks&method=POST", nonce="n" * 20).status == 200
        answers = client.run(story(client))
        return answers, client.inbox(), anatomy(client.live.core.state, left_out=("compiler", "scenario", "records"))


async def idle(client: Client) -> None:
    """Until nothing is under way."""
    async with asyncio.timeout(60):
        while client.live.driver.is_busy:  # noqa: ASYNC110 - the last delivery rings no bell
            await asyncio.sleep(0)


def test_the_size_of_the_share_changes_neither_order_nor_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = lived(monkeypatch, 1_000_000)
    assert lived(monkeypatch, 3) == at_once
    assert lived(monkeypatch, 1) == at_once


def calls_to(client: Client, sandbox: str) -> list[Coroutine[Any, Any, Any]]:
    """One call on each path that waits."""
    path = f"/sandboxes/{sandbox}"
    return [
        client.acall("POST", "/v2/topup", TOPUP, sandbox=sandbox),
        client.asim("GET", f"{path}/transactions"),
        client.asim("POST", f"{path}/resellers/RS001/deposits", {"amount": "1.00"}),
        client.asim("PUT", f"{path}/clock", {"rate": 2}),
    ]


ENDS: dict[str, tuple[Path, list[int]]] = {
    "deletion": (lambda client: client.asim("DELETE", "/sandboxes/doomed"), [404, 404, 404, 409]),
    "reset": (lambda client: client.asim("POST", "/sandboxes/doomed/reset"), [409, 200, 409, 409]),
    "shutdown": (lambda client: client.app.sandboxes.close(), [409, 200, 409, 409]),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_sandbox_may_end_while_requests_wait_for_it(end: str, turns: Turns) -> None:
    ending, statuses = ENDS[end]
    with running() as client:
        live = client.sandbox({"scenario": "doomed", "extends": "default"} | BUSY, "doomed")
        client.run(_in_loop(lambda: fill(live)))
        core = live.core

        async def end_it() -> list[int]:
            client.pass_time(DUE_S)
            calls = [asyncio.create_task(call) for call in calls_to(client, "doomed")]
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await ending(client)
            return [answer.status for answer in await asyncio.gather(*calls)]

        assert client.run(_in_time(end_it)) == statuses
        assert core.state.agenda.next_due is not None, "it ended in the middle"
        assert core.violations() == []
        assert not live.driver.is_busy


async def _in_loop(act: Callable[[], None]) -> None:
    act()


async def _in_time(main: Callable[[], Awaitable[Any]]) -> Any:
    async with asyncio.timeout(60):
        return await main()


def test_a_sandbox_that_is_being_made_while_the_server_stops_does_not_begin() -> None:
    with running() as client:

        async def stop_meanwhile() -> Any:
            making = asyncio.create_task(client.asim("POST", "/sandboxes", {"id": "late"}))
            await asyncio.sleep(0)
            await client.app.sandboxes.close()
            return await making

        refused = client.run(_in_time(stop_meanwhile))
        assert (refused.status, refused.json["error"]) == (409, "stopping")
        assert "after its restart" in refused.json["message"]
        assert [one.id for one in client.app.sandboxes] == ["default"]
