"""Rewinds and forks of stored sandboxes: a restart resumes where they have returned to."""

import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from simulator.persistence import snapshot_schedule
from simulator.persistence.maintenance import check
from simulator.persistence.schema import DATABASE
from simulator.persistence.snapshot.forked_writer import pieces_apart
from simulator.persistence.writer import Retention
from tests.support.client import Client
from tests.support.data_folders import DEFAULT, folder_of, killed, saving_of, serving, told
from tests.support.snapshots import all_taken
from tests.support.taped_plays import FIRST, set_callback, set_clock
from tests.support.wall import Wall

FORK = {"id": "second", "fork": {"of": "default", "mark": "early"}}
RUNNING = FIRST | {"clock": {"mode": "xN", "rate": 60}}


@pytest.fixture(autouse=True)
def nobody_takes_a_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_schedule, "LOOK_S", 1_000.0)


def now_of(client: Client, sandbox: str) -> Any:
    return client.app.sandboxes.get(sandbox).clock.now()


def test_entries_after_a_rewind_to_the_beginning_survive_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        client.pay("undone")
        assert client.sim("POST", f"{DEFAULT}/rewind", {"n": 0}).status == 200
        client.pay("one")
        before = told(client)
        folder = killed(client, tmp_path)
    with serving(folder) as client:
        assert told(client) == before


@pytest.mark.slow
@pytest.mark.parametrize("has_snapshot", [False, True])
def test_a_rewound_running_clock_continues_from_there_after_a_restart(has_snapshot: bool, tmp_path: Path) -> None:
    wall = Wall()
    with serving(tmp_path / "data", RUNNING, wall) as client:
        client.pay("one")
        assert client.sim("POST", f"{DEFAULT}/marks", {"name": "early"}).status == 201
        if has_snapshot:
            assert client.run(saving_of(client).save(client.live))
        client.pass_time(600)
        client.pay("two")
        assert client.sim("POST", "/sandboxes", FORK).status == 201
        assert client.sim("POST", f"{DEFAULT}/rewind", {"mark": "early"}).status == 200
        before = {name: now_of(client, name) for name in ("default", "second")}
        folder = killed(client, tmp_path)
    wall.pass_(2)
    with serving(folder, RUNNING, wall) as client:
        for name, was in before.items():
            assert now_of(client, name) - was == timedelta(seconds=120), name


@pytest.mark.slow
def test_a_mark_that_was_undone_is_gone_also_where_an_attempt_ended_at_its_place(tmp_path: Path) -> None:
    """The tape continues with the end of the attempt in flight, so that it has as many entries as when the mark
    was made, at the same time."""
    with serving(tmp_path / "data") as client:
        set_callback(client)
        client.pay("one")
        client.advance()
        entries = [type(one).__name__ for one in client.live.tape]
        sent = len(entries) - entries[::-1].index("AttemptSent")
        ended = next(n for n in range(sent, len(entries)) if "EndAttempt" in str(list(client.live.tape)[n])) + 1
        assert client.sim("POST", f"{DEFAULT}/rewind", {"n": ended}).status == 200
        assert client.sim("POST", f"{DEFAULT}/marks", {"name": "ended"}).status == 201
        assert client.sim("POST", f"{DEFAULT}/rewind", {"n": sent}).status == 200
        assert len(client.live.tape) == sent + 1
        assert client.sim("GET", f"{DEFAULT}/marks").json["marks"] == []
        assert client.sim("POST", "/sandboxes", {"id": "second", "fork": {"of": "default"}}).status == 201
        before = {name: told(client, name) for name in ("default", "second")}
        folder = killed(client, tmp_path)
    with serving(folder) as client:
        assert {name: told(client, name) for name in before} == before


def test_a_number_is_the_time_of_its_entry_whether_there_is_a_snapshot_or_not(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        set_clock(client, mode="xN", rate=60)
        client.pass_time(600)  # nothing is due any more
        assert client.call("GET", "/v2/balance").status == 200
        n, at = len(client.live.tape), client.live.clock.now()
        client.pass_time(0.5)
        assert client.sim("POST", f"{DEFAULT}/marks", {"name": "later"}).json["n"] == n
        client.run(all_taken(client.app._control._app.state.rewinder.snapshots))  # type: ignore[union-attr]
        assert client.sim("POST", f"{DEFAULT}/rewind", {"n": n}).status == 200
        assert client.live.clock.now() == at
        assert client.sim("GET", f"{DEFAULT}/marks").json["marks"] == []


def test_a_rewind_returns_to_entries_that_only_the_memory_still_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "data") as client:
        for number in range(9):
            client.pay(f"old-{number}")
        writer = folder_of(client)._store.writer
        monkeypatch.setattr(writer, "_retention", Retention(1, bytes_max=0))
        assert client.run(saving_of(client).save(client.live))
        assert writer.life_of("default").floor > 2
        assert client.sim("POST", f"{DEFAULT}/rewind", {"n": 2}).status == 200
        for number in range(3):
            assert client.pay(f"new-{number}").status == 200
        before = told(client)
        folder = killed(client, tmp_path)
    assert check(folder).problems == []
    with serving(folder) as client:
        assert told(client) == before


