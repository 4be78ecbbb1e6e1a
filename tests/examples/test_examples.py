"""The integrations of examples/, each as a user runs it: `exec --audit` with the scenario that lies beside them."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.processes import PROGRAM, ROOT, environment
from tests.support.tools import program

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples"
SCENARIO = EXAMPLES / "scenario.yaml"
LANGUAGES = ("python", "node")
DEADLINE_S = 120  # for a compiler on a busy machine

# What the README of each shows, and each prints alike.
PRINTED = """\
RELOAD 0123456789 10.00: Succesful, cost 9.75
ELECTRIC 210012345678 100.00: Succesful, cost 99.70
RELOAD 0198765432 20.00: Failed, HC
RELOAD 0111111111 5.00: Succesful, cost 4.88
RELOAD 0123456789 7.00: refused, Invalid_Denomination
DATA 0123456789 10.00: Succesful, cost 9.70
deposit of 250.00: its webhook is genuine
reconciled 5 payments and 7 entries: 0 differences
forged, stale and repeated messages: all answered rightly
"""

# A history that has lost what it had.
FORGETFUL = {
    "extends": "examples.yaml",
    "faults": [
        {
            "when": {"path": "/v2/transactions"},
            "then": {"status": 200, "body": {"data": [], "meta": {"transaction_count": "0"}}},
        }
    ],
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The commands of those that were built already; each is built once."""
    return {}


def command(language: str, built: dict[str, list[str]], folder: Path) -> list[str]:
    """How the example is started, from the repository's folder."""
    if language not in built:
        built[language] = _build(language, folder)
    return built[language]


def _build(language: str, folder: Path) -> list[str]:
    source = EXAMPLES / language
    match language:
        case "python":
            return [sys.executable, str(source / "demo.py")]
        case "node":
            return [program("node"), str(source / "demo.js")]
        case "php":
            return [program("php"), str(source / "demo.php")]
        case "java":
            _run([program("javac"), "-d", str(folder), *map(str, sorted(source.glob("*.java")))])
            return [program("java"), "-XX:TieredStopAtLevel=1", "-cp", str(folder), "Demo"]
        case _:
            _run([program("go"), "build", "-o", str(folder / "demo"), "."], cwd=source, GOPROXY="off")
            return [str(folder / "demo")]


def _run(words: list[str], cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        words, cwd=cwd, env=environment(**variables), text=True, capture_output=True, timeout=DEADLINE_S, check=False
    )
    if words[0] != PROGRAM[0] or "exec" not in words:
        assert done.returncode == 0, done.stderr
    return done


def played(words: list[str], scenario: Path = SCENARIO, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command in a simulator of its own, with these variables changed."""
    changes = ["env", *(f"{name}={value}" for name, value in variables.items())]
    return _run([*PROGRAM, "exec", "--audit", str(scenario), "--", *changes, *words])


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_example_survives_its_scenario_and_is_a_good_client(
    language: str, built: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    done = played(command(language, built, tmp_path_factory.mktemp(language)))
    assert (done.returncode, done.stdout, done.stderr) == (0, PRINTED, "")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_example_whose_secret_is_wrong_says_so_and_fails(
    language: str, built: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    words = command(language, built, tmp_path_factory.mktemp(language))
    done = played(words, RESELLER_API_SECRET="bm90LXRoZS1zZWNyZXQtb2YtdGhpcy1rZXk=")
    assert (done.returncode, done.stdout) == (1, "")
    first = done.stderr.splitlines()[0]
    assert first.startswith("demo: PUT /v2/balance-webhook was answered 401: ")
    assert '"error":"invalid_signature"' in first


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_example_reports_payments_that_the_history_lacks(
    language: str, built: dict[str, list[str]], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (tmp_path / "examples.yaml").write_text(SCENARIO.read_text("utf-8"))
    (tmp_path / "forgetful.yaml").write_text(yaml.safe_dump(FORGETFUL))
    words = command(language, built, tmp_path_factory.mktemp(language))
    done = played(words, tmp_path / "forgetful.yaml")
    assert (done.returncode, done.stderr) == (1, "")
    assert "\nreconciled 0 payments and 7 entries: 6 differences\n" in done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("difference: ")]
    assert [line.endswith("and not in the history") for line in lines] == [True] * 5 + [False]
    assert lines[-1] == "difference: the statement's payments come to 124.03, those of the history to 0.00"


def test_the_scenario_has_no_problems() -> None:
    done = _run([*PROGRAM, "check", str(SCENARIO)])
    assert done.stdout.endswith("scenario.yaml: ok\n")
