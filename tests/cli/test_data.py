"""`data`: folders are checked, moved and compacted; every problem is reported on one line."""

import json
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from simulator.cli.reports.run_tapes import RunTapes
from simulator.persistence.data_folder import DataFolder
from simulator.persistence.database import OWNER
from simulator.persistence.maintenance import export_sandbox
from simulator.persistence.replay.tape_redaction import CannotMask
from simulator.persistence.restoration import CannotResume
from simulator.persistence.schema import DATABASE
from simulator.persistence.store import Store
from tests.support.client import Client, running
from tests.support.runner import invoke, refusal
from tests.support.stores import append, change_entries, put_head, put_mark


def kept(folder: Path) -> DataFolder:
    return DataFolder(folder, "process", lambda error: pytest.fail(str(error)), lambda line: None)


def filled(folder: Path, scenario: Any = "default") -> Path:
    """A folder with two sandboxes that have a payment each."""
    opened = kept(folder)
    with running(scenario, None, opened.keep) as client:
        client.sim("POST", "/sandboxes", {"id": "shop", "scenario": "default"})
        client.pay("one")
        client.pay("two", sandbox="shop")
        client.advance()
    return folder


def refused(*arguments: str) -> str:
    """The one line with which a verb ends that cannot begin."""
    return refusal(invoke(*arguments), 3)


def refids(client: Client, sandbox: str) -> list[str]:
    rows = client.sim("GET", f"/sandboxes/{sandbox}/transactions").json["transactions"]
    return [row["refid"] for row in rows]


def test_a_whole_folder_is_checked(tmp_path: Path) -> None:
    done = invoke("data", "check", str(filled(tmp_path / "data")))
    assert done.stdout.startswith(f"{tmp_path / 'data'}: undamaged: 2 sandboxes, ")


def test_a_sandbox_moves_to_another_folder_and_resumes_there(tmp_path: Path) -> None:
    folder, file, other = str(filled(tmp_path / "data")), str(tmp_path / "shop.sandbox"), tmp_path / "other"
    assert invoke("data", "export", folder, file, "--sandbox", "shop").exit_code == 0
    assert invoke("data", "import", str(other), file).stdout == f"{other}: imported shop\n"
    opened = kept(other)
    with running("default", None, opened.keep) as client:
        assert refids(client, "shop") == ["two"]
        assert client.pay("three", sandbox="shop").status == 200
    again = refused("data", "import", str(other), file)
    assert "has a sandbox 'shop' already: give --replace to replace it, or import it elsewhere" in again


@pytest.mark.parametrize("shows_secrets", [False, True])
def test_a_tape_of_a_folder_replays(shows_secrets: bool, tmp_path: Path) -> None:
    folder, file = str(filled(tmp_path / "data")), str(tmp_path / "shop.tape")
    flags = ("--tape-secrets",) if shows_secrets else ("--tape",)
    assert invoke("data", "export", folder, file, "--sandbox", "shop", *flags).exit_code == 0
    assert "all as it was" in invoke("replay", file).stdout


def test_a_tape_that_cannot_be_exported_without_its_secrets_is_refused_on_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise CannotMask("a secret of it is also something else")

    monkeypatch.setattr("simulator.cli.data.lines_without_secrets", refuse)
    folder = filled(tmp_path / "data")
    file = tmp_path / "default.tape"
    line = refused("data", "export", str(folder), str(file), "--tape")
    assert "the tape of default: a secret of it is also something else" in line
    assert "--tape-secrets writes it with its secrets" in line
    assert not file.exists()
    assert invoke("data", "export", str(folder), str(file), "--tape-secrets").exit_code == 0


def test_a_folder_is_compacted(tmp_path: Path) -> None:
    folder = filled(tmp_path / "data")
    opened = kept(folder)
    with running("default", None, opened.keep) as client:
        assert client.sim("DELETE", "/sandboxes/shop").status == 204
    assert " compacted: " in invoke("data", "compact", str(folder)).stdout
    assert "undamaged: 1 sandbox, " in invoke("data", "check", str(folder)).stdout


