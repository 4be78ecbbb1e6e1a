"""The control API of a running simulator: requests, answers, and errors."""

import json as jsons
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from reseller_sim.exchange import Answer, TlsFailed, Trust, Unanswered, encoded, exchange

__tracebackhide__ = True  # pytest shows the line of the test
CONTROL_PATH = "/_sim"
TIMEOUT_S = 60.0
PAGE = 1000
SHOWN_CHARS = 200
REDIRECT = 300
REFUSED = 400
UNAUTHORIZED = 401
WHERE_TO_AUTHORIZE = "; give the control API's token as `token`, or without a URL in RESELLER_SIM_TOKEN"
Query = Mapping[str, str | int | float | bool | None]  # without None values


@dataclass(eq=False)
class SimulatorError(Exception):
    """The control API refused a request. `status` is the HTTP status, `code` the error code, and `message` a sentence.
    `path` is the member of the request at fault, or empty. `problems` has a line for each problem of a scenario or a
    rule."""

    status: int
    code: str
    message: str
    path: str = ""
    problems: tuple[str, ...] = ()

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return f"{self.problems[0]} ({self.status} {self.code})"
        at = f", at {self.path}" if self.path else ""
        return "\n  ".join([f"{self.message} ({self.status} {self.code}{at})", *self.problems])


class NotRunning(ConnectionError):
    """No simulator answers at the address. The text says which program to start; `reason` is the cause."""

    def __init__(self, message: str, reason: Unanswered | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class WrongAnswer(NotRunning):
    """Another program answers at the address. The text describes the answer."""


class NotStarted(Exception):
    """`Simulator.start` failed. The text has the process's output on stderr."""


class NotIdle(AssertionError):
    """The sandbox never becomes idle. The text says why; `report` is the result of `advance`."""

    def __init__(self, message: str, report: dict[str, Any]) -> None:
        super().__init__(message)
        self.report = report


class NoAnswer(ConnectionError):
    """A signed request got no complete response, so its outcome is unknown."""


class Control:
    """Asks the simulator at `url`, its root, with a bearer `token` where it wants one. With https, `trust` says which
    certificates are accepted."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.root = url.rstrip("/").removesuffix(CONTROL_PATH).rstrip("/")
        self.url = self.root + CONTROL_PATH
        self.token = token
        self.trust: Trust | None = None

    def ask(
        self, method: str, path: str, json: Any = None, *, query: Query | None = None, timeout_s: float = TIMEOUT_S
    ) -> Any:
        """Send a value as JSON, a text as YAML, bytes unchanged. Return the decoded answer, None for 204. Raises
        `SimulatorError` for a refusal, `NotRunning` without an answer, and `WrongAnswer` when another server
        answers."""
        body, kind = _body(json)
        headers = {"Content-Type": kind} if body else {}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        sent = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in given(**query or {}).items()
        }
        url = self.url + path + ("?" if sent else "") + urlencode(sent, errors="surrogateescape")
        try:
            answer = exchange(method, url, body, headers, timeout_s, self.trust)
        except Unanswered as error:
            raise self.not_running(error) from None
        return decoded(f"{method} {self.url}{path}", answer)

    def not_running(self, reason: Unanswered) -> NotRunning:
        """Return the error with advice."""
        if isinstance(reason, TlsFailed):
            return NotRunning(f"{self.root} cannot be used: {reason}", reason)
        start = "start one with `reseller-sim serve` or `Simulator.start()`"
        where = "or name another address in RESELLER_SIM_URL"
        return NotRunning(f"no simulator answers at {self.root} ({reason}): {start}, {where}", reason)


def pages(ask: Callable[..., Any], path: str, member: str, filters: Query) -> Iterator[dict[str, Any]]:
    """Yield every item of a list page by page, as they are consumed, by `Control.ask` or a function like it."""
    cursor = None
    while True:
        page = ask("GET", path, query={"limit": PAGE, **filters, "cursor": cursor})
        yield from page[member]
        if not page["has_more"] or page["cursor"] == cursor:
            return
        cursor = page["cursor"]


def _body(value: Any) -> tuple[bytes | None, str]:
    """Return the encoded body and its media type."""
    if isinstance(value, bytes):
        return value, "application/octet-stream"
    if isinstance(value, str):
        return value.encode(), "application/yaml"
    return None if value is None else encoded(value), "application/json"


def decoded(request: str, answer: Answer) -> Any:
    """Return the answer decoded from JSON; None without a body. Raises the errors of `Control.ask`."""
    try:
        found = jsons.loads(answer.body or b"{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or (answer.status >= REDIRECT and not {"error", "message"} <= found.keys()):
        said = f"{answer.status} {answer.text[:SHOWN_CHARS]!r}"
        raise WrongAnswer(f"{request} was answered with {said}: is it a simulator?")
    if answer.status >= REDIRECT:
        message = str(found["message"])
        if answer.status == UNAUTHORIZED:  # the message tells of headers, which the client sends
            message = message.partition(": send ")[0] + WHERE_TO_AUTHORIZE
        problems = tuple(f"{_place(one)}{one['message']}" for one in found.get("problems") or ())
        raise SimulatorError(answer.status, found["error"], message, found.get("path") or "", problems)
    return found if answer.body else None


def _place(problem: dict[str, Any]) -> str:
    """Return the place of a problem and the key as the beginning of a line, as `check` prints them for a file."""
    key = f"{problem['path']}: " if problem["path"] else ""
    if not problem.get("line"):
        return key
    file = problem.get("file")
    return f"{file}:{problem['line']}:{problem['column']}, {key}" if file else f"line {problem['line']}, {key}"


def given(**values: Any) -> dict[str, Any]:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def below(path: str, *names: str) -> str:
    """Return a path with more parts, which are names."""
    return "/".join([path, *(quote(name, safe="") for name in names)])
