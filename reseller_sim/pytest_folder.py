"""--reseller-sim-report DIR: a folder for each test's sandbox, and a page that leads to them."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import pytest

from reseller_sim.control import below
from reseller_sim.printable import printable_line
from reseller_sim.pytest_evidence import transactions
from reseller_sim.refusals import explained
from reseller_sim.sandbox import Sandbox

OPTION = "--reseller-sim-report"
INDEX = "index.html"
TITLE = "reseller-sim: report of the tests"
TEST = "test.json"
STORIES_MAX = 200
FILES: dict[str, Callable[[Sandbox], Any]] = {
    "requests.json": lambda sandbox: list(explained(sandbox, sandbox.requests())),
    "requests.har": lambda sandbox: sandbox.ask("GET", "/requests.har"),
    "payments.json": lambda sandbox: _stories(sandbox),
    "callbacks.json": lambda sandbox: sandbox.callbacks(),
    "audit.json": lambda sandbox: sandbox.audit(),
}
"""What is written of a sandbox beside `test.json`, which says of which test it is."""

_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 75em }
th, td { padding: .2em .6em; text-align: left; vertical-align: top } .failed { color: #b00020 }
""".strip()


def begin(config: pytest.Config) -> None:
    """Create the folder, or remove what an earlier run wrote there. Raises `UsageError` when it cannot."""
    folder = config.invocation_params.dir / config.getoption(OPTION)
    config.option.reseller_sim_report = str(folder)  # the workers of xdist get it, whatever folder they are in
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in filter(_is_of_report, list(folder.iterdir())):
            for one in list(path.iterdir()):
                one.unlink()
            path.rmdir()
        (folder / INDEX).write_text(_page([], "The run has not ended."), "utf-8")
    except OSError as error:
        raise pytest.UsageError(f"{OPTION}: {folder} cannot be written: {error.strerror}") from None


def write(item: pytest.Item, sandbox: Sandbox, outcome: str) -> None:
    """Write what a sandbox did that anything has reached. A simulator that is gone, or a full disk, fails no test."""
    folder = Path(item.config.getoption(OPTION)) / _name(sandbox.id)
    about: dict[str, Any] = {"test": item.nodeid, "outcome": outcome, "sandbox": sandbox.id, "problem": ""}
    try:
        contents = {name: read(sandbox) for name, read in FILES.items()}
        about |= {"payments": len(contents["payments.json"]["payments"]), "requests": len(contents["requests.json"])}
    except Exception as error:  # whatever is wrong with the report, the test has its own outcome
        contents, about["problem"] = {}, str(error)
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
        for name, content in {**contents, TEST: about}.items():
            (folder / name).write_text(json.dumps(content, indent=2), "utf-8")


def _name(sandbox: str) -> str:
    """The folder of a sandbox: its id, unless a server gave one that leads elsewhere."""
    return sandbox if _PLAIN.fullmatch(sandbox) else "sandbox-" + sha256(sandbox.encode()).hexdigest()[:16]


def _stories(sandbox: Sandbox) -> dict[str, Any]:
    """The stories of payments, those that have not succeeded first."""
    payments = transactions(sandbox)
    stories = [sandbox.ask("GET", below("/transactions", one["trxid"])) for one in payments[:STORIES_MAX]]
    return {"payments": stories, "left_out": len(payments) - len(stories)}


def finish(config: pytest.Config) -> str:
    """Write the page, when all tests have ended; returns a line that says where it is."""
    folder = Path(config.getoption(OPTION))
    tests = sorted(_tests(folder), key=lambda one: (one["outcome"] != "failed", one["test"]))
    failed = sum(one["outcome"] == "failed" for one in tests)
    try:
        (folder / INDEX).write_text(_page(tests, f"{len(tests)} tests with a sandbox, {failed} failed"), "utf-8")
    except OSError as error:
        return f"reseller-sim: {folder / INDEX} cannot be written: {error.strerror}"
    counted = "1 test" if len(tests) == 1 else f"{len(tests)} tests"
    return f"reseller-sim: report of {counted} with a sandbox: {folder / INDEX}"


def _tests(folder: Path) -> Iterator[dict[str, Any]]:
    for path in folder.glob(f"*/{TEST}"):
        if _is_of_report(path.parent):
            with suppress(OSError, ValueError):
                yield json.loads(path.read_text("utf-8"))


def _is_of_report(path: Path) -> bool:
    """True for a folder with our files only, so that nothing else is ever removed."""
    names = {one.name for one in path.iterdir()} if path.is_dir() and not path.is_symlink() else set()
    return TEST in names and names <= {TEST, *FILES}


def _page(tests: list[dict[str, Any]], verdict: str) -> str:
    policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    head = f'<meta charset="utf-8">{policy}<title>{TITLE}</title><style>{_STYLE}</style>'
    rows = "".join(map(_row, tests))
    titles = "<tr><th>test</th><th>outcome</th><th>requests</th><th>payments</th><th>files</th></tr>"
    table = f"<table>{titles}{rows}</table>" if tests else ""
    body = f"<h1>{TITLE}</h1><p>{escape(verdict)}</p>{table}"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def _row(one: dict[str, Any]) -> str:
    names = [TEST] if one["problem"] else [TEST, *FILES]
    links = ", ".join(f'<a href="{_name(one["sandbox"])}/{name}">{name}</a>' for name in names)
    problem = f"<br>{escape(printable_line(one['problem']))}" if one["problem"] else ""
    cells = (
        escape(printable_line(one["test"])),
        one["outcome"],
        one.get("requests", ""),
        one.get("payments", ""),
        links + problem,
    )
    return f'<tr class="{one["outcome"]}">{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>\n'
