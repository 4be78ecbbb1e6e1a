"""What is taken away by hand from a folder that was closed is missed: last entries, marks, whole lives."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from simulator.persistence.checking import check
from simulator.persistence.errors import Damaged
from simulator.persistence.layout import DATABASE
from simulator.persistence.looking import looked_at
from simulator.persistence.store import Store
from tests.support.stores import VERSION, as_killed, fill, filled, held

NOTE = "UPDATE meta SET value = {} WHERE name = 'ends'"
FORMER_NOTE = "INSERT INTO meta VALUES ('closed', '{}'); DELETE FROM meta WHERE name = 'ends'"
OPENED = "UPDATE meta SET value = '0.9' WHERE name = 'written_by';"
DAMAGED_NOTE = "the note of where its sandboxes end is damaged"
EVERYTHING = ("lives", "entries", "marks", "snapshots", "snapshot_parts", "parts")


def changed(folder: Path, statements: str) -> Path:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.executescript(statements)
    return folder


@pytest.mark.parametrize(
    ("statements", "text"),
    [
        ("DELETE FROM entries WHERE id & 255 = 20", "sandbox 'shop': entry 20 is missing"),
        ("DELETE FROM entries WHERE id & 255 > 15", "sandbox 'shop': entries 16 to 20 are missing"),
        ("DELETE FROM marks WHERE n = 8", "sandbox 'shop': 1 of 2 marks are there"),
        ("UPDATE marks SET n = 9 WHERE n = 8", "sandbox 'shop': its marks or snapshots were changed since"),
        ("UPDATE entries SET at_us = at_us + 1 WHERE id & 255 = 20", "sandbox 'shop': the time of its last entry was"),
        ("UPDATE snapshots SET n = n - 1", "sandbox 'shop': its marks or snapshots were changed since"),
        ("UPDATE snapshot_parts SET name = 'x' WHERE name = 'wallets'", "its marks or snapshots were changed since"),
        ("UPDATE snapshot_parts SET part = 1 WHERE name = 'wallets'", "its marks or snapshots were changed since"),
        ("".join(map("DELETE FROM {};".format, EVERYTHING)), "sandbox 'shop' is missing, which was there when"),
        (NOTE.format("'[1'"), DAMAGED_NOTE),
        (NOTE.format("'null'"), DAMAGED_NOTE),
        (NOTE.format("x'ff00'"), DAMAGED_NOTE),
        (NOTE.format("""'{"1":3}'"""), DAMAGED_NOTE),
        (NOTE.format("""'{"1":["shop",[],{}]}'"""), DAMAGED_NOTE),
        (NOTE.format("""'{"x":["shop",1,2]}'"""), DAMAGED_NOTE),
    ],
)
def test_what_was_taken_away_is_missed_by_whoever_opens_the_folder(tmp_path: Path, statements: str, text: str) -> None:
    filled(tmp_path)
    changed(tmp_path, statements)
    assert [one for one in check(tmp_path).problems if text in one]
    with pytest.raises(Damaged, match=f"{DATABASE}: .*restore the folder") as read, looked_at(tmp_path):
        pass
    with pytest.raises(Damaged) as opened:
        Store.open(tmp_path, version=VERSION)
    assert text in str(read.value)
    assert text in str(opened.value)
    assert [one for one in check(tmp_path).problems if text in one]  # it is as it was


def test_what_is_cut_dropped_or_forgotten_by_the_store_itself_is_not_missed(tmp_path: Path) -> None:
    filled(tmp_path)
    with Store.open(tmp_path, version=VERSION) as store:
        fill(store, "other")
        store.commit()
        store.writing.forget("other")
        store.writing.drop_mark("shop", "mark 8")
        store.commit()
        store.writing.cut("shop", 8, store.reading.place("shop", 8, b"none")[1])
    assert check(tmp_path).problems == []
    with Store.open(tmp_path, version=VERSION) as store:
        assert store.reading.sandbox("shop").n == 8


def test_a_killed_process_leaves_no_note_of_the_time_before(tmp_path: Path) -> None:
    filled(tmp_path / "a")
    with Store.open(tmp_path / "a", version=VERSION) as store:
        store.writing.drop_mark("shop", "mark 8")
        store.commit()
        copy = as_killed(tmp_path / "a", tmp_path / "b")
        wanted = held(store)
    assert check(copy).problems == []
    with Store.open(copy, version=VERSION) as store:
        assert held(store) == wanted


@pytest.mark.parametrize(
    "note", ['{"1":["shop",20,2]}', '{"1":["shop",20,2,3]}', '{"1":["shop",99,2]}', '{"2":["other",1,0,0]}']
)
def test_the_note_that_an_earlier_version_made_in_another_way_makes_no_folder_damaged(
    note: str, tmp_path: Path
) -> None:
    wanted = filled(tmp_path)
    changed(tmp_path, FORMER_NOTE.format(note))
    assert check(tmp_path).problems == []
    with Store.open(tmp_path, version=VERSION) as store:
        assert held(store) == wanted
    changed(tmp_path, "DELETE FROM marks WHERE n = 8")
    assert check(tmp_path).problems  # it has a note of its own by now


@pytest.mark.parametrize("statements", ["DELETE FROM marks", "".join(map("DELETE FROM {};".format, EVERYTHING))])
def test_the_note_counts_no_more_once_a_version_went_on_that_knows_nothing_of_it(
    statements: str, tmp_path: Path
) -> None:
    """Each version writes who it is when it opens a folder."""
    filled(tmp_path)
    changed(tmp_path, OPENED + statements)
    assert check(tmp_path).problems == []
    with Store.open(tmp_path, version=VERSION):
        pass
