"""Programs that some tests use and a machine may lack: `.ci/run` installs them, and a run without one says so."""

import os
import shutil
from collections import Counter
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

# Each program with the names that it may have.
PROGRAMS = {
    "node": ("node", "nodejs"),
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "php": ("php",),
    "go": ("go",),
    "java": ("java",),
    "javac": ("javac",),
    "bash": ("bash",),
    "zsh": ("zsh",),
    "fish": ("fish",),
    "curl": ("curl",),
    "prometheus": ("prometheus",),
    "promtool": ("promtool",),
    "openssl": ("openssl",),
    "nginx": ("nginx", "/usr/sbin/nginx"),
    "systemd-analyze": ("systemd-analyze",),
    "git": ("git",),
    "haproxy": ("haproxy", "/usr/sbin/haproxy"),
}

# Commands of packages that tests/interop/package.json pins and `make interop-tools` installs.
NODE_COMMANDS = Path(__file__).parents[1] / "interop" / "node_modules" / ".bin"

_REASON = " is not installed"


def program(name: str) -> str:
    """The path of a program. Without it the test is not run, and in CI it fails."""
    return next(filter(None, map(shutil.which, PROGRAMS[name])), None) or _missing(name)


def node_command(name: str) -> str:
    """The path of a command that `make interop-tools` installed, such as `redocly`; refused as `program` refuses."""
    program("node")
    path = NODE_COMMANDS / name
    return str(path) if path.exists() else _missing(name)


def site_tools() -> None:
    """Refuse as `program` does where `make site-tools` has not installed what makes the documentation's site."""
    if any(find_spec(name) is None for name in ("sphinx", "myst_parser", "furo")):
        _missing("sphinx")


def _missing(name: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"{name}{_REASON}, and .ci/run installs it")
    pytest.skip(name + _REASON)


def not_run(reports: Iterable[object]) -> str:
    """One line that says what did not run, from the reports of skipped tests; empty when everything did."""
    reasons = (str(one[2]).removeprefix("Skipped: ") for one in reports if isinstance(one, tuple))
    missing = Counter(reason.removesuffix(_REASON) for reason in reasons if reason.endswith(_REASON))
    counts = ", ".join(f"{count} that need {name}" for name, count in sorted(missing.items()))
    return f"not run: {counts}; `.ci/run` installs what is missing" if counts else ""
