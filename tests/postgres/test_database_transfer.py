"""`data export` and `data import` between a folder and a database."""

import signal
from pathlib import Path

import pytest

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