@pytest.mark.slow
def test_a_snapshot_that_a_rewind_has_ended_does_not_count_as_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "data") as client:
        for number in range(9):
            client.pay(f"old-{number}")
        saver = saving_of(client)

        async def rewound_first(*arguments: Any) -> AsyncGenerator[tuple[str, bytes], None]:
            async for piece in pieces_apart(*arguments):
                yield piece
            assert (await client.asim("POST", f"{DEFAULT}/rewind", {"n": 2})).status == 200

        monkeypatch.setattr(snapshot_schedule, "pieces_apart", rewound_first)
        assert not client.run(saver.save(client.live))
        for number in range(9):
            client.pay(f"new-{number}")
        assert saver._new(client.live) == folder_of(client)._store.writer.life_of("default").n, "there is none"


DAMAGED = "UPDATE entries SET data = x'7b7d' WHERE id & 255 = 2"
UNKNOWN = "UPDATE entries SET data = x'7b7d', crc = 2745614147 WHERE id & 255 = 2"
LOST = "DELETE FROM entries WHERE id & 255 = 2"


@pytest.mark.slow
@pytest.mark.parametrize("damage", [DAMAGED, UNKNOWN, LOST])
def test_a_damaged_tape_on_disk_refuses_rewinds_and_the_sandbox_continues(damage: str, tmp_path: Path) -> None:
    """A start from a snapshot does not read the entries before it."""
    save(tmp_path)
    change(tmp_path, damage)
    with serving(tmp_path) as client:
        before = told(client)
        for path, body in (
            ("/sandboxes", {"fork": {"of": "default", "n": 3}}),
            (f"{DEFAULT}/rewind", {"n": 3}),
            (f"{DEFAULT}/rewind", {"to": client.sim("GET", f"{DEFAULT}/clock").json["now"]}),
        ):
            refuses(client, path, body)
        shown = client.sim("GET", f"{DEFAULT}/tape")
        assert (shown.status, shown.json["error"]) == (409, "not_kept")
        assert told(client) == before
        assert client.pay("new").status == 200


@pytest.mark.slow
def test_a_fork_has_no_entries_that_were_damaged_on_disk_since_they_were_read(tmp_path: Path) -> None:
    save(tmp_path)
    with serving(tmp_path) as client:
        assert client.sim("GET", f"{DEFAULT}/tape").status == 200
        change(tmp_path, DAMAGED)
        assert client.sim("POST", "/sandboxes", {"id": "fork", "fork": {"of": "default", "n": 3}}).status == 201
        client.run(folder_of(client).gate.until_durable())
        assert len(list(folder_of(client)._store.reader.entries("fork"))) >= 3
        assert client.pay("new").status == 200


def save(folder: Path) -> None:
    with serving(folder) as client:
        for number in range(3):
            client.pay(f"old-{number}")
        assert client.run(saving_of(client).save(client.live))


def change(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as connection:
        connection.execute(statement)


def refuses(client: Client, path: str, body: dict[str, Any]) -> None:
    refused = client.sim("POST", path, body)
    assert (refused.status, refused.json.get("error")) == (409, "not_kept"), path
    assert "2" in refused.json["message"]
    assert "nothing was changed" in refused.json["message"]


def _rewound_to(client: Client) -> str:
    assert client.sim("POST", f"{DEFAULT}/rewind", {"n": 5}).status == 200
    return "default"


def _forked_at(client: Client) -> str:
    fork = {"id": "second", "fork": {"of": "default", "n": 5}}
    assert client.sim("POST", "/sandboxes", fork).status == 201
    return "second"


@pytest.mark.parametrize("goes_back", [_rewound_to, _forked_at])
def test_a_full_tape_has_on_disk_what_a_rewind_or_a_fork_adds(
    goes_back: Callable[[Client], str], tmp_path: Path
) -> None:
    full = FIRST | {"limits": {"tape": 5}}
    with serving(tmp_path / "data", full) as client:
        set_callback(client)
        for refid in ("o1", "o2"):
            client.pay(refid)
            client.advance()
        sandbox = goes_back(client)
        assert client.sim("POST", f"/sandboxes/{sandbox}/clock/advance", {"until": "idle"}).status == 200
        before = told(client, sandbox)
        folder = killed(client, tmp_path)
    with serving(folder, full) as client:
        assert told(client, sandbox) == before


def test_a_full_tape_has_on_disk_what_arrives_during_a_reset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = FIRST | {"limits": {"tape": 1}}
    with serving(tmp_path / "data", full) as client:
        close = client.live.driver.close

        async def close_later() -> None:
            for refid in ("o1", "o2"):
                body = {"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": "10"}
                assert (await client.acall("POST", "/v2/topup", body)).status == 409
            await close()

        monkeypatch.setattr(client.live.driver, "close", close_later)
        assert client.sim("POST", f"{DEFAULT}/reset").status == 200
        assert client.pay("o3").status == 200
        before = told(client)
        folder = killed(client, tmp_path)
    with serving(folder, full) as client:
        assert told(client) == before
