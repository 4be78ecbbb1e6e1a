"""The evidence under a failed test, the summary of a run, and the folder of --reseller-sim-report."""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

import pytest

from reseller_sim.control import REFUSED, Query, SimulatorError, below
from reseller_sim.evidence import explained, held, pending
from reseller_sim.exchange import proxy_hint, real_time
from reseller_sim.formats import one_line
from reseller_sim.sandbox import Sandbox
from reseller_sim.story import Story, callback_line, request_line

Section = tuple[str, str]  # title and text, as pytest's reports have them

STORIES_MAX = 3
STORY_LINES_MAX = (8, 22)  # from its beginning, and up to its end
REFUSED_MAX = 10
CALLBACKS_MAX = 12
OTHERS_MAX = 20
RECENT = 1000  # requests, and payments, that are looked at
TIMEOUT_S = 10.0  # a simulator that hangs holds up no run
TITLE = "reseller-sim: "
PENDING = "pending"
NONE_CAME = "none has reached the sandbox"
LEFT_OUT = "... "
_PREFIX = re.compile(r"^(E  +)? *")  # of each line of an error's text, in most of pytest's styles

OPTION = "--reseller-sim-report"
INDEX = "index.html"
TEST = "test.json"
REPORTED_STORIES_MAX = 200
WARNINGS_MAX = 50
FILES: dict[str, Callable[[Sandbox], Any]] = {
    "requests.json": lambda sandbox: list(explained(sandbox, sandbox.requests())),
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
        found.extend((TITLE + one_line(title), "\n".join(map(one_line, lines))) for title, lines in _known(sandbox))
        if all(title == TITLE + PENDING for title, _ in found):
            text = f"{NONE_CAME}: does the code under test use {sandbox.url}?{_strays(sandbox)}"
            text += proxy_hint(os.environ)
            found.append((TITLE + "requests", one_line(text)))
    except Exception as error:  # pytest has to report the test even if the evidence fails
        found.append((TITLE + "no more to show", one_line(f"sandbox {sandbox.id} at {sandbox.url}: {error}")))
    return found


def _strays(sandbox: Sandbox) -> str:
    """Return a sentence about requests that have reached the sandbox `default` since this sandbox was created. They
    used the key of the banner and a URL without `/s/ID`. Empty without such requests."""
    if sandbox.id == "default":
        return ""
    with suppress(SimulatorError):  # a token for this sandbox alone
        clock = sandbox._control.ask("GET", "/sandboxes/default/clock", timeout_s=TIMEOUT_S)
        query: Query = {"limit": RECENT}
        found = sandbox._control.ask("GET", "/sandboxes/default/requests", query=query, timeout_s=TIMEOUT_S)["requests"]
        since = datetime.fromisoformat(clock["now"]) - (datetime.fromtimestamp(real_time(), UTC) - sandbox.opened_at)
        count = sum(datetime.fromisoformat(row["at"]) >= since for row in found)
        if count and clock["mode"] == "real":
            return f" Meanwhile {count} reached the sandbox default, whose keys the root address leads to."
    return ""


def _known(sandbox: Sandbox) -> Iterator[tuple[str, list[str]]]:
    if waits := pending(sandbox) + held(sandbox, None):
        yield PENDING, [waits.removeprefix("; ")]
    payments, requests = _payments(sandbox), _recent(sandbox, "requests", {})
    for payment in payments[:STORIES_MAX]:
        story = Story(sandbox.ask("GET", below("/transactions", payment["trxid"])))
        yield f"story of {payment['refid']}", _ends(story.lines)
    if others := [f"{one['refid']} {one['status']}" for one in payments[STORIES_MAX:]]:
        left_out = [f"{LEFT_OUT}{len(others) - OTHERS_MAX} more"] if len(others) > OTHERS_MAX else []
        yield f"{len(others)} more payments", others[:OTHERS_MAX] + left_out
    refused = [row for row in requests if row["status"] >= REFUSED]
    if refused:
        yield "refused requests", _last([request_line(row) for row in explained(sandbox, refused)][::-1], REFUSED_MAX)
    if callbacks := sandbox.callbacks():
        yield "callbacks", _last(list(map(callback_line, callbacks)), CALLBACKS_MAX)
    if requests and not payments and not refused:
        yield "requests", _last([request_line(row) for row in reversed(requests)], REFUSED_MAX)


def not_shown(found: list[Section], shown: str) -> list[Section]:
    """Return the sections that the text of a failure does not contain yet. The text of an expectation may contain a
    story."""
    lines = {one_line(_PREFIX.sub("", line)) for line in shown.splitlines()}

    def is_shown(line: str) -> bool:
        return line.strip().startswith(LEFT_OUT) or any(line.strip() in one for one in lines)

    return [(title, text) for title, text in found if not all(map(is_shown, text.splitlines()))]


def _payments(sandbox: Sandbox) -> list[dict[str, Any]]:
    """Return the latest payments of a sandbox: unsuccessful payments, then successful payments, each newest first."""
    return sorted(_recent(sandbox, "transactions", {}), key=lambda one: bool(one["status"] == "Succesful"))


def _recent(sandbox: Sandbox, name: str, query: Query) -> list[dict[str, Any]]:
    asked = sandbox.ask("GET", f"/{name}", query={**query, "limit": RECENT}, timeout_s=TIMEOUT_S)
    return list(asked[name])


def _ends(lines: list[str]) -> list[str]:
    first, last = STORY_LINES_MAX
    left_out = len(lines) - first - last
    return [*lines[:first], f"  {LEFT_OUT}{left_out} more", *lines[-last:]] if left_out > 0 else lines


def _last(lines: list[str], most: int) -> list[str]:
    return [f"{LEFT_OUT}{len(lines) - most} earlier", *lines[-most:]] if len(lines) > most else lines


def summarize(reporter: pytest.TerminalReporter) -> None:
    """List the audit's warnings of all tests at the end of a run."""
    reports = [report for several in reporter.stats.values() for report in several]
    found = [f"{one.nodeid}: {text}" for one in reports for text in getattr(one, "reseller_sim_warnings", ())]
    if found:
        reporter.section("reseller-sim: warnings of the audit")
        more = [f"... {len(found) - WARNINGS_MAX} more"] if len(found) > WARNINGS_MAX else []
        for line in found[:WARNINGS_MAX] + more:
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
        (folder / INDEX).write_text(_PAGE.format(verdict="The run has not ended.", rows=""), "utf-8")
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
    payments = _payments(sandbox)
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
