"""Snapshots on the disk, of which each is written as what has changed since the one before."""

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from simulator.persistence import snapshot_schedule
from simulator.persistence.data_folder import DataFolder
from simulator.snapshot import document
from simulator.snapshot.capture import parts_of
from simulator.snapshot.document import Snapshot, snapshot_of
from tests.support.client import Client
from tests.support.data_folders import saving_of, serving
from tests.support.snapshots import differing
from tests.support.taped_plays import FIRST, PLAYS, set_callback


@pytest.fixture(autouse=True)
def nobody_else_takes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_schedule, "LOOK_S", 1_000.0)


LARGE = ("payments/", "entries/", "steps/")
SIZE = 64


def written(client: Client, monkeypatch: pytest.MonkeyPatch) -> tuple[Snapshot, list[str]]:
    """The newest snapshot on the disk, taken now, and the names of those parts that were written anew."""
    names: list[str] = []
    saver = saving_of(client)
    begin = saver._store.writer.begin_snapshot

    def noting(sandbox: str) -> Any:
        writer = begin(sandbox)
        put = writer.put

        def noted(name: str, data: bytes) -> None:
            names.append(name)
            put(name, data)

        monkeypatch.setattr(writer, "put", noted)
        return writer

    with monkeypatch.context() as patched:
        patched.setattr(saver._store.writer, "begin_snapshot", noting)
        assert client.run(saver.save(client.live))
    kept = client.app.kept
    assert isinstance(kept, DataFolder)
    client.run(kept.gate.passed())
    reading = kept._store.reader
    return snapshot_of(reading.parts(reading.snapshots(client.live.id)[-1])), names


def pay_many(client: Client, count: int) -> None:
    client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": 1_000_000})
    for number in range(count):
        assert client.pay(f"ref-{number}").status == 200


def assert_whole(client: Client, stored: Snapshot) -> None:
    whole = snapshot_of(parts_of(client.live, stored.n))
    assert not (other := differing(stored, whole)), other


@pytest.mark.slow
@pytest.mark.parametrize("happens", PLAYS)
def test_each_snapshot_has_all_whatever_the_one_before_had(
    happens: Callable[[Client], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "data") as client:
        set_callback(client)
        client.pay("before-all")
        assert_whole(client, written(client, monkeypatch)[0])
        happens(client)
        assert client.sim("PUT", "/sandboxes/default/clock", {"mode": "manual"}).status == 200
        for number in range(3):
            for _ in range(2):
                assert_whole(client, written(client, monkeypatch)[0])
            client.pay(f"later-{number}")
            client.advance(30)


@pytest.mark.slow
def test_of_many_payments_only_the_parts_that_changed_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "SIZE", SIZE)
    unlimited = FIRST | {"limits": {"requests_per_interval": None}}
    with serving(tmp_path / "data", unlimited) as client:
        pay_many(client, 7 * SIZE)
        assert_whole(client, written(client, monkeypatch)[0])

        def changed(do: Callable[[], object]) -> set[str]:
            do()
            stored, names = written(client, monkeypatch)
            assert_whole(client, stored)
            return {name for name in names if name.startswith(LARGE)}

        assert changed(lambda: None) == set()
        assert changed(lambda: client.pay("another")) == {"payments/7", "entries/0/7", "steps/7"}
        assert changed(lambda: client.pay("ref-0")) == {"payments/0"}
        settled = changed(lambda: client.advance(60))
        assert settled >= {f"payments/{place}" for place in range(8)}
        assert not any(name.startswith("steps/") for name in settled), "nothing is due any more"


def test_one_is_due_behind_many_entries_or_when_no_more_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three entries come with each payment here. Many payments have fewer snapshots, which write all of them."""
    for name, value in {"ENTRIES": 12, "RESTED_ENTRIES": 6, "PAYMENTS": 0.5, "SHARE": 0}.items():
        monkeypatch.setattr(snapshot_schedule, name, value)
    with serving(tmp_path / "data", FIRST) as client:
        serial, saver = count(), saving_of(client)

        def is_due(payments: int) -> bool:
            for _ in range(payments):
                assert client.pay(f"ref-{next(serial)}").status == 200
            return saver._is_due(client.live)

        assert [is_due(more) for more in (2, 1, 1)] == [False, False, True], "12 entries"
        written(client, monkeypatch)
        assert [is_due(more) for more in (1, 1, 0)] == [False, False, True], "6, and no more come"
        written(client, monkeypatch)
        assert [is_due(more) for more in (4, 7, 1)] == [False, False, True], "36, two for each of 18 payments"


def test_what_was_seen_of_a_sandbox_goes_with_it(tmp_path: Path) -> None:
    with serving(tmp_path / "data", FIRST) as client:
        saver = saving_of(client)
        assert client.sim("POST", "/sandboxes", {"id": "short"}).status == 201
        client.run(saver._save_due())
        assert set(saver._seen) == {"default", "short"}
        assert client.sim("DELETE", "/sandboxes/short").status == 204
        client.run(saver._save_due())
        assert set(saver._seen) == {"default"}


def noted_forks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The pids of the processes that are forked from now on."""
    pids: list[int] = []
    fork = os.fork

    def noting() -> int:
        if pid := fork():
            pids.append(pid)
        return pid

    monkeypatch.setattr(os, "fork", noting)
    return pids


def test_no_process_of_a_snapshot_is_left_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path / "data") as client:
        client.pay("ref-1")
        pids = noted_forks(monkeypatch)
        written(client, monkeypatch)
        [pid] = pids
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
