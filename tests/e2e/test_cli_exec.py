"""`exec` as a real process: the command's environment, its status, signals, and the cleanup."""

import json
import os
import re
import shlex
import signal
import sys
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from simulator import __version__
from simulator.scenario.library import load_scenario
from tests.support.certificates import pair
from tests.support.processes import (
    PROGRAM,
    ask,
    run,
    serving,
)

SHOW = "import json, os; print(json.dumps({n: v for n, v in os.environ.items() if n.startswith('RESELLER_')}))"


def test_the_command_finds_the_simulator_in_its_environment() -> None:
    found = json.loads(run("exec", "--", sys.executable, "-c", SHOW).out)
    url = found["RESELLER_BASE_URL"]
    assert set(found) == {
        "RESELLER_BASE_URL",
        "RESELLER_API_KEY",
        "RESELLER_API_SECRET",
        "RESELLER_USERNAME",
        "RESELLER_PASSWORD",
        "RESELLER_SANDBOX",
        "RESELLER_SIM_URL",
        "RESELLER_SIM_KEY",
        "RESELLER_SIM_SECRET",
    }
    assert url.startswith("http://127.0.0.1:")
    assert found["RESELLER_SIM_URL"] == f"{url}/_sim"
    assert found["RESELLER_SANDBOX"] == "default"


@pytest.mark.slow
def test_the_command_finds_a_token_when_there_is_one_and_no_credentials_of_another_service(tmp_path: Path) -> None:
    scenario = tmp_path / "empty.yaml"
    scenario.write_text("clock: manual\n")
    done = run(
        *("exec", str(scenario), "--control-token", "t", "--", sys.executable, "-c", SHOW),
        RESELLER_API_KEY="a real one",
        RESELLER_API_SECRET="a real one",
        RESELLER_SIM_TOKEN="of another server",
    )
    found = json.loads(done.out)
    assert found["RESELLER_SIM_TOKEN"] == found["RESELLER_SIM_CONTROL_TOKEN"] == "t"
    assert "RESELLER_API_KEY" not in found
    assert "RESELLER_API_SECRET" not in found


def test_a_call_inside_needs_no_flags_and_leaves_a_trace_in_the_journal() -> None:
    script = (
        "import os, subprocess, sys, urllib.request\n"
        "status = subprocess.call([sys.executable, '-m', 'simulator', 'call', 'GET', '/v2/balance'])\n"
        "journal = os.environ['RESELLER_SIM_URL'] + '/sandboxes/default/requests'\n"
        "print(urllib.request.urlopen(journal).read().decode())\n"
        "sys.exit(status)\n"
    )
    done = run("exec", "--clock", "manual", "--", sys.executable, "-c", script)
    balance, journal = done.out.splitlines()
    assert done.status == 0
    assert json.loads(balance)["data"]["currency"] == "MYR"
    assert json.loads(journal)["requests"][0]["path"] == "/v2/balance"


BARE = "/usr/bin:/bin"
"""A PATH without the command."""


@pytest.mark.slow
@pytest.mark.parametrize("command", [["sh", "-c", "reseller-sim call GET /v2/balance"], ["reseller-sim", "--version"]])
def test_the_command_finds_reseller_sim_when_the_path_lacks_it(command: list[str]) -> None:
    """As when it is called out of a virtual environment that is not active, by `pipx run`, or as one file."""
    done = run("exec", "--", *command, PATH=BARE)
    assert done.status == 0, done.err
    assert ("balance" in done.out, "reseller-sim 0." in done.out).count(True) == 1


