"""The folder of a run: with any input of clients it opens as a page, shows no secret, and names its omissions."""

import json
import re
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from simulator.cli.reports.folder import ReportFolder, begin_folder
from simulator.cli.reports.judge import Judge, expectation_case
from simulator.cli.reports.report_cases import Reports, Suite
from simulator.cli.server import BoundServer
from simulator.control.result_endpoints import audit_of
from simulator.runtime.expectation_verdicts import verdicts
from tests.support.client import Client, running

EXPECT: list[Any] = [{"payments": {"refid": "<script>alert(1)</script>"}}, {"calls": {"status": 500}}]


def written(client: Client, folder: Path, times: int = 1) -> ReportFolder:
    begin_folder(folder)
    report = ReportFolder(folder, client.app.sandboxes, "http://127.0.0.1:1")
    for _ in range(times):
        found = verdicts(client.live)
        report.add(
            client.live,
            Suite("sandbox default", tuple(map(expectation_case, found))),
            found,
            audit_of(client.live),
            report.masks(client.live),
        )
    report.end("all met")
    return report


def page(folder: Path) -> str:
    return (folder / "index.html").read_text("utf-8")


def test_content_of_clients_is_text_and_their_secrets_are_not_shown(tmp_path: Path) -> None:
    with running({"expect": EXPECT}) as client:
        client.pay("<script>alert(1)</script>", remarks=client.secret)
        client.call("GET", f"/v2/\u202e</script>{client.secret}".encode().decode("latin-1"))
        client.call("POST", "/v2/token", {"username": "a", "password": "hunter2-hunter2"})
        report = written(client, tmp_path / "new" / "report")
        everything = "".join(path.read_text("utf-8") for path in (tmp_path / "new").rglob("*") if path.is_file())
        assert client.secret not in everything
    assert "hunter2" not in everything
    assert report.error == ""
    whole = page(tmp_path / "new" / "report")
    assert "<script" not in whole
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in whole
    assert "not met" in whole
    entries = json.loads((tmp_path / "new" / "report" / "001-default" / "journal.har").read_text())["log"]["entries"]
    assert [one["request"]["method"] for one in entries] == ["POST", "GET", "POST"]
    assert "(not shown)" in entries[2]["request"]["postData"]["text"]


def test_the_page_has_the_result_and_a_row_for_each_attempt_of_a_callback(tmp_path: Path) -> None:
    inboxes: Any = {"callbacks": {"replies": [{"status": 503}, {"status": 200}]}}
    scenario: Any = {"clock": "manual", "inboxes": inboxes}
    with running(scenario) as client:
        client.pay("order-1")
        client.advance(600)
        written(client, tmp_path)
    whole = page(tmp_path)
    assert '<p class="verdict">all met</p>' in whole
    [table] = re.findall(r"<summary>Callbacks.*?</table>", whole, re.DOTALL)
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row)[1:] for row in re.findall(r"<tr>(.*?)</tr>", table)[1:]]
    assert rows == [
        ["order-1", "Processing", "1", "503", "", "delivered"],
        ["order-1", "Processing", "2", "200", "", "delivered"],
        ["order-1", "Succesful", "1", "200", "", "delivered"],
    ]
    assert not re.search(r":[0-9]{2}\.[0-9]+", whole.partition("<pre>")[0])


def test_audit_and_callbacks_are_what_the_control_api_answers_with_secrets_hidden(tmp_path: Path) -> None:
    with running({"clock": "manual"}) as client:
        client.pay("order-1")
        client.advance(600)
        client.call("POST", "/v2/token", {"username": "a", "password": "hunter2-hunter2"})
        client.call("POST", "/v2/token", {"username": "a", "password": "hunter2-hunter2"})
        written(client, tmp_path)
        audit = client.sim("GET", "/sandboxes/default/audit").json
        callbacks = client.sim("GET", "/sandboxes/default/callbacks").json["callbacks"]
    found = {path.stem: json.loads(path.read_text("utf-8")) for path in (tmp_path / "001-default").glob("*.json")}
    assert any(one["state"] == "violated" for one in audit["obligations"])
    assert (found["audit"], found["callbacks"]) == (audit, callbacks)
    assert [one["refid"] for one in callbacks] == ["order-1"] * 2
    for name in ("audit.json", "callbacks.json"):
        assert f'href="001-default/{name}"' in page(tmp_path)


