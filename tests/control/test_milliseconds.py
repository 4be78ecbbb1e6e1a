"""A time in milliseconds, such as a client has that knows no finer ones, means the end of that millisecond."""

from typing import Any

import pytest

from simulator.domain.model.instants import Times, sandbox_time, times_of
from tests.support.client import Client, running
from tests.support.replaying import assert_replays

DEFAULT = "/sandboxes/default"
START = "2026-11-21T04:00:00.123456Z"
SCENARIO = {"clock": {"mode": "manual", "start": START}}


def now(client: Client) -> str:
    told: str = client.sim("GET", f"{DEFAULT}/clock").json["now"]
    return told


def in_milliseconds(time: str) -> str:
    """As `Date.toISOString` of JavaScript writes it."""
    return f"{time[:-4]}Z"


@pytest.mark.parametrize(
    ("text", "latest"),
    [
        ("2026-11-21T04:00:00.123Z", "2026-11-21T04:00:00.123999Z"),
        ("2026-11-21T12:00:00.123+08:00", "2026-11-21T04:00:00.123999Z"),
        ("2026-11-21T12:00:00,12+08:00", "2026-11-21T04:00:00.120999Z"),
        ("2026-11-21T04:00:00.000Z", "2026-11-21T04:00:00.000999Z"),
        ("2026-11-21T04:00:00.123000Z", "2026-11-21T04:00:00.123000Z"),
        ("2026-11-21T04:00:00.1234Z", "2026-11-21T04:00:00.123400Z"),
        ("2026-11-21T04:00:00Z", "2026-11-21T04:00:00Z"),
        ("2026-11-21T04:00Z", "2026-11-21T04:00:00Z"),
    ],
)
def test_only_times_in_milliseconds_mean_the_whole_millisecond(text: str, latest: str) -> None:
    assert times_of(text) == Times(sandbox_time(text), sandbox_time(latest))


def test_a_fresh_sandbox_is_rewound_to_its_present() -> None:
    with running(SCENARIO) as client:
        asked = in_milliseconds(now(client))
        assert asked == "2026-11-21T04:00:00.123Z"
        assert client.sim("POST", f"{DEFAULT}/rewind", {"to": asked}).status == 200
        assert now(client) == START
        assert client.sim("POST", "/sandboxes", {"fork": {"of": "default", "to": asked}}).status == 201


@pytest.mark.parametrize("spelled", [in_milliseconds, str])
def test_an_event_within_the_current_millisecond_has_happened(spelled: Any) -> None:
    with running(SCENARIO) as client:
        client.advance(to="2026-11-21T04:00:01.500100Z")
        client.pay("before")
        client.sim("POST", f"{DEFAULT}/marks", {"name": "here"})
        present = now(client)
        client.advance(to="2026-11-21T04:00:01.501000Z")
        client.pay("after")
        assert client.sim("POST", f"{DEFAULT}/rewind", {"to": spelled(present)}).status == 200
        assert now(client) == present
        assert [one["refid"] for one in client.sim("GET", f"{DEFAULT}/transactions").json["transactions"]] == ["before"]
        assert [one.name for one in client.live.marks] == ["here"]
        assert_replays(client.app)


def test_the_clock_shows_the_requested_time_when_nothing_happened() -> None:
    with running(SCENARIO) as client:
        client.advance(10)
        assert client.sim("POST", f"{DEFAULT}/rewind", {"to": "2026-11-21T04:00:05.000Z"}).status == 200
        assert now(client) == "2026-11-21T04:00:05.000000Z"


def test_a_millisecond_before_the_start_and_one_that_has_not_come_are_refused() -> None:
    with running(SCENARIO) as client:
        for to in ("2026-11-21T04:00:00.122Z", "2026-11-21T04:00:00.124Z"):
            answer = client.sim("POST", f"{DEFAULT}/rewind", {"to": to})
            assert (answer.status, answer.json["error"]) == (400, "unknown_moment")


@pytest.mark.parametrize(("method", "path", "member"), [("POST", "/clock/advance", "to"), ("PUT", "/clock", "now")])
def test_a_clock_that_is_moved_to_the_present_stays(method: str, path: str, member: str) -> None:
    with running(SCENARIO) as client:
        asked = in_milliseconds(now(client))
        assert client.sim(method, f"{DEFAULT}{path}", {member: asked}).status == 200
        assert now(client) == START
        assert client.sim(method, f"{DEFAULT}{path}", {member: "2026-11-21T04:00:00.122Z"}).status == 400
