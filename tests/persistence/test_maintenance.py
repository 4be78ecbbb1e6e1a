"""Findings of `check`: none for a whole folder, and a line for each kind of damage."""

import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from simulator.persistence.errors import DamagedStore, StoreError, Unusable
from simulator.persistence.maintenance import check
from simulator.persistence.schema import DATABASE, entry_keys
from simulator.persistence.store import Store
from tests.support.stores import VERSION, as_killed, fill, filled, held


def test_a_whole_folder_has_a_summary_and_no_problems(tmp_path: Path) -> None:
    filled(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    checked = check(tmp_path)
    assert checked.problems == []
    size = (tmp_path / DATABASE).stat().st_size
    assert checked.summary == f"undamaged: 1 sandbox, 20 lines, 2 snapshots, {size} bytes"
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_a_folder_that_a_killed_process_left_is_whole(tmp_path: Path) -> None:
    with Store(tmp_path / "a", version=VERSION) as store:
        fill(store, "shop")
        copy = as_killed(tmp_path / "a", tmp_path / "b")
        wanted = held(store)
    assert check(copy).problems == []
    with Store(copy, version=VERSION) as store:
        assert held(store) == wanted


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("UPDATE lives SET head = x'00'", "sandbox 'shop': the head is damaged"),
        ("UPDATE lives SET floor_bytes = 'x'", "sandbox 'shop': the head is damaged"),
        ("UPDATE lives SET floor = 1", "sandbox 'shop': the head is damaged"),
        ("UPDATE lives SET id = 9", "entries of life 1, which is in no sandbox"),
        ("UPDATE lives SET id = 1 << 62", "entries of life 1, which is in no sandbox"),
        ("DELETE FROM entries WHERE id & 255 BETWEEN 5 AND 7", "sandbox 'shop': entries 5 to 7 are missing"),
        ("DELETE FROM entries WHERE id & 255 = 1", "sandbox 'shop': entry 1 is missing"),
        ("UPDATE entries SET data = x'00' WHERE id & 255 = 9", "sandbox 'shop': entry 9 is damaged"),
        ("UPDATE entries SET data = 'text' WHERE id & 255 = 9", "sandbox 'shop': entry 9 is damaged"),
        ("UPDATE entries SET at_us = at_us + 1 WHERE id & 255 = 9", "sandbox 'shop': entry 9 is damaged"),
        ("UPDATE entries SET bytes_up_to = 1 WHERE id & 255 = 9", "sandbox 'shop': entry 9 is damaged"),
        ("UPDATE marks SET n = 9 WHERE n = 8", "mark 'mark 8' of life 1 is damaged"),
        ("UPDATE snapshots SET n = 9 WHERE n = 8", "a snapshot of life 1 is damaged"),
        ("UPDATE parts SET data = x'00' WHERE id & 255 = 1", "the part 'catalog' of a snapshot is damaged"),
        ("DELETE FROM parts WHERE id & 255 = 2", "a snapshot of life 1 has 1 of 2 parts"),
        ("DELETE FROM snapshots", "parts of a snapshot that no sandbox has"),
        ("DELETE FROM lives", "entries of life 1, which is in no sandbox"),
        ("DELETE FROM lives", "a mark of life 1, which is in no sandbox"),
        ("DELETE FROM lives", "a snapshot of life 1, which is in no sandbox"),
        ("DELETE FROM entries WHERE id & 255 > 10", "sandbox 'shop': mark 'mark 16' is at 16, outside the entries"),
        ("DELETE FROM entries WHERE id & 255 > 10", "sandbox 'shop': a snapshot is at 16, outside the entries"),
        ("DROP TABLE marks", "no such table"),
        ("UPDATE lives SET sandbox = CAST(x'ff' AS TEXT)", "damaged ("),
    ],
)
def test_every_kind_of_damage_has_a_line(tmp_path: Path, statement: str, text: str) -> None:
    filled(tmp_path)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        connection.executescript(statement)
    checked = check(tmp_path)
    assert [line for line in checked.problems if text in line]
    assert all(line.startswith(str(tmp_path)) and "\n" not in line for line in checked.problems)
    assert checked.summary.startswith(f"{len(checked.problems)} problem")


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (
            "UPDATE parts SET data = x'00' WHERE name = 'wallets'",
            "the part 'wallets' of a snapshot is damaged: restore",
        ),
        ("DELETE FROM parts WHERE name = 'wallets'", "a snapshot has 1 of 2 parts: restore"),
    ],
)
def test_a_reader_of_a_snapshot_learns_which_part_of_it_is_damaged(tmp_path: Path, statement: str, text: str) -> None:
    filled(tmp_path)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection:
        connection.executescript(statement)
    with Store(tmp_path, version=VERSION) as store:
        first, _ = store.reader.life("shop").snapshots
        with pytest.raises(DamagedStore, match=text):
            dict(store.reader.parts(first))