@pytest.mark.slow
def test_the_added_folder_of_the_path_has_nothing_else_and_is_removed_at_the_end(tmp_path: Path) -> None:
    script = 'echo "$PATH"; ls "${PATH##*:}"'
    path, *names = run("exec", "--", "sh", "-c", script, PATH=BARE, TMPDIR=str(tmp_path)).out.splitlines()
    assert path.startswith(f"{BARE}:{tmp_path}/reseller-sim-")
    assert names == ["reseller-sim"]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_reseller_sim_on_the_path_takes_precedence(tmp_path: Path) -> None:
    (tmp_path / "reseller-sim").write_text("#!/bin/sh\necho the project has its own\n")
    (tmp_path / "reseller-sim").chmod(0o755)
    path = f"{tmp_path}:{BARE}"
    done = run("exec", "--", "sh", "-c", 'reseller-sim; echo "$PATH"', PATH=path)
    assert done.out.splitlines() == ["the project has its own", path]


@pytest.mark.parametrize(("script", "status"), [("exit 7", 7), ("kill -KILL $$", 137)])
def test_it_ends_with_the_status_of_the_command(script: str, status: int) -> None:
    done = run("exec", "--", "sh", "-c", script)
    assert (done.status, done.out, done.err) == (status, "", "")


def test_stdin_stdout_and_stderr_are_the_command_s_own() -> None:
    done = run("exec", "--", "sh", "-c", "cat; echo problem >&2", body=b"hello\n")
    assert (done.out, done.err) == ("hello\n", "problem\n")


def test_arguments_after_the_first_dashes_are_passed_unchanged_to_the_command() -> None:
    shown = run("exec", "--", sys.executable, "-c", "import sys; print(sys.argv[1:])", "--port", "x", "--", "--help")
    assert shown.out == "['--port', 'x', '--', '--help']\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_goes_to_the_command_and_everything_ends_with_it(number: int) -> None:
    script = (
        "import os, signal, sys\n"
        f"signal.pthread_sigmask(signal.SIG_BLOCK, [{int(number)}])\n"  # so that it is not lost before the wait
        "print(os.environ['RESELLER_SIM_URL'], flush=True)\n"
        f"signal.sigwait([{int(number)}])\n"
        "sys.exit(9)\n"
    )
    with serving("--", sys.executable, "-c", script, verb="exec") as running:
        control = running.first_line.strip()
        assert ask(f"{control}/health").status == 200
        assert running.stop(number) == (9, "", "")
    with pytest.raises(ConnectionRefusedError):
        ask(f"{control}/health")


