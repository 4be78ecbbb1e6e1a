"""Attempts that were in the air when the server was killed, or its sandbox rewound: a restart knows how they ended."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.support.client import Client
from tests.support.data_folders import DEFAULT, killed, saving_of, serving
from tests.support.replaying import assert_replays
from tests.support.taped_plays import FIRST
from tests.support.wall import Wall

ENDED, REWOUND = "the simulator ended during this attempt", "the sandbox was rewound during this attempt"
SLOW = {"status": 200, "delay": "60s"}


def scenario(*replies: dict[str, Any]) -> dict[str, Any]:
    """A balance webhook whose receiver answers this, under a clock that runs."""
    return FIRST | {"clock": {"mode": "real"}, "inboxes": {"slow": list(replies)}, "schedule": []}


def deposit(client: Client) -> None:
    assert client.call("PUT", "/v2/balance-webhook", {"url": "inbox:slow"}).status == 200
    assert client.sim("POST", f"{DEFAULT}/resellers/RS001/deposits", {"amount": "5"}).status == 201
    arrived(client, 1)


def arrived(client: Client, count: int) -> None:
    """Wait until so many attempts have been sent, after the present time's."""

    async def wait() -> None:
        await client.acall("GET", "/v2/balance")
        while len(client.live.inboxes.peek("slow").received) < count:  # noqa: ASYNC110 - an attempt rings no bell
            await asyncio.sleep(0)
        for _ in range(5):  # an answer at once is its end
            await asyncio.sleep(0)

    client.run(wait())


def attempts(client: Client) -> list[tuple[int | None, str]]:
    (delivery,) = client.sim("GET", f"{DEFAULT}/deliveries").json["deliveries"]
    return [(one["status"], one["error"]) for one in delivery["attempts"]]


@pytest.mark.slow
@pytest.mark.parametrize("has_snapshot", [False, True])
def test_a_second_attempt_in_the_air_has_failed_at_a_restart(has_snapshot: bool, tmp_path: Path) -> None:
    wall = Wall()
    with serving(tmp_path / "data", scenario({"status": 500}, SLOW), wall) as client:
        deposit(client)
        client.pass_time(10)
        arrived(client, 2)
        assert client.live.core.state.in_flight
        if has_snapshot:
            assert client.run(saving_of(client).save(client.live))
        folder = killed(client, tmp_path)
    with serving(folder, FIRST, wall) as client:
        assert attempts(client) == [(500, ""), (None, ENDED)]
        assert not client.live.core.state.in_flight
        assert client.live.core.next_due is not None
        assert_replays(client.app)


@pytest.mark.slow
def test_what_a_rewind_adds_to_the_tape_is_on_disk(tmp_path: Path) -> None:
    wall = Wall()
    with serving(tmp_path / "data", scenario(SLOW), wall) as client:
        deposit(client)
        assert client.live.core.state.in_flight
        assert client.sim("POST", f"{DEFAULT}/rewind", {"n": len(client.live.tape)}).status == 200
        assert attempts(client) == [(None, REWOUND)]
        client.pass_time(10)
        arrived(client, 2)
        folder = killed(client, tmp_path)
    with serving(folder, FIRST, wall) as client:
        assert attempts(client) == [(None, REWOUND), (None, ENDED)]
        assert_replays(client.app)
