"""The console's modules before the tools that read JavaScript: types, rules, form. And that these tools see."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.programs import node_command

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
CONSOLE = HERE.parents[1] / "simulator" / "console"
RULES = HERE / "console.eslint.mjs"
FORM = HERE / "console.prettier.json"


def said(command: str, *arguments: object, cwd: Path = HERE) -> str:
    """Return the output of a tool, empty when it reports no problem."""
    done = subprocess.run(
        [node_command(command), *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode == 0) == (not done.stdout + done.stderr), done.stdout + done.stderr
    return done.stdout + done.stderr


def test_types_are_right() -> None:
    assert said("tsc", "-p", "console.tsconfig.json") == ""


def test_rules_are_kept() -> None:
    assert said("eslint", "--config", RULES, "--no-warn-ignored", "--max-warnings", 0, ".", cwd=CONSOLE) == ""


def test_files_have_the_usual_form() -> None:
    assert said("prettier", "--config", FORM, "--list-different", "--log-level", "warn", CONSOLE) == ""


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("document.body.innerHTML = location.hash;", "no-restricted-properties"),
        ('document.body.insertAdjacentHTML("beforeend", location.hash);', "no-restricted-properties"),
        ("eval(location.hash);", "no-eval"),
        ('new DOMParser().parseFromString(location.hash, "text/html");', "no-restricted-syntax"),
        (
            'import { short } from "./safe-text.js";\nconsole.log(`${location.hash ? short(1) : ""}`);',
            "no-restricted-syntax",
        ),
    ],
)
def test_a_line_that_takes_text_for_markup_or_an_element_for_text_is_found(
    tmp_path: Path, line: str, rule: str
) -> None:
    (tmp_path / "bad.js").write_text(line + "\n")
    shutil.copy(RULES, tmp_path / "eslint.config.mjs")
    assert rule in said("eslint", "--config", tmp_path / "eslint.config.mjs", "bad.js", cwd=tmp_path)
