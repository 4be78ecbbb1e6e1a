"""`explore` as a real process: its exit codes, its files, and resuming after a stop."""

import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import indent
from xml.etree import ElementTree

import pytest

from simulator.explore.run_verdicts import FILE
from tests.support.processes import DEADLINE_S, PROGRAM, environment, free_port, run

pytestmark = pytest.mark.slow

# It fails by every missing answer, and waits for an answer without a limit.
ASKS = """
import os, urllib.error, urllib.request
try:
    urllib.request.urlopen(os.environ["RESELLER_BASE_URL"] + "/v2/balance", timeout=60).read()
except urllib.error.HTTPError as refused:
    if refused.code != 401 or b"}" not in refused.read():
        raise SystemExit(f"answered {refused.code}")
"""
HANGS = f"try:\n{indent(ASKS, ' ')}\nexcept BaseException:\n import time; time.sleep(600)"


def explore(out: Path, program: str, *flags: str) -> tuple[int, str, str]:
    given = ("--clock", "x100", "--minutes", "0", "--workers", "2", "--out", str(out), *flags)
    done = run("explore", *given, "--", sys.executable, "-c", program)
    return done.status, done.out, done.err


def test_every_fault_is_tried_and_each_that_hurts_is_a_file_and_a_case(tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    status, out, _ = explore(tmp_path / "out", ASKS, "--junit", str(junit))
    assert status == 1
    [(survived, tried)] = re.findall(r"^single faults: (\d+) of (\d+) survived$", out, re.MULTILINE)
    assert (int(survived), int(tried)) == (1, 7)  # a late answer is one
    written = {one.name for one in (tmp_path / "out").glob("*")}
    scenarios = {one for one in written if one.endswith(".yaml")}
    assert len(scenarios) == 6
    assert written == {FILE} | scenarios | {f"{one}.tape" for one in scenarios}
    for each in scenarios:
        assert run("replay", str(tmp_path / "out" / f"{each}.tape")).status == 0
    root = ElementTree.parse(junit).getroot()  # noqa: S314 - ours
    assert (root.get("tests"), root.get("failures")) == ("7", "6")
    times = [float(one.get("time", "0")) for one in root.iter("testcase")]
    assert all(times)
    assert float(root.get("time", "0")) == pytest.approx(sum(times), abs=0.01)


def test_the_command_finds_reseller_sim_when_the_path_lacks_it(tmp_path: Path) -> None:
    given = ("--clock", "x100", "--minutes", "0", "--workers", "1", "--first", "--out", str(tmp_path / "out"))
    done = run("explore", *given, "--", "reseller-sim", "call", "GET", "/v2/balance", PATH="/usr/bin:/bin")
    assert done.status == 1, "it sends a request without faults, and fails under faults"
    assert "not found" not in done.out + done.err


def test_it_resumes_after_a_stop(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = explore(out, ASKS, "--first", "--resume")
    assert first[0] == 1
    assert first[2].startswith(f"reseller-sim explore: {out} has no runs to resume, so all are run\n")
    before = (out / FILE).read_text().count('"key"')
    status, printed, _ = explore(out, ASKS, "--resume")
    assert status == 1
    assert "of 7 survived" in printed
    lines = [line for line in (out / FILE).read_text().splitlines() if '"key"' in line]
    keys = [line.partition('"key": ')[2][:70] for line in lines]
    assert len(set(keys)) == len(keys) > before  # nothing was run twice
    again = explore(out, ASKS, "--resume")
    assert sorted(again[1].splitlines()[1:]) == sorted(printed.splitlines()[1:])
    assert (out / FILE).read_text().count('"key"') == len(keys)
    other = explore(out, ASKS + "\n", "--resume")
    assert other[0] == 3
    assert "has the runs of another command, scenario or version" in other[2]
    patient = explore(out, ASKS, "--resume", "--timeout", "1h")
    assert patient[0] == 3
    assert "or of other flags; leave --resume out" in patient[2]


def test_a_command_that_fails_without_faults_is_not_explored(tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    status, out, err = explore(tmp_path / "out", "print('no database'); raise SystemExit(4)", "--junit", str(junit))
    assert (status, out) == (3, "")
    assert "COMMAND fails without any fault: it exited with 4" in err
    assert "no database" in err
    assert "fails without any fault" in junit.read_text()


def test_findings_of_an_earlier_exploration_stay_until_the_baseline_has_passed(tmp_path: Path) -> None:
    status, _, _ = explore(tmp_path, ASKS, "--first")
    assert status == 1
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before) == 3
    for program in ("raise SystemExit(4)", "pass"):
        assert explore(tmp_path, program)[0] == 3
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "program", ["pass", ASKS.replace("/v2/balance", "/v2/nothing").replace("refused.code != 401", "False")]
)
def test_a_command_that_sends_no_request_has_survived_nothing(program: str, tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    status, out, err = explore(tmp_path / "out", program, "--junit", str(junit))
    assert (status, out) == (3, "")
    assert "COMMAND sent no request to the service" in err
    assert "RESELLER_BASE_URL" in err
    assert err.count("\n") == 1
    assert "COMMAND sent no request to the service" in junit.read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"junit.xml"}, "no empty folder is left"


def test_an_expectation_that_the_baseline_does_not_meet_is_a_failure_of_it(tmp_path: Path) -> None:
    scenario = tmp_path / "mine.yaml"
    scenario.write_text("extends: default\nexpect: [{ name: one is sold, payments: {} }]\n")
    status, _, err = explore(tmp_path / "out", ASKS, str(scenario))
    assert status == 3
    assert "not as expected: one is sold" in err


def failing(folder: Path, *which: int) -> str:
    """A command that fails under faults, but of those times that it would, only in these."""
    counted = folder / "failures"
    program = f"import pathlib\nfailures = pathlib.Path({str(counted)!r})\ntry:\n{indent(ASKS, ' ')}\n"
    program += "except BaseException:\n with failures.open('a') as file: file.write('x')\n"
    return program + f" if len(failures.read_text()) in {which}: raise\n"


def test_an_intermittent_failure_is_reported_as_such_with_its_tape(tmp_path: Path) -> None:
    status, out, _ = explore(tmp_path / "out", failing(tmp_path, 1, 3), "--first", "--workers", "1")
    assert status == 1
    assert "FOUND answer to the first GET /v2/balance lost: exit 1 (fails 2 of 3)" in out, out
    [tape] = (tmp_path / "out").glob("*.yaml.tape")
    assert run("replay", str(tape)).status == 0


def test_a_failure_that_does_not_recur_is_no_finding_but_has_its_tape(tmp_path: Path) -> None:
    status, out, _ = explore(tmp_path / "out", failing(tmp_path, 1), "--workers", "1")
    assert status == 0
    assert "no finding: answer to the first GET /v2/balance lost: exit 1: failed once and not again" in out, out
    assert "single faults: 7 of 7 survived\n1 run failed once and not again, so it is not a finding" in out, out
    [tape] = (tmp_path / "out").glob("*.tape")
    assert f"reseller-sim replay {tape} --serve" in out
    assert run("replay", str(tape)).status == 0


def test_the_command_that_reproduces_a_finding_repeats_all_flags_of_the_run(tmp_path: Path) -> None:
    flags = ("--allow-host", "shop.test", "--sandbox-ttl", "90m", "--host", "localhost", "--callback", "inbox:paid")
    status, out, err = explore(tmp_path / "it's here", ASKS, "--first", "--workers", "1", *flags)
    assert status == 1, err
    [line] = re.findall(r"^      (reseller-sim exec .*)$", out, re.MULTILINE)
    assert "--host localhost" in line
    assert "--sandbox-ttl 5400" in line
    assert "--allow-host shop.test" in line
    [path] = (tmp_path / "it's here").glob("*.yaml")
    assert f"#   {line}" in path.read_text()
    shell = ["bash", "-c", line.replace("reseller-sim", shlex.join(PROGRAM), 1)]
    done = subprocess.run(shell, env=environment(), timeout=DEADLINE_S, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr


def test_a_finding_is_reported_and_written_at_once(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["--", sys.executable, "-c", ASKS]
    words = [*PROGRAM, "explore", "--clock", "x100", "--minutes", "600", "--workers", "2", "--out", str(out), *command]
    with subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        found = next(line for line in process.stdout if line.startswith(b"FOUND"))
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
    assert b"single faults:" not in rest
    assert found.endswith(b": exit 1\n")
    [first] = out.glob("01-*.yaml")
    assert first.with_suffix(".yaml.tape").exists()


def test_a_command_that_hangs_is_ended_and_is_a_finding(tmp_path: Path) -> None:
    status, out, _ = explore(tmp_path / "out", HANGS, "--first", "--timeout", "5s", "--workers", "1")
    assert status == 1
    assert re.search(r"FOUND answer to the first GET /v2/balance lost: hung", out), out
    [again] = re.findall(r"^ +reseller-sim (exec .+\.yaml) -- ", out, re.MULTILINE)
    assert run(*shlex.split(again), "--", sys.executable, "-c", HANGS).status == 124


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--minutes", "1"), 2, "reseller-sim explore -- npm test"),
        (("--minutes", "-1", "--", "true"), 2, "--minutes"),
        (
            ("--port", str(free_port()), "--workers", "2", "--", "true"),
            2,
            "several workers cannot listen on the same port",
        ),
        (("--restart", "sh 'x", "--", "true"), 2, "No closing quotation"),
        (("--prove", __file__, "--before", "true", "--after", 'sh "x'), 2, "No closing quotation"),
        (("--prove", __file__, "--before", " ", "--after", "true"), 2, "must not be empty"),
        (("--", "no-such-command"), 3, "'no-such-command' cannot be run"),
        (("no-such-scenario", "--", "true"), 3, "no-such-scenario"),
    ],
)
def test_wrong_usage_is_reported_on_one_line(
    arguments: tuple[str, ...], status: int, said: str, tmp_path: Path
) -> None:
    done = run("explore", "--out", str(tmp_path / "out"), *arguments)
    assert done.status == status
    assert said in done.only_error_line


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_with_all_that_it_has_started(number: signal.Signals, status: int, tmp_path: Path) -> None:
    out, mark = tmp_path / "out", tmp_path / "running"
    program = f"{ASKS}\nimport pathlib, time\nif pathlib.Path({str(mark)!r}).exists(): time.sleep(600)\n"
    program += f"pathlib.Path({str(mark)!r}).touch()"
    junit = tmp_path / "junit.xml"
    words = [
        *PROGRAM,
        "explore",
        "--minutes",
        "0",
        "--workers",
        "2",
        "--out",
        str(out),
        "--junit",
        str(junit),
        "--",
        sys.executable,
        "-c",
        program,
    ]
    process = subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert "baseline" in process.stdout.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=DEADLINE_S)  # ends only when no process has its stderr any more
    assert process.returncode == status, err
    said = "reseller-sim explore: stopped; the same command with --resume skips the finished runs"
    assert err.splitlines() == [said]
    assert not list(out.glob("running-*"))
    assert re.search("stopped by a signal(: 0 of [0-9]+ single faults| before a single fault)", junit.read_text())


