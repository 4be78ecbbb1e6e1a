"""A rule holds an answer or a delivery until it is released; what is held is listed, bounded and replayed."""

import asyncio
import re
from typing import Any

import pytest

from simulator.runtime import holds
from tests.support.client import Client, Response, running
from tests.support.replaying import assert_replays

PAYMENT = {"refid": "r", "product": "RELOAD", "account": "0123456789", "amount": 10}
STEPS = [{"status": "Accepted"}, {"after": "1s", "status": "Processing"}, {"after": "2s", "status": "Succesful"}]


def holding(then: dict[str, Any] | None = None, **payment: Any) -> dict[str, Any]:
    faults = [] if then is None else [{"when": {"path": "/v2/topup"}, "then": {"hold": "topup", **then}}]
    return {"extends": "default", "faults": faults, "payments": [{"when": {}, "then": STEPS, **payment}]}


async def listed(client: Client, count: int = 1, sandbox: str = "mine", name: str = "topup") -> list[dict[str, Any]]:
    answer = await client.asim("GET", f"/sandboxes/{sandbox}/holds?name={name}&wait_for={count}&timeout=60")
    assert answer.json["complete"]
    return list(answer.json["holds"])


async def released(client: Client, body: Any = None, name: str = "topup") -> Any:
    return (await client.asim("POST", f"/sandboxes/mine/holds/{name}/release", body)).json


def paying(client: Client, refid: str = "r") -> "asyncio.Future[Response]":
    return asyncio.ensure_future(client.acall("POST", "/v2/topup", PAYMENT | {"refid": refid}, sandbox="mine"))


@pytest.mark.parametrize(("then", "payments"), [({}, 0), ({"after_commit": True}, 1), ({"delay": "1ms"}, 0)])
def test_an_answer_waits_before_or_after_the_commit_until_it_is_released(then: dict[str, Any], payments: int) -> None:
    with running() as client:
        client.sandbox(holding(then), "mine")

        async def meanwhile() -> Response:
            answer = paying(client)
            (held,) = await listed(client)
            kind = "answer" if payments else "request"
            assert (held["kind"], held["what"], held["refid"]) == (kind, "POST /v2/topup", "r")
            found = (await client.asim("GET", "/sandboxes/mine/transactions")).json["transactions"]
            assert (len(found), answer.done()) == (payments, False)
            assert await released(client) == {"released": 1, "held": 0}
            return await answer

        assert client.run(meanwhile()).data["status"] == "Accepted"
        assert client.sim("GET", "/sandboxes/mine/holds").json["holds"] == []
        events = client.sim("GET", "/sandboxes/mine/events?timeout=0&after=0&only=action").body.decode()
        assert re.findall(r'"action":"(held|hold_ended)","about":"([^"]*)"', events) == [
            ("held", "topup: POST /v2/topup r"),
            ("hold_ended", "topup: POST /v2/topup r"),
        ]
        assert_replays(client.app)


def test_the_oldest_held_answers_are_released_first() -> None:
    with running() as client:
        client.sandbox(holding({}), "mine")

        async def meanwhile() -> list[str]:
            first, second = paying(client, "a"), paying(client, "b")
            await listed(client, 2)
            assert await released(client, {"count": 1}) == {"released": 1, "held": 1}
            await first
            (held,) = await listed(client)
            assert not second.done()
            await released(client)
            return [held["refid"], (await second).data["refid"]]

        assert client.run(meanwhile()) == ["b", "b"]
        assert_replays(client.app)


@pytest.mark.parametrize("ending", ["reset", "rewind", "delete"])
def test_the_end_of_a_life_ends_its_holds(ending: str) -> None:
    with running() as client:
        client.sandbox(holding({}), "mine")

        async def meanwhile() -> Response:
            answer = paying(client)
            await listed(client)
            method, path, body = ("DELETE", "", None) if ending == "delete" else ("POST", f"/{ending}", None)
            body = {"n": 0} if ending == "rewind" else body
            assert (await client.asim(method, f"/sandboxes/mine{path}", body)).status in (200, 204)
            return await answer

        assert client.run(meanwhile()).json["error"] == ("unknown_sandbox" if ending == "delete" else "sandbox_reset")


