"""`exec` as a real process: the command's environment, its status, signals, and that nothing is left behind."""

import json
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from tests.support.processes import (
    PROGRAM,
    ask,
    run,
    serving,
)

pytestmark = pytest.mark.slow

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


def test_the_command_finds_a_token_when_there_is_one_and_no_credentials_of_another_service(tmp_path: Path) -> None:
    scenario = tmp_path / "empty.yaml"
    scenario.write_text("clock: manual\n")
    done = run(
        *("exec", str(scenario), "--control-token", "t", "--", sys.executable, "-c", SHOW),
        RESELLER_API_KEY="a real one",
        RESELLER_API_SECRET="a real one",
    )
    found = json.loads(done.out)
    assert found["RESELLER_SIM_CONTROL_TOKEN"] == "t"
    assert "RESELLER_API_KEY" not in found
    assert "RESELLER_API_SECRET" not in found


def test_a_call_inside_needs_no_flags_and_leaves_a_trace_in_the_journal() -> None:
    script = (
        "import os, subprocess, sys, urllib.request\n"
        "status = subprocess.call([sys.executable, '-m', 'simulator', 'call', 'GET', '/v2/balance'])\n"
        "journal = os.environ['RESELLER_SIM_URL'] + '/sandboxes/default/requests'\n"
        "print()\n"
        "print(urllib.request.urlopen(journal).read().decode())\n"
        "sys.exit(status)\n"
    )
    done = run("exec", "--clock", "manual", "--", sys.executable, "-c", script)
    balance, journal = done.out.splitlines()
    assert done.status == 0
    assert json.loads(balance)["data"]["currency"] == "MYR"
    assert json.loads(journal)["requests"][0]["path"] == "/v2/balance"


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


def test_the_port_is_free_again_and_two_run_side_by_side() -> None:
    script = "echo $RESELLER_BASE_URL; read -r line"
    with (
        serving("--", "sh", "-c", script, verb="exec") as one,
        serving("--", "sh", "-c", script, verb="exec") as two,
    ):
        assert one.first_line != two.first_line


@pytest.mark.parametrize("kind", ["unknown", "not executable", "no program"])
def test_a_command_that_cannot_be_run_is_reported_in_one_line(kind: str, tmp_path: Path) -> None:
    command = tmp_path / "command"
    if kind != "unknown":
        command.write_bytes(b"\0\0\0\0")
    if kind == "no program":
        os.chmod(command, 0o755)  # noqa: S103  # to be run is the point
    done = run("exec", "--", str(command))
    assert done.status == 3
    assert str(command) in done.only_error_line


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


@pytest.mark.parametrize("code", [0, 9])
def test_a_report_that_nobody_can_read_leaves_the_exit_code_of_the_command(code: int) -> None:
    reporting = shlex.join([*PROGRAM, "exec", "--coverage", "--", "sh", "-c", f"exit {code}"])
    done = run("exec", "--", "sh", "-c", f"{reporting} 2>/dev/full")
    assert done.status == code


def test_an_error_that_nobody_can_read_keeps_its_exit_code() -> None:
    wrong = shlex.join([*PROGRAM, "serve", "--no-such-flag"])
    assert run("exec", "--", "sh", "-c", f"{wrong} 2>/dev/full").status == 2


BALANCE = f"{sys.executable} -m simulator call GET /v2/balance >/dev/null 2>&1"


@pytest.mark.parametrize(
    ("script", "status", "unmet"),
    [
        (BALANCE, 0, []),
        ("exit 0", 1, ["looked: expected 1, got 0"]),
        ("exit 7", 7, ["looked: expected 1, got 0"]),
        (f"{BALANCE}; {BALANCE}", 1, ["looked: expected 1, got 2"]),
    ],
)
def test_a_run_fails_when_an_expectation_of_the_scenario_is_not_met(
    script: str, status: int, unmet: list[str], tmp_path: Path
) -> None:
    scenario = tmp_path / "mine.yaml"
    scenario.write_text(
        "extends: default\n"
        "expect:\n"
        "  - { name: looked, calls: { path: /v2/balance, status: 200 }, count: 1 }\n"
        "  - { payments: {}, count: 0 }\n"
    )
    done = run("exec", str(scenario), "--", "sh", "-c", script)
    assert done.status == status
    assert done.err.splitlines() == [f"reseller-sim exec: not as expected: {message}" for message in unmet]


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
    assert "not as expected: (not shown): expected 1, got 0" in done.err
    assert "never payments: (not shown)" in done.err
    assert secret not in done.err


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
