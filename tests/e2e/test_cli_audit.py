"""`audit` and `exec --audit` as real processes: what they print, write, and exit with."""

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.support.processes import Done, run, serving

pytestmark = pytest.mark.slow

# Sends GET requests, or a form after the path; a refusal is no error.
SEND = """
import os, sys, urllib.error, urllib.request
for line in sys.argv[2:]:
    path, _, form = line.partition(" ")
    try:
        urllib.request.urlopen(os.environ["RESELLER_BASE_URL"] + path, form.encode() or None)
    except urllib.error.HTTPError:
        pass
sys.exit(int(sys.argv[1]))
"""
LOGIN = "/v2/token username=test_user_RS001&password=wrong"
FOUND = "request 2 sends the credentials that 1 was refused for"


def executed(*flags: str, sends: tuple[str, ...], status: int = 0, audit: str = "") -> Done:
    """`exec` with a command that sends these; `audit` is the variable of the flag."""
    command = (sys.executable, "-c", SEND, str(status), *sends)
    return run("exec", *flags, "--", *command, RESELLER_SIM_AUDIT=audit)


def test_exec_fails_for_a_violation_and_reports_it(tmp_path: Path) -> None:
    files = (
        "--junit",
        str(tmp_path / "r.xml"),
        "--json-report",
        str(tmp_path / "r.json"),
        "--report",
        str(tmp_path / "r"),
    )
    done = executed("--audit", *files, sends=(LOGIN, LOGIN))
    assert done.status == 1
    place = "sandbox default, audit: refused-login-not-retried"
    assert f"reseller-sim exec: not as expected: {place}: SPEC 4.2: {FOUND}\n" in done.err
    assert "reseller-sim exec:   do: Stop after a 401" in done.err
    root = ET.fromstring((tmp_path / "r.xml").read_bytes())  # noqa: S314  # written by us
    [suite] = root.iter("testsuite")
    assert (suite.get("name"), suite.get("failures")) == ("sandbox default, audit", "1")
    assert len(list(suite.iter("testcase"))) >= 25
    assert len(list(suite.iter("skipped"))) > 10
    [made] = json.loads((tmp_path / "r.json").read_text())["suites"]
    assert [one["message"] for one in made["cases"] if not one["ok"]] == [f"SPEC 4.2: {FOUND}"]
    page = (tmp_path / "r" / "index.html").read_text()
    assert "<h3>Audit</h3>" in page
    counts = r"audit: \d+ met, 1 violated, \d+ warnings?, \d+ not exercised, 1 sandbox"
    assert re.search(rf"nothing was expected; {counts}; the command exited with 0; scenario default", page)
    assert f"reseller-sim exec: report: {tmp_path}/r/index.html\n" in done.err
    assert FOUND in page


def test_exec_succeeds_with_a_warning_and_prints_it() -> None:
    done = executed(sends=("/v2/product-list",), audit="1")
    assert (done.status, done.out) == (0, "")
    place = "sandbox default, audit: no-deprecated-endpoints"
    assert done.err.startswith(f"reseller-sim exec: warning: {place}: SPEC 9: request 1 is GET /v2/product-list\n")


def test_exec_counts_the_obligations_on_one_line() -> None:
    done = executed("--audit", sends=("/v2/balance",))
    [line] = done.err.splitlines()
    assert re.fullmatch(r"reseller-sim exec: audit: \d+ met, 0 violated, \d+ not exercised, 1 sandbox", line)
    done = executed("--audit", sends=("/v2/product-list", LOGIN, LOGIN))
    last = done.err.splitlines()[-1]
    assert re.fullmatch(r"reseller-sim exec: audit: \d+ met, 1 violated, 1 warning, \d+ not exercised, 1 sandbox", last)


def test_an_audit_without_requests_fails_and_says_so(tmp_path: Path) -> None:
    files = (
        "--junit",
        str(tmp_path / "r.xml"),
        "--json-report",
        str(tmp_path / "r.json"),
        "--report",
        str(tmp_path / "r"),
    )
    done = executed("--audit", *files, sends=())
    assert done.status == 1
    text = f"{NOTHING}; does your client send to RESELLER_BASE_URL, and to the paths of the service?"
    assert f"reseller-sim exec: not as expected: audit: {text}\n" in done.err
    assert done.err.count(text) == 1
    root = ET.fromstring((tmp_path / "r.xml").read_bytes())  # noqa: S314  # written by us
    assert [suite.get("failures") for suite in root.iter("testsuite") if suite.get("name") == "audit"] == ["1"]
    made = json.loads((tmp_path / "r.json").read_text())
    assert [one["message"] for suite in made["suites"] for one in suite["cases"] if not one["ok"]] == [text]
    assert f"audit: {text}" in (tmp_path / "r" / "index.html").read_text()
    assert executed("--audit", sends=(), status=7).status == 7