def damaged(folder: Path) -> Path:
    with closing(sqlite3.connect(filled(folder) / DATABASE, isolation_level=None)) as connection:
        connection.execute("UPDATE entries SET data = zeroblob(length(data)) WHERE id % 2")
    return folder


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_a_backup_is_readable_only_by_readers_of_the_original(mode: int, tmp_path: Path) -> None:
    """The service may have another umask than the timer that makes the copy."""
    folder, copy = filled(tmp_path / "data"), tmp_path / "copy"
    folder.joinpath(DATABASE).chmod(mode)
    before = os.umask(0o022)
    try:
        assert invoke("data", "backup", str(folder), str(copy)).exit_code == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE(copy.joinpath(DATABASE).stat().st_mode) == mode
    assert [one.name for one in copy.iterdir()] == [DATABASE]


def test_a_new_folder_has_its_secrets_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with Store(tmp_path / "data", version="1"):
            made = {one.name: stat.S_IMODE(one.stat().st_mode) for one in (tmp_path / "data").iterdir()}
    finally:
        os.umask(before)
    assert {name: mode for name, mode in made.items() if name != OWNER} == dict.fromkeys(made.keys() - {OWNER}, 0o600)
    assert DATABASE in made


@pytest.mark.parametrize("flags", [(), ("--sandbox", "shop", "--tape-secrets")])
def test_an_export_keeps_its_secrets_for_its_owner_alone(flags: tuple[str, ...], tmp_path: Path) -> None:
    folder, file = filled(tmp_path / "data"), tmp_path / "out"
    before = os.umask(0o022)
    try:
        assert invoke("data", "export", str(folder), str(file), *flags).exit_code == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_tape_with_secrets_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        for name, shows_secrets in (("masked", False), ("whole", True)):
            tapes = RunTapes(tmp_path / name, shows_secrets=shows_secrets)
            tapes.begin()
            tapes.end()
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("masked", "whole")]
    assert modes == [0o644, 0o600]


def test_damage_is_found_and_named(tmp_path: Path) -> None:
    done = invoke("data", "check", str(damaged(tmp_path / "data")))
    assert done.exit_code == 1
    assert "problems: 2 sandboxes" in done.stdout
    assert "sandbox 'default': entry 1 is damaged" in done.stderr


def without_a_row(folder: Path) -> Path:
    with closing(sqlite3.connect(filled(folder) / DATABASE, isolation_level=None)) as connection:
        connection.execute("DELETE FROM entries WHERE id IN (SELECT id FROM entries ORDER BY id LIMIT 1 OFFSET 1)")
    return folder


def of_another_version(folder: Path) -> Path:
    opened = kept(folder)
    with running("default", None, opened.keep) as client:
        client.call("GET", "/v2/balance")
    assert change_entries(folder, b"5000", b"5001")
    return folder


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (damaged, "sandbox 'default': entry 1 is damaged (and "),
        (without_a_row, "sandbox 'default': entry 2 is missing"),
        (of_another_version, "cannot be rebuilt"),
    ],
)
def test_a_damaged_folder_is_not_compacted(make: Callable[[Path], Path], text: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "data")
    before = (folder / DATABASE).read_bytes()
    line = refused("data", "compact", str(folder))
    assert text in line
    assert f"nothing was compacted, since {folder} is damaged" in line
    assert (folder / DATABASE).read_bytes() == before


def of_newer_format(folder: Path) -> Path:
    with closing(sqlite3.connect(filled(folder) / DATABASE)) as connection:
        connection.execute("PRAGMA user_version = 99")
    return folder


def full_of_others(folder: Path) -> Path:
    folder.mkdir()
    (folder / "letters.txt").write_text("dear")
    return folder


def empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda folder: folder, "is not a data folder"),
        (empty, "is not a data folder"),
        (full_of_others, "is not a data folder"),
        (of_newer_format, "newer"),
    ],
)
@pytest.mark.parametrize("action", ["check", "export", "remove", "compact"])
def test_an_unusable_folder_is_refused_on_one_line(action: str, make: Any, text: str, tmp_path: Path) -> None:
    more = {"export": ["out"], "remove": ["--sandbox", "shop"]}.get(action, [])
    line = refused("data", action, str(make(tmp_path / "data")), *more)
    assert f"reseller-sim data: {tmp_path / 'data'}" in line
    assert text in line


