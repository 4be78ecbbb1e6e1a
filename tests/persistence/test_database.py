"""Ownership of a folder, and messages of folders that cannot be opened. A lost store is never replaced silently."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from simulator.persistence.database import OWNER
from simulator.persistence.errors import DamagedStore, StoreError, Unusable
from simulator.persistence.maintenance import back_up, check
from simulator.persistence.schema import DATABASE
from simulator.persistence.store import Durability, Store
from tests.support.stores import LOG, VERSION, append, as_killed, fill, filled, held

ROOT = Path(__file__).parents[2]
HOLDS = f"""
import sys
from simulator.persistence.store import Store
store = Store(sys.argv[1], version="{VERSION}")
print("open", flush=True)
sys.stdin.read()
"""


def opened(folder: Path) -> Store:
    return Store(folder, version=VERSION)


def test_a_folder_that_is_not_there_is_made_and_opened_again_with_what_it_had(tmp_path: Path) -> None:
    wanted = filled(tmp_path / "new" / "folder")
    with opened(tmp_path / "new" / "folder") as store:
        assert held(store) == wanted
        assert len(wanted["shop"]["marks"]) == 2
        assert len(wanted["shop"]["snapshots"]) == 2


def test_uncommitted_entries_are_committed_at_the_end(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.writer.new_life("shop", b"head")
        assert held(store) == {}
    with opened(tmp_path) as store:
        assert list(held(store)) == ["shop"]


def test_a_folder_has_a_single_owner_in_a_process(tmp_path: Path) -> None:
    with (
        opened(tmp_path),
        pytest.raises(Unusable, match=rf"in use by the process with pid {os.getpid()}, since 2.*Z: stop"),
    ):
        opened(tmp_path)
    opened(tmp_path).close()


def test_a_damaged_owner_file_is_reported_as_damaged(tmp_path: Path) -> None:
    opened(tmp_path).close()
    owner = tmp_path / OWNER
    owner.write_bytes(owner.read_bytes()[:4096] + bytes(4096))  # the page of its only table
    with pytest.raises(DamagedStore, match=r"owner\.sqlite3: damaged \(database disk image is malformed\)"):
        opened(tmp_path)


@pytest.mark.slow
def test_a_folder_has_a_single_owner_among_processes_until_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        try:
            assert owner.stdout
            assert owner.stdout.readline() == b"open\n"
            with pytest.raises(Unusable, match=f"in use by the process with pid {owner.pid}, since 20.*Z: stop it"):
                opened(tmp_path)
            assert check(tmp_path).problems == []
        finally:
            owner.send_signal(signal.SIGKILL)
    opened(tmp_path).close()


def cut(folder: Path) -> None:
    path = folder / DATABASE
    os.truncate(path, path.stat().st_size - 4096)


def overwritten(folder: Path) -> None:
    (folder / DATABASE).write_bytes(b"no database at all" * 999)


def emptied(folder: Path) -> None:
    (folder / DATABASE).write_bytes(b"")


def newer(folder: Path) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as connection, connection:
        connection.execute("UPDATE meta SET value = '9.8.7' WHERE name = 'written_by'")
        connection.execute("PRAGMA user_version = 3")


def of_another_program(folder: Path) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.execute("PRAGMA application_id = 7")


def without_format(folder: Path) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.execute("PRAGMA user_version = 0")


def without_a_table(folder: Path) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.execute("DROP TABLE marks")


def with_another_head(folder: Path) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as connection, connection:
        connection.execute("UPDATE lives SET head = 'x'")


def without_database(folder: Path) -> None:
    (folder / DATABASE).unlink()


def with_a_damaged_first_table(folder: Path) -> None:
    with (folder / DATABASE).open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 200)


REFUSED: list[tuple[Callable[[Path], None], type[StoreError], str]] = [
    (cut, DamagedStore, "damaged .*: restore the folder from a backup"),
    (overwritten, DamagedStore, r"damaged \(file is not a database\): restore"),
    (emptied, DamagedStore, "is missing or empty: restore"),
    (newer, Unusable, r"written by a newer reseller-sim \(format 3, known is 2\): use the newer version"),
    (of_another_program, Unusable, "belongs to another program: give another folder"),
    (without_format, DamagedStore, "has format 0, which never was"),
    (without_a_table, DamagedStore, "no such table"),
    (with_another_head, DamagedStore, "the head of sandbox 'shop' is damaged"),
    (
        without_database,
        DamagedStore,
        "sandboxes.sqlite3: is missing or empty: restore .*; or empty this folder to begin",
    ),
    (with_a_damaged_first_table, DamagedStore, "damaged .*: restore"),
]


@pytest.mark.parametrize(("change", "kind", "text"), REFUSED, ids=[row[0].__name__ for row in REFUSED])
def test_an_unreadable_folder_is_refused_with_advice_and_left_unchanged(
    tmp_path: Path, change: Callable[[Path], None], kind: type[StoreError], text: str
) -> None:
    filled(tmp_path)
    change(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for _ in range(2):
        with pytest.raises(kind, match=text) as raised:
            opened(tmp_path)
        assert str(tmp_path) in str(raised.value)
        assert "\n" not in str(raised.value)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def read_by_another_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("SELECT count(*) FROM entries").fetchall()


def brought_in_by_another_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


@pytest.mark.parametrize("durability", ["process", "power"])
@pytest.mark.parametrize("use", [read_by_another_program, brought_in_by_another_program])
def test_another_program_may_open_the_folder_of_a_killed_owner(
    tmp_path: Path, use: Callable[[Path], None], durability: Durability
) -> None:
    with Store(tmp_path / "a", durability, version=VERSION) as store:
        fill(store, "shop")
        copy = as_killed(tmp_path / "a", tmp_path / "b")
        wanted = held(store)
    use(copy / DATABASE)
    assert not (copy / LOG).exists()
    assert check(copy).problems == []
    with opened(copy) as store:
        assert held(store) == wanted


@pytest.mark.parametrize("durability", ["process", "power"])
def test_another_program_may_bring_the_log_in_between_commits(tmp_path: Path, durability: Durability) -> None:
    with (
        Store(tmp_path / "a", durability, version=VERSION) as store,
        closing(sqlite3.connect(tmp_path / "a" / DATABASE)) as other,
    ):
        for name in ("shop", "till", "desk"):
            fill(store, name)
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            assert (tmp_path / "a" / LOG).stat().st_size == 0
            assert back_up(tmp_path / "a", tmp_path / f"backup of {name}") > 0
            copy = as_killed(tmp_path / "a", tmp_path / name)
            with opened(copy) as found, opened(tmp_path / f"backup of {name}") as backup:
                assert held(found) == held(backup) == held(store)


def flipped(folder: Path, place: int) -> None:
    content = bytearray((folder / LOG).read_bytes())
    content[place] ^= 0x10
    (folder / LOG).write_bytes(content)


def shortened(folder: Path, size: int) -> None:
    os.truncate(folder / LOG, size)


FRAME_BYTES = 24 + 4096


@pytest.mark.parametrize("change", [flipped, shortened])
@pytest.mark.parametrize("place", [0, 5, 31, 32, 32 + 12, 32 + 24, 32 + 7 * FRAME_BYTES + 99, 32 + 9 * FRAME_BYTES])
def test_sqlite_reads_a_damaged_log_up_to_the_damage(
    tmp_path: Path, change: Callable[[Path, int], None], place: int
) -> None:
    """The store then equals the store after some commit."""
    with opened(tmp_path / "a") as store:
        states = [held(store)]
        store.writer.new_life("shop", b"head")
        for number in range(1, 10):
            append(store.writer, "shop", number, b"entry")
            store.commit()
            states.append(held(store))
        copy = as_killed(tmp_path / "a", tmp_path / "b")
    change(copy, place)
    assert check(copy).problems == []
    with opened(copy) as store:
        assert held(store) in states


def test_a_log_without_its_database_is_no_fresh_start(tmp_path: Path) -> None:
    with opened(tmp_path / "a"):
        copy = as_killed(tmp_path / "a", tmp_path / "b")
    (copy / DATABASE).unlink()
    with pytest.raises(DamagedStore, match=r"sandboxes\.sqlite3: is missing"):
        opened(copy)


def test_a_start_that_was_killed_before_it_had_tables_is_begun_again(tmp_path: Path) -> None:
    (tmp_path / DATABASE).touch()
    opened(tmp_path).close()
    assert {path.name for path in tmp_path.iterdir()} == {DATABASE, OWNER}


def test_a_folder_with_foreign_files_is_refused_but_for_files_that_every_folder_may_have(tmp_path: Path) -> None:
    for name in (".gitignore", "lost+found"):
        (tmp_path / name).touch()
    opened(tmp_path).close()
    other = tmp_path / "other"
    other.mkdir()
    (other / "letters.txt").touch()
    with pytest.raises(Unusable, match=r"has other files \('letters\.txt'\) and no sandboxes: give an empty or a new"):
        opened(other)
    assert os.listdir(other) == ["letters.txt"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unusable, match="file: is a file: give a folder"):
        opened(tmp_path / "file")
    with pytest.raises(Unusable, match=r"file/below: cannot be created \(Not a directory\)"):
        opened(tmp_path / "file" / "below")


OPENS = f"""
import os, sys
from pathlib import Path
from simulator.persistence.errors import Unusable
from simulator.persistence.store import Store
import sqlite3
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
for name in sys.argv[1:]:
    try:
        Store(name, version="{VERSION}").close()
    except Unusable as error:
        print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_database_alone", [False, True])
