"""A folder gets smaller, nothing of what is kept is lost, and whoever interrupts it harms nothing."""

import io
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from simulator.persistence.checking import check
from simulator.persistence.compacting import compact
from simulator.persistence.errors import InUse, Unusable
from simulator.persistence.layout import DATABASE, TABLES
from simulator.persistence.moving import exported, imported
from simulator.persistence.retention import Retention
from simulator.persistence.store import Store
from tests.support.stores import VERSION, fill, filled, held

ROOT = Path(__file__).parents[2]
COMPACTS = f"""
import sys
from simulator.persistence.compacting import compact
print("begins", flush=True)
compact(sys.argv[1], version="{VERSION}")
print("done", flush=True)
"""


@pytest.mark.slow
def test_a_compacted_folder_is_smaller_and_holds_the_same(tmp_path: Path) -> None:
    with Store.open(tmp_path, version=VERSION) as store:
        fill(store, "gone", 2000)
        fill(store, "shop")
        store.writing.forget("gone")
        store.commit()
        wanted = held(store)
    compacted = compact(tmp_path, version=VERSION)
    after = (tmp_path / DATABASE).stat().st_size
    assert compacted.summary == f"compacted: {compacted.bytes_before} bytes before, {after} after"
    assert after < compacted.bytes_before / 5
    assert check(tmp_path).problems == []
    with Store.open(tmp_path, version=VERSION) as store:
        assert held(store) == wanted


def test_another_rule_drops_more(tmp_path: Path) -> None:
    before = filled(tmp_path, 20)["shop"]
    compact(tmp_path, version=VERSION, retention=Retention(snapshots=1, marks=0, beginning=False))
    with Store.open(tmp_path, version=VERSION) as store:
        after = held(store)["shop"]
    assert (before["floor"], after["floor"]) == (0, 16)
    assert after["entries"] == before["entries"][16:]
    assert after["snapshots"] == before["snapshots"][-1:]
    assert after["marks"] == {}
    assert check(tmp_path).problems == []


def test_a_compacted_folder_can_be_compacted_and_goes_on(tmp_path: Path) -> None:
    filled(tmp_path)
    compact(tmp_path, version=VERSION)
    again = compact(tmp_path, version=VERSION)
    assert again.bytes_before == again.bytes_after
    with Store.open(tmp_path, version=VERSION) as store:
        store.compact()
        assert store.writing.append("shop", 0, b"next") == 21
        store.commit()
        assert [entry.data for entry in store.reading.entries("shop", 21)] == [b"next"]


def test_a_folder_with_a_table_that_only_earlier_versions_had_is_whole_and_loses_it_when_it_is_compacted(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "earlier"
    wanted = filled(folder)
    with closing(sqlite3.connect(folder / DATABASE)) as connection, connection:
        columns = "id INTEGER PRIMARY KEY, level INTEGER NOT NULL, crc INTEGER NOT NULL, data BLOB NOT NULL"
        connection.execute(f"CREATE TABLE packs ({columns})")
    assert check(folder).problems == []
    with Store.open(folder, version=VERSION) as store:
        assert held(store) == wanted
        file = b"".join(exported(store.reading, "shop"))
        store.writing.new_life("gone", b"")
        store.commit()
        store.writing.forget("gone")
        store.commit()
    assert "packs" in tables_of(folder)
    with Store.open(tmp_path / "other", version=VERSION) as store:
        imported(store, io.BytesIO(file))
        assert held(store) == wanted
    compact(folder, version=VERSION)
    assert tables_of(folder) == tables_of(tmp_path / "other") == set(TABLES)
    assert check(folder).problems == []
    with Store.open(folder, version=VERSION) as store:
        assert held(store) == wanted


def tables_of(folder: Path) -> set[str]:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_what_is_in_use_or_no_store_is_not_compacted(tmp_path: Path) -> None:
    with Store.open(tmp_path, version=VERSION), pytest.raises(InUse):
        compact(tmp_path, version=VERSION)
    with pytest.raises(Unusable, match="is no data folder"):
        compact(tmp_path / "none", version=VERSION)
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_whoever_kills_it_harms_nothing(tmp_path: Path) -> None:
    with Store.open(tmp_path, version=VERSION) as store:
        fill(store, "gone", 1500)
        fill(store, "shop", 1500)
        wanted = held(store)["shop"]
        store.writing.forget("gone")
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
        with Store.open(tmp_path, version=VERSION) as store:
            assert held(store) == {"shop": wanted}