def test_a_connection_that_was_closed_without_an_answer_has_no_status(tmp_path: Path) -> None:
    with running() as client:
        client.pay("lost", account="0120000004")
        written(client, tmp_path)
    assert client.live.journal.last_n == 1
    assert '<td class="status">no answer</td>' in page(tmp_path)
    assert '<td class="status">0</td>' not in page(tmp_path)


def test_a_full_report_says_what_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.cli.reports.folder.SANDBOXES_MAX", 2)
    with running({"limits": {"journal": 1}}) as client:
        client.pay("a")
        client.pay("b")
        written(client, tmp_path, 3)
    whole = page(tmp_path)
    assert "1 more sandboxes are left out: a report has at most 2" in whole
    assert "the journal had evicted the first 1 requests" in whole
    assert not (tmp_path / "003-default").exists()


def test_a_sandbox_is_judged_and_written_beside_the_event_loop(tmp_path: Path) -> None:
    flags = Reports(None, None, "text")
    begin_folder(tmp_path)
    with running({"expect": EXPECT}) as client:
        judge = Judge(flags, tmp_path)
        judge.follow(BoundServer(SimpleNamespace(url="http://127.0.0.1:1"), client.app), "mine.yaml")  # type: ignore[arg-type]
        may_go_on = threading.Event()

        def takes_long() -> None:
            assert may_go_on.wait(60)

        judge._waiting.append(judge._worker.submit(takes_long))
        client.sandbox({"expect": EXPECT}, "other")
        assert client.sim("DELETE", "/sandboxes/other").status == 204
        assert client.sim("POST", "/sandboxes/default/reset").status == 200
        client.pay("a")
        assert not (tmp_path / "001-other").exists()
        may_go_on.set()
        assert judge.exit_code(0) == 1
    payments = {path.name: json.loads((path / "payments.json").read_text()) for path in tmp_path.glob("0*")}
    assert {name: len(found) for name, found in payments.items()} == {
        "001-other": 0,
        "002-default": 0,
        "003-default": 1,
    }


def test_only_files_of_an_earlier_report_are_removed(tmp_path: Path) -> None:
    with running() as client:
        written(client, tmp_path, 6)
        for number, name in ((2, "mine.txt"), (3, "payments.json/mine")):
            place = tmp_path / f"00{number}-default" / name
            if number == 3:
                place.parent.unlink()
            place.parent.mkdir(exist_ok=True)
            place.write_text("mine")
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "004-default").rename(tmp_path / "elsewhere" / "004-default")
        (tmp_path / "004-default").symlink_to(tmp_path / "elsewhere" / "004-default")
        (tmp_path / "005-default").rename(tmp_path / "5-default")
        written(client, tmp_path, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "001-default", "002-default", "003-default", "004-default", "5-default", "elsewhere", "index.html",
    ]  # fmt: skip
    assert (tmp_path / "002-default" / "mine.txt").read_text() == "mine"
    assert (tmp_path / "003-default" / "payments.json" / "mine").read_text() == "mine"
    assert all(len(list((tmp_path / name).iterdir())) == 6 for name in ("004-default", "5-default"))


def test_folders_beside_a_foreign_page_stay(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>mine</title>")
    (tmp_path / "001-mine").mkdir()
    (tmp_path / "001-mine" / "payments.json").write_text("mine")
    begin_folder(tmp_path)
    assert (tmp_path / "001-mine" / "payments.json").read_text() == "mine"


def test_a_file_that_cannot_be_written_is_reported_at_the_end(tmp_path: Path) -> None:
    with running() as client:
        (tmp_path / "001-default").write_text("in the way")
        report = written(client, tmp_path)
    assert "cannot be written" in report.error
