"""The documents as served, before the linters that integrators run: nothing to say, not even a warning."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.generated_clients import QUIET
from tests.support.processes import DEADLINE_S, environment
from tests.support.programs import node_command
from tests.support.served_documents import NAMES, fetch

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
DAMAGED = "damaged"
"""A copy with an operation without its id, which detects a linter that reads nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    fetch(folder)
    document = json.loads((folder / "openapi.json").read_bytes())
    del document["paths"]["/v2/topup"]["post"]["operationId"]
    (folder / f"{DAMAGED}.json").write_text(json.dumps(document))
    return folder


def linted(folder: Path, command: str, *arguments: str) -> str:
    """Return the findings of a linter for all three documents as JSON."""
    files = [f"{name}.json" for name in (*NAMES, DAMAGED)]
    done = subprocess.run(
        [node_command(command), "lint", *arguments, *files],
        cwd=folder,
        env=environment(**QUIET),
        capture_output=True,
        text=True,
        timeout=4 * DEADLINE_S,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.stdout


def test_redocly_reports_no_problem(folder: Path) -> None:
    printed = linted(folder, "redocly", "--config", str(HERE / "redocly.yaml"), "--format", "json")
    *good, damaged = map(json.loads, printed.replace("\n}{\n", "\n}\0{\n").split("\0"))  # a report for each document
    assert [report["problems"] for report in good] == [[], []]
    assert [(problem["ruleId"], problem["severity"]) for problem in damaged["problems"]] == [
        ("operation-operationId", "error")
    ]


def test_spectral_reports_no_problem(folder: Path) -> None:
    rules = str(HERE / "spectral.yaml")
    found = json.loads(linted(folder, "spectral", "--ruleset", rules, "--format", "json", "--fail-severity", "hint"))
    assert {(os.path.basename(each["source"]), each["code"]) for each in found} == {
        (f"{DAMAGED}.json", "operation-operationId")
    }
