"""A data folder after its process was killed: what a new process makes of it is as it was, wherever it begins."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from simulator.domain.commands import PassTime
from simulator.persistence.errors import DamagedStore
from simulator.persistence.maintenance import check
from simulator.persistence.replay.tape_writer import entry_lines
from simulator.persistence.restoration import CannotResume
from simulator.persistence.schema import DATABASE
from simulator.persistence.store import Store
from simulator.persistence.writer import Retention
from tests.support.client import Client
from tests.support.data_folders import DEFAULT, TOLD, folder_of, killed, saving_of, serving, told
from tests.support.replaying import assert_replays
from tests.support.stores import change_entries
from tests.support.taped_plays import FIRST, PLAYS, set_callback
from tests.support.wall import Wall


@pytest.mark.slow
@pytest.mark.parametrize("happens", PLAYS)
@pytest.mark.parametrize("has_snapshot", [False, True])
def test_a_killed_sandbox_is_restored_unchanged(
    happens: Callable[[Client], None], has_snapshot: bool, tmp_path: Path
) -> None:
    wall = Wall()
    with serving(tmp_path / "data", wall=wall) as client:
        set_callback(client)
        happens(client)
        if has_snapshot:
            assert client.run(saving_of(client).save(client.live))
        client.pay("after-the-snapshot")
        before, n = told(client), len(client.live.tape)
        folder = killed(client, tmp_path)
    assert check(folder).problems == []
    with serving(folder, wall=wall) as client:
        assert client.live.tape.unread is None or has_snapshot
        after = told(client)
        assert {name: body for name, body in after.items() if name != "callbacks"} == {
            name: body for name, body in before.items() if name != "callbacks"
        }
        assert len(client.live.tape) >= n
        assert client.pay("after-the-snapshot").status == 200
        assert client.sim("GET", f"{DEFAULT}/tape").status == 200
        assert client.live.tape.unread is None
        assert_replays(client.app)


@pytest.mark.slow
def test_a_folder_resumes_with_other_tokens_after_any_of_them_was_used(tmp_path: Path) -> None:
    tokens, folder = ["first-control-token", "second-control-token", "third-control-token"], tmp_path / "data"
    for token in tokens:
        with serving(folder, control_token=token) as client:
            for one in tokens:
                answer = client.send("GET", f"/s/{one}/v2/balance", "", b"", {})
                shown = answer.headers["x-sim-diagnosis"]
                assert (one in shown) == (one != token)
            journal = client.send("GET", "/_sim/sandboxes/default/requests", "", b"", {
                "host": "127.0.0.1", "authorization": f"Bearer {token}"})  # fmt: skip
            assert token not in journal.body.decode()
            assert_replays(client.app)
            (tmp_path / token).mkdir()
            folder = killed(client, tmp_path / token)
        assert check(folder).problems == []
    with serving(folder) as client:
        assert len(client.live.tape) == len(tokens) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"trusted_forwarders": ("127.0.0.0/8",)}, {"trust_forwarded": True}])
def test_recorded_client_addresses_stay_after_a_proxy_becomes_trusted(options: dict[str, Any], tmp_path: Path) -> None:
    account = {"extends": "default", "resellers": [{"code": "RS001", "settings": {"ip_allowlist": ["203.0.113.9"]}}]}
    forwarded = {"x-forwarded-for": "203.0.113.9"}
    folder, nobody = tmp_path / "data", dict[str, Any]()
    for at, (believes, status) in enumerate([(nobody, 403), (options, 200), (nobody, 403)]):
        with serving(folder, account, **believes) as client:
            assert len(client.live.tape) == at
            assert client.call("GET", "/v2/balance", headers=forwarded).status == status
            (tmp_path / str(at)).mkdir()
            folder = killed(client, tmp_path / str(at))


def test_the_tokens_of_the_control_api_are_not_written_to_the_folder(tmp_path: Path) -> None:
    with serving(tmp_path / "data", control_token="the-control-token") as client:
        client.pay("one")
    assert b"the-control-token" not in b"".join(one.read_bytes() for one in (tmp_path / "data").iterdir())


@pytest.mark.slow
def test_an_unusable_snapshot_is_skipped_and_reported(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        client.pay("one")
        assert client.run(saving_of(client).save(client.live))
        client.pay("two")
        folder = killed(client, tmp_path)
    with Store(folder, version="other") as store:
        writer = store.writer.begin_snapshot("default")
        writer.put("head", b'{"snapshot":99,"entries":1,"now":"2026-11-21T04:00:00Z","parts":0}')
        writer.complete()
    with serving(folder) as client:
        (line,) = TOLD
        assert "a snapshot was passed over: sandbox 'default'" in line
        assert "is of version 99" in line
        assert len(client.sim("GET", f"{DEFAULT}/transactions").json["transactions"]) == 2


def test_the_tape_before_a_snapshot_is_whole_after_a_restart(tmp_path: Path) -> None:
    """The answer to a request that waited is a line of its own, and no entry of the tape."""
    with serving(tmp_path / "data") as client:
        client.pay("one")
        assert client.run(saving_of(client).save(client.live))
        client.pay("two")
        before = client.live.tape.frozen_entries()
        assert folder_of(client)._store.writer.life_of("default").n > len(before)
        folder = killed(client, tmp_path)
    with serving(folder) as client:
        assert list(entry_lines(client.live.tape.frozen_entries())) == list(entry_lines(before))
        assert client.sim("POST", f"{DEFAULT}/rewind", {"n": 1}).status == 200


def test_a_sandbox_without_its_beginning_and_without_a_snapshot_is_not_started_again(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        client.pay("one")
        folder = killed(client, tmp_path)
    with Store(folder, version="other", retention=Retention(1, bytes_max=0)) as store:
        writer = store.writer.begin_snapshot("default")
        writer.put("head", b"{}")
        writer.complete()
    size = (folder / DATABASE).stat().st_size
    text = "entries are not kept any more, and none of its snapshots can be used"
    with pytest.raises(CannotResume, match=text), serving(folder):
        pass
    assert (folder / DATABASE).stat().st_size >= size


@pytest.mark.slow
def test_a_tape_that_is_dropped_is_empty_and_says_so(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        client.pay("one")
        assert client.run(saving_of(client).save(client.live))
        folder = killed(client, tmp_path)
    with Store(folder, version="other", retention=Retention(1, bytes_max=0)) as store:
        store.compact()
    with serving(folder) as client:
        n = len(client.live.tape)
        assert n
        assert len(client.sim("GET", f"{DEFAULT}/transactions").json["transactions"]) == 1
        nowhere: list[tuple[str, dict[str, Any]]] = [
            (f"{DEFAULT}/rewind", {"n": 0}),
            ("/sandboxes", {"fork": {"of": "default", "n": 0}}),
            ("/sandboxes", {"fork": {"of": "default"}}),
            (f"{DEFAULT}/rewind", {"n": n}),
            (f"{DEFAULT}/rewind", {"to": client.sim("GET", f"{DEFAULT}/clock").json["now"]}),
            (f"{DEFAULT}/marks", {"name": "here"}),
        ]
        for path, body in nowhere:
            refused = client.sim("POST", path, body)
            assert (refused.status, refused.json["error"]) == (409, "not_kept")
        assert (len(client.live.tape), client.live.tape.left_out) == (0, n)
        client.pay("two")
        assert len(client.live.tape) == 0
        assert client.live.tape.left_out > n


def test_rules_of_the_scenario_are_where_they_were_written(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "default") as client:
        before = client.sim("GET", f"{DEFAULT}/rules").body, client.sim("GET", DEFAULT).json["origin"]
        folder = killed(client, tmp_path)
    with serving(folder, FIRST) as client:
        assert (client.sim("GET", f"{DEFAULT}/rules").body, client.sim("GET", DEFAULT).json["origin"]) == before
        assert before[1]


@pytest.mark.slow
def test_a_changed_scenario_is_loaded_and_reported(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("scenario: mine\nextends: default\n")
    with serving(tmp_path / "data", str(file)) as client:
        client.pay("one")
        folder = killed(client, tmp_path)
    with serving(folder, str(file), names=True):
        assert not TOLD
    file.write_text("scenario: mine\nextends: default\npayments: [{then: {refuse: Invalid_Account}}]\n")
    with serving(folder, str(file), names=True) as client:
        assert [f"{file}: loaded, since it differs from the scenario in {folder}"] == TOLD
        assert b"Invalid_Account" in client.pay("two").body
        assert len(client.sim("GET", f"{DEFAULT}/transactions").json["transactions"]) == 1
    with serving(folder, "default") as client:
        assert not TOLD
        assert b"Invalid_Account" in client.pay("three").body
    with serving(folder, "default", names=True) as client:
        assert [f"default: loaded, since it differs from the scenario in {folder}"] == TOLD
        assert client.pay("four").data["status"] == "Accepted"


MORNING, EVENING = datetime(2027, 1, 1, 8, tzinfo=UTC), datetime(2027, 1, 1, 20, tzinfo=UTC)
FLAGS: dict[str, Any] = {"seed": 7, "mode": "xN", "rate": 60.0, "start": MORNING, "callback": "inbox:shop"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, []),
        (dict.fromkeys(FLAGS), []),
        ({"seed": 8}, ["--seed: ignored, since {} has the sandbox default already"]),
        ({"start": EVENING}, ["--start: ignored, since {} has the sandbox default already"]),
        ({"callback": "inbox:b"}, ["--callback: ignored, since {} has the sandbox default already"]),
        (
            {"seed": 8, "mode": "manual", "rate": None},
            ["--seed, --clock: ignored, since {} has the sandbox default already"],
        ),
        ({"rate": 61.0}, ["--clock: ignored, since {} has the sandbox default already"]),
    ],
)
def test_flags_that_a_sandbox_of_the_folder_ignores_are_reported(
    changes: dict[str, Any], said: list[str], tmp_path: Path
) -> None:
    with serving(tmp_path / "data", "default", **FLAGS) as client:
        assert not TOLD
        client.pay("one")
        folder = killed(client, tmp_path)
    with serving(folder, "default", **{**FLAGS, **changes}) as client:
        assert [line.format(folder) for line in said] == TOLD
        assert client.sim("GET", f"{DEFAULT}/clock").json["rate"] == 60


def test_marks_of_a_moment_are_in_the_order_of_their_creation(tmp_path: Path) -> None:
    names = ["zeta", "alpha", "mid", "beta"]
    with serving(tmp_path / "data") as client:
        for name in names[:3]:
            client.sim("POST", f"{DEFAULT}/marks", {"name": name})
        folder = killed(client, tmp_path)
    with serving(folder) as client:
        client.sim("POST", f"{DEFAULT}/marks", {"name": names[3]})
    with serving(folder) as client:
        assert [one["name"] for one in client.sim("GET", f"{DEFAULT}/marks").json["marks"]] == names


@pytest.mark.slow
def test_marks_are_there_and_lead_to_their_moments(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        client.pay("one")
        for name in ("first", "gone"):
            assert client.sim("POST", f"{DEFAULT}/marks", {"name": name}).status == 201
        assert client.sim("DELETE", f"{DEFAULT}/marks/gone").status == 204
        client.advance(5)
        at_first = client.sim("GET", f"{DEFAULT}/marks").body
        client.run(saving_of(client).save(client.live))
        client.pay("two")
        folder = killed(client, tmp_path)
    with serving(folder) as client:
        assert client.sim("GET", f"{DEFAULT}/marks").body == at_first
        assert client.sim("POST", f"{DEFAULT}/rewind", {"mark": "first"}).status == 200
        assert len(client.sim("GET", f"{DEFAULT}/transactions").json["transactions"]) == 1


def test_a_later_mark_after_the_same_entry_is_permanently_gone_after_a_rewind(tmp_path: Path) -> None:
    wall, names = Wall(), ["early", "late", "later"]
    with serving(tmp_path / "data", FIRST | {"clock": {"mode": "real"}}, wall) as client:
        client.call("GET", "/v2/balance")
        for name in names:
            client.sim("POST", f"{DEFAULT}/marks", {"name": name})
            client.pass_time(1)
        assert len({mark.n for mark in client.live.marks}) == 1
        assert client.sim("POST", f"{DEFAULT}/rewind", {"mark": "late"}).status == 200
        folder = killed(client, tmp_path)
    with serving(folder, FIRST, wall) as client:
        assert [one["name"] for one in client.sim("GET", f"{DEFAULT}/marks").json["marks"]] == names[:2]


@pytest.mark.slow
@pytest.mark.parametrize("has_snapshot", [False, True])
def test_a_rewind_stays_a_rewind(has_snapshot: bool, tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        client.pay("one")
        client.sim("POST", f"{DEFAULT}/marks", {"name": "early"})
        if has_snapshot:
            assert client.run(saving_of(client).save(client.live))
        client.advance(1)
        client.pay("two")
        client.sim("POST", f"{DEFAULT}/marks", {"name": "late"})
        if has_snapshot:
            assert client.run(saving_of(client).save(client.live))
        assert client.sim("POST", f"{DEFAULT}/rewind", {"mark": "early"}).status == 200
        client.pay("three")
        if has_snapshot:
            assert client.run(saving_of(client).save(client.live))
        client.pay("four")
        before = told(client)
        folder = killed(client, tmp_path)
    assert check(folder).problems == []
    with serving(folder) as client:
        assert told(client) == before
        refids = [one["refid"] for one in client.sim("GET", f"{DEFAULT}/transactions").json["transactions"]]
        assert sorted(refids) == ["four", "one", "three"]
        assert_replays(client.app)


def test_a_fork_is_kept_with_its_marks_and_without_its_original(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        client.pay("one")
        client.sim("POST", f"{DEFAULT}/marks", {"name": "early"})
        client.pay("two")
        assert client.sim("POST", "/sandboxes", {"id": "first", "fork": {"of": "default"}}).status == 201
        client.pay("three")
        assert client.sim("POST", "/sandboxes", {"id": "second", "fork": {"of": "first"}}).status == 201
        assert client.pay("four", sandbox="second").status == 200
        assert client.sim("DELETE", "/sandboxes/first").status == 204
        before = {name: told(client, name) for name in ("default", "second")}
        folder = killed(client, tmp_path)
    assert check(folder).problems == []
    with serving(folder) as client:
        assert {name: told(client, name) for name in before} == before
        assert client.sim("POST", "/sandboxes/second/rewind", {"mark": "early"}).status == 200
        assert len(client.sim("GET", "/sandboxes/second/transactions").json["transactions"]) == 1


def test_only_the_created_fork_is_stored_of_two_with_the_same_id(tmp_path: Path) -> None:
    async def both(client: Client) -> list[int]:
        wanted = {"id": "twin", "fork": {"of": "default"}}
        asked = [client.asim("POST", "/sandboxes", wanted) for _ in range(2)]
        return [one.status for one in await asyncio.gather(*asked)]

    with serving(tmp_path / "data") as client:
        client.pay("one")
        assert sorted(client.run(both(client))) == [201, 409]
        assert client.sim("POST", "/sandboxes/twin/reset").status == 200
        assert client.sim("DELETE", "/sandboxes/twin").status == 204
        assert client.sim("POST", "/sandboxes", {"id": "twin"}).status == 201
        assert client.pay("fresh", sandbox="twin").status == 200
        before = told(client, "twin")
        folder = killed(client, tmp_path)
    assert check(folder).problems == []
    with serving(folder) as client:
        assert told(client, "twin") == before


def test_a_delayed_request_is_restored_with_its_body(tmp_path: Path) -> None:
    slow = {"when": {"path": "/v2/topup"}, "then": {"delay": "10ms"}}
    with serving(tmp_path / "data", FIRST | {"faults": [slow]}) as client:
        assert client.pay("slow").status == 200
        before, took_us = told(client), client.sim("GET", f"{DEFAULT}/requests/1").json["duration_us"]
        folder = killed(client, tmp_path)
    with serving(folder) as client:
        assert told(client) == before
        assert client.sim("GET", f"{DEFAULT}/requests/1").json["duration_us"] == took_us


def test_a_request_that_waited_was_answered_otherwise_is_refused(tmp_path: Path) -> None:
    slow = {"when": {"path": "/v2/topup"}, "then": {"delay": "10ms"}}
    with serving(tmp_path / "data", FIRST | {"faults": [slow]}) as client:
        assert client.pay("slow").status == 200
        folder = killed(client, tmp_path)
    assert change_entries(folder, b"Accepted", b"Acceptef") == 1
    with pytest.raises(CannotResume, match=r"line \d+ \(request 1 .*differs when it is repeated"), serving(folder):
        pass


def test_a_clock_that_runs_has_run_on_while_the_server_was_down(tmp_path: Path) -> None:
    wall = Wall()
    with serving(tmp_path / "data", FIRST | {"clock": {"mode": "real"}}, wall) as client:
        client.pay("one")
        client.pass_time(3)
        client.pay("two")
        folder = killed(client, tmp_path)
    wall.pass_(3600)
    with serving(folder, FIRST, wall) as client:
        assert client.live.clock.now() == wall()
        assert client.pay("three").status == 200


def test_items_that_an_advance_had_begun_wait_for_the_next_advance_under_a_manual_clock(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        set_callback(client)
        for number in range(3):
            client.pay(f"order-{number}")
        due = client.live.core.state.agenda.next_due
        assert due is not None
        assert client.live.apply_and_record(PassTime(200), due), "three attempts are begun, and none is sent"
        folder = killed(client, tmp_path)
    with serving(folder) as client:
        client.run(asyncio.sleep(0))
        assert client.live.core.state.in_flight
        assert not client.inbox()
        client.advance(0)
        assert len(client.inbox()) == 3
        assert not client.live.core.state.in_flight


def test_a_clock_that_stands_stands_still_while_the_server_is_down(tmp_path: Path) -> None:
    wall = Wall()
    with serving(tmp_path / "data", wall=wall) as client:
        client.advance(7)
        now = client.live.clock.now()
        folder = killed(client, tmp_path)
    wall.pass_(3600)
    with serving(folder, wall=wall) as client:
        assert client.live.clock.now() == now


def test_a_mark_that_was_renamed_by_hand_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as client:
        client.sim("POST", f"{DEFAULT}/marks", {"name": "here"})
    with closing(sqlite3.connect(tmp_path / "data" / DATABASE)) as connection, connection:
        connection.execute("UPDATE marks SET name = 'there'")
    with (
        pytest.raises(DamagedStore, match="'there' of the table marks is damaged: restore"),
        serving(tmp_path / "data"),
    ):
        pass
