"""A server that keeps its sandboxes on disk: killed, stopped and started again, by real processes."""

import json
import re
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from simulator.persistence.schema import DATABASE
from simulator.staging.signed_requests import Credentials, sign
from tests.support.client import Response
from tests.support.processes import DEADLINE_S, PROGRAM, ROOT, Serving, ask, environment, run, serving
from tests.support.stores import change_entries

PAYMENT = {"refid": "order-1", "product": "RELOAD", "account": "0123456789", "amount": 10}


def sim(running: Serving, method: str, path: str, body: Any = None) -> Any:
    content = None if body is None else json.dumps(body).encode()
    answer = ask(f"{running.ready['url']}/_sim/sandboxes{path}", method, content, {"content-type": "application/json"})
    assert answer.status < 300, answer
    return json.loads(answer.body or b"null")


def pay(running: Serving, **changes: Any) -> Response:
    key = running.ready["resellers"][0]
    body = json.dumps(PAYMENT | changes).encode()
    credentials = Credentials(key["api_key"], key["api_secret"])
    made = sign("POST", running.ready["url"], "/v2/topup", body, credentials)
    return ask(made.url, "POST", body, made.headers)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("durability", ["process", "power"])
def test_every_answered_request_survives_a_restart(number: int, durability: str, tmp_path: Path) -> None:
    kept = ("--data-dir", str(tmp_path / "data"), "--durability", durability)
    flags = ("--port", "0", "--json", "--clock", "manual", *kept)
    with serving(*flags) as running:
        first = pay(running).json["data"]
        sim(running, "POST", "", {"id": "second", "scenario": "default"})
        sim(running, "POST", "/second/resellers/RS001/deposits", {"amount": "1.50"})
        sim(running, "POST", "", {"id": "gone", "scenario": "default"})
        sim(running, "DELETE", "/gone")
        before = {path: sim(running, "GET", path) for path in LOOKED_AT}
        running.process.send_signal(number)
        running.process.wait()
    with serving(*flags) as running:
        assert {path: sim(running, "GET", path) for path in LOOKED_AT} == before
        again = pay(running).json["data"]
        assert again == first
        assert {one["id"] for one in sim(running, "GET", "")["sandboxes"]} == {"default", "second"}
        assert sim(running, "POST", "/default/clock/advance", {"until": "idle"})["fired"]


LOOKED_AT = ("/default/ledger", "/default/transactions", "/default/due", "/default/clock", "/second/ledger")