def test_a_folder_that_a_server_has_open_is_read_and_not_changed(tmp_path: Path) -> None:
    folder, file = filled(tmp_path / "data"), str(tmp_path / "out")
    opened = kept(folder)
    try:
        assert "undamaged: 2 sandboxes" in invoke("data", "check", str(folder)).stdout
        assert invoke("data", "export", str(folder), file).exit_code == 0
        for action in (("remove", "--sandbox", "shop"), ("compact",)):
            assert "in use by the process with pid" in refused("data", action[0], str(folder), *action[1:])
        assert "in use by the process with pid" in refused("data", "import", str(folder), file, "--replace")
    finally:
        opened.close()


def test_a_file_that_is_no_exported_sandbox_is_not_imported(tmp_path: Path) -> None:
    file = tmp_path / "x"
    assert "No such file" in refused("data", "import", str(tmp_path / "data"), str(file))
    file.write_bytes(b"no sandbox")
    assert f"{file}: it is not an exported sandbox" in refused("data", "import", str(tmp_path / "data"), str(file))
    whole = tmp_path / "whole"
    invoke("data", "export", str(filled(tmp_path / "from")), str(whole))
    file.write_bytes(whole.read_bytes()[:-1])
    assert f"{file}: it is damaged (" in refused("data", "import", str(tmp_path / "data"), str(file))
    assert not (tmp_path / "data").exists()


def hostile(folder: Path, change: Callable[[Store], object]) -> Path:
    """Export a sandbox with valid checksums from a changed store."""
    with Store(filled(folder), version="1.2.3") as store:
        change(store)
        store.commit()
        export_sandbox(store.reader, "shop", file := folder.parent / "hostile", version="1.2.3")
    return file


HEAD = {"tape": 1, "version": "0", "sandbox": "shop", "started": "2026-11-21T04:00:00Z", "seed": 1, "name": "x",
        "clock": {"mode": "manual", "rate": 0}, "scenario": {"extends": "default"}, "entries": 0}  # fmt: skip


def head(**changes: Any) -> Callable[[Store], object]:
    return lambda store: put_head(store, "shop", json.dumps(HEAD | changes).encode())


def with_a_junk_mark(store: Store) -> None:
    put_mark(store, "shop", "x", note=b"junk")


HOSTILE: list[Callable[[Store], object]] = [
    lambda store: put_head(store, "shop", b"junk"),
    lambda store: put_head(store, "shop", b""),
    lambda store: put_head(store, "shop", b"[" * 100_000),
    head(tape="1"),
    head(sandbox="other"),
    head(clock={"mode": "bogus", "rate": 1}),
    head(scenario={"payments": 7}),
    lambda store: append(store.writer, "shop", 0, b"junk"),
    lambda store: append(store.writer, "shop", 1 << 62, b'{"entry":"inbox_cleared","name":"x"}'),
    lambda store: append(store.writer, "shop", -(1 << 62), b'{"entry":"answered","request":7}'),
    with_a_junk_mark,
]  # fmt: skip


@pytest.mark.parametrize("change", HOSTILE)
def test_a_sandbox_that_no_server_could_resume_is_not_imported(
    change: Callable[[Store], object], tmp_path: Path
) -> None:
    file = hostile(tmp_path / "from", change)
    line = refused("data", "import", str(tmp_path / "data"), str(file))
    assert f"reseller-sim data: {file}: sandbox 'shop'" in line
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("change", HOSTILE)
def test_a_folder_that_no_server_could_resume_fails_the_check_and_is_not_served(
    change: Callable[[Store], object], tmp_path: Path
) -> None:
    hostile(tmp_path / "data", change)
    done = invoke("data", "check", str(tmp_path / "data"))
    assert done.exit_code == 1
    assert f"{tmp_path / 'data'}: sandbox 'shop'" in done.stderr
    opened = kept(tmp_path / "data")
    try:
        with pytest.raises(CannotResume, match="sandbox 'shop'"), running("default", None, opened.keep):
            pass
    finally:
        opened.close()