@pytest.mark.slow
@pytest.mark.parametrize("obeys", [True, False])
def test_a_command_that_takes_too_long_is_ended_with_what_it_has_started(obeys: bool, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    script = "exec sleep 600" if obeys else "trap '' TERM; sleep 600 & wait; wait"
    flags = ("--timeout", "1s", "--json-report", str(result), "--tape", str(tmp_path / "run.tape"))
    done = run("exec", *flags, "--", "sh", "-c", script)  # ends only when no process has its stdout any more
    assert (done.status, done.out) == (124, "")
    assert done.err == "reseller-sim exec: the command took longer than 1 s (--timeout) and was stopped\n"
    assert json.loads(result.read_text())["command_exit"] == 124
    assert run("replay", str(tmp_path / "run.tape")).status == 0


@pytest.mark.slow
def test_a_command_that_ends_in_time_has_its_own_status() -> None:
    assert run("exec", "--timeout", "10m", "--", "sh", "-c", "exit 7").status == 7
    assert run("exec", "--timeout", "0", "--", "true").status == 2


def test_the_port_is_free_again_and_two_run_side_by_side() -> None:
    script = "echo $RESELLER_BASE_URL; read -r line"
    with (
        serving("--", "sh", "-c", script, verb="exec") as one,
        serving("--", "sh", "-c", script, verb="exec") as two,
    ):
        assert one.first_line != two.first_line


@pytest.mark.parametrize("kind", ["unknown", "not executable", "no program"])
def test_a_command_that_cannot_be_run_is_reported_on_one_line(kind: str, tmp_path: Path) -> None:
    command = tmp_path / "command"
    if kind != "unknown":
        command.write_bytes(b"\0\0\0\0")
    if kind == "no program":
        os.chmod(command, 0o755)  # noqa: S103  # to be run is the point
    done = run("exec", "--", str(command))
    assert done.status == 3
    assert str(command) in done.only_error_line


@pytest.mark.slow
def test_a_program_inside_may_start_a_server_of_its_own() -> None:
    done = run("exec", "--port", "0", "--", *PROGRAM, "exec", "--", "sh", "-c", "echo $RESELLER_BASE_URL; exit 5")
    assert done.status == 5
    assert done.out.startswith("http://127.0.0.1:")


def test_coverage_lists_at_the_end_met_and_unmet_outcomes() -> None:
    script = (
        "import json, os, urllib.request\n"
        "sim = os.environ['RESELLER_SIM_URL'] + '/sandboxes'\n"
        "made = urllib.request.urlopen(urllib.request.Request(sim, b'{\"id\": \"mine\"}', method='POST'))\n"
        "try:\n"
        "    urllib.request.urlopen(json.load(made)['url'] + '/v2/balance')\n"
        "except urllib.error.HTTPError as error:\n"
        "    print(error.status)\n"
        "urllib.request.urlopen(urllib.request.Request(sim + '/mine', method='DELETE'))\n"
        "raise SystemExit(4)\n"
    )
    done = run("exec", "--coverage", "--", sys.executable, "-c", script)
    assert (done.status, done.out) == (4, "401\n")
    lines = done.err.splitlines()
    assert lines[0] == "coverage of 2 sandboxes"
    assert "  endpoints: 1 of 27 called" in lines
    assert "    never POST /v2/topup" in lines
    assert any("Failed after Processing" in line and "Refund" in line for line in lines)
    assert any(line.startswith("    GET /v2/balance: 401 missing_api_key x1; never 200") for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("code", [0, 9])
def test_an_unreadable_report_leaves_the_exit_code_of_the_command(code: int) -> None:
    reporting = shlex.join([*PROGRAM, "exec", "--coverage", "--", "sh", "-c", f"exit {code}"])
    done = run("exec", "--", "sh", "-c", f"{reporting} 2>/dev/full")
    assert done.status == code


@pytest.mark.slow
def test_an_error_with_a_closed_stderr_keeps_its_exit_code() -> None:
    wrong = shlex.join([*PROGRAM, "serve", "--no-such-flag"])
    assert run("exec", "--", "sh", "-c", f"{wrong} 2>/dev/full").status == 2


BALANCE = f"{sys.executable} -m simulator call GET /v2/balance >/dev/null 2>&1"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "status", "unmet"),
    [
        (BALANCE, 0, []),
        ("exit 0", 1, ["looked: expected 1, got 0"]),
        ("exit 7", 7, ["looked: expected 1, got 0"]),
        (f"{BALANCE}; {BALANCE}", 1, ["looked: expected 1, got 2 in requests 1, 2"]),
    ],
)
def test_a_run_fails_when_an_expectation_of_the_scenario_is_not_met(
    script: str, status: int, unmet: list[str], tmp_path: Path
) -> None:
    scenario = expecting(tmp_path)
    done = run("exec", str(scenario), "--", "sh", "-c", script)
    assert done.status == status
    failed = [line for line in done.err.splitlines() if "not as expected" in line]
    place = f"sandbox default: {scenario}:3: "
    assert failed == [f"reseller-sim exec: not as expected: {place}{message}" for message in unmet]
    assert all("nearest: call with request" in line for line in done.err.splitlines() if line not in failed)


def expecting(folder: Path) -> Path:
    scenario = folder / "mine.yaml"
    scenario.write_text(
        "extends: default\n"
        "expect:\n"
        "  - { name: looked, calls: { path: /v2/balance, status: 200 }, count: 1 }\n"
        "  - { payments: {}, count: 0 }\n"
    )
    return scenario


