"""Other people's linters and schemas read what engines, CI servers and shells are given."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.pages import blocks
from tests.support.pipelines import gitlab_job, script_of
from tests.support.processes import DEADLINE_S, ROOT

BIN = Path(sys.executable).parent
ACTIONS = ("action.yml", "ci/serve/action.yml", "ci/finish/action.yml")
JOBS = (".reseller-sim:exec", ".reseller-sim:service")
ALLOWED = {
    ".reseller-sim:exec": "SC2086",  # several flags in a variable are several words
    "explore.md: shop.sh": "SC2034",  # a loop that only counts
    "is-my-integration-ready.md: client.sh": "SC2034",
    "is-my-integration-ready.md: bad-days.sh": "SC2155",  # the status of `seq` does not matter
}


def complaints(*command: str, text: str = "") -> str:
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=ROOT,
        input=text,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    return (done.stdout + done.stderr) if done.returncode else ""


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    assert complaints("hadolint", "Dockerfile") == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("compose-spec", ("compose.yaml",)),
        ("github-actions", ACTIONS),
        ("gitlab-ci", ("ci/gitlab.yml",)),
    ],
)
def test_each_file_has_the_shape_that_its_reader_wants(schema: str, files: tuple[str, ...]) -> None:
    assert complaints("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *files) == ""


def scripts() -> dict[str, tuple[str, str]]:
    """All shell of the repository: its shell, and its text."""
    found = {".ci/run": ("bash", (ROOT / ".ci" / "run").read_text("utf-8"))}
    for name in ACTIONS:
        for step in yaml.safe_load((ROOT / name).read_text("utf-8"))["runs"]["steps"]:
            if "run" in step:
                found[f"{name}: {step['name']}"] = ("bash", step["run"])
    found |= {name: ("sh", script_of(gitlab_job(name))) for name in JOBS}
    for page in sorted((ROOT / "docs").glob("*.md")):
        for block in blocks(page.read_text("utf-8")):
            if block.action == "file" and block.name.endswith(".sh"):
                found[f"{page.name}: {block.name}"] = ("sh", block.text)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(scripts()))
def test_shellcheck_finds_nothing(name: str) -> None:
    shell, text = scripts()[name]
    severity = "warning" if ".md: " in name else "style"  # what a page shows is short before it is careful
    flags = ("--shell", shell, "--severity", severity, "--exclude", ALLOWED.get(name, "SC1000"))
    assert complaints("shellcheck", *flags, "-", text=text) == ""
