"""Expensive artefacts, which the first worker that needs them makes for the whole test run."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.watchdog import WATCHDOG


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first worker to need it fills, while others wait."""
    WATCHDOG.leave()  # the test's timeout is too short; each command has its own
    base = factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else factory.getbasetemp()
    folder, done = base / name, base / f"{name}.done"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            folder.mkdir()  # a second worker does not retry a failure
            make(folder)
            done.touch()
    return folder
