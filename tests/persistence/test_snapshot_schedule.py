"""When snapshots are taken onto the disk, and what they have."""

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from simulator.persistence import snapshot_schedule
from simulator.persistence.snapshot.capture import parts_of
from simulator.persistence.snapshot.document import Snapshot, snapshot_of
from tests.support.client import Client
from tests.support.data_folders import folder_of, saving_of, serving
from tests.support.snapshots import differing
from tests.support.taped_plays import FIRST, PLAYS, set_callback


@pytest.fixture(autouse=True)
def nobody_else_takes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_schedule, "LOOK_S", 1_000.0)


def written(client: Client) -> Snapshot:
    """The newest snapshot on the disk, taken now."""
    assert client.run(saving_of(client).save(client.live))
    kept = folder_of(client)
    client.run(kept.gate.until_durable())
    reader = kept._store.reader
    return snapshot_of(reader.parts(reader.life(client.live.id).snapshots[-1]))


def assert_whole(client: Client, stored: Snapshot) -> None:
    whole = snapshot_of(parts_of(client.live, stored.n))
    assert not (other := differing(stored, whole)), other


@pytest.mark.slow
@pytest.mark.parametrize("happens", PLAYS)
def test_each_snapshot_is_complete_after_any_earlier_snapshot(
    happens: Callable[[Client], None], tmp_path: Path
) -> None:
    with serving(tmp_path / "data") as client:
        set_callback(client)
        client.pay("before-all")
        assert_whole(client, written(client))
        happens(client)
        assert client.sim("PUT", "/sandboxes/default/clock", {"mode": "manual"}).status == 200
        for number in range(3):
            for _ in range(2):
                assert_whole(client, written(client))
            client.pay(f"later-{number}")
            client.advance(30)


def test_a_snapshot_is_due_after_many_entries_or_when_no_more_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        written(client)
        assert [is_due(more) for more in (1, 1, 0)] == [False, False, True], "6, and no more come"
        written(client)
        assert [is_due(more) for more in (4, 7, 1)] == [False, False, True], "36, two for each of 18 payments"


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
        written(client)
        [pid] = pids
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
