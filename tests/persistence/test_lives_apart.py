"""A rebuild of a life that ends meanwhile is isolated from the next life, and takes no payment from it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.persistence import rewinding, snapshot_schedule
from simulator.runtime.background import in_background
from tests.support.client import Client
from tests.support.data_folders import DEFAULT, killed, saving_of, serving, told

PLAYED_AT_ONCE = 4
FORK = ("POST", "/sandboxes", {"id": "second", "fork": {"of": "default"}})
REWIND = ("POST", f"{DEFAULT}/rewind", {"n": 10})
BACK = ("POST", f"{DEFAULT}/rewind", {"n": 2})
RESET = ("POST", f"{DEFAULT}/reset")


@pytest.fixture(autouse=True)
def few_entries_are_played_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_schedule, "LOOK_S", 1_000.0)
    monkeypatch.setattr(rewinding, "PLAYED_AT_ONCE", PLAYED_AT_ONCE)


def refids(client: Client, sandbox: str = "default") -> list[str]:
    rows = client.sim("GET", f"/sandboxes/{sandbox}/transactions?limit=1000").json["transactions"]
    return sorted(one["refid"] for one in rows)


def held_behind(plays: int, monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """Two events: the first is set when entries were played for so many times, and what is rebuilt then waits for the
    second."""
    is_there, may_go = asyncio.Event(), asyncio.Event()
    left = plays

    async def held(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        nonlocal left
        result = await in_background(function, *arguments, **options)
        if function.__name__ == "_play":
            left -= 1
            if not left:
                is_there.set()
                await may_go.wait()
        return result

    monkeypatch.setattr(rewinding, "in_background", held)
    return is_there, may_go


@pytest.mark.slow
@pytest.mark.parametrize("ends", [BACK, RESET], ids=["rewound", "reset"])
@pytest.mark.parametrize("slow", [FORK, REWIND], ids=["a fork", "a rewind"])
def test_a_rebuild_of_a_life_that_ends_meanwhile_takes_no_payment_from_the_next_life(
    slow: Any, ends: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "data") as client:
        for number in range(11):
            assert client.pay(f"old-{number}").status == 200
        is_there, may_go = held_behind(2, monkeypatch)

        async def both() -> int:
            asked = asyncio.ensure_future(client.asim(*slow))
            await is_there.wait()
            assert (await client.asim(*ends)).status == 200
            may_go.set()
            return (await asked).status

        assert client.run(both()) == 409
        for number in range(11):
            assert client.pay(f"new-{number}").status == 200
        answered = refids(client)
        assert client.sim("POST", f"{DEFAULT}/rewind", {"n": len(client.live.tape)}).status == 200
        assert client.sim("POST", "/sandboxes", FORK[2]).status == 201
        assert refids(client) == refids(client, "second") == answered
        assert client.run(saving_of(client).save(client.live))
        before = told(client)
        folder = killed(client, tmp_path)
    with serving(folder) as client:
        assert told(client) == before
        assert refids(client) == refids(client, "second") == answered


async def _held_end(client: Client, meanwhile: Callable[[], Awaitable[object]]) -> None:
    """A rewind that waits for attempts in flight while something else happens."""
    driver = client.live.driver
    close = driver.close

    async def late() -> None:
        await close()
        await meanwhile()

    driver.close = late  # type: ignore[method-assign]
    assert (await client.asim(*REWIND)).status == 200


@pytest.mark.slow
@pytest.mark.parametrize("ends", [BACK, RESET], ids=["rewound", "reset"])
def test_a_life_that_ends_while_attempts_of_the_one_before_end_leaves_nothing_to_the_next_one(
    ends: Any, tmp_path: Path
) -> None:
    with serving(tmp_path / "data") as client:
        for number in range(11):
            assert client.pay(f"old-{number}").status == 200

        async def again() -> None:
            assert (await client.asim(*ends)).status == 200

        client.run(_held_end(client, again))
        for number in range(11):
            assert client.pay(f"new-{number}").status == 200
        answered = refids(client)
        assert client.sim("POST", f"{DEFAULT}/rewind", {"n": len(client.live.tape)}).status == 200
        assert refids(client) == answered