def test_a_sandbox_is_imported_in_the_place_of_another(tmp_path: Path) -> None:
    file, other = str(tmp_path / "default.sandbox"), filled(tmp_path / "other")
    invoke("data", "export", str(filled(tmp_path / "data")), file)
    opened = kept(other)
    with running("default", None, opened.keep) as client:
        client.pay("three")
        assert refids(client, "default") == ["three", "one"]
    assert invoke("data", "import", str(other), file, "--replace").stdout == f"{other}: imported default\n"
    assert "undamaged: 2 sandboxes" in invoke("data", "check", str(other)).stdout
    opened = kept(other)
    with running("default", None, opened.keep) as client:
        assert refids(client, "default") == ["one"]
        assert client.pay("four").status == 200


def test_a_sandbox_is_removed_with_all_that_it_has_and_the_others_stay(tmp_path: Path) -> None:
    folder = filled(tmp_path / "data")
    assert invoke("data", "remove", str(folder), "--sandbox", "shop").stdout == f"{folder}: removed shop\n"
    assert invoke("data", "check", str(folder)).stdout.startswith(f"{folder}: undamaged: 1 sandbox, ")
    with running("default", None, kept(folder).keep) as client:
        assert client.sim("GET", "/sandboxes/shop").status == 404
        assert refids(client, "default") == ["one"]
        assert client.sim("POST", "/sandboxes", {"id": "shop", "scenario": "default"}).status == 201
        assert refids(client, "shop") == []


def test_a_folder_is_looked_at_without_changing_it(tmp_path: Path) -> None:
    folder = filled(tmp_path / "data")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert invoke("data", "check", str(folder)).exit_code == 0
    assert invoke("data", "export", str(folder), str(tmp_path / "out")).exit_code == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_an_export_replaces_no_file_and_leaves_none_that_is_cut(tmp_path: Path) -> None:
    folder, file = damaged(tmp_path / "data"), tmp_path / "out"
    assert "damaged" in refused("data", "export", str(folder), str(file))
    assert not file.exists()
    folder = filled(tmp_path / "whole")
    file.write_text("mine")
    assert "exists already" in refused("data", "export", str(folder), str(file))
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("file", "is a file: give a folder"),
        ("file/below", "cannot be written (Not a directory): give a writable folder with free space"),
        ("loop", "cannot be written ("),
        ("n" * 300, "cannot be written (File name too long)"),
        ("full", "has files already: give an empty or a new folder"),
        ("data", "is the folder to save, or inside it: give a folder elsewhere"),
        ("data/below", "is the folder to save, or inside it: give a folder elsewhere"),
    ],
)
def test_a_backup_is_refused_where_it_cannot_be_written(target: str, text: str, tmp_path: Path) -> None:
    folder = filled(tmp_path / "data")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert text in refused("data", "backup", str(folder), str(tmp_path / target))
    assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("flags", [(), ("--tape",)])
def test_an_export_below_a_file_is_refused(flags: tuple[str, ...], tmp_path: Path) -> None:
    folder = filled(tmp_path / "data")
    (tmp_path / "file").write_text("mine")
    told = refused("data", "export", str(folder), str(tmp_path / "file" / "below"), *flags)
    assert told.endswith(f"{tmp_path / 'file' / 'below'}: Not a directory")


@pytest.mark.parametrize("words", [("export", "out"), ("remove",)])
def test_a_sandbox_that_is_not_there_is_neither_exported_nor_removed(words: tuple[str, ...], tmp_path: Path) -> None:
    action, *file = words
    line = refused("data", action, str(filled(tmp_path / "data")), *file, "--sandbox", "none")
    assert "has no sandbox 'none'; it has default, shop" in line


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("mend", "d"), "is not one of"),
        (("import", "d"), "takes DIR and a FILE to read from"),
        (("check", "d", "f"), "takes DIR and no FILE"),
        (("check", "d", "--tape"), "--tape belongs to data export"),
        (("import", "d", "f", "--sandbox", "a"), "--sandbox belongs to data export and data remove"),
        (("remove", "d"), "data remove needs --sandbox ID"),
        (("remove", "d", "f", "--sandbox", "a"), "takes DIR and no FILE"),
        (("export", "d", "f", "--replace"), "--replace belongs to data import"),
    ],
)
def test_wrong_usage_is_reported(arguments: tuple[str, ...], text: str) -> None:
    done = invoke("data", *arguments)
    assert done.exit_code == 2
    assert text in done.stderr
