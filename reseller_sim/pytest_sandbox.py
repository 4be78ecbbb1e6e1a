"""The sandbox of a test: made as its marks and the ini file say, audited, reported and deleted."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, asdict, dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from reseller_sim import evidence, pytest_report
from reseller_sim.arguments import Clock, Credentials, Moment, Name, Scenario, checked, nearest
from reseller_sim.control import NotRunning, NotStarted, SimulatorError
from reseller_sim.exchange import bypass
from reseller_sim.sandbox import Sandbox
from reseller_sim.simulator import Simulator

MARKS = ("scenario", "reseller_sim_scenario")
EXAMPLE = '@pytest.mark.scenario("bad-day", clock="x60")'
MISSPELT_MIN = 0.7
NAME_MAX = 50  # of the 64 characters that an id may have


@checked
@dataclass(frozen=True)
class Settings:
    """The arguments of `Simulator.sandbox`. A scenario file has its absolute path; None is the server's scenario.
    Without `audit`, --reseller-sim-audit and `reseller-sim exec --audit` skip the test."""

    scenario: Scenario | None = None
    _: KW_ONLY
    clock: Clock | None = "manual"
    start: Moment | None = None
    seed: int | None = None
    credentials: Credentials | None = "unique"
    audit: bool = True
    tape: Name | Path | None = None
    mark: Name | None = None


class BadMark(Exception):
    """The marks of a test cannot be followed; the text is for their author."""


def settings_of(item: pytest.Item) -> Settings:
    """Return each argument of the closest mark that has it, otherwise the ini file's. Raises `BadMark`."""
    known = {line.partition(":")[0].partition("(")[0].strip() for line in item.config.getini("markers")}
    found: dict[str, Any] = {}
    for mark in item.iter_markers():
        if mark.name in MARKS:
            _checked(f"@pytest.mark.{mark.name}", *mark.args, **mark.kwargs)
            found = dict(zip(["scenario"], mark.args, strict=False)) | dict(mark.kwargs) | found
        elif mark.name not in known and nearest(mark.name, MARKS, MISSPELT_MIN):
            raise BadMark(f"there is no mark {mark.name!r}: did you mean {EXAMPLE}?")
    beside = item.path.parent
    if "tape" in found:
        found["tape"] = _file(found["tape"], dict.fromkeys([beside, item.config.rootpath]))
    elif "scenario" not in found and (name := item.config.getini("reseller_sim_scenario")):
        found["scenario"], beside = name, item.config.rootpath
    if "clock" not in found:
        found["clock"] = item.config.getini("reseller_sim_clock")
        _checked("reseller_sim_clock of the ini file", clock=found["clock"])
    named = found.get("scenario")
    if isinstance(named, Path) or (isinstance(named, str) and re.fullmatch(r"[^\n{]+\.ya?ml", named)):
        found["scenario"] = _file(named, dict.fromkeys([beside, item.config.rootpath]))
    return Settings(**found)


def refuse_unused(item: pytest.Item) -> None:
    """Fail a test without a sandbox if it has its own mark. A mark of its class may be for other tests."""
    if any(mark.name in MARKS for mark in item.own_markers):
        how = 'use the fixture sandbox, or reseller_sim.sandbox("bad-day") without the mark'
        pytest.fail(f"reseller-sim: @pytest.mark.scenario changes nothing in this test: {how}", pytrace=False)


def _checked(who: str, /, *args: Any, **kwargs: Any) -> None:
    try:
        Settings(*args, **kwargs)
    except (TypeError, ValueError) as error:
        raise BadMark(f"{who}{str(error).removeprefix('Settings()')}") from None


def _file(named: str | Path, folders: dict[Path, None]) -> Path:
    """Return the first file of this name in the folders. Raises `BadMark`."""
    places = [(folder / named).resolve() for folder in folders]
    for place in places:
        if place.is_file():
            return place
    looked = " and ".join(map(str, places))
    raise BadMark(f"@pytest.mark.scenario: there is no file {named}; looked for {looked}")


