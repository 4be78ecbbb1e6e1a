"""The evidence under a failed test, the summary of a run, and the folder of --reseller-sim-report."""

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

import pytest

from reseller_sim import evidence
from reseller_sim.control import below
from reseller_sim.exchange import proxy_hint
from reseller_sim.formats import one_line
from reseller_sim.sandbox import Sandbox

Section = tuple[str, str]  # title and text, as pytest's reports have them

TITLE = "reseller-sim: "
_PREFIX = re.compile(r"^(E  +)? *")  # of each line of an error's text, in most of pytest's styles

OPTION = "--reseller-sim-report"
INDEX = "index.html"
TEST = "test.json"
REPORTED_STORIES_MAX = 200
WARNINGS_MAX = 50
FILES: dict[str, Callable[[Sandbox], Any]] = {
    "requests.json": lambda sandbox: list(evidence.explained(sandbox, sandbox.requests())),
    "requests.har": lambda sandbox: sandbox.ask("GET", "/requests.har"),
    "payments.json": lambda sandbox: _stories(sandbox),
    "callbacks.json": lambda sandbox: sandbox.callbacks(),
    "audit.json": lambda sandbox: sandbox.audit(),
}
"""The files of a sandbox, in addition to `test.json`, which names the test."""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>reseller-sim: report of the tests</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em }}
th, td {{ padding: .2em .6em; text-align: left; vertical-align: top }} .failed {{ color: #b00020 }}
</style></head><body><h1>reseller-sim: report of the tests</h1><p>{verdict}</p><table>
<tr><th>test</th><th>outcome</th><th>requests</th><th>payments</th><th>files</th></tr>
{rows}</table></body></html>
"""


def sections(sandbox: Sandbox) -> list[Section]:
    """Return the sandbox's records. If the simulator stops answering, a line says why the rest is missing."""
    found: list[Section] = []
    try:
        if waits := evidence.pending(sandbox) + evidence.held(sandbox, None):
            found.append((TITLE + "pending", one_line(waits.removeprefix("; "))))
        count = len(found)
        for title, lines in evidence.sections(sandbox):
            found.append((TITLE + one_line(title), "\n".join(map(one_line, lines))))
        if len(found) == count:
            text = f"none has reached the sandbox: does the code under test use {sandbox.url}?{proxy_hint(os.environ)}"
            found.append((TITLE + "requests", one_line(text)))
    except Exception as error:  # pytest has to report the test even if the evidence fails
        found.append((TITLE + "no more to show", one_line(f"sandbox {sandbox.id} at {sandbox.url}: {error}")))
    return found


def not_shown(found: list[Section], shown: str) -> list[Section]:
    """Return the sections that the text of a failure does not contain yet. The text of an expectation may contain a
    story."""
    lines = {one_line(_PREFIX.sub("", line)) for line in shown.splitlines()}

    def is_shown(line: str) -> bool:
        return line.strip().startswith(evidence.LEFT_OUT) or any(line.strip() in one for one in lines)

    return [(title, text) for title, text in found if not all(map(is_shown, text.splitlines()))]


def summarize(reporter: pytest.TerminalReporter) -> None:
    """List the audit's warnings of all tests at the end of a run."""
    reports = [report for several in reporter.stats.values() for report in several]
    found = [f"{one.nodeid}: {text}" for one in reports for text in getattr(one, "reseller_sim_warnings", ())]
    if found:
        reporter.section("reseller-sim: warnings of the audit")
        for line in evidence.shortened(found, WARNINGS_MAX):
            reporter.write_line(line)


def begin(config: pytest.Config) -> None:
    """Create the folder, or remove the files of an earlier run. Raises `UsageError` if that is impossible."""
    folder = config.invocation_params.dir / config.getoption(OPTION)
    config.option.reseller_sim_report = str(folder)  # an absolute path also holds for xdist workers in other folders
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in filter(_is_of_report, list(folder.iterdir())):
            for file in list(path.iterdir()):
                file.unlink()
            path.rmdir()
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


def finish(config: pytest.Config) -> str:
    """Write the page, when all tests have ended; return a line that says where it is."""
    folder = Path(config.getoption(OPTION))
    paths = filter(_is_of_report, (path.parent for path in folder.glob(f"*/{TEST}")))
    tests = [json.loads((path / TEST).read_text("utf-8")) for path in paths]
    tests.sort(key=lambda one: (one["outcome"] != "failed", one["test"]))
    failed = sum(one["outcome"] == "failed" for one in tests)
    verdict = f"{len(tests)} tests with a sandbox, {failed} failed"
    try:
        (folder / INDEX).write_text(_PAGE.format(verdict=verdict, rows="".join(map(_row, tests))), "utf-8")
    except OSError as error:
        return f"reseller-sim: {folder / INDEX} cannot be written: {error.strerror}"
    counted = "1 test" if len(tests) == 1 else f"{len(tests)} tests"
    return f"reseller-sim: report of {counted} with a sandbox: {folder / INDEX}"


def _is_of_report(path: Path) -> bool:
    """Return True for a folder that has only our files, so that no other folder is removed."""
    names = {one.name for one in path.iterdir()} if path.is_dir() and not path.is_symlink() else set()
    return TEST in names and names <= {TEST, *FILES}


def _row(one: dict[str, Any]) -> str:
    names = [TEST] if one["problem"] else [TEST, *FILES]
    links = ", ".join(f'<a href="{one["sandbox"]}/{name}">{name}</a>' for name in names)
    problem = f"<br>{escape(one_line(one['problem']))}" if one["problem"] else ""
    counts = (one.get("requests", ""), one.get("payments", ""))
    cells = (escape(one_line(one["test"])), one["outcome"], *counts, links + problem)
    return f'<tr class="{one["outcome"]}">{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>\n'
