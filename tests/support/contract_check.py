"""Any answer of the simulator held against the contract that covers its path."""

from collections.abc import Mapping

from simulator.contract.openapi import CONTROL, OPENAPI
from simulator.contract.responses import MISTAKE
from tests.support.contract_responses import response_problems

CONTROL_PREFIX = "/_sim"
PAGES = ("/_sim", "/_sim/", "/_sim/docs")
BELOW_PAGES = ("/_sim/docs/", "/_sim/console/", "/_sim/s/", "/_sim/ui/")
INBOX_PREFIX = "/_sim/inbox/"
SANDBOX_PREFIX = "/s/"

# Answers that a fault has damaged are checked only for statuses whose damage the contract describes.
FAULTS_IN_CONTRACT = (401, 503, 504)


def assert_in_contract(
    method: str,
    path: str,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    mistakes_are_tested: bool = False,
) -> None:
    """Fail when an answer is not what `contracts/openapi.yaml` or `contracts/control.yaml` describes, and when it is
    about a mistake of ours, unless the test made one.

    `path` is as it was sent, a query and the prefix of a sandbox's address included. Not judged are connections that
    ended without an answer (status 0), what an inbox answers a sender, answers that a fault scripted, and files of web
    pages.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    path = path.partition("?")[0]
    if status == 0 or path.startswith(INBOX_PREFIX) or _is_scripted(status, lower) or _is_of_a_page(path, status):
        return
    document = CONTROL if is_of_control(path) else OPENAPI
    if path.startswith(SANDBOX_PREFIX):
        path = "/" + path.removeprefix(SANDBOX_PREFIX).partition("/")[2]
    content_type = lower.get("content-type", "")
    problems = response_problems(document, method, path, status, content_type, body, lower)
    if status == MISTAKE and not mistakes_are_tested:
        problems.append("a mistake of ours")
    assert not problems, f"{method} {path} answered {status} outside the contract: {'; '.join(problems)}"


def _is_of_a_page(path: str, status: int) -> bool:
    if path == "/":
        return status == 303  # a browser's way to the console
    return status in (200, 304, 307) and (path in PAGES or path.startswith(BELOW_PAGES))


def is_of_control(path: str) -> bool:
    """True for a path, without its query, that the control API's contract describes."""
    return path == "/openapi.json" or (path.startswith(CONTROL_PREFIX) and path[len(CONTROL_PREFIX) :][:1] in ("", "/"))


def _is_scripted(status: int, headers: Mapping[str, str]) -> bool:
    """Payment rules decide what is answered with 200; a rule beside another status is a fault. The page of a gateway is
    one with any status."""
    is_page = headers.get("content-type", "").startswith("text/html")
    return "x-sim-rule" in headers and status >= 400 and (status not in FAULTS_IN_CONTRACT or is_page)