@contextmanager
def simulator(root: Path) -> Iterator[Simulator]:
    """Return the simulator that the environment names, otherwise a new one that reads scenario files below `root`."""
    found = _found(root)
    if isinstance(found, str):  # failing outside of `except` shows this alone
        pytest.fail(f"reseller-sim: {found}", pytrace=False)
    with patch.dict(os.environ, bypass(os.environ, found.url)), found:  # the code under test inherits the variables
        yield found


def _found(root: Path) -> Simulator | str:
    """Return a simulator that answers, or the reason why no simulator answers."""
    try:
        found = Simulator() if os.environ.get("RESELLER_SIM_URL") else Simulator.start(scenarios=root)
        found.health()
    except (NotRunning, NotStarted, SimulatorError, ValueError) as error:
        return str(error)
    return found


class Watched:
    """The sandbox of a test, with the outcome of the test."""

    def __init__(self, item: pytest.Item, settings: Settings, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._item = item
        self._settings = settings
        self._outcome = "passed"
        self._last: list[pytest_report.Section] | None = None
        self._warnings: list[str] = []

    def audit(self) -> None:
        """Fail the test for violated obligations other than warnings, unless its mark says `audit=False`."""
        if not self._settings.audit:
            return
        try:
            broken, self._warnings = evidence.violations(self.sandbox.audit())
            text = f"violates {len(broken)} obligation{'s' * (len(broken) > 1)} of a client" if broken else ""
        except (SimulatorError, NotRunning) as error:  # it may have violated anything
            broken, text = [], f"cannot be audited: {error}"
        if text:
            pytest.fail("\n\n".join([f"reseller-sim: the test passed, but {text}", *broken]), pytrace=False)

    def add_to(self, report: pytest.TestReport, error: pytest.ExceptionInfo[BaseException] | None) -> None:
        """Put the evidence under the first failure, and the warnings into a report, which leaves a worker of xdist. An
        error that the client itself raised is about the test, and needs no hint why the code under test sent
        nothing."""
        if report.when == "call":
            report.reseller_sim_warnings = self._warnings  # type: ignore[attr-defined]
        if report.failed and self._outcome == "passed":
            self._outcome = "failed"
            found = self._evidence() if self._last is None else self._last
            if error is not None and not error.errisinstance(AssertionError) and _is_ours(error.traceback[-1].path):
                found = [one for one in found if not one[1].startswith(pytest_report.NONE_CAME)]
            report.sections += pytest_report.not_shown(found, report.longreprtext)

    def _evidence(self) -> list[pytest_report.Section]:
        return pytest_report.sections(self.sandbox)

    def end(self) -> None:
        """Keep the evidence, since another fixture's end may fail, write the files, delete the sandbox."""
        if self._outcome == "passed":
            self._last = self._evidence()
        if self._item.config.getoption("--reseller-sim-report"):
            pytest_report.write(self._item, self.sandbox, self._outcome)
        with suppress(NotRunning, SimulatorError):  # it is gone, or the test has deleted it
            self.sandbox.delete()


def _is_ours(path: Path | str) -> bool:
    return Path(path).parent == Path(__file__).parent


@contextmanager
def watched(item: pytest.Item, of: Simulator) -> Iterator[Watched]:
    """Create a new sandbox according to the marks of the test. An invalid mark is the test's error, in a sentence."""
    found = _made(item, of)
    if isinstance(found, str):  # failing outside of `except` shows this alone
        pytest.fail(f"reseller-sim: {found}", pytrace=False)
    try:
        yield found
    finally:
        found.end()


def _made(item: pytest.Item, of: Simulator) -> Watched | str:
    """Return a new sandbox, or why there can be none. Its id has a random part: workers may share one simulator."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", item.name)[:NAME_MAX].strip("-") or "test"
    try:
        settings = settings_of(item)
        sandbox = of.sandbox(id=f"{name}-{secrets.token_hex(4)}", **asdict(settings))
    except BadMark as error:
        return str(error)
    except (SimulatorError, NotRunning, ValueError, TypeError, OSError) as error:
        return f"the sandbox of this test cannot be made: {error}"
    return Watched(item, settings, sandbox)
