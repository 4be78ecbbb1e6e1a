"""A sandbox is rewound to a moment: it is as it was then, and what is done again gives the same bytes."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from itertools import count
from typing import Any, NamedTuple

import pytest

from simulator.persistence.rewinding import MomentRef, Rewinder
from tests.support.client import Client, running
from tests.support.receivers import Receiver
from tests.support.replaying import assert_replays
from tests.support.taped_plays import FIRST, PLAYS, load, parts, set_callback, set_clock

DEFAULT = "/sandboxes/default"


class Seen(NamedTuple):
    """A sandbox as it was between two actions of a test."""

    n: int
    now: datetime
    clock: tuple[str, float]
    core: Any
    journal: list[bytes]
    inboxes: list[Any]
    is_sending: bool


def seen(client: Client) -> Seen:
    live = client.live
    inboxes = [(box.name, box.replied, [one.body for one in box.received]) for box in live.inboxes]
    journal = [one.content for one in live.journal]
    clock = live.clock.mode, live.clock.rate
    return Seen(
        len(live.tape), live.clock.now(), clock, parts(live.core), journal, inboxes, bool(live.core.state.in_flight)
    )


LISTS = ["clock", "due", "rules", "resellers", "requests", "transactions", "ledger", "callbacks", "figures", "coverage"]
MEASURED = re.compile(rb'"duration_us":[^,}]*|"receivers":\[[^]]*')


def told(client: Client) -> dict[str, bytes]:
    """Return the control API's view of a sandbox without measured values."""
    bodies = {name: client.sim("GET", f"{DEFAULT}/{name}").body for name in LISTS}
    for row in client.sim("GET", f"{DEFAULT}/transactions").json["transactions"]:
        bodies[row["trxid"]] = client.sim("GET", f"{DEFAULT}/transactions/{row['trxid']}").body
    return {name: MEASURED.sub(b"", body) for name, body in bodies.items()}


def rewound(client: Client, **asked: Any) -> None:
    answer = client.sim("POST", f"{DEFAULT}/rewind", asked)
    assert answer.status == 200, answer.body


