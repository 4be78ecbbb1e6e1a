"""Programs that some tests use and a machine may lack: `.ci/run` installs them, and a run without one says so."""

import os
import shutil
from collections import Counter
from collections.abc import Iterable

import pytest

# Each program with the names that it may have.
PROGRAMS = {"node": ("node", "nodejs"), "chromium": ("chromium", "chromium-browser", "google-chrome")}

_REASON = " is not installed"


def program(name: str) -> str:
    """The path of a program. Without it the test is not run, and in CI it fails."""
    found = next(filter(None, map(shutil.which, PROGRAMS[name])), None)
    if found is not None:
        return found
    if os.environ.get("CI"):
        pytest.fail(f"{name}{_REASON}, and .ci/run installs it")
    pytest.skip(name + _REASON)


def not_run(reports: Iterable[object]) -> str:
    """One line that says what did not run, from the reports of skipped tests; empty when everything did."""
    reasons = (str(one[2]).removeprefix("Skipped: ") for one in reports if isinstance(one, tuple))
    missing = Counter(reason.removesuffix(_REASON) for reason in reasons if reason.endswith(_REASON))
    counts = ", ".join(f"{count} that need {name}" for name, count in sorted(missing.items()))
    return f"not run: {counts}; `.ci/run` installs what is missing" if counts else ""