CLIENT = """
import os, urllib.error, urllib.request
from simulator.staging.signed_requests import Credentials, sign
sim = os.environ["RESELLER_SIM_URL"] + "/sandboxes"
credentials = Credentials(os.environ["RESELLER_API_KEY"], os.environ["RESELLER_API_SECRET"])
def ask(method, path="", body=b""):
    urllib.request.urlopen(urllib.request.Request(sim + path, body, method=method))
def call(sandbox, method, path, body=b""):
    made = sign(method, os.environ["RESELLER_BASE_URL"] + "/s/" + sandbox, path, body, credentials)
    try:
        urllib.request.urlopen(urllib.request.Request(made.url, body or None, made.headers, method=method))
    except urllib.error.HTTPError:
        pass
def pay(sandbox):
    call(sandbox, "POST", "/v2/topup", b'{"refid":"order-1","product":"RELOAD","account":"0123456789","amount":"10"}')
"""
SEVERAL = (
    CLIENT
    + """
call("default", "GET", "/v2/balance")
ask("POST", "", b'{"id": "kept"}')
ask("POST", "", b'{"id": "gone"}')
ask("POST", "", b'{"id": "free", "scenario": "default"}')
ask("DELETE", "/gone")
pay("kept")
ask("POST", "/kept/reset")
"""
)
TWICE = (
    CLIENT
    + """
pay("default")
pay("default")
"""
)


@pytest.mark.slow
def test_every_sandbox_of_the_run_is_judged_also_when_it_was_deleted_or_reset(tmp_path: Path) -> None:
    scenario = expecting(tmp_path)
    junit, as_json, folder = tmp_path / "result.xml", tmp_path / "result.json", tmp_path / "report"
    flags = ("--junit", str(junit), "--json-report", str(as_json), "--report", str(folder))
    done = run("exec", str(scenario), *flags, "--", sys.executable, "-c", SEVERAL)
    assert done.status == 1, done.err
    result = json.loads(as_json.read_text())
    assert (result["command_exit"], result["scenario"]) == (0, str(scenario))
    assert datetime.fromisoformat(result["began"]).tzinfo is not None
    assert {suite["name"]: [case["ok"] for case in suite["cases"]] for suite in result["suites"]} == {
        "sandbox gone, deleted": [False, True],
        "sandbox kept, before reset 1": [False, False],
        "sandbox default": [True, True],
        "sandbox kept": [False, True],
    }
    root = ElementTree.parse(junit).getroot()  # noqa: S314  # written by us
    assert (root.get("tests"), root.get("failures")) == ("8", "4")
    for suite in root:
        properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
        assert properties == {
            name: str(result[name]) for name in ("command_exit", "scenario", "seed", "began", "version")
        }
    assert result["version"] == __version__
    page = (folder / "index.html").read_text()
    assert f"<p>reseller-sim {__version__}</p>" in page
    about = f"scenario {scenario}, seed {result['seed']}, {result['began']}"
    assert f"4 of 8 expectations not met; the command exited with 0; {about}" in page
    for link in re.findall(r'href="([^"]+)"', page):
        assert (folder / link).is_file()
    assert page.index("sandbox gone, deleted") < page.index("sandbox kept, before reset 1")
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["001-gone", "002-kept", "003-default", "004-free", "005-kept", "index.html"] or (
        names == ["001-gone", "002-kept", "003-default", "004-kept", "005-free", "index.html"]
    )
    [payment] = json.loads((folder / "002-kept" / "payments.json").read_text())
    assert payment["refid"] == "order-1"
    assert [one["path"] for one in payment["requests"]] == ["/v2/topup"]
    assert_har(json.loads((folder / "002-kept" / "journal.har").read_text()), ["/v2/topup"])
    assert_har(json.loads((folder / "003-default" / "journal.har").read_text()), ["/v2/balance"])
    assert json.loads((folder / "001-gone" / "expectations.json").read_text())["ok"] is False
    assert json.loads((folder / "002-kept" / "coverage.json").read_text())["summary"]["endpoints"]["met"] == 1
    everything = "".join(path.read_text() for path in folder.rglob("*.*") if path.is_file())
    assert SECRET not in everything