@pytest.mark.parametrize("path", ["/v9/balance", "/s/nobody/v2/balance", "/"])
def test_an_audit_of_requests_that_reach_no_endpoint_fails_and_says_so(path: str) -> None:
    done = executed("--audit", sends=(path, path))
    assert done.status == 1
    [line] = done.err.splitlines()
    assert line.startswith(f"reseller-sim exec: not as expected: audit: {NOTHING}; does your client send to ")
    mixed = executed("--audit", sends=(path, "/v2/balance"))
    assert (mixed.status, ", 0 violated, " in mixed.err) == (0, True)


NOTHING = "nothing was judged: no request reached an endpoint of a judged sandbox"
SINNERS = """
import pytest

def sin(sandbox):
    order = {"refid": "order-7", "product": "RELOAD", "account": "0123456789", "amount": 10}
    sandbox.call("POST", "/v2/topup", order)
    sandbox.call("POST", "/v2/topup", order | {"amount": 20})

@pytest.mark.scenario(audit=False)
def test_on_purpose(sandbox): sin(sandbox)

@pytest.mark.scenario("extends: default\\npayments: []", audit=False)
def test_on_purpose_in_yaml(sandbox): sin(sandbox)

def test_by_mistake(sandbox): sin(sandbox)
"""


def test_exec_skips_sandboxes_that_a_mark_of_the_plugin_excludes(tmp_path: Path) -> None:
    (tmp_path / "test_sinners.py").write_text(SINNERS)
    pytest_ = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path))
    all_three = run("exec", "--audit", "--", *pytest_)
    assert all_three.status == 1
    assert {name.partition("-")[0] for name in re.findall(r"sandbox test-([a-z-]+)", all_three.err)} == {"by"}
    assert all_three.err.rstrip().endswith("1 sandbox, 2 passed over (audit: false)")


def test_an_exec_that_skips_all_sandboxes_has_audited_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_sinners.py").write_text(SINNERS)
    pytest_ = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path))
    done = run("exec", "--audit", "--", *pytest_, "-k", "purpose")
    assert done.status == 1
    [line] = done.err.splitlines()
    text = f"{NOTHING}, 2 passed over (audit: false); does your client"
    assert line.startswith(f"reseller-sim exec: not as expected: audit: {text}")


def test_exec_prints_no_audit_without_the_flag() -> None:
    assert executed(sends=(LOGIN, LOGIN)).err == ""


def test_the_status_of_the_command_comes_first() -> None:
    assert executed("--audit", sends=(LOGIN, LOGIN), status=7).status == 7


def test_the_verb_asks_a_running_server(tmp_path: Path) -> None:
    with serving("--port", "0", "--json", "--control-token", "secret-token") as server:
        url = server.ready["url"]
        here = ("--url", f"{url}/_sim", "--token", "secret-token")
        empty = run("audit", "--junit", str(tmp_path / "e.xml"), "--json", *here)
        run("call", "GET", "/v2/balance", "--url", url)
        clean = run("audit", RESELLER_SIM_URL=f"{url}/_sim", RESELLER_SIM_CONTROL_TOKEN="secret-token")
        named = run("audit", RESELLER_SIM_URL=url, RESELLER_SIM_TOKEN="secret-token", RESELLER_SIM_CONTROL_TOKEN="x")
        for _ in range(2):
            run("call", "POST", "/v2/token", "-d", json.dumps({"username": "a", "password": "wrong"}), "--url", url)
        found = run("audit", "--junit", str(tmp_path / "a.xml"), *here)
        as_json = run("audit", "--json", *here)
        refused = run("audit", "--url", url)
        missing = run("audit", "--sandbox", "no/such", *here)
    assert (clean.status, clean.err) == (named.status, named.err) == (0, "")
    assert ", 0 violated, " in clean.out
    assert (empty.status, json.loads(empty.out)["ok"]) == (1, True)
    assert empty.err.startswith("reseller-sim audit: nothing was judged: no request to the sandbox default reached an ")
    assert 'name="a request reached an endpoint"' in (tmp_path / "e.xml").read_text()
    assert (found.status, found.err) == (1, "")
    assert "\nVIOLATED  4.2   refused-login-not-retried:" in found.out
    assert "\n            request 3 sends the credentials that 2 was refused for\n" in found.out
    assert 'failures="1"' in (tmp_path / "a.xml").read_text()
    assert as_json.status == 1
    states = {one["id"]: one["state"] for one in json.loads(as_json.out)["obligations"]}
    assert states["refused-login-not-retried"] == "violated"
    assert (refused.status, missing.status) == (3, 3)
    assert "401" in refused.only_error_line
    assert "missing; give the control API's token with --token or RESELLER_SIM_TOKEN" in refused.only_error_line
    assert "404" in missing.only_error_line


def test_the_verb_reports_unreachable_and_unusable_input() -> None:
    assert "does not answer" in run("audit", "--url", "http://127.0.0.1:1").only_error_line
    wrong = run("audit", "--url", "nonsense")
    assert wrong.status == 2
    assert "is not an http or https URL" in wrong.err
