"""The data folder of a server that is paid at, copied while it runs, and brought back elsewhere."""

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from reseller_sim import Simulator
from simulator.staging.signed_requests import Credentials, sign
from tests.support.client import Response
from tests.support.processes import Serving, ask, run, serving

pytestmark = pytest.mark.slow

KEPT = ("--port", "0", "--json", "--clock", "manual", "--data-dir")


def pay(running: Serving, refid: str) -> Response:
    key = running.ready["resellers"][0]
    body = json.dumps({"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": 5}).encode()
    made = sign("POST", running.ready["url"], "/v2/topup", body, Credentials(key["api_key"], key["api_secret"]))
    return ask(made.url, "POST", body, made.headers)


def sim(running: Serving, path: str) -> Any:
    return ask(f"{running.ready['url']}/_sim/sandboxes/default{path}").json


def payments(running: Serving) -> list[dict[str, Any]]:
    return Simulator(running.ready["url"]).open("default").transactions()


@contextmanager
def paying(running: Serving) -> Iterator[list[str]]:
    """The payments that were answered, one after the other, while the body of `with` does something."""
    deposits = f"{running.ready['url']}/_sim/sandboxes/default/resellers/RS001/deposits"
    assert ask(deposits, "POST", b'{"amount": "1000000"}').status == 201  # for as many as a fast machine makes
    answered: list[str] = []
    is_over = threading.Event()
    has_begun = threading.Event()

    def main() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            try:
                status = pay(running, f"order-{number}").status
            except (OSError, HTTPException):  # the server has stopped
                return
            assert status == 200
            answered.append(f"order-{number}")
            if number == 20:
                has_begun.set()

    payer = threading.Thread(target=main)
    payer.start()
    try:
        assert has_begun.wait(60)
        yield answered
    finally:
        is_over.set()
        payer.join()


def test_a_backup_has_every_answered_request_before_its_start_and_blocks_no_client(tmp_path: Path) -> None:
    data, copies = tmp_path / "data", [tmp_path / f"copy-{number}" for number in range(3)]
    before: list[list[str]] = []
    with serving(*KEPT, str(data)) as running, paying(running) as answered:
        for copy in copies:
            before.append([*answered])
            done = run("data", "backup", str(data), str(copy))
            assert (done.status, done.err) == (0, "")
            assert done.out.startswith(f"{copy}: a copy of {data}: ")
            assert len(answered) > len(before[-1])  # meanwhile
    for copy in copies:
        assert ": undamaged: 1 sandbox" in run("data", "check", str(copy)).out
    with serving(*KEPT, str(copies[-1])) as restored:
        transactions = payments(restored)
        assert set(before[-1]) <= {one["refid"] for one in transactions}
        assert sim(restored, "/invariants") == {"ok": True, "violations": []}
        count = len(transactions)
        assert pay(restored, before[-1][0]).status == 200  # asked again: the same payment
        assert len(payments(restored)) == count
        assert pay(restored, "another").status == 200


def test_a_folder_that_no_server_has_open_is_copied_too_after_a_kill_and_after_a_stop(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for number, how in enumerate((signal.SIGKILL, signal.SIGTERM)):
        with serving(*KEPT, str(data)) as running:
            assert pay(running, f"order-{number}").status == 200
            running.stop(how)
        copy = tmp_path / f"copy-{number}"
        assert run("data", "backup", str(data), str(copy)).status == 0
        with serving(*KEPT, str(copy)) as restored:
            assert len(sim(restored, "/transactions")["transactions"]) == number + 1
    with serving(*KEPT, str(data)) as running:  # which was not touched
        assert len(sim(running, "/transactions")["transactions"]) == 2


def test_a_backup_goes_nowhere_where_something_is(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    with serving(*KEPT, str(tmp_path / "data")) as running:
        assert pay(running, "order-1").status == 200
        for target, why in (
            ("full", "has files already: give an empty or a new folder"),
            ("file", "is a file: give a folder"),
            ("file/copy", "cannot be written (Not a directory): give a writable folder"),
            ("data", "is the folder to save, or inside it: give a folder elsewhere"),
            ("data/copy", "is the folder to save, or inside it: give a folder elsewhere"),
        ):
            done = run("data", "backup", str(tmp_path / "data"), str(tmp_path / target))
            assert (done.status, done.out) == (3, "")
            assert why in done.only_error_line
        assert not (tmp_path / "data" / "copy").exists()
        assert run("data", "backup", str(tmp_path / "data"), str(tmp_path / "copy")).status == 0
        twice = run("data", "backup", str(tmp_path / "data"), str(tmp_path / "copy"))
        assert "has files already" in twice.only_error_line
    none = run("data", "backup", str(tmp_path / "full"), str(tmp_path / "new"))
    assert "is not a data folder" in none.only_error_line
    assert not (tmp_path / "new").exists()


def test_a_missing_target_folder_is_refused_with_the_reason(tmp_path: Path) -> None:
    done = run("data", "backup", str(tmp_path))
    assert done.status == 2
    assert "data backup takes DIR and a folder to copy into" in done.err


def test_a_stopping_server_answers_the_requests_that_it_has_begun(tmp_path: Path) -> None:
    """An upgrade loses no answer: the next server has every answered payment, and no other answer is wrong."""
    data = str(tmp_path / "data")
    with serving(*KEPT, data) as running:
        with paying(running) as answered:
            status, _, err = running.stop(signal.SIGTERM)
        assert (status, err) == (0, "")
    with serving(*KEPT, data) as running:
        refids = {one["refid"] for one in sim(running, "/transactions?limit=1000")["transactions"]}
        assert set(answered) <= refids
        assert len(refids) <= len(answered) + 1  # the last may have been carried out without an answer
        assert pay(running, answered[-1]).json["data"]["refid"] == answered[-1]