SECRET = load_scenario("default").resellers[0].keys[0].secret


def assert_har(document: Any, paths: list[str]) -> None:
    """Check the requirements of the published schema of HAR 1.2."""
    log = document["log"]
    assert log["version"] == "1.2"
    assert set(log["creator"]) == {"name", "version"}
    assert [urlsplit(one["request"]["url"]).path.removeprefix("/s/kept") for one in log["entries"]] == paths
    for entry in log["entries"]:
        assert datetime.fromisoformat(entry["startedDateTime"]).tzinfo is not None
        assert entry["time"] == sum(entry["timings"][name] for name in ("send", "wait", "receive")) >= 0
        assert entry["cache"] == {}
        sent, answered = entry["request"], entry["response"]
        assert {"method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"} <= set(
            sent
        )
        assert set(answered) == {
            "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
            "bodySize",
        }  # fmt: skip
        assert {"size", "mimeType"} <= set(answered["content"])
        for pairs in (sent["headers"], answered["headers"], sent["queryString"], sent["cookies"]):
            assert all(set(pair) == {"name", "value"} for pair in pairs)
        if sent["method"] == "POST":
            assert set(sent["postData"]) == {"mimeType", "params", "text"}


SAME = (
    CLIENT
    + """
for _ in range(2):
    urllib.request.urlopen(urllib.request.Request(sim + "?id=same", YAML, {"Content-Type": "application/yaml"}))
    call("same", "GET", "/v2/balance")
    ask("DELETE", "/same")
"""
)


@pytest.mark.slow
def test_sandboxes_with_the_same_id_are_distinguished_and_sandboxes_without_a_file_list_none(tmp_path: Path) -> None:
    text = "extends: default\nexpect: [{ name: looked, calls: { path: /v2/balance, status: 401 }, count: 2 }]\n"
    as_json = tmp_path / "r.json"
    script = f"YAML = {text.encode()!r}\n{SAME}"
    done = run("exec", "--format", "github", "--json-report", str(as_json), "--", sys.executable, "-c", script)
    assert done.status == 1, done.err
    assert "file=" not in done.out
    suites = json.loads(as_json.read_text())["suites"]
    assert [one["name"] for one in suites] == ["sandbox same, deleted", "sandbox same (2), deleted"]
    [case] = suites[0]["cases"]
    assert (case["file"], case["line"]) == ("", 0)
    assert case["details"] == ["nearest: 1 call with status 200"]


@pytest.mark.slow
def test_a_refid_counts_also_in_a_request_that_a_fault_answered_unread(tmp_path: Path) -> None:
    scenario = tmp_path / "mine.yaml"
    scenario.write_text(
        "extends: default\n"
        "faults: [{ when: { path: /v2/topup }, then: { status: 500 } }]\n"
        "expect: [{ name: once, calls: { path: /v2/topup }, per: refid, count: 1 }]\n"
    )
    done = run("exec", str(scenario), "--", sys.executable, "-c", TWICE)
    assert done.status == 1
    assert "once: expected 1 for each refid, got 2 for order-1 in requests 1, 2" in done.err


def test_annotations_of_unmet_expectations_have_file_and_line(tmp_path: Path) -> None:
    scenario = expecting(tmp_path)
    done = run("exec", str(scenario), "--format", "github", "--", "true")
    assert (done.status, done.err) == (1, "")
    assert done.out == f"\n::error file={scenario},line=3,title=expectation::looked: expected 1, got 0\n"


@pytest.mark.slow
def test_a_result_on_stdout_begins_a_line_after_any_output_of_the_command(tmp_path: Path) -> None:
    done = run("exec", str(expecting(tmp_path)), "--format", "github", "--", "printf", "no line end")
    first, second = done.out.splitlines()[:2]
    assert first == "no line end"
    assert second.startswith("::error file=")


