"""`data export` and `data import` between a folder and a database."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.persistence.errors import Unusable
from simulator.persistence.maintenance import export_sandbox, import_statements
from simulator.persistence.reader import folder_reader
from simulator.persistence.writer import Statement
from simulator.postgres import database_transfer
from simulator.postgres.database_transfer import import_to_database
from tests.support import data_folders
from tests.support.data_folders import killed
from tests.support.postgres import rows_of
from tests.support.processes import run, serving
from tests.support.sharing import await_true, control, pay, refids, server

pytestmark = [pytest.mark.needs("initdb"), pytest.mark.slow]


def test_a_sandbox_moves_from_a_folder_to_a_database_and_back(database: str, tmp_path: Path) -> None:
    folder, file, back = str(tmp_path / "data"), str(tmp_path / "shop.sandbox"), str(tmp_path / "back.sandbox")
    with serving("--port", "0", "--json", "--data-dir", folder) as running:
        assert control(running, "POST", "/sandboxes", {"id": "shop", "clock": {"mode": "manual"}}).status == 201
        assert control(running, "POST", "/sandboxes/shop/marks", {"name": "begin"}).status == 201
        for number in range(3):
            assert pay(running, f"refid {number}", "shop").status == 200
    assert run("data", "export", folder, file, "--sandbox", "shop").status == 0
    with server(database) as running:
        assert run("data", "import", database, file).out == "imported shop\n"
        await_true(lambda: control(running, "GET", "/sandboxes/shop").status == 200)
        assert refids(running, "shop") == {"refid 0", "refid 1", "refid 2"}
        assert [mark["name"] for mark in control(running, "GET", "/sandboxes/shop/marks").json["marks"]] == ["begin"]
        assert pay(running, "later", "shop").status == 200
        assert "has the sandbox 'shop' in use" in run("data", "import", database, file, "--replace").only_error_line
        assert run("data", "export", database, back, "--sandbox", "shop").status == 0
        assert run("data", "export", database, str(tmp_path / "tape"), "--sandbox", "shop", "--tape").status == 0
        assert running.stop(signal.SIGTERM)[0] == 0
    assert "has a sandbox 'shop' already" in run("data", "import", database, file).only_error_line
    assert run("data", "import", database, file, "--replace").status == 0
    assert rows_of(database, "SELECT count(*) FROM lives WHERE sandbox = 'shop'") == [(1,)]
    assert run("data", "import", str(tmp_path / "other"), back).status == 0
    with serving("--port", "0", "--json", "--data-dir", str(tmp_path / "other")) as running:
        assert refids(running, "shop") == {"refid 0", "refid 1", "refid 2", "later"}
    assert run("replay", str(tmp_path / "tape")).status == 0


def test_a_file_that_is_no_sandbox_changes_nothing(database: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no sandbox")
    done = run("data", "import", database, str(file))
    assert done.status == 3
    assert "not an exported sandbox, or it is damaged" in done.only_error_line
    missing = run("data", "export", database, str(tmp_path / "out"), "--sandbox", "shop")
    assert "PostgreSQL has no sandbox 'shop'" in missing.only_error_line
    assert run("data", "check", database).status == 2


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of the default sandbox, with a mark."""
    with data_folders.serving(tmp_path / "data") as client:
        client.pay("o1")
        assert client.sim("POST", f"{data_folders.DEFAULT}/marks", {"name": "early"}).status == 201
        folder = killed(client, tmp_path)
    file = tmp_path / "default.sandbox"
    with folder_reader(folder) as reader:
        export_sandbox(reader, "default", file, version="1")
    return file


END_OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()"
)


def test_an_import_whose_connection_is_lost_says_why_and_can_be_repeated_at_once(
    database: str, file: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def losing(*arguments: Any, **named: Any) -> Iterator[Statement]:
        for number, statement in enumerate(statements(*arguments, **named)):
            if number == 2:
                rows_of(database, END_OTHERS)
            yield statement

    statements = import_statements
    with monkeypatch.context() as patched:
        patched.setattr(database_transfer, "import_statements", losing)
        with pytest.raises(Unusable, match=r"terminating connection|closed the connection unexpectedly"):
            import_to_database(database, file)
    assert import_to_database(database, file) == "default"
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("damage", ["UPDATE lives SET crc = crc + 1", "UPDATE marks SET crc = crc + 1"])
def test_an_import_replaces_a_damaged_sandbox(damage: str, database: str, file: Path) -> None:
    assert import_to_database(database, file) == "default"
    rows_of(database, damage)
    with pytest.raises(Unusable, match="has a sandbox 'default' already: give --replace"):
        import_to_database(database, file)
    assert import_to_database(database, file, replaces=True) == "default"
    assert rows_of(database, "SELECT count(*) FROM lives") == [(1,)]
    assert rows_of(database, "SELECT count(DISTINCT life) FROM marks") == [(1,)]
    assert rows_of(database, "SELECT count(*) FROM garbage WHERE is_due") == [(1,)]
