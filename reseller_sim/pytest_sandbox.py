"""The sandbox of a test: made as its marks and the ini file say, audited, reported and deleted."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from reseller_sim import evidence, pytest_report
from reseller_sim.control import NotRunning, NotStarted, SimulatorError
from reseller_sim.exchange import bypass
from reseller_sim.sandbox import Sandbox
from reseller_sim.simulator import Simulator

MARKS = ("scenario", "reseller_sim_scenario")
NAME_MAX = 50  # of the 64 characters that an id may have


def settings_of(item: pytest.Item) -> dict[str, Any]:
    """Return the arguments of `Simulator.sandbox`: each of the closest mark that has it, otherwise the ini file's. A
    file has its absolute path. Raises `ValueError`."""
    found: dict[str, Any] = {}
    for mark in item.iter_markers():
        if mark.name in MARKS:
            if len(mark.args) > 1:
                raise ValueError(f"@pytest.mark.{mark.name} takes one scenario, not {len(mark.args)}")
            found = dict(zip(["scenario"], mark.args, strict=False)) | dict(mark.kwargs) | found
    folders = [item.path.parent, item.config.rootpath]
    if "tape" in found:
        found["tape"] = _file(found["tape"], folders)
    elif "scenario" not in found and (name := item.config.getini("reseller_sim_scenario")):
        found["scenario"], folders = name, [item.config.rootpath]
    found.setdefault("clock", item.config.getini("reseller_sim_clock"))
    named = found.get("scenario")
    if isinstance(named, Path) or (isinstance(named, str) and re.fullmatch(r"[^\n{]+\.ya?ml", named)):
        found["scenario"] = _file(named, folders)
    return found


def _file(named: str | Path, folders: list[Path]) -> Path:
    """Return the first file of this name in the folders. Raises `ValueError`."""
    places = list(dict.fromkeys((folder / named).resolve() for folder in folders))
    for place in places:
        if place.is_file():
            return place
    raise ValueError(f"there is no file {named}; looked for {' and '.join(map(str, places))}")


def failure(text: str) -> BaseException:
    """Return the failure of a test that is shown without a traceback."""
    return pytest.fail.Exception(f"reseller-sim: {text}", pytrace=False)


@contextmanager
def simulator(root: Path) -> Iterator[Simulator]:
    """Return the simulator that the environment names, otherwise a new one that reads scenario files below `root`."""
    try:
        found = Simulator() if os.environ.get("RESELLER_SIM_URL") else Simulator.start(scenarios=root)
        found.health()
    except (NotRunning, NotStarted, SimulatorError, ValueError) as error:
        raise failure(str(error)) from None
    with patch.dict(os.environ, bypass(os.environ, found.url)), found:  # the code under test inherits the variables
        yield found


class Watched:
    """The sandbox of a test, with the outcome of the test."""

    def __init__(self, item: pytest.Item, sandbox: Sandbox, *, is_audited: bool) -> None:
        self.sandbox = sandbox
        self._item = item
        self._is_audited = is_audited
        self._outcome = "passed"
        self._last: list[pytest_report.Section] | None = None
        self._warnings: list[str] = []

    def audit(self) -> None:
        """Fail the test for violated obligations other than warnings, unless its mark says `audit=False`."""
        if not self._is_audited:
            return
        try:
            broken, self._warnings = evidence.violations(self.sandbox.audit())
        except (SimulatorError, NotRunning) as error:  # it may have violated anything
            raise failure(f"the test passed, but cannot be audited: {error}") from None
        if broken:
            text = f"the test passed, but violates {len(broken)} obligation{'s' * (len(broken) > 1)} of a client"
            raise failure("\n\n".join([text, *broken]))

    def add_to(self, report: pytest.TestReport) -> None:
        """Put the evidence under the first failure, and the warnings into a report, which leaves a worker of xdist."""
        if report.when == "call":
            report.reseller_sim_warnings = self._warnings  # type: ignore[attr-defined]
        if report.failed and self._outcome == "passed":
            self._outcome = "failed"
            found = pytest_report.sections(self.sandbox) if self._last is None else self._last
            report.sections += pytest_report.not_shown(found, report.longreprtext)

    def end(self) -> None:
        """Keep the evidence, since another fixture's end may fail, write the files, delete the sandbox."""
        if self._outcome == "passed":
            self._last = pytest_report.sections(self.sandbox)
        if self._item.config.getoption("--reseller-sim-report"):
            pytest_report.write(self._item, self.sandbox, self._outcome)
        with suppress(NotRunning, SimulatorError):  # it is gone, or the test has deleted it
            self.sandbox.delete()


@contextmanager
def watched(item: pytest.Item, of: Simulator) -> Iterator[Watched]:
    """Create a new sandbox according to the marks of the test. Its id has a random part: workers may share a simulator.
    An invalid mark is the test's error, in a sentence."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", item.name)[:NAME_MAX].strip("-") or "test"
    try:
        settings = settings_of(item)
        sandbox = of.sandbox(id=f"{name}-{secrets.token_hex(4)}", **settings)
    except (SimulatorError, NotRunning, ValueError, TypeError, OSError) as error:
        raise failure(f"the sandbox of this test cannot be made: {error}") from None
    found = Watched(item, sandbox, is_audited=settings.get("audit", True))
    try:
        yield found
    finally:
        found.end()
