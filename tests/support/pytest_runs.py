"""pytest as users run it: in a separate folder, with our plugin."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from tests.support.processes import DEADLINE_S

# They take time, write files, or need POSIX.
PLUGINS_LEFT_OUT = ("faker", "schemathesis", "hypothesispytest", "cacheprovider", "platformdirs")


@dataclass(frozen=True)
class Run:
    """A run that has ended."""

    status: int
    shown: str

    def outcome(self, test: str) -> str:
        """PASSED, FAILED, ERROR … of a test, as the summary of `-rA` has it; of several, joined."""
        found = re.findall(
            rf"^(PASSED|FAILED|ERROR|XFAIL|SKIPPED) \S*::{re.escape(test)}(?: |$)", self.shown, re.MULTILINE
        )
        return " ".join(sorted(set(found)))

    def report(self, test: str) -> str:
        """Return the output about a failed test: errors before and after it, then the failure."""
        headed = re.split(r"^_{3,} (.+?) _{3,}$", self.shown, flags=re.MULTILINE)
        found = [text for name, text in zip(headed[1::2], headed[2::2], strict=True) if name.split(" ")[-1] == test]
        return "\n".join(re.split(r"^={3,} ", text, flags=re.MULTILINE)[0] for text in found)

    def section(self, test: str, title: str) -> list[str]:
        """The lines of a section below a test that failed."""
        text = re.split(rf"^-+ {re.escape(title)} -+$", self.report(test), flags=re.MULTILINE)
        return re.split(r"^-{3,} ", text[1], flags=re.MULTILINE)[0].splitlines()[1:] if len(text) > 1 else []


def run_pytest(folder: Path, *arguments: str, files: dict[str, str] | None = None, **variables: str) -> Run:
    """Write the files, run pytest on the folder."""
    for name, text in (files or {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), "utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("RESELLER_", "PYTEST_"))}
    left_out = [part for name in PLUGINS_LEFT_OUT for part in ("-p", f"no:{name}")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "--color=no", "--strict-markers", *left_out, *arguments],
        cwd=folder,
        env=clean | {"COLUMNS": "120"} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=4 * DEADLINE_S,
        check=False,
    )
    return Run(done.returncode, done.stdout)
