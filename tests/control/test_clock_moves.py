"""Overdue items happen at the later time, also after reads in between; items due meanwhile happen first."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.client import Client, running
from tests.support.wall import Wall

READS = {
    "nothing": [],
    "balance": [("GET", "/v2/balance")],
    "re-query": [("POST", "/v2/topup")],
    "the control API": [("SIM", "/sandboxes/default/transactions"), ("SIM", "/sandboxes/default/clock")],
}


def moved_by(client: Client, seconds: float) -> str:
    later = (client.live.clock.now() + timedelta(seconds=seconds)).isoformat()
    assert client.sim("PUT", "/sandboxes/default/clock", {"now": later}).status == 200
    return later


def look(client: Client, read: str) -> None:
    for method, target in READS[read]:
        if method == "SIM":
            assert client.sim("GET", target).status == 200
        elif method == "POST":
            assert client.pay("r1").data["status"] == "Accepted"
        else:
            assert client.call(method, target).status == 200


def seen_after(read: str, inbox: list[dict[str, Any]]) -> Any:
    scenario = {"inboxes": {"callbacks": inbox}}
    with running(scenario, Wall()) as client:
        client.pay("r1")
        moved_by(client, 90)
        look(client, read)
        first = client.advance(0)
        moved_by(client, 500)
        look(client, "balance" if read != "nothing" else read)
        second = client.advance(0)
        [one] = client.sim("GET", "/sandboxes/default/transactions?refid=r1").json["transactions"]
        story = client.sim("GET", f"/sandboxes/default/transactions/{one['trxid']}").json
        at = [item["at"] for item in client.inbox()]
        start = client.live.core.state.started
        offsets = [round((result.at - start).total_seconds()) for result in only(client).results]
        attempts = [
            round((attempt.at - start).total_seconds())
            for callback in client.live.core.state.callbacks
            for attempt in callback.attempts
        ]
        return first["fired"], second["fired"], at, offsets, attempts, story["statuses"], story["callbacks"]


def only(client: Client) -> Any:
    return next(iter(client.live.core.state.transactions.values()))


@pytest.mark.parametrize("inbox", [[{"status": 200}], [{"status": 500}]], ids=["taken", "retried"])
def test_reads_between_a_move_of_the_clock_and_the_next_advance_leave_no_trace(inbox: list[dict[str, Any]]) -> None:
    without = seen_after("nothing", inbox)
    assert without[3] == [0, 90, 90]
    for read in READS:
        if read != "re-query":  # which is part of the story
            assert seen_after(read, inbox) == without
        else:
            assert seen_after(read, inbox)[3:5] == without[3:5]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/resellers/RS001/deposits", {"amount": "5.00"}),
        ("/resellers/RS001/settings", {"ip_allowlist": []}),
        ("/rules", {"section": "bills", "rule": {"then": {"error": "invalid account number"}}}),
        ("/network/FP", {"status": "Healthy"}),
        ("/catalog/products/GAME", {"is_active": False}),
    ],
)
def test_a_command_with_a_slow_body_comes_after_entries_that_became_due_meanwhile(
    path: str, body: dict[str, Any]
) -> None:
    wall = Wall()
    with running({"clock": "real"}, wall) as client:
        client.pay("r1")
        method = {"settings": "PATCH", "network": "PUT", "catalog": "PATCH"}.get(path.split("/")[1], "POST")
        method = "PATCH" if path.endswith("settings") else method
        content = json.dumps(body).encode()
        answer = client.run(
            client.asend(method, f"/_sim/sandboxes/default{path}", "", content, {}, lambda: passed(wall))
        )
        assert answer.status in (200, 201)
        transaction = only(client)
        offsets = [(result.at - transaction.created).total_seconds() for result in transaction.results]
        assert offsets == [0, 2, 5]


async def passed(wall: Wall) -> None:
    """10 s of wall time."""
    wall.pass_(10)


def test_an_advance_beyond_the_last_year_of_a_clock_is_refused_with_its_time() -> None:
    with running() as client:
        moved_by(client, (datetime(2199, 12, 31, tzinfo=UTC) - client.live.clock.now()).total_seconds())
        answer = client.sim("POST", "/sandboxes/default/clock/advance", {"seconds": 86_401})
        assert (answer.status, answer.json["path"]) == (400, "seconds")
        assert (
            answer.json["message"] == "seconds must end by 2200-01-01: the sandbox's time is 2199-12-31T08:00:00+08:00"
        )
        assert client.sim("POST", "/sandboxes/default/clock/advance", {"seconds": 86_400}).status == 200
