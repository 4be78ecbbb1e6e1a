"""Clients that send their bodies slowly, one beside the other, do not put off snapshots for ever."""

import asyncio
from pathlib import Path

import pytest

from simulator.api.ahead import read_ahead
from simulator.auth.signature import BODY_BYTES_MAX
from simulator.persistence import saving
from tests.support.client import Client
from tests.support.data_folders import TOLD, folder_of, killed, saving_of, serving, told

ORDER = {"product": "RELOAD", "account": "0123456789", "amount": "10"}


@pytest.fixture(autouse=True)
def few_entries_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {
        "LOOK_S": 1_000.0,
        "SHARE": 0,
        "ENTRIES": 3,
        "ENTRIES_MIN": 3,
        "RESTED_ENTRIES": 3,
        "PUT_OFF_ENTRIES": 5,
        "TOLD_ENTRIES": 9,
    }
    for name, value in changed.items():
        monkeypatch.setattr(saving, name, value)


class Slow:
    """A payment whose body comes when the test lets it."""

    def __init__(self, client: Client, refid: str) -> None:
        self._may_come = asyncio.Event()
        asked = client.acall("POST", "/v2/topup", ORDER | {"refid": refid}, before_body=self._may_come.wait)
        self._answer = asyncio.ensure_future(asked)

    async def ended(self) -> int:
        self._may_come.set()
        return (await self._answer).status


async def some_turns() -> None:
    """Let what has begun come to where it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.slow
def test_requests_that_wait_one_beside_the_other_put_off_a_snapshot_for_a_while_only(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        saver = saving_of(client)

        async def overlapping() -> None:
            first = Slow(client, "slow-1")
            for number in range(6):
                await client.acall("POST", "/v2/topup", ORDER | {"refid": f"quick-{number}"})
            await saver._save_due()
            assert client.live.tape.is_awaited
            assert folder_of(client)._store.reading.snapshots("default") == []
            second = Slow(client, "slow-2")
            await some_turns()
            assert len(list(client.live.tape.awaited())) == 1, "the second one has not begun"
            assert await first.ended() == 200
            await saver._save_due()
            await folder_of(client).gate.passed()
            assert folder_of(client)._store.reading.snapshots("default") != []
            third = Slow(client, "slow-3")
            await some_turns()
            assert len(list(client.live.tape.awaited())) == 1, "waiting is allowed again"
            assert await second.ended() == await third.ended() == 200

        client.run(overlapping())
        rows = client.sim("GET", "/sandboxes/default/transactions").json["transactions"]
        assert len(rows) == 9
        before = told(client)
        folder = killed(client, tmp_path)
    with serving(folder) as client:
        assert told(client) == before


@pytest.mark.slow
def test_a_snapshot_that_waiting_requests_put_off_for_long_is_told_of_once_until_there_is_one(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        saver = saving_of(client)

        async def paid(name: str) -> None:
            slow = Slow(client, f"slow-{name}")
            for number in range(9):
                await client.acall("POST", "/v2/topup", ORDER | {"refid": f"{name}-{number}"})
                await saver._save_due()
            assert await slow.ended() == 200
            await saver._save_due()

        client.run(paid("first"))
        assert len(TOLD) == 1
        assert "a request of the sandbox 'default' waits, which puts off its next snapshot: a restart now" in TOLD[0]
        client.run(paid("second"))
        assert len(TOLD) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("headers", "messages", "taken"),
    [
        ({}, [], 0),
        ({b"content-length": b"3"}, [{"type": "http.request", "body": b"abc"}], 1),
        (
            {b"transfer-encoding": b"chunked"},
            [{"type": "http.request", "body": b"a", "more_body": True}, {"type": "http.request", "body": b"b"}],
            2,
        ),
        ({b"content-length": b"9"}, [{"type": "http.request", "body": b"a", "more_body": True}, {"type": "gone"}], 2),
        ({b"content-length": b"%d" % (BODY_BYTES_MAX + 1)}, [{"type": "http.request", "body": b"a"}], 0),
        (
            {b"transfer-encoding": b"chunked"},
            [{"type": "http.request", "body": b"x" * BODY_BYTES_MAX, "more_body": True}] * 3,
            2,
        ),
    ],
    ids=["none", "whole", "in pieces", "cut", "too large by its head", "too large"],
)
def test_what_is_read_ahead_is_received_as_it_came(
    headers: dict[bytes, bytes], messages: list[dict[str, object]], taken: int
) -> None:
    came = list(messages)

    async def receive() -> object:
        return came.pop(0)

    async def all_of_it() -> list[object]:
        again = await read_ahead(headers, receive)
        assert len(messages) - len(came) == taken
        return [await again() for _ in messages]

    assert asyncio.run(all_of_it()) == messages
