"""The sandbox of a test: made as its marks and the ini file say, audited, reported and deleted; and the report of a
run."""

import json
import os
import re
import secrets
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from typing import Any
from unittest.mock import patch

import pytest

from reseller_sim import evidence
from reseller_sim.control import NotRunning, NotStarted, SimulatorError, below
from reseller_sim.exchange import bypass, proxy_hint
from reseller_sim.formats import one_line
from reseller_sim.sandbox import Sandbox
from reseller_sim.simulator import Simulator

Section = tuple[str, str]  # title and text, as pytest's reports have them

MARKS = ("scenario", "reseller_sim_scenario")
ARGUMENTS = ("scenario", "clock", "start", "seed", "credentials", "audit", "tape", "mark")
NAME_MAX = 50  # of the 64 characters that an id may have
TITLE = "reseller-sim: "
OPTION = "--reseller-sim-report"
TEST = "test.json"
REPORTED_STORIES_MAX = 200
FILES: dict[str, Callable[[Sandbox], Any]] = {
    "requests.json": lambda sandbox: list(evidence.explained(sandbox, sandbox.requests())),
    "requests.har": lambda sandbox: sandbox.ask("GET", "/requests.har"),
    "payments.json": lambda sandbox: _stories(sandbox),
    "callbacks.json": lambda sandbox: sandbox.callbacks(),
    "audit.json": lambda sandbox: sandbox.audit(),
}
"""The files of a sandbox, in addition to `test.json`, which names the test."""


def settings_of(item: pytest.Item) -> dict[str, Any]:
    """Return the arguments of `Simulator.sandbox`: each of the closest mark that has it, otherwise the ini file's. A
    file has its absolute path. Raises `ValueError`."""
    found: dict[str, Any] = {}
    for mark in item.iter_markers():
        if mark.name in MARKS:
            if len(mark.args) > 1:
                raise ValueError(f"@pytest.mark.{mark.name} takes one scenario, not {len(mark.args)}")
            if wrong := mark.kwargs.keys() - ARGUMENTS:
                known = ", ".join(ARGUMENTS)
                raise ValueError(f"@pytest.mark.{mark.name} has no argument {min(wrong)!r}; it has {known}")
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
    """The sandbox of a test, made as its marks say, with the outcome of the test. An invalid mark is the test's error,
    in a sentence."""

    def __init__(self, item: pytest.Item, of: Simulator) -> None:
        name = re.sub(r"[^A-Za-z0-9]+", "-", item.name)[:NAME_MAX].strip("-") or "test"
        try:
            settings = settings_of(item)
            self.sandbox = of.sandbox(id=f"{name}-{secrets.token_hex(4)}", **settings)  # workers may share a simulator
        except (SimulatorError, NotRunning, ValueError, TypeError, OSError) as error:
            raise failure(f"the sandbox of this test cannot be made: {error}") from None
        self._item = item
        self._is_audited = settings.get("audit", True)
        self._outcome = "passed"
        self._last: list[Section] | None = None

    def audit(self) -> None:
        """Fail the test for violated obligations, unless its mark says `audit=False`. An obligation whose severity is
        `warning` is a warning of pytest, even where the project makes warnings errors."""
        if not self._is_audited:
            return
        try:
            broken, warned = evidence.violations(self.sandbox.audit())
        except (SimulatorError, NotRunning) as error:  # it may have violated anything
            raise failure(f"the test passed, but cannot be audited: {error}") from None
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            for text in warned:
                self._item.warn(RuntimeWarning(f"reseller-sim: {text}"))
        if broken:
            text = f"the test passed, but violates {len(broken)} obligation{'s' * (len(broken) > 1)} of a client"
            raise failure("\n\n".join([text, *broken]))

    def add_to(self, report: pytest.TestReport) -> None:
        """Put the evidence under the first failure."""
        if report.failed and self._outcome == "passed":
            self._outcome = "failed"
            found = sections(self.sandbox) if self._last is None else self._last
            report.sections += not_shown(found, report.longreprtext)

    def end(self) -> None:
        """Keep the evidence, since another fixture's end may fail, write the files, delete the sandbox."""
        if self._outcome == "passed":
            self._last = sections(self.sandbox)
        if self._item.config.getoption(OPTION):
            write(self._item, self.sandbox, self._outcome)
        with suppress(NotRunning, SimulatorError):  # it is gone, or the test has deleted it
            self.sandbox.delete()


def sections(sandbox: Sandbox) -> list[Section]:
    """Return the sandbox's records. If the simulator stops answering, a line says why the rest is missing."""
    found: list[Section] = []
    try:
        if waits := evidence.pending(sandbox) + evidence.held(sandbox):
            found.append((TITLE + "pending", one_line(waits.removeprefix("; "))))
        happened = list(evidence.sections(sandbox))
        if not happened:
            text = f"none has reached the sandbox: does the code under test use {sandbox.url}?{proxy_hint(os.environ)}"
            happened = [("requests", [text])]
        found += [(TITLE + one_line(title), "\n".join(map(one_line, lines))) for title, lines in happened]
    except Exception as error:  # pytest has to report the test even if the evidence fails
        found.append((TITLE + "no more to show", one_line(f"sandbox {sandbox.id} at {sandbox.url}: {error}")))
    return found


def not_shown(found: list[Section], shown: str) -> list[Section]:
    """Return the sections that the text of a failure does not contain yet, as that of an expectation may."""

    def is_shown(line: str) -> bool:
        return line.startswith(evidence.LEFT_OUT) or line.strip() in shown

    return [(title, text) for title, text in found if not all(map(is_shown, text.splitlines()))]


def begin(config: pytest.Config) -> None:
    """Create the folder, or remove the files of an earlier run. Raises `UsageError` if that is impossible."""
    folder = config.invocation_params.dir / config.getoption(OPTION)
    config.option.reseller_sim_report = str(folder)  # an absolute path also holds for xdist workers in other folders
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in filter(_is_of_report, list(folder.iterdir())):
            rmtree(path)
    except OSError as error:
        raise pytest.UsageError(f"{OPTION}: {folder} cannot be written: {error.strerror}") from None


def write(item: pytest.Item, sandbox: Sandbox, outcome: str) -> None:
    """Write the records of a sandbox. A stopped simulator or a full disk does not fail the test."""
    folder = Path(item.config.getoption(OPTION)) / sandbox.id
    about: dict[str, Any] = {"test": item.nodeid, "outcome": outcome, "sandbox": sandbox.id, "problem": ""}
    try:
        contents = {name: read(sandbox) for name, read in FILES.items()}
        about |= {"payments": len(contents["payments.json"]["payments"]), "requests": len(contents["requests.json"])}
    except Exception as error:  # a failed report does not change the test's outcome
        contents, about["problem"] = {}, str(error)
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
        for name, content in {**contents, TEST: about}.items():
            (folder / name).write_text(json.dumps(content, indent=2), "utf-8")


def _stories(sandbox: Sandbox) -> dict[str, Any]:
    payments = evidence.latest_payments(sandbox)
    stories = [sandbox.ask("GET", below("/transactions", one["trxid"])) for one in payments[:REPORTED_STORIES_MAX]]
    return {"payments": stories, "left_out": len(payments) - len(stories)}


def _is_of_report(path: Path) -> bool:
    """Return True for a folder that has only our files, so that no other folder is removed."""
    names = {one.name for one in path.iterdir()} if path.is_dir() and not path.is_symlink() else set()
    return TEST in names and names <= {TEST, *FILES}