@pytest.mark.slow
@pytest.mark.parametrize("happens", PLAYS)
def test_a_sandbox_is_restored_exactly_between_any_two_actions(
    monkeypatch: pytest.MonkeyPatch, happens: Callable[[Client], None]
) -> None:
    with running(FIRST) as client:
        set_callback(client)
        found: list[Seen] = []
        run = client.run

        def run_and_look(awaitable: Awaitable[Any]) -> Any:
            answer = run(awaitable)
            if len(client.live.tape) > (found[-1].n if found else 0):
                found.append(seen(client))
            return answer

        monkeypatch.setattr(client, "run", run_and_look)
        happens(client)
        monkeypatch.undo()
        chosen = [one for one in found if not one.is_sending][:: max(1, len(found) // 12)]
        assert chosen
        for one in reversed(chosen):
            rewound(client, n=one.n)
            now = seen(client)
            assert now.n == one.n + client.live.clock.runs, "a tape says when a running clock was there again"
            assert now._replace(now=one.now, n=one.n) == one
            assert client.sim("GET", f"{DEFAULT}/invariants").json["ok"]
            assert_replays(client.app)


@pytest.mark.slow
@pytest.mark.parametrize("happens", PLAYS)
def test_every_entry_of_a_tape_is_a_moment_to_return_to(happens: Callable[[Client], None]) -> None:
    with running(FIRST) as client:
        set_callback(client)
        happens(client)
        journal = [one.content for one in client.live.journal]
        last = len(client.live.tape)
        rewinder = Rewinder(client.app.replayer, client.app.sandboxes.surroundings)
        for n in range(last - 1, -1, -max(1, last // 40)):
            client.run(rewinder.rewind(client.live, MomentRef(n=n)))
            live = client.live
            assert len(live.tape) >= n
            assert live.core.violations() == []
            assert [one.content for one in live.journal] == journal[: len(live.journal)]
            if not live.clock.runs:  # what an advance had begun waits for the next one
                client.run(live.driver.advance(live.clock.now()))
                assert not live.core.state.in_flight
        assert_replays(client.app)


def deposit(client: Client) -> None:
    assert client.sim("POST", f"{DEFAULT}/resellers/RS001/deposits", {"amount": "5"}).status == 201


def add_rule(client: Client) -> None:
    rule = {"name": "drawn", "chance": 0.3, "then": [{"status": "Failed"}]}
    assert client.sim("POST", f"{DEFAULT}/rules", {"section": "payments", "rule": rule}).status == 201


ACTIONS: list[Callable[[Client], Any]] = [
    lambda client: client.pay("one"),
    lambda client: client.advance(3),
    deposit,
    add_rule,
    *(lambda client, refid=f"drawn-{n}": client.pay(refid) for n in range(6)),
    lambda client: client.call("POST", "/v2/transactions/void", {"trxid": "one"}),
    lambda client: load(client, FIRST | {"payments": [{"name": "fails", "times": 1, "then": [{"status": "Failed"}]}]}),
    lambda client: client.pay("after the load"),
    lambda client: set_clock(client, mode="xN", rate=60),
    lambda client: client.pass_time(2),
    lambda client: client.pay("under a fast clock"),
    lambda client: set_clock(client, mode="manual"),
    lambda client: client.sim("POST", f"{DEFAULT}/resellers/RS001/api-keys"),
    lambda client: client.advance(),
]


def done(client: Client, actions: list[Callable[[Client], Any]], monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    """Do these, each with nonces of its own that are the same whenever it is done."""
    for number, action in enumerate(actions, first):
        monkeypatch.setattr("tests.support.client._nonces", count(number * 1000))
        action(client)


@pytest.mark.slow
def test_repeated_requests_after_a_rewind_give_equal_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(FIRST) as client:
        set_callback(client)
        walls = []
        for number, action in enumerate(ACTIONS):
            assert client.sim("POST", f"{DEFAULT}/marks", {"name": f"m{number}"}).status == 201
            walls.append(client.wall.at)  # type: ignore[attr-defined]
            done(client, [action], monkeypatch, number)
        once, said = seen(client)._replace(core=None, n=0), told(client)
        sent = [one.body for one in client.live.inboxes.peek("callbacks").received]
        assert len(sent) > 5
        for number in reversed(range(len(ACTIONS))):
            client.wall.at = walls[number]  # type: ignore[attr-defined]
            rewound(client, mark=f"m{number}")
            assert [one.name for one in client.live.marks] == [f"m{n}" for n in range(number + 1)]
            done(client, ACTIONS[number:], monkeypatch, number)
            # A fast clock's timer may come before what is done, and is an entry of its own then.
            assert seen(client)._replace(core=None, n=0) == once, number
            assert told(client) == said, number
        assert_replays(client.app)


def test_a_callback_that_was_pending_is_sent_again() -> None:
    with running({}) as client:

        async def twice() -> None:
            receiver = await Receiver().start()
            try:
                query = receiver.url.replace(":", "%3A").replace("/", "%2F")
                assert (await client.acall("POST", f"/v2/callback-url?url={query}&method=POST")).status == 200
                body = {"refid": "one", "product": "RELOAD", "account": "0123456789", "amount": 10}
                await client.acall("POST", "/v2/topup", body)
                await client.asim("POST", f"{DEFAULT}/marks", {"name": "pending"})
                idle = {"until": "idle"}
                await client.asim("POST", f"{DEFAULT}/clock/advance", idle)
                first = [one.data for one in receiver.got]
                assert first
                assert (await client.asim("POST", f"{DEFAULT}/rewind", {"mark": "pending"})).status == 200
                await client.asim("POST", f"{DEFAULT}/clock/advance", idle)
                assert [one.data for one in receiver.got] == first * 2
            finally:
                await receiver.stop()

        client.run(twice())


def test_an_attempt_in_flight_at_the_moment_is_made_again() -> None:
    slow = {"inboxes": {"slow": [{"status": 200, "delay": "60s"}, {"status": 200}]}, "clock": {"mode": "real"}}
    with running(slow) as client:
        assert client.call("PUT", "/v2/balance-webhook", {"url": "inbox:slow"}).status == 200

        async def meanwhile() -> None:
            await client.asim("POST", f"{DEFAULT}/resellers/RS001/deposits", {"amount": "5"})
            while not client.live.inboxes.peek("slow").received:  # noqa: ASYNC110 - the first attempt rings no bell
                await asyncio.sleep(0)
            await client.asim("POST", f"{DEFAULT}/marks", {"name": "in flight"})
            assert (await client.asim("POST", f"{DEFAULT}/rewind", {"mark": "in flight"})).status == 200

        client.run(meanwhile())
        (delivery,) = client.sim("GET", f"{DEFAULT}/deliveries").json["deliveries"]
        errors = [one["error"] for one in delivery["attempts"]]
        assert errors == ["the sandbox was rewound during this attempt", ""]
        assert delivery["state"] == "success"
        assert_replays(client.app)


@pytest.mark.parametrize("sandbox", ["default", "fork"])
def test_the_last_attempt_in_flight_is_made_again(sandbox: str) -> None:
    only = {"limits": {"callback_retries": 0}, "clock": {"mode": "real"}}
    slow = {"inboxes": {"callbacks": [{"status": 200, "delay": "60s"}, {"status": 200}]}}
    soon = {"payments": [{"then": [{"status": "Accepted"}, {"after": "1s", "status": "Succesful"}]}]}
    with running(only | slow | soon) as client:
        set_callback(client)
        client.pay("one")
        client.pass_time(60)

        async def meanwhile() -> None:
            await client.acall("GET", "/v2/balance")
            while not client.live.inboxes.peek("callbacks").received:  # noqa: ASYNC110 - an attempt rings no bell
                await asyncio.sleep(0)
            n = len(client.live.tape)
            if sandbox == "default":
                await client.asim("POST", f"{DEFAULT}/rewind", {"n": n})
            else:
                await client.asim("POST", "/sandboxes", {"id": sandbox, "fork": {"of": "default", "n": n}})

        client.run(meanwhile())
        rows = client.sim("GET", f"/sandboxes/{sandbox}/callbacks").json["callbacks"]
        assert [(one["ending"], one["state"]) for one in rows] == [
            ("interrupted", "delivered"),
            ("answered", "delivered"),
        ]
        assert client.sim("GET", f"/sandboxes/{sandbox}/invariants").json["violations"] == []


def test_attempts_in_flight_have_ended_also_when_what_they_sent_is_remembered_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("simulator.runtime.attempt_log.SENT_MAX", 1)
    slow = {"inboxes": {"callbacks": [{"status": 200, "delay": "60s"}]}, "clock": {"mode": "xN", "rate": 60}}
    soon = {"payments": [{"then": [{"status": "Accepted"}, {"after": "1s", "status": "Succesful"}]}]}
    with running(slow | soon) as client:
        set_callback(client)
        client.pay("one")
        client.pay("two")
        client.pass_time(60)
        client.call("GET", "/v2/balance")
        assert len(client.live.core.state.in_flight) == 2

        async def meanwhile() -> None:
            while len(client.live.inboxes.peek("callbacks").received) < 2:  # noqa: ASYNC110 - attempts ring no bell
                await asyncio.sleep(0)
            n = len(client.live.tape)
            assert (await client.asim("POST", f"{DEFAULT}/rewind", {"n": n})).status == 200

        client.run(meanwhile())
        results = [one.attempts[0].result for one in client.live.core.state.callbacks]
        assert [one and one.error for one in results] == ["the sandbox was rewound during this attempt"] * 2


def test_a_running_clock_continues_from_the_moment() -> None:
    with running(FIRST) as client:
        set_callback(client)
        set_clock(client, mode="xN", rate=60)
        client.pass_time(1)
        client.pay("one")
        client.sim("POST", f"{DEFAULT}/marks", {"name": "paid"})
        marked = client.live.clock.now()
        client.pass_time(600)
        assert client.sim("GET", f"{DEFAULT}/transactions").json["transactions"][0]["status"] == "Succesful"
        set_clock(client, mode="manual")
        rewound(client, mark="paid")
        assert (client.live.clock.mode, client.live.clock.rate, client.live.clock.now()) == ("xN", 60, marked)
        assert client.sim("GET", f"{DEFAULT}/transactions").json["transactions"][0]["status"] == "Accepted"
        client.pass_time(600)
        assert client.sim("GET", f"{DEFAULT}/transactions").json["transactions"][0]["status"] == "Succesful"
        assert_replays(client.app)


def test_a_manual_clock_stands_at_the_time_that_was_asked_for() -> None:
    with running(FIRST) as client:
        client.pay("one")
        client.advance(20)
        rewound(client, to="2026-11-21T04:00:17Z")
        assert client.sim("GET", f"{DEFAULT}/clock").json["now"] == "2026-11-21T04:00:17.000000Z"
        client.advance(1)
        assert client.sim("GET", f"{DEFAULT}/clock").json["now"] == "2026-11-21T04:00:18.000000Z"
        assert_replays(client.app)


def test_requests_that_wait_end_as_at_a_reset_and_waiters_are_woken() -> None:
    slow = {"when": {"path": "/v2/topup"}, "then": {"delay": "50ms"}}
    with running({"faults": [slow]}) as client:
        client.sim("POST", f"{DEFAULT}/marks", {"name": "empty"})

        async def meanwhile() -> tuple[Any, Any, Any]:
            is_back = asyncio.Event()
            client.live.sleep = lambda _: is_back.wait()
            body = {"refid": "r", "product": "RELOAD", "account": "0123456789", "amount": 10}
            paying = asyncio.ensure_future(client.acall("POST", "/v2/topup", body))
            waiting = asyncio.ensure_future(client.asim("GET", f"{DEFAULT}/requests?wait_for=5&timeout=60"))
            inbox = asyncio.ensure_future(client.asim("GET", f"{DEFAULT}/inbox/callbacks?wait_for=1&timeout=60"))
            while not (client.live.journal.notifier.waiting and client.live.inboxes.has_waiters):  # noqa: ASYNC110
                await asyncio.sleep(0)  # waiters signal nothing when they begin
            assert (await client.asim("POST", f"{DEFAULT}/rewind", {"mark": "empty"})).status == 200
            is_back.set()
            return await waiting, await inbox, await paying

        waited, inbox, paid = client.run(meanwhile())
        assert not waited.json["complete"]
        assert not inbox.json["complete"]
        assert (paid.status, paid.json["error"]) == (409, "sandbox_reset")
        assert not client.live.core.state.transactions
        assert [(one.path, one.status) for one in client.live.journal] == [("/v2/topup", 409)]
        assert_replays(client.app)


def test_two_rewinds_at_once_and_a_reset_meanwhile_leave_one_life() -> None:
    with running(FIRST) as client:
        set_callback(client)
        client.pay("one")
        client.sim("POST", f"{DEFAULT}/marks", {"name": "paid"})
        back = ("POST", f"{DEFAULT}/rewind", {"mark": "paid"})

        async def together(*calls: Any) -> list[int]:
            return sorted(answer.status for answer in await asyncio.gather(*(client.asim(*one) for one in calls)))

        assert client.run(together(back, back)) == [200, 409]
        assert client.run(together(back, ("POST", f"{DEFAULT}/reset"))) == [200, 409]
        assert client.sim("GET", f"{DEFAULT}/invariants").json["ok"]
        assert client.sim(*back).status in (200, 404)
        client.pay("two")
        assert_replays(client.app)


def test_a_sandbox_that_is_deleted_during_a_rewind_stays_deleted() -> None:
    with running() as client:
        live = client.sandbox(FIRST, "gone")
        client.call("GET", "/v2/balance", sandbox="gone")

        async def both() -> list[int]:
            back = client.asim("POST", "/sandboxes/gone/rewind", {"n": 1})
            answers = await asyncio.gather(back, client.asim("DELETE", "/sandboxes/gone"))
            return [one.status for one in answers]

        assert client.run(both()) == [404, 204]
        assert live.is_closed
        assert client.app.sandboxes.find("gone") is None


def test_a_rewind_that_cannot_be_repeated_leaves_the_sandbox_unchanged() -> None:
    with running(FIRST) as client:
        client.pay("one")
        client.pay("two")
        next(iter(client.live.journal)).content += b" "  # no longer what was answered
        before = seen(client)
        answer = client.sim("POST", f"{DEFAULT}/rewind", {"n": 2})
        assert (answer.status, answer.json["error"]) == (409, "not_repeatable")
        assert "request 1 (POST /v2/topup): content" in answer.json["message"]
        assert seen(client) == before
        assert client.pay("three").status == 200
        next(iter(client.live.journal)).content = next(iter(client.live.journal)).content[:-1]


def test_secrets_of_undone_requests_stay_hidden() -> None:
    with running(FIRST) as client:
        made = client.sim("POST", f"{DEFAULT}/resellers/RS001/api-keys").json
        rewound(client, n=0)
        client.send("GET", "/v2/balance", "", b"", {"x-note": made["api_secret"]})
        assert made["api_secret"] not in client.sim("GET", f"{DEFAULT}/requests/1").body.decode()


def test_the_inboxes_that_were_rebuilt_count_at_the_server() -> None:
    with running(FIRST) as client:
        set_callback(client)
        client.pay("one")
        client.advance()
        budget = client.app.sandboxes.surroundings.inbox_budget
        before = budget.bytes, budget.names
        rewound(client, n=len(client.live.tape))
        assert (budget.bytes, budget.names) == before
        rewound(client, n=0)
        assert budget.bytes == 0
