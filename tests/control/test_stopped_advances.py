"""A long advance can be watched and stopped, and the stream reports the time of the clock."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, Response, running
from tests.support.wall import Wall

CLOCK = "/sandboxes/default/clock"
ADVANCE = f"{CLOCK}/advance"
IDLE = {"until": "idle"}


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as client:
        for number in range(30):
            client.pay(f"r{number}")
            client.advance(0.05)
        yield client


def during(client: Client, wanted: Any, *requests: tuple[str, str]) -> tuple[Response, list[Response]]:
    """The answer to an advance, and those to requests that come after its first turns."""

    async def both() -> tuple[Response, list[Response]]:
        advance = asyncio.ensure_future(client.asim("POST", ADVANCE, wanted))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not advance.done()
        answers = [await client.asim(*request) for request in requests]
        return await advance, answers

    return client.run(both())


def actions(client: Client) -> list[Any]:
    body = client.sim("GET", "/sandboxes/default/events?timeout=0&after=0&only=action").body.decode()
    return [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: ")]


def test_no_advance_is_shown_while_none_runs(client: Client) -> None:
    assert client.sim("GET", CLOCK).json["advancing"] is None
    assert client.advance(1)["stopped"] is False


def test_a_running_advance_is_shown_with_its_progress(client: Client) -> None:
    before = client.sim("GET", CLOCK).json["now"]
    done, [first, second] = during(client, IDLE, ("GET", CLOCK), ("GET", CLOCK))
    told, later = first.json["advancing"], second.json["advancing"]
    assert (told["from"], told["to"], told["stopping"]) == (before, None, False)
    assert before < told["now"] == first.json["now"] <= later["now"] < done.json["now"]
    assert 0 < told["fired"] <= later["fired"] < len(done.json["fired"])
    assert isinstance(client.wall, Wall)
    assert told["started_wall"] == client.wall().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert client.sim("GET", CLOCK).json["advancing"] is None


def test_an_advance_to_a_time_shows_its_target(client: Client) -> None:
    _, [clock] = during(client, {"to": "2030-01-01T00:00:00Z"}, ("GET", CLOCK))
    assert clock.json["advancing"]["to"] == "2030-01-01T00:00:00.000000Z"


@pytest.mark.parametrize("wanted", [IDLE, {"seconds": 3600}, {"to": "2030-01-01T00:00:00Z"}])
def test_a_stopped_advance_is_answered_as_usual_and_can_be_continued(client: Client, wanted: Any) -> None:
    done, [stopped] = during(client, wanted, ("DELETE", ADVANCE))
    assert (done.status, stopped.status) == (200, 200)
    assert (done.json["stopped"], done.json["idle"]) == (True, False)
    assert done.json["reason"] == "stopped by a request; advance again to continue"
    assert (stopped.json["advancing"], stopped.json["now"]) == (None, done.json["now"])
    assert stopped.json["pending"] > 0
    rest = client.advance(until="idle")
    assert rest["idle"]
    with running() as other:
        for number in range(30):
            other.pay(f"r{number}")
            other.advance(0.05)
        whole = other.advance(until="idle")["fired"]
    assert without_ids(done.json["fired"] + rest["fired"]) == without_ids(whole)


def without_ids(fired: list[Any]) -> list[Any]:
    return [(one["at"], one["kind"], one["refid"], one["status"]) for one in fired]


def test_stopping_when_nothing_is_advanced_is_a_conflict(client: Client) -> None:
    refused = client.sim("DELETE", ADVANCE)
    assert (refused.status, refused.json["error"]) == (409, "not_advancing")
    assert client.sim("DELETE", f"{ADVANCE}?now=1").status == 400


def test_an_advance_may_be_stopped_twice(client: Client) -> None:
    async def both() -> list[Response]:
        advance = asyncio.ensure_future(client.asim("POST", ADVANCE, IDLE))
        for _ in range(20):
            await asyncio.sleep(0)
        return await asyncio.gather(*(client.asim("DELETE", ADVANCE) for _ in range(2)), advance)

    answers = client.run(both())
    assert [one.status for one in answers] == [200, 200, 200]
    assert [one["action"] for one in actions(client)][-2:] == ["advance_stopped", "clock_advanced"]
    assert [one["action"] for one in actions(client)].count("advance_stopped") == 1


def test_a_stop_does_not_wait_for_ever_for_a_receiver(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.control.clock_endpoints.STOP_TIMEOUT_S", 0.01)
    replies = [{"status": 200, "delay": "300ms"}] * 5
    assert client.sim("PUT", "/sandboxes/default/inbox/callbacks", {"replies": replies}).status == 200

    async def stop_while_a_receiver_thinks() -> tuple[Response, Response]:
        advance = asyncio.ensure_future(client.asim("POST", ADVANCE, IDLE))
        for _ in range(20):
            await asyncio.sleep(0)
        assert client.live.core.state.in_flight
        stopped = await client.asim("DELETE", ADVANCE)
        return stopped, await advance

    stopped, done = client.run(stop_while_a_receiver_thinks())
    assert stopped.json["advancing"]["stopping"] is True
    assert done.json["stopped"] is True
    assert done.json["fired"][-1]["kind"] == "callback"


def test_the_stream_reports_the_time_and_the_mode_of_the_clock(client: Client) -> None:
    client.sim("PUT", CLOCK, {"mode": "xN", "rate": 60})
    client.sim("PUT", CLOCK, {"mode": "manual"})
    now = client.advance(1)["now"]
    clocked = [(one["action"], one["mode"], one["rate"]) for one in actions(client)[-3:]]
    assert clocked == [("clock_set", "xN", 60), ("clock_set", "manual", 0), ("clock_advanced", "manual", 0)]
    assert actions(client)[-1]["at"] == now
    assert "mode" not in actions(client)[0]
