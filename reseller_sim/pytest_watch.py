"""The sandbox of a test, from its start to its end: made as the marks say, judged, reported and deleted."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from reseller_sim.asynchronous import AsyncSandbox
from reseller_sim.errors import NotRunning, NotStarted, SimulatorError
from reseller_sim.proxies import bypass
from reseller_sim.pytest_audit import Audited, audited
from reseller_sim.pytest_evidence import Section, evidence, untold
from reseller_sim.pytest_marks import BadMark, Settings, settings_of
from reseller_sim.sandbox import Sandbox
from reseller_sim.simulator import Simulator

NAME_MAX = 50  # of the 64 characters that an id may have


@contextmanager
def simulator(root: Path) -> Iterator[Simulator]:
    """The simulator that the environment names, otherwise a new one that ends with the session and reads the scenario
    files below `root`."""
    found = _found(root)
    if isinstance(found, str):
        pytest.fail(f"reseller-sim: {found}", pytrace=False)
    variables = bypass(os.environ, found.url)  # the code under test inherits them
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        with found:
            yield found
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _found(root: Path) -> Simulator | str:
    """A simulator that answers, or why there is none."""
    try:
        found = Simulator() if os.environ.get("RESELLER_SIM_URL") else Simulator.start(scenarios=root)
        found.health()
    except (NotRunning, NotStarted, SimulatorError, ValueError) as error:
        return str(error)
    return found


class Watched:
    """The sandbox of a test, and what is known of the test."""

    def __init__(self, item: pytest.Item, settings: Settings, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._item = item
        self._settings = settings
        self._outcome = "passed"
        self._last: list[Section] | None = None
        self._audited: Audited | None = None

    def audit(self) -> None:
        """Fail the test for what is more than a warning, unless its mark says `audit=False`."""
        if self._settings.audit and (text := self._violations()):
            pytest.fail(f"reseller-sim: {text}", pytrace=False)

    def _violations(self) -> str:
        """Why the test fails, or an empty text. One whose sandbox is gone does: it may have violated anything."""
        try:
            self._audited = audited(self.sandbox)
        except (SimulatorError, NotRunning) as error:
            return f"the test passed, but cannot be audited: {error}"
        return self._audited.text

    def add_to(self, report: pytest.TestReport) -> None:
        """Put the evidence under a report of a failure, the first one of the test; and the warnings into that of the
        call, since reports travel from the workers of xdist."""
        if self._audited is not None and report.when == "call":
            report.reseller_sim_warnings = self._audited.warnings  # type: ignore[attr-defined]
        if report.failed and self._outcome == "passed":
            self._outcome = "failed"
            found = self._last if self._last is not None else evidence(self.sandbox)
            report.sections += untold(found, report.longreprtext)

    def end(self) -> None:
        """Keep the evidence, since another fixture's end may fail, write the files, delete the sandbox."""
        if self._outcome == "passed":
            self._last = evidence(self.sandbox)
        if self._item.config.getoption("--reseller-sim-report"):
            from reseller_sim.pytest_folder import write

            write(self._item, self.sandbox, self._outcome)
        with suppress(NotRunning, SimulatorError):  # it is gone, or the test has deleted it
            self.sandbox.delete()


@contextmanager
def watched(item: pytest.Item, of: Simulator) -> Iterator[Watched]:
    """A new sandbox as the marks of the test say. What they cannot say is the test's error, in one sentence."""
    found = _made(item, of)
    if isinstance(found, str):  # failing outside of `except` shows this alone
        pytest.fail(f"reseller-sim: {found}", pytrace=False)
    try:
        yield found
    finally:
        found.end()


def _made(item: pytest.Item, of: Simulator) -> Watched | str:
    """A new sandbox, or why there can be none."""
    try:
        settings = settings_of(item)
        sandbox = of.sandbox(
            settings.scenario,
            id=_id(item),
            clock=settings.clock,
            start=settings.start,
            seed=settings.seed,
            credentials=settings.credentials,
            audit=settings.audit,
        )
    except BadMark as error:
        return str(error)
    except (SimulatorError, NotRunning, ValueError, TypeError, OSError) as error:
        return f"the sandbox of this test cannot be made: {error}"
    return Watched(item, settings, sandbox)


@contextmanager
def asynchronous(sandbox: Sandbox) -> Iterator[AsyncSandbox]:
    """The same sandbox with methods to await."""
    yield AsyncSandbox(sandbox)


def _id(item: pytest.Item) -> str:
    """The test's name and a random part: several workers, or runs, may share one simulator."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", item.name)[:NAME_MAX].strip("-") or "test"
    return f"{name}-{secrets.token_hex(4)}"