def test_a_folder_without_a_store_is_refused_and_left_unchanged(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(Unusable, match="is not a data folder, which"):
            check(folder)
    assert list(tmp_path.iterdir()) == []


def test_a_store_without_its_database_is_a_problem(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / DATABASE).unlink()
    assert [line.partition(": ")[2].partition(":")[0] for line in check(tmp_path).problems] == [
        "sandboxes.sqlite3 is missing"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_changed_bytes_are_detected_or_harmless(tmp_path: Path, seed: int) -> None:
    """Whatever is damaged: one line for each problem, errors of our own, and never what was not written."""
    wanted = filled(tmp_path, 60)
    draw = random.Random(seed)  # noqa: S311 - the same damage in every run
    content = bytearray((tmp_path / DATABASE).read_bytes())
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(content))
        for place in range(at, min(at + draw.choice([1, 8, 300]), len(content))):
            content[place] ^= draw.randint(1, 255)
    (tmp_path / DATABASE).write_bytes(content)
    found: object = None
    with suppress(StoreError):
        checked = check(tmp_path)
        with Store(tmp_path, version=VERSION) as store:
            found = held(store)
    assert found in (None, wanted) or checked.problems


@pytest.mark.slow
def test_each_of_two_hundred_random_bytes_is_named_when_it_changes_what_is_read(tmp_path: Path) -> None:
    """A byte between the cells of a page is read by nobody."""
    wanted = filled(tmp_path / "a", 200)
    content = (tmp_path / "a" / DATABASE).read_bytes()
    draw, named = random.Random(7), 0  # noqa: S311 - the same damage in every run
    for at in draw.sample(range(len(content)), 200):
        folder = tmp_path / "b"
        folder.mkdir()
        (folder / DATABASE).write_bytes(
            content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :]
        )
        try:
            problems = check(folder).problems
            with Store(folder, version=VERSION) as store:
                is_read = held(store) == wanted
        except StoreError as error:
            problems, is_read = [str(error)], False
        assert is_read or problems, f"byte {at} of {len(content)}"
        assert all(str(folder) in line and "\n" not in line for line in problems)
        named += bool(problems)
        shutil.rmtree(folder)
    assert named > 100


def test_an_entry_whose_data_is_no_blob_any_more_is_damaged(tmp_path: Path) -> None:
    with Store(tmp_path, version=VERSION) as store:
        fill(store, "shop", 3)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection, connection:
        connection.execute("UPDATE entries SET data = 7")
    with Store(tmp_path, version=VERSION) as store, pytest.raises(DamagedStore, match="entry 1 of sandbox 'shop'"):
        held(store)


def test_the_first_damaged_entry_of_a_sandbox_stands_for_all(tmp_path: Path) -> None:
    with Store(tmp_path, version=VERSION) as store:
        fill(store, "shop", 300)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as connection, connection:
        connection.execute("UPDATE entries SET data = x'00' WHERE id BETWEEN ? AND ?", entry_keys(1, 100))
    damaged = [problem for problem in check(tmp_path).problems if " is damaged" in problem]
    assert damaged == [f"{tmp_path / DATABASE}: sandbox 'shop': entry 100 is damaged"]