def test_a_folder_that_cannot_be_written_is_refused(is_database_alone: bool) -> None:
    """Root may write everywhere, so the program runs as the user nobody."""
    folder = Path("/tmp") / f"store-{os.getpid()}-{is_database_alone}"  # noqa: S108 - the folders of pytest are private
    try:
        filled(folder)
        for path in folder.iterdir():
            path.chmod(0o444 if is_database_alone and path.name == DATABASE else 0o666)
        folder.chmod(0o777 if is_database_alone else 0o555)
        if not is_database_alone:
            (folder / OWNER).chmod(0o444)
        below = folder / "below"
        done = subprocess.run(
            [sys.executable, "-c", OPENS, str(folder), str(below)], cwd=ROOT, capture_output=True, text=True, check=True
        )
        first, *rest = done.stdout.splitlines()
        if is_database_alone:
            assert first.startswith(f"{folder / DATABASE}: cannot be used (")
            assert rest == []
        else:
            assert first.startswith(f"{folder / OWNER}: cannot be used (")
            assert rest == [f"{below}: cannot be created (Permission denied): give another folder"]
    finally:
        folder.chmod(0o755)
        for path in sorted(folder.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        folder.rmdir()


@pytest.mark.slow
@pytest.mark.parametrize("fails", ["Reader", "Writer"])
@pytest.mark.parametrize(
    "error", [sqlite3.OperationalError("database is locked"), KeyboardInterrupt()], ids=["e", "^C"]
)
def test_a_start_that_fails_takes_nothing_from_the_folder_of_a_killed_server(
    error: BaseException, fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "first") as store:
        fill(store, "shop")
        wanted = held(store)
        folder = as_killed(tmp_path / "first", tmp_path / "killed")

    def failing(*arguments: object, **named: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(f"simulator.persistence.store.{fails}", failing)
        with pytest.raises((StoreError, KeyboardInterrupt)):
            opened(folder)
    with opened(folder) as store:
        assert held(store) == wanted
