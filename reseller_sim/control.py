"""The control API of a running simulator, as requests and answers."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from reseller_sim.errors import NotRunning, SimulatorError
from reseller_sim.exchange import Unanswered, encoded, exchange

CONTROL_PATH = "/_sim"
TIMEOUT_S = 60.0
PAGE = 1000
HTTP_REDIRECT = 300
HTTP_ERROR = 400
T = TypeVar("T")
Query = Mapping[str, Any]  # without those that are None


class Control:
    """Asks the simulator at `url`, its root, with a bearer `token` where it wants one."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.root = url.rstrip("/").removesuffix(CONTROL_PATH).rstrip("/")
        self.url = self.root + CONTROL_PATH
        self.token = token

    def ask(
        self, method: str, path: str, json: Any = None, *, query: Query | None = None, timeout_s: float = TIMEOUT_S
    ) -> Any:
        """The decoded answer, None for 204. Raises `SimulatorError` for a refusal and `NotRunning`."""
        body = None if json is None else encoded(json)
        return self.send(method, path, body, "application/json", query or {}, timeout_s)

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None,
        content_type: str,
        query: Query,
        timeout_s: float = TIMEOUT_S,
    ) -> Any:
        """The same for a body of any type."""
        headers = {"Content-Type": content_type} if body is not None else {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        asked = urlencode({name: value for name, value in query.items() if value is not None})
        url = f"{self.url}{path}{'?' if asked else ''}{asked}"
        try:
            answer = exchange(method, url, body, headers, timeout_s)
        except Unanswered as error:
            raise self.not_running(error) from None
        try:
            decoded = answer.json() if answer.body else None
        except ValueError:
            raise self.no_simulator(f"{answer.status} without JSON") from None
        if answer.status >= HTTP_ERROR:
            raise _refusal(answer.status, decoded)
        if answer.status >= HTTP_REDIRECT or not isinstance(decoded, dict | None):
            raise self.no_simulator(f"{answer.status}, and not as the control API does")
        return decoded

    def no_simulator(self, answered: str) -> NotRunning:
        """What to say when something else answers."""
        return NotRunning(f"{self.root} answered {answered}: is it a simulator?")

    def member(self, found: Any, name: str, kind: type[T]) -> T:
        """A member of an answer that has to be there. Raises `NotRunning`."""
        value = found.get(name) if isinstance(found, dict) else None
        if not isinstance(value, kind):
            raise self.no_simulator(f"without {name!r}")
        return value

    def not_running(self, reason: Unanswered) -> NotRunning:
        """What to do when nobody answers."""
        return NotRunning(
            f"no simulator answers at {self.root} ({reason}): start one with `reseller-sim serve` or "
            "`Simulator.start()`, or name another address in RESELLER_SIM_URL"
        )

    def pages(self, path: str, member: str, filters: Query) -> Iterator[dict[str, Any]]:
        """Every item of a list, over all of its pages."""
        cursor: Any = None
        while True:
            page = self.ask("GET", path, query={**filters, "limit": PAGE, "cursor": cursor})
            rows = self.member(page, member, list)
            if not all(isinstance(one, dict) for one in rows):
                raise self.no_simulator(f"without {member!r} that are objects")
            yield from rows
            if not self.member(page, "has_more", bool):
                return
            if page.get("cursor") in (None, cursor):
                raise self.no_simulator("the same page again")
            cursor = page["cursor"]


def _refusal(status: int, decoded: Any) -> SimulatorError:
    said = decoded if isinstance(decoded, dict) else {}
    listed = said.get("problems")
    problems = tuple(_problem(one) for one in listed) if isinstance(listed, list) else ()
    code, message = said.get("error", "unknown"), said.get("message", "the control API refused the request")
    return SimulatorError(status, str(code), str(message), str(said.get("path") or ""), problems)


def _problem(one: Any) -> str:
    if not isinstance(one, dict):
        return str(one)
    line = f"line {one['line']}, " if one.get("line") else ""
    return f"{line}{one.get('path', '')}: {one.get('message', '')}"


def sandbox_path(sandbox: str) -> str:
    """The path of a sandbox below `/_sim`."""
    return f"/sandboxes/{quote(sandbox, safe='')}"