def use_after_the_kill(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("durability", ["process", "power"])
def test_other_programs_may_checkpoint_beside_a_server_and_after_its_kill(durability: str, tmp_path: Path) -> None:
    flags = ("--port", "0", "--json", "--data-dir", str(tmp_path / "data"), "--durability", durability)
    refids: list[str] = []
    path = tmp_path / "data" / DATABASE
    for number in range(3):
        is_over = threading.Event()
        with serving(*flags) as running, closing(sqlite3.connect(path, check_same_thread=False)) as other:

            def checkpoint(other: sqlite3.Connection = other, is_over: threading.Event = is_over) -> None:
                while not is_over.is_set():
                    other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

            thread = threading.Thread(target=checkpoint)
            thread.start()
            for place in range(40):
                refids.append(f"order-{number}-{place}")
                assert pay(running, refid=refids[-1]).status == 200
            running.process.kill()
            running.process.wait()
            is_over.set()
            thread.join()
        if number:
            use_after_the_kill(path)
        assert run("data", "check", str(tmp_path / "data")).status == 0
        with serving(*flags) as running:
            found = {one["refid"] for one in sim(running, "GET", "/default/transactions?limit=1000")["transactions"]}
            assert found == set(refids)
            running.process.kill()
            running.process.wait()


@pytest.mark.slow
def test_a_reset_stays_a_reset(tmp_path: Path) -> None:
    flags = ("--port", "0", "--json", "--data-dir", str(tmp_path / "data"))
    with serving(*flags) as running:
        pay(running)
        sim(running, "POST", "/default/reset")
        sim(running, "POST", "/default/resellers/RS001/deposits", {"amount": "1.50"})
        running.process.kill()
        running.process.wait()
    with serving(*flags) as running:
        assert sim(running, "GET", "/default/transactions")["transactions"] == []
        assert len(sim(running, "GET", "/default/ledger")["entries"]) == 1


@pytest.mark.slow
def test_a_named_scenario_is_loaded_even_if_it_is_the_default(tmp_path: Path) -> None:
    flags = ("--port", "0", "--json", "--data-dir", str(tmp_path / "data"))
    for words, wanted in (
        (("stuck-processing",), "stuck-processing"),
        ((), "stuck-processing"),
        (("default",), "default"),
    ):
        with serving(*words, *flags) as running:
            assert sim(running, "GET", "/default")["scenario"] == wanted


@pytest.mark.slow
def test_a_folder_has_a_single_owner(tmp_path: Path) -> None:
    flags = ("--port", "0", "--json", "--data-dir", str(tmp_path / "data"))
    with serving(*flags) as running:
        refused = run("serve", *flags)
        assert refused.status == 3
        assert f"in use by the process with pid {running.process.pid}" in refused.only_error_line


WITH_FILES_OF_400_KIB = ("sh", "-c", 'ulimit -f 800; exec "$@"', "sh")


@pytest.mark.slow
def test_a_disk_that_is_full_ends_the_server_and_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    flags = ("--port", "0", "--json", "--clock", "manual", "--data-dir", str(tmp_path / "data"))
    answered = 0
    with serving(*flags, through=WITH_FILES_OF_400_KIB) as running:
        with suppress(HTTPException, OSError):
            while answered < 2_000:
                deposit(running)
                answered += 1
        assert running.process.wait(DEADLINE_S) == 3
        assert running.process.stderr is not None
        said = running.process.stderr.read()
    assert len(said.splitlines()) == 1
    assert "the server stops; everything that it answered is stored" in said
    assert 0 < answered < 2_000
    with serving(*flags) as running:
        assert sim(running, "GET", "/default/resellers")["resellers"][0]["balance"] == 5000 + answered / 100
        deposit(running)


def deposit(running: Serving) -> None:
    sim(running, "POST", "/default/resellers/RS001/deposits", {"amount": "0.01"})


def of_newer_format(folder: Path) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.execute("PRAGMA user_version = 99")


def flipped(folder: Path) -> None:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        connection.execute("UPDATE entries SET data = zeroblob(length(data)) WHERE id % 2")
        connection.commit()


def cut(folder: Path) -> None:
    with (folder / DATABASE).open("r+b") as file:
        file.truncate(5_000)


def of_another_version(folder: Path) -> None:
    assert change_entries(folder, b"Accepted", b"Rejected")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (of_newer_format, "written by a newer reseller-sim"),
        (flipped, "is damaged"),
        (cut, "damaged (database disk image is malformed)"),
        (of_another_version, "differs when it is repeated; use the version that wrote the folder"),
    ],
)
def test_an_unreadable_folder_is_refused_and_left_unchanged(
    change: Callable[[Path], None], text: str, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    flags = ("--port", "0", "--json", "--data-dir", str(folder))
    with serving(*flags) as running:
        pay(running)
        running.stop(signal.SIGTERM)
    change(folder)
    before = (folder / DATABASE).read_bytes()
    refused = run("serve", *flags)
    assert refused.status == 3
    assert str(folder) in refused.only_error_line
    assert text in refused.only_error_line
    assert (folder / DATABASE).read_bytes() == before


@pytest.mark.slow
def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    flags = ("serve", "--port", "0", "--data-dir")
    assert "has other files ('letters.txt')" in run(*flags, str(tmp_path)).only_error_line
    refused = run(*flags, str(tmp_path / "letters.txt"))
    assert refused.status == 2
    assert "is a file" in refused.err


@pytest.mark.slow
def test_a_stopped_server_leaves_a_snapshot_and_resumes_from_it(tmp_path: Path) -> None:
    flags = ("--port", "0", "--json", "--clock", "manual", "--data-dir", str(tmp_path / "data"))
    with serving(*flags) as running:
        for _ in range(1_100):
            deposit(running)
        first = pay(running).json["data"]
        ledger = sim(running, "GET", "/default/ledger")
        status, _, said = running.stop(signal.SIGTERM)
        assert (status, said) == (0, "")
    checked = run("data", "check", str(tmp_path / "data"))
    assert re.search(r"undamaged: 1 sandbox, 11\d\d lines, 1 snapshot, ", checked.out), checked
    with serving(*flags) as running:
        assert sim(running, "GET", "/default/ledger") == ledger
        assert pay(running).json["data"] == first


LARGE = 100  # deposits, so that an export is more than what stdout buffers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("kept") / "data"
    with serving("--port", "0", "--json", "--clock", "manual", "--data-dir", str(made)) as running:
        for _ in range(LARGE):
            deposit(running)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("--tape",)])
def test_an_export_to_a_full_disk_blames_stdout_and_not_the_folder(flags: tuple[str, ...], folder: Path) -> None:
    if not Path("/dev/full").exists():  # a device of Linux alone
        return
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, "data", "export", str(folder), *flags],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=DEADLINE_S,
            env=environment(),
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.decode().splitlines() == ["reseller-sim: stdout cannot be written: No space left on device"]


@pytest.mark.slow
def test_a_reader_of_an_export_that_has_enough_ends_it_quietly(folder: Path) -> None:
    with subprocess.Popen(
        [*PROGRAM, "data", "export", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(DEADLINE_S) == 1


PAGE = (ROOT / "docs" / "data.md").read_text("utf-8")
COMMANDS = re.findall(r"^\$ reseller-sim (data .+|replay .+)\n((?:[^$`].*\n)*)", PAGE, re.MULTILINE)


@pytest.mark.slow
def test_the_page_shows_what_folders_are_looked_after_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving("--port", "0", "--json", "--clock", "manual", "--data-dir", str(tmp_path / "data")) as running:
        pay(running)
        sim(running, "POST", "/default/clock/advance", {"until": "idle"})
        running.stop(signal.SIGTERM)
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) == 6
    for command, shown in COMMANDS:
        done = run(*command.split(), PYTHONPATH=str(ROOT))
        assert done.status == 0, done
        assert re.sub(r"\d+", "N", done.out) == re.sub(r"\d+", "N", shown)
