"""Concurrent rewinds, forks, snapshots and deletions in a folder: every answered request is stored."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.persistence import keeper, snapshot_schedule
from simulator.persistence.data_folder import DataFolder
from simulator.persistence.errors import LeaseLost
from simulator.persistence.maintenance import check
from simulator.persistence.store import Store
from simulator.persistence.writer import Writer
from tests.support.broken_receivers import until
from tests.support.client import Client, Response, running
from tests.support.data_folders import DEFAULT, Held, folder_of, killed, serving, told
from tests.support.taped_plays import FIRST

FORK = {"id": "second", "fork": {"of": "first"}}


@pytest.fixture(autouse=True)
def nobody_takes_a_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_schedule, "LOOK_S", 1_000.0)


def made(client: Client, id_: str, payments: int = 3) -> None:
    assert client.sim("POST", "/sandboxes", {"id": id_}).status == 201
    for number in range(payments):
        assert client.pay(f"{id_}-{number}", sandbox=id_).status == 200


def test_a_rewind_may_meet_a_snapshot_that_has_just_begun(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        made(client, "first")
        client.run(folder_of(client).gate.until_durable())
        folder_of(client)._store.writer.begin_snapshot("default")
        assert client.sim("POST", "/sandboxes/first/rewind", {"n": 2}).status == 200
        assert client.pay("later", sandbox="first").status == 200
        before = told(client, "first")
        folder = killed(client, tmp_path)
    with serving(folder) as client:
        assert told(client, "first") == before


@pytest.mark.slow
def test_a_rewind_may_meet_the_fork_of_another_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path / "data") as client:
        made(client, "first")
        client.pay("one")
        held = Held(monkeypatch, "prepare", is_behind=True)

        async def rewind() -> None:
            assert (await client.asim("POST", f"{DEFAULT}/rewind", {"n": 0})).status == 200

        assert client.run(held.meeting(client.asim("POST", "/sandboxes", FORK), rewind)).status == 201
        assert client.pay("later").status == 200
        before = {name: told(client, name) for name in ("default", "first", "second")}
        folder = killed(client, tmp_path)
    assert check(folder).problems == []
    with serving(folder) as client:
        assert {name: told(client, name) for name in before} == before


def test_others_have_their_turn_while_a_life_is_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "WRITTEN_AT_ONCE", 1)
    with serving(tmp_path / "data") as client:
        made(client, "first")

        async def turns() -> int:
            live, count = client.app.sandboxes.get("first"), 0
            preparing = asyncio.ensure_future(client.app.sandboxes.keeper.prepare(live))
            while not preparing.done():
                await asyncio.sleep(0)
                count += 1
            client.app.sandboxes.keeper.abandon(live)
            return count

        assert client.run(turns()) > len(client.app.sandboxes.get("first").tape)


def test_a_rewind_that_waits_when_the_lease_is_lost_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "WRITTEN_AT_ONCE", 1)
    kept = DataFolder(tmp_path / "data", "process", lambda error: None, lambda line: None)
    with running(FIRST, prepare=kept.keep) as client:
        made(client, "first")

        async def rewound_meanwhile() -> Response:
            rewinding = asyncio.ensure_future(client.asim("POST", "/sandboxes/first/rewind", {"n": 2}))
            await until(lambda: bool(commits))
            kept.gate.close_for(LeaseLost("the lease has ended"))
            return await rewinding

        client.run(kept.gate.until_durable())
        commits: list[object] = []
        monkeypatch.setattr(Store, "request_commit", lambda store, on_commit: commits.append(on_commit))
        answer = client.run(rewound_meanwhile())
        assert (answer.status, answer.json["error"]) == (409, "lease_lost")
        monkeypatch.undo()
    kept.close()


def test_a_sandbox_that_is_created_or_forked_when_the_lease_is_lost_is_not_added(tmp_path: Path) -> None:
    kept = DataFolder(tmp_path / "data", "process", lambda error: None, lambda line: None)
    with running(FIRST, prepare=kept.keep) as client:
        made(client, "first")
        client.run(kept.gate.until_durable())
        kept.gate.close_for(LeaseLost("the lease has ended"))
        for wanted in ({"id": "second"}, FORK):
            answer = client.sim("POST", "/sandboxes", wanted)
            assert (answer.status, answer.json["error"]) == (409, "lease_lost")
        assert client.app.sandboxes.find("second") is None
    kept.close()


async def _deleted(client: Client) -> None:
    assert (await client.asim("DELETE", "/sandboxes/first")).status == 204


async def _made_anew(client: Client) -> None:
    await _deleted(client)
    assert (await client.asim("POST", "/sandboxes", {"id": "first"})).status == 201
    for number in range(4):
        body = {"refid": f"new-{number}", "product": "RELOAD", "account": "0123456789", "amount": "10"}
        assert (await client.acall("POST", "/v2/topup", body, sandbox="first")).status == 200
    assert (await client.asim("POST", "/sandboxes/first/marks", {"name": "early"})).status == 201


async def _reset(client: Client) -> None:
    assert (await client.asim("POST", "/sandboxes/first/reset")).status == 200


async def _rewound(client: Client) -> None:
    assert (await client.asim("POST", "/sandboxes/first/rewind", {"n": 0})).status == 200


LOST = [
    (_deleted, 404, "unknown_sandbox"),
    (_made_anew, 404, "unknown_sandbox"),
    (_reset, 409, "sandbox_reset"),
    (_rewound, 409, "sandbox_reset"),
]


@pytest.mark.slow
@pytest.mark.parametrize("is_behind", [False, True])
@pytest.mark.parametrize(("happens", "status", "code"), LOST)
def test_a_fork_whose_original_is_lost_meanwhile_is_refused_and_leaves_nothing(
    happens: Any, status: int, code: str, is_behind: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "data") as client:
        made(client, "first")
        assert client.sim("POST", "/sandboxes/first/marks", {"name": "early"}).status == 201
        with monkeypatch.context() as patched:
            held = Held(patched, "prepare", is_behind=is_behind)
            asked = client.asim("POST", "/sandboxes", FORK)
            answer = client.run(held.meeting(asked, lambda: happens(client)))
        assert (answer.status, answer.json["error"]) == (status, code), answer.body
        names = [one["id"] for one in client.sim("GET", "/sandboxes").json["sandboxes"]]
        assert "second" not in names
        made(client, "second", 1)
        before = {name: told(client, name) for name in {*names, "second"}}
        folder = killed(client, tmp_path)
    assert check(folder).problems == []
    with serving(folder) as client:
        assert {name: told(client, name) for name in before} == before


def test_a_mark_of_a_sandbox_that_is_deleted_meanwhile_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        made(client, "first")
        live = client.app.sandboxes.get("first")

        async def deleted_first() -> None:
            await client.asim("DELETE", "/sandboxes/first")

        live.process_due = deleted_first  # type: ignore[method-assign]
        answer = client.sim("POST", "/sandboxes/first/marks", {"name": "late"})
        assert (answer.status, answer.json["error"]) == (404, "unknown_sandbox")


CHANGES: dict[str, tuple[str, Callable[[Client], Awaitable[object]]]] = {
    "rewound": ("activate_life", lambda client: client.asim("POST", "/sandboxes/first/rewind", {"n": 2})),
    "rewound, and half of it written": (
        "forget", lambda client: client.asim("POST", "/sandboxes/first/rewind", {"n": 2}),
    ),
    "reset": ("new_life", lambda client: client.asim("POST", "/sandboxes/first/reset")),
    "created": ("new_life", lambda client: client.asim("POST", "/sandboxes", {"id": "third"})),
    "forked": ("activate_life", lambda client: client.asim("POST", "/sandboxes", FORK)),
    "deleted": ("forget", lambda client: client.asim("DELETE", "/sandboxes/first")),
    "marked": ("put_mark", lambda client: client.asim("POST", "/sandboxes/first/marks", {"name": "new"})),
    "unmarked": ("drop_mark", lambda client: client.asim("DELETE", "/sandboxes/first/marks/late")),
    "moved on": ("append", lambda client: client.asim("POST", "/sandboxes/first/clock/advance", {"seconds": 9})),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("what", CHANGES)
def test_a_request_that_the_keeper_cannot_write_is_never_answered(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the disk is full: nothing leaves from then on, and a restart has what was answered, and nothing else."""
    method, change = CHANGES[what]
    failures: list[str] = []
    kept = DataFolder(tmp_path / "data", "process", lambda error: failures.append(str(error)), lambda line: None)
    with running(FIRST, prepare=kept.keep) as client:
        made(client, "first")
        assert client.sim("POST", "/sandboxes/first/marks", {"name": "late"}).status == 201
        client.run(kept.gate.until_durable())
        before = {name: told(client, name) for name in ("default", "first")}

        def fails(*arguments: object, **named: object) -> None:
            raise RuntimeError("a mistake of ours")

        with monkeypatch.context() as patched:
            patched.setattr(Writer, method, fails)
            with pytest.raises(AssertionError, match="500 outside the contract"):
                client.run(change(client))
        (failure,) = failures
        assert "a mistake of ours" in failure
        assert not kept.gate.is_open(lambda: pytest.fail("it leaves"))
        client.pay("more")
        client.pay("more", sandbox="first")
        client.run(asyncio.sleep(0))
    kept.close()
    assert check(tmp_path / "data").problems == []
    with serving(tmp_path / "data") as client:
        assert {one["id"] for one in client.sim("GET", "/sandboxes").json["sandboxes"]} == set(before)
        assert {name: told(client, name) for name in before} == before
