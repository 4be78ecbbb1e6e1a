"""Postman's newman runs both collections against a real server, twice."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from simulator.contract.openapi import CONTROL, OPENAPI, postman_collection
from tests.support.processes import serving
from tests.support.programs import node_command

pytestmark = pytest.mark.slow

DEADLINE_S = 240.0
COLLECTIONS = {name: json.loads(postman_collection(name)) for name in (OPENAPI, CONTROL)}
STATUSES = (0, 1)  # of a run of all requests, whether or not their checks held


Damage = Callable[[str], str]


@dataclass(frozen=True)
class Run:
    """Return a tool's report: its exit code, the numbers of requests and checks, and the failed checks."""

    status: int
    requests: int
    checks: int
    failures: list[str]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving("--port", "0", "--json") as server:
        yield server.ready["url"]


def newman(whole: dict[str, Any], folder: Path, url: str, damage: Damage, times: int) -> Run:
    """Run a collection several times in a process; the numbers are per run."""
    (folder / "collection.json").write_text(damage(json.dumps(whole)))
    report = ("--reporters", "json", "--reporter-json-export", "run.json")
    done = subprocess.run(
        [node_command("newman"), "run", "collection.json", "--env-var", f"base_url={url}", "-n", str(times), *report],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "CI": "1"},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode in STATUSES, done.stdout + done.stderr
    run = json.loads((folder / "run.json").read_text())["run"]
    failures = [f"{one['source'].get('name')}: {one['error']['test']}" for one in run["failures"]]
    requests, checks = (run["stats"][kind]["total"] for kind in ("requests", "assertions"))
    assert (requests % times, checks % times) == (0, 0)
    return Run(done.returncode, requests // times, checks // times, failures)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_every_check_of_all_requests_holds_twice_in_a_row(name: str, url: str, tmp_path: Path) -> None:
    whole = COLLECTIONS[name]
    requests = [item for folder in whole["item"] for item in folder["item"]]
    checks = json.dumps(requests).count("check(\\")
    assert newman(whole, tmp_path, url, lambda text: text, times=2) == Run(0, len(requests), checks, [])


def test_a_script_that_signs_something_else_fails_every_request(url: str, tmp_path: Path) -> None:
    start = COLLECTIONS[OPENAPI]["item"][0]
    items = [start["item"][0], start["item"][1], start["item"][-1]]
    walkthrough = COLLECTIONS[OPENAPI] | {"item": [start | {"item": items}]}
    run = newman(walkthrough, tmp_path, url, lambda text: text.replace("`v1:$", "`v2:$"), times=1)
    assert run.status != 0
    *signed, refused = items
    failed = {each.partition(": ")[0] for each in run.failures}
    assert failed == {item["name"] for item in signed} - {refused["name"]}


def test_odd_bytes_are_signed_in_their_sent_form(url: str, tmp_path: Path) -> None:
    """Unsorted and repeated parameters, empty ones, what is percent-encoded, variables, and bodies beyond ASCII."""
    typed = "a b\"é'<"
    names = ("zeta", "alpha", "é", "Beta", "alpha", "empty", "beta")
    values = ("1", "x y&z+=%'\"", "ü", "{{typed}}", "0", "", "{{today}}")
    pairs = [(quote(name), quote(value, safe="{}:/,")) for name, value in zip(names, values, strict=True)]
    query = [{"key": name, "value": value} for name, value in pairs]
    raw = "&".join(f"{name}={value}" for name, value in pairs)
    odd = []
    for item in COLLECTIONS[OPENAPI]["item"][0]["item"][:2]:
        request = json.loads(json.dumps(item["request"]))
        request["url"] |= {"raw": f"{request['url']['raw']}?{raw}", "query": query}
        if "body" in request:
            body = json.loads(request["body"]["raw"])
            body |= {"remarks": "é \"quoted\" \\ 'single' 😀 {{today}}\n\t<&>"}
            request["body"]["raw"] = json.dumps(body, indent=3, ensure_ascii=False) + "\n"
        script = ['pm.test("the status is 200", () => pm.expect(pm.response.code).to.equal(200));']
        test = {"listen": "test", "script": {"type": "text/javascript", "exec": script}}
        odd.append(item | {"request": request, "event": [test]})
    variables = [*COLLECTIONS[OPENAPI]["variable"], {"key": "typed", "value": typed, "type": "string"}]
    made = COLLECTIONS[OPENAPI] | {"item": [{"name": "Odd", "item": odd}], "variable": variables}
    run = newman(made, tmp_path, url, lambda text: text, times=1)
    assert run == Run(0, 2, 2, [])
