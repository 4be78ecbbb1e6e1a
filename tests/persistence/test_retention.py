"""The rule of what is kept, as a table, and as a store follows it."""

from pathlib import Path

import pytest

from simulator.persistence.errors import NoSandbox
from simulator.persistence.maintenance import check
from simulator.persistence.store import Store
from simulator.persistence.writer import Retention, SnapshotSize, apply_retention
from tests.support.stores import VERSION, append, held, put_mark, rows

# Snapshots after entries 10, 20, 30, 40 and 50, of 100 bytes each, with entries of 10 bytes; 55 entries in all.
SNAPSHOTS = [SnapshotSize(key, key * 10, key * 100, 100) for key in (1, 2, 3, 4, 5)]
ENDLESS = 10**9


@pytest.mark.parametrize(
    ("rule", "floor", "wanted"),
    [
        (Retention(1, ENDLESS), 0, [0, 5]),
        (Retention(3, ENDLESS), 0, [0, 3, 4, 5]),
        (Retention(1, ENDLESS), 10, [5]),
        (Retention(9, ENDLESS), 10, [1, 2, 3, 4, 5]),
        (Retention(3, 850), 0, [0, 3, 4, 5]),
        (Retention(3, 849), 0, [3, 4, 5]),
        (Retention(3, 549), 0, [4, 5]),
        (Retention(3, 0), 0, [5]),
    ],
)
def test_the_rule_keeps_the_last_snapshots_and_all_entries_within_its_bytes(
    rule: Retention, floor: int, wanted: list[int]
) -> None:
    assert [snapshot.key for snapshot in apply_retention(rule, SNAPSHOTS, floor, 550)] == wanted


def test_a_store_follows_the_rule_and_removes_the_rest_little_by_little(tmp_path: Path) -> None:
    with Store(tmp_path, version=VERSION, retention=Retention(1, bytes_max=0)) as store:
        writing = store.writer
        writing.new_life("shop", b"")
        for n in range(1, 1001):
            append(writing, "shop", n, b"x" * 100)
        store.commit()
        for name, n in (("early", 10), ("late", 995)):
            put_mark(store, "shop", name, n)
        for at in (1000, 1001):
            snapshot = writing.begin_snapshot("shop")
            snapshot.put("all", b"%d" % at)
            snapshot.complete()
            store.commit()
            append(writing, "shop", at, b"")
        assert not store.is_swept
        found = store.reader.life("shop")
        assert (found.floor, found.n) == (1001, 1001)
        with pytest.raises(NoSandbox, match="up to 1001 are not kept any more"):
            next(store.reader.entries("shop", 1001))
        counts = []
        while not store.is_swept:
            store.commit()
            counts.append(rows(store, "SELECT count(*) FROM entries")[0][0])
        assert len(counts) > 3
        assert counts[-1] == 1
    assert check(tmp_path).problems == []


def test_a_process_finishes_the_removals_of_an_earlier_process(tmp_path: Path) -> None:
    with Store(tmp_path, version=VERSION) as store:
        store.writer.new_life("shop", b"")
        for n in range(500):
            append(store.writer, "shop", n, b"x" * 100)
        snapshot = store.writer.begin_snapshot("shop")
        for n in range(200):
            snapshot.put(str(n), b"%d" % n)
        snapshot.complete()
        put_mark(store, "shop", "here")
        store.writer.new_life("till", b"")
        store.commit()
        store.writer.forget("shop")
        store.commit()
        assert not store.is_swept
    with Store(tmp_path, version=VERSION) as store:
        assert list(held(store)) == ["till"]
        while not store.is_swept:
            store.commit()
        counts = {
            table: rows(store, f"SELECT count(*) FROM {table}")[0][0]  # noqa: S608 - ours
            for table in ("lives", "entries", "marks", "snapshots", "parts", "garbage")
        }
        assert counts == {"lives": 1, "entries": 0, "marks": 0, "snapshots": 0, "parts": 0, "garbage": 0}
    assert check(tmp_path).problems == []