@pytest.mark.slow
@pytest.mark.parametrize("flag", ["--junit", "--json-report", "--report"])
def test_a_report_that_cannot_be_written_is_refused_before_the_command_runs(flag: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("exec", flag, str(tmp_path / "file" / "below"), "--", "sh", "-c", "echo ran")
    assert done.status == 3
    assert "cannot be written" in done.only_error_line


@pytest.mark.slow
@pytest.mark.parametrize(("script", "status"), [("", 3), ("exit 7", 7)])
def test_a_report_that_can_no_longer_be_written_changes_the_exit_code(script: str, status: int, tmp_path: Path) -> None:
    junit = tmp_path / "result.xml"
    done = run("exec", "--junit", str(junit), "--", "sh", "-c", f"rm {junit}; mkdir {junit}; {script}")
    assert done.status == status
    assert "cannot be written" in done.only_error_line


@pytest.mark.slow
def test_the_former_content_of_a_report_folder_stays_but_for_files_of_the_same_names(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "index.html").write_text("old")
    assert run("exec", "--report", str(tmp_path), "--", "true").status == 0
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert (tmp_path / "index.html").read_text().startswith("<!doctype html>")


@pytest.mark.slow
def test_an_expectation_and_a_rule_that_are_called_like_a_secret_are_not_shown(tmp_path: Path) -> None:
    scenario = tmp_path / "mine.yaml"
    secret = "bm90LWEtc2VjcmV0LWF0LWFsbA=="
    scenario.write_text(
        f"resellers: [{{ code: RS001, balance: 1, api_keys: [{{ key: a-key, secret: {secret} }}] }}]\n"
        f"payments: [{{ name: {secret}, then: [{{ status: Failed }}] }}]\n"
        f"expect: [{{ name: {secret}, payments: {{}}, count: 1 }}]\n"
    )
    done = run("exec", str(scenario), "--coverage", "--", "sh", "-c", "exit 0")
    assert done.status == 1
    assert "mine.yaml:3: (not shown): expected 1, got 0" in done.err
    assert "never payments: (not shown)" in done.err
    assert secret not in done.err


@pytest.mark.slow
@pytest.mark.parametrize("is_variable", [False, True])
def test_the_command_starts_sandboxes_from_a_folder_of_scenarios(tmp_path: Path, is_variable: bool) -> None:
    (tmp_path / "mine.yaml").write_text("extends: default\nscenario: mine\n")
    script = (
        "import os, urllib.request\n"
        'body = b\'{"scenario": {"file": "mine.yaml"}}\'\n'
        "url = os.environ['RESELLER_SIM_URL'] + '/sandboxes'\n"
        "print(urllib.request.urlopen(urllib.request.Request(url, body)).read().decode())\n"
    )
    flags = () if is_variable else ("--scenarios", str(tmp_path))
    variable = str(tmp_path) if is_variable else ""
    done = run("exec", *flags, "--", sys.executable, "-c", script, RESELLER_SIM_SCENARIOS=variable)
    assert (done.status, json.loads(done.out)["scenario"]) == (0, "mine")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["scenario", "command", "port"])
def test_a_run_that_cannot_start_leaves_no_result_of_an_earlier_one(kind: str, tmp_path: Path) -> None:
    junit, as_json, folder = tmp_path / "result.xml", tmp_path / "result.json", tmp_path / "report"
    tape = tmp_path / "run.tape"
    (tmp_path / "bad.yaml").write_text("sed: 1\nclok: manual\n")
    flags = ("--junit", str(junit), "--json-report", str(as_json), "--report", str(folder), "--tape", str(tape))
    assert run("exec", *flags, "--", "true").status == 0
    assert tape.stat().st_size
    arguments = {
        "scenario": (str(tmp_path / "bad.yaml"), *flags, "--", "true"),
        "command": (*flags, "--", "no-such-command"),
        "port": ("--host", "192.0.2.1", *flags, "--", "true"),
    }[kind]
    done = run("exec", *arguments)
    assert done.status == 3
    [suite] = json.loads(as_json.read_text())["suites"]
    [case] = suite["cases"]
    assert (suite["ok"], case["ok"], case["code"]) == (False, False, "not_run")
    assert "\n".join((case["message"], *case["details"])) == done.err.strip()
    root = ElementTree.parse(junit).getroot()  # noqa: S314  # written by us
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("1", "0", "1")
    assert [one.get("message") for one in root.iter("error")] == [case["message"]]
    assert [path.name for path in folder.iterdir()] == ["index.html"]
    assert tape.read_bytes() == b""
    assert all(escape(line) in (folder / "index.html").read_text() for line in done.err.splitlines())


