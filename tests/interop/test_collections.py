"""Postman's newman, Bruno's command line and httpYac run all of the collections against a real server, twice."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from simulator.cli.known import known
from simulator.collections import bruno, http, plan, postman
from simulator.contract.openapi import CONTROL, OPENAPI
from tests.support.processes import serving
from tests.support.programs import node_command

pytestmark = pytest.mark.slow

DEADLINE_S = 240.0
COLLECTIONS = {name: plan.plan(name, known()) for name in (OPENAPI, CONTROL)}
STATUSES = (0, 1, 20)  # of a tool that ran all requests, whatever they came to


Damage = Callable[[str], str]


@dataclass(frozen=True)
class Run:
    """What a tool reports: its exit code, how many requests and checks there were, and which checks failed."""

    status: int
    requests: int
    checks: int
    failures: list[str]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving("--port", "0", "--json") as server:
        yield server.ready["url"]


def tool(folder: Path, name: str, *arguments: str) -> tuple[int, str]:
    """Run a tool to its end, in a folder and with a home of its own: its exit code and its output. That goes through a
    file, since httpYac leaves without waiting for a pipe."""
    with (folder / "out").open("w+") as out:
        done = subprocess.run(
            [node_command(name), *arguments],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "CI": "1"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        out.seek(0)
        said = out.read()
    assert done.returncode in STATUSES, said + done.stderr
    return done.returncode, said


def write(folder: Path, files: dict[str, str], damage: Damage) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(damage(text))


def newman(collection: plan.Collection, folder: Path, url: str, damage: Damage, times: int) -> list[Run]:
    """All runs in one process; the numbers are those of the average one."""
    write(folder, {"collection.json": postman.render(collection)}, damage)
    report = ("--reporters", "json", "--reporter-json-export", "run.json")
    given = ("--env-var", f"base_url={url}", "-n", str(times))
    status, _ = tool(folder, "newman", "run", "collection.json", *given, *report)
    run = json.loads((folder / "run.json").read_text())["run"]
    failures = [f"{one['source'].get('name')}: {one['error']['test']}" for one in run["failures"]]
    requests, checks = (run["stats"][kind]["total"] for kind in ("requests", "assertions"))
    assert (requests % times, checks % times) == (0, 0)
    return [Run(status, requests // times, checks // times, failures)] * times


def bru(collection: plan.Collection, folder: Path, url: str, damage: Damage, times: int) -> list[Run]:
    """Not in the sandbox that people get by default, which takes a third of a second for each request."""
    write(folder, bruno.render(collection), damage)
    return _bru(folder, url, "developer", times)


def _bru(folder: Path, url: str, sandbox: str, times: int) -> list[Run]:
    given = ("--env", "simulator", "--env-var", f"base_url={url}", "--sandbox", sandbox, "--noproxy")
    status, _ = tool(folder, "bru", "run", *given, "--iteration-count", str(times), "--reporter-json", "run.json")
    runs = json.loads((folder / "run.json").read_text())
    assert len(runs) == times
    return [_of_bru(status, run["results"]) for run in runs]


def _of_bru(status: int, results: list[dict[str, Any]]) -> Run:
    assert [one["error"] for one in results if one["error"]] == []
    checks = [(one["name"], check) for one in results for check in one["testResults"]]
    failures = [f"{name}: {check['description']}" for name, check in checks if check["status"] != "pass"]
    return Run(status, len(results), len(checks), failures)


def httpyac(collection: plan.Collection, folder: Path, url: str, damage: Damage, times: int) -> list[Run]:
    files = http.render(collection)
    write(folder, files | {"package.json": "{}"}, damage)
    (file,) = (name for name in files if name.endswith(".http"))
    return [_httpyac(folder, file, url) for _ in range(times)]


def _httpyac(folder: Path, file: str, url: str) -> Run:
    given = ("--env", "simulator", "--var", f"base_url={url}")
    status, out = tool(folder, "httpyac", "send", file, "--all", "--json", *given)
    requests = json.loads(out)["requests"]
    checks = [(one["title"].partition(": ")[2], check) for one in requests for check in one["testResults"]]
    failures = [f"{name}: {check['message']}" for name, check in checks if check["status"] != "SUCCESS"]
    return Run(status, len(requests), len(checks), failures)


TOOLS = {"postman": newman, "bruno": bru, "http": httpyac}


@pytest.mark.slow
@pytest.mark.parametrize("name", COLLECTIONS)
@pytest.mark.parametrize("form", TOOLS)
def test_every_check_of_all_requests_holds_twice_in_a_row(form: str, name: str, url: str, tmp_path: Path) -> None:
    collection = COLLECTIONS[name]
    requests = [*collection.requests]
    checks = sum(1 + len(one.checks) for one in requests)
    for run in TOOLS[form](collection, tmp_path, url, lambda text: text, times=2):
        assert run == Run(0, len(requests), checks, [])


@pytest.mark.slow
def test_brunos_default_sandbox_signs_and_remembers(url: str, tmp_path: Path) -> None:
    start = COLLECTIONS[OPENAPI].folders[0]
    part = replace(start, requests=(*start.requests[1:3], start.requests[-1]))
    write(tmp_path, bruno.render(replace(COLLECTIONS[OPENAPI], folders=(part,))), lambda text: text)
    (run,) = _bru(tmp_path, url, "safe", times=1)
    assert (run.status, run.requests, run.failures) == (0, len(part.requests), [])


@pytest.mark.slow
@pytest.mark.parametrize("form", TOOLS)
def test_a_script_that_signs_something_else_fails_every_request(form: str, url: str, tmp_path: Path) -> None:
    start = COLLECTIONS[OPENAPI].folders[0]
    requests = (start.requests[0], start.requests[1], start.requests[-1])
    walkthrough = replace(COLLECTIONS[OPENAPI], folders=(replace(start, requests=requests),))
    (run,) = TOOLS[form](walkthrough, tmp_path, url, lambda text: text.replace("`v1:$", "`v2:$"), times=1)
    assert run.status != 0
    *signed, refused = walkthrough.requests
    failed = {each.partition(": ")[0] for each in run.failures}
    assert failed == {one.name for one in signed} - {refused.name}


@pytest.mark.slow
@pytest.mark.parametrize("form", TOOLS)
def test_odd_bytes_are_signed_as_they_are_sent(form: str, url: str, tmp_path: Path) -> None:
    """Unsorted and repeated parameters, empty ones, what is percent-encoded, variables, and bodies beyond ASCII."""
    typed = "a%20b" if form == "http" else "a b\"é'<"  # the .http file sends an address as it is written
    collection = COLLECTIONS[OPENAPI]
    by_id = {one.id: one for one in collection.requests}
    names = ("zeta", "alpha", "é", "Beta", "alpha", "empty", "beta")
    values = ("1", "x y&z+=%'\"", "ü", "{{typed}}", "0", "", "{{today}}")
    query = tuple(plan.Parameter(name, value).encoded for name, value in zip(names, values, strict=True))
    body = json.loads(by_id["createPayment"].body) | {"remarks": "é \"quoted\" \\ 'single' 😀 {{today}}\n\t<&>"}
    odd = (
        replace(by_id["getBalance"], query=query, statuses=(200,)),
        replace(
            by_id["createPayment"],
            query=query,
            body=json.dumps(body, indent=3, ensure_ascii=False) + "\n",
            statuses=(200,),
        ),
    )
    made = replace(collection, folders=(plan.Folder("Odd", "", odd),), settings=collection.settings | {"typed": typed})
    (run,) = TOOLS[form](made, tmp_path, url, lambda text: text, times=1)
    assert run == Run(0, 2, 2, [])