SURVIVES = f"try:\n{indent(ASKS, ' ')}\nexcept OSError:\n pass"
FINDING = """# To see it again:
#   reseller-sim exec finding.yaml -- sh shop.sh
scenario: answer to the first GET /v2/balance lost
extends: default
faults: [{ name: lost, when: { method: GET, path: /v2/balance }, then: { disconnect: true } }]
"""


def test_a_proof_is_red_before_the_change_and_green_after_it_and_says_which_one_is_not(tmp_path: Path) -> None:
    finding = tmp_path / "finding.yaml"
    finding.write_text(FINDING)
    python = shlex.quote(sys.executable)
    before = f"{python} -c {shlex.quote(ASKS)}"
    careful = f"{python} -c {shlex.quote(SURVIVES)}"
    other = f"{python} -c {shlex.quote(ASKS.replace('/v2/balance', '/v2/options'))}"
    prove = ("explore", "--prove", str(finding), "--before")
    done = run(*prove, before, "--after", careful)
    assert (done.status, done.err) == (0, ""), done
    done = run(*prove, careful, "--after", careful)
    assert done.status == 1
    assert done.err == "reseller-sim explore: the command of --before must be red, and is: green\n"
    done = run(*prove, before, "--after", other)
    assert done.status == 3
    assert "after    met nothing  0 of 3 failed, 3 met no fault of the finding" in done.out
    assert done.err == "reseller-sim explore: the command of --after must be green, and is: met nothing\n"
    done = run(*prove, before, "--after", "true")
    assert done.status == 3
    assert "met nothing: the command of --after sent no request to the service" in done.err
    done = run(*prove, before, "--after", "false")
    assert done.status == 3
    assert "the command of --after fails without any fault: it exited with 1" in done.err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--", "true"), 3, "reseller-sim prove: met nothing: COMMAND sent no request to the service"),
        (("--", "no-such-command"), 3, "reseller-sim prove: 'no-such-command' cannot be run: check its name and PATH"),
        (("--restart", "sh 'x", "--", "true"), 2, "No closing quotation"),
    ],
)
def test_a_proof_that_is_not_possible_is_refused_in_a_line(
    words: tuple[str, ...], status: int, said: str, tmp_path: Path
) -> None:
    finding = tmp_path / "finding.yaml"
    finding.write_text(FINDING)
    done = run("prove", str(finding), *words)
    assert (done.status, done.out) == (status, "")
    assert said in done.only_error_line