@pytest.mark.slow
def test_a_result_says_that_the_run_has_not_ended_until_it_has(tmp_path: Path) -> None:
    as_json = tmp_path / "result.json"
    done = run("exec", "--json-report", str(as_json), "--", "cat", str(as_json))
    assert done.status == 0
    assert json.loads(done.out)["suites"][0]["cases"][0]["message"] == "the run has not ended"
    assert json.loads(as_json.read_text())["ok"] is True


PAY = """reseller-sim call POST /v2/topup -d '{"refid":"%s","product":"RELOAD","account":"0123456789","amount":10}'"""


@pytest.mark.slow
def test_a_run_with_a_data_folder_continues_where_the_last_one_ended(tmp_path: Path) -> None:
    begin = ("exec", "--clock", "manual", "--data-dir", str(tmp_path / "data"))
    assert run(*begin, "--", "sh", "-c", PAY % "order-1", PATH=BARE).status == 0
    tape = tmp_path / "second.tape"
    shown = run(*begin, "--tape", str(tape), "--", "reseller-sim", "story", "order-1", PATH=BARE)
    assert shown.out.startswith("order-1: RELOAD 10.00 MYR to 0123456789, Accepted (1)\n"), shown.err
    replayed = run("replay", str(tape))
    assert (replayed.status, replayed.out.split(":")[0]) == (0, "default"), replayed.out


@pytest.mark.slow
def test_the_command_trusts_the_certificate_of_its_server_and_has_a_token_beside_a_list(tmp_path: Path) -> None:
    certificate = pair("shared")
    tokens = tmp_path / "tokens"
    tokens.write_text("watcher read a-token-of-the-list\n")
    tokens.chmod(0o600)
    script = (
        "reseller-sim call GET /v2/balance && reseller-sim deposit 10"
        " && RESELLER_SIM_TOKEN=a-token-of-the-list reseller-sim requests"
    )
    tls = ("--tls-cert", str(certificate.certificate), "--tls-key", str(certificate.key))
    done = run("exec", *tls, "--control-tokens", str(tokens), "--", "sh", "-c", script, PATH=BARE)
    assert done.status == 0, done.err
    assert "RS001: 10.00 MYR added, balance 5010.00 MYR" in done.out
    assert re.search(r"^1 .* GET +/v2/balance +200$", done.out, re.MULTILINE)


@pytest.mark.slow
def test_a_quota_of_the_flags_limits_the_command() -> None:
    script = f"{PAY % 'order-1'} && {PAY % 'order-2'}"
    done = run("exec", "--quota-transactions", "1", "--", "sh", "-c", script, PATH=BARE)
    assert done.status == 1
    assert "order-1" in done.out
    assert "quota" in done.out


MANY = """
import contextlib, os, resource, socket, urllib.request
soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
host, port = os.environ["RESELLER_BASE_URL"].removeprefix("http://").split(":")
with contextlib.ExitStack() as connections:
    for _ in range(200):
        connections.enter_context(socket.create_connection((host, int(port))))
    answer = urllib.request.urlopen(os.environ["RESELLER_SIM_URL"] + "/health", timeout=60)
    print(soft, answer.status)
"""


@pytest.mark.slow
def test_the_simulator_may_open_more_files_than_the_command_whose_limit_stays() -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))  # 128 connections
    try:
        done = run("exec", "--", sys.executable, "-c", MANY)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert (done.status, done.out) == (0, "256 200\n"), done.err
