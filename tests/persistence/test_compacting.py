"""Compaction shrinks a folder, loses no stored entry, and survives interruption."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.persistence.errors import Unusable
from simulator.persistence.maintenance import check, compact
from simulator.persistence.schema import DATABASE
from simulator.persistence.store import Store
from simulator.persistence.writer import Retention
from tests.support.stores import VERSION, append, fill, filled, held

ROOT = Path(__file__).parents[2]
COMPACTS = f"""
import sys
from pathlib import Path
from simulator.persistence.maintenance import compact
print("begins", flush=True)
compact(Path(sys.argv[1]), version="{VERSION}")
print("done", flush=True)
"""


@pytest.mark.slow
def test_a_compacted_folder_is_smaller_and_holds_the_same(tmp_path: Path) -> None:
    with Store(tmp_path, version=VERSION) as store:
        fill(store, "gone", 2000)
        fill(store, "shop")
        store.writer.forget("gone")
        store.commit()
        wanted = held(store)
    before = (tmp_path / DATABASE).stat().st_size
    summary = compact(tmp_path, version=VERSION)
    after = (tmp_path / DATABASE).stat().st_size
    assert summary == f"compacted: {before} bytes before, {after} after"
    assert after < before / 5
    assert check(tmp_path).problems == []
    with Store(tmp_path, version=VERSION) as store:
        assert held(store) == wanted


def test_another_rule_drops_more(tmp_path: Path) -> None:
    before = filled(tmp_path, 20)["shop"]
    compact(tmp_path, version=VERSION, retention=Retention(snapshots=1, bytes_max=0))
    with Store(tmp_path, version=VERSION) as store:
        after = held(store)["shop"]
    assert (before["floor"], after["floor"]) == (0, 16)
    assert after["entries"] == before["entries"][16:]
    assert after["snapshots"] == before["snapshots"][-1:]
    assert after["marks"] == {"mark 16": 16}
    assert check(tmp_path).problems == []


def test_a_compacted_folder_can_be_compacted_and_resumed(tmp_path: Path) -> None:
    filled(tmp_path)
    compact(tmp_path, version=VERSION)
    size = (tmp_path / DATABASE).stat().st_size
    assert compact(tmp_path, version=VERSION) == f"compacted: {size} bytes before, {size} after"
    with Store(tmp_path, version=VERSION) as store:
        store.compact()
        assert append(store.writer, "shop", 0, b"next") == 21
        store.commit()
        assert [data for *_, data in store.reader.entries("shop", 21)] == [b"next"]


def test_a_folder_in_use_and_a_folder_that_is_no_store_are_not_compacted(tmp_path: Path) -> None:
    with Store(tmp_path, version=VERSION), pytest.raises(Unusable):
        compact(tmp_path, version=VERSION)
    with pytest.raises(Unusable, match="is not a data folder"):
        compact(tmp_path / "none", version=VERSION)
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_a_killed_compaction_damages_nothing(tmp_path: Path) -> None:
    with Store(tmp_path, version=VERSION) as store:
        fill(store, "gone", 1500)
        fill(store, "shop", 1500)
        wanted = held(store)["shop"]
        store.writer.forget("gone")
        store.commit()
    for reads in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", COMPACTS, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout
            assert process.stdout.readline() == b"begins\n"
            for _ in range(reads * 2):
                (tmp_path / DATABASE).read_bytes()  # some time, by work
            process.send_signal(signal.SIGKILL)
        assert check(tmp_path).problems == []
        with Store(tmp_path, version=VERSION) as store:
            assert held(store) == {"shop": wanted}