def test_a_hold_ends_by_itself_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holds, "HELD_S_MAX", 0.001)
    with running() as client:
        client.sandbox(holding({}), "mine")
        answer = client.call("POST", "/v2/topup", PAYMENT, sandbox="mine")
        assert answer.status == 200
        assert "was not released within 0.001 s" in answer.headers["x-sim-diagnosis"]
        assert_replays(client.app)


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [
        ("HELD_S_MAX", 0.001, "was not released within 0.001 s"),
        ("WAITERS_MAX", 0, "did not wait: 0 answers and deliveries"),
    ],
)
def test_an_event_says_why_a_callback_was_not_held_until_its_release(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: float, said: str
) -> None:
    monkeypatch.setattr(holds, limit, value)
    with running() as client:
        client.sandbox(holding(callbacks=[{"status": "Processing", "hold": "cb"}]), "mine")
        client.call("POST", "/v2/topup", PAYMENT, sandbox="mine")
        client.sim("POST", "/sandboxes/mine/clock/advance", {"until": "idle"})
        client.run(client.asim("GET", "/sandboxes/mine/inbox/callbacks?wait_for=2&timeout=60"))
        events = client.sim("GET", "/sandboxes/mine/events?timeout=0&after=0&only=action").body.decode()
        (about,) = re.findall(r'"action":"hold_ended","about":"([^"]*)"', events)
        assert about.startswith("cb: Processing r ")
        assert said in about
        assert_replays(client.app)


def test_items_beyond_the_limit_are_not_held_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holds, "WAITERS_MAX", 0)
    with running() as client:
        client.sandbox(holding({}), "mine")
        answer = client.call("POST", "/v2/topup", PAYMENT, sandbox="mine")
        assert "did not wait: 0 answers and deliveries are held" in answer.headers["x-sim-diagnosis"]
        assert_replays(client.app)


def test_a_held_callback_holds_up_neither_time_nor_later_callbacks() -> None:
    with running() as client:
        client.sandbox(holding(callbacks=[{"status": "Processing", "hold": "cb"}]), "mine")
        client.call("POST", "/v2/topup", PAYMENT, sandbox="mine")
        done = client.sim("POST", "/sandboxes/mine/clock/advance", {"until": "idle"}).json
        assert done["idle"]
        assert done["held"] == {"cb": 1}

        async def meanwhile() -> None:
            (held,) = await listed(client, name="cb")
            assert (held["kind"], held["what"], held["refid"]) == ("callback", "Processing", "r")
            assert await released(client, name="cb") == {"released": 1, "held": 0}
            await client.asim("GET", "/sandboxes/mine/inbox/callbacks?wait_for=2&timeout=60")

        client.run(meanwhile())
        items = client.sim("GET", "/sandboxes/mine/inbox/callbacks").json["items"]
        assert [one["json"]["data"]["status"] for one in items] == ["Succesful", "Processing"]
        assert_replays(client.app)


def test_a_held_webhook_is_sent_when_it_is_released() -> None:
    with running() as client:
        webhook = {"url": "inbox:events"}
        client.sandbox({"extends": "default", "webhooks": {"hold": "wh", "catalog": webhook}}, "mine")
        client.sim("PATCH", "/sandboxes/mine/catalog/products/RELOAD", {"name": "Another"})
        client.sim("POST", "/sandboxes/mine/clock/advance", {"until": "idle"})

        async def meanwhile() -> None:
            (held,) = await listed(client, name="wh")
            assert (held["kind"], held["what"]) == ("webhook", "product.updated")
            await released(client, name="wh")
            await client.asim("GET", "/sandboxes/mine/inbox/events?wait_for=1&timeout=60")

        client.run(meanwhile())
        assert client.sim("GET", "/sandboxes/mine/inbox/events").json["count"] == 1
        assert_replays(client.app)


def test_holds_end_when_the_server_stops() -> None:
    with running() as client:
        client.sandbox(holding({}), "mine")

        async def meanwhile() -> Response:
            answer = paying(client)
            await listed(client)
            client.app.sandboxes.end_waits()
            return await answer

        assert client.run(meanwhile()).status == 200
