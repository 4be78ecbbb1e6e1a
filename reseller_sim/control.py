"""The control API of a running simulator, as requests and answers."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from reseller_sim.decoding import Row, decoded
from reseller_sim.errors import NotRunning, SimulatorError, WrongAnswer
from reseller_sim.exchange import Answer, Malformed, Unanswered, encoded, exchange
from reseller_sim.printable import shortened

CONTROL_PATH = "/_sim"
TIMEOUT_S = 60.0
PAGE = 1000
PAGES_MAX = 10_000
PROBLEMS_MAX = 1000
HTTP_NO_CONTENT = 204
HTTP_REDIRECT = 300
HTTP_ERROR = 400
HTTP_UNAUTHORIZED = 401
WHERE_TO_AUTHORIZE = "; give the control API's token as `token`, or without a URL in RESELLER_SIM_TOKEN"
Query = Mapping[str, str | int | float | bool | None]  # without those that are None


class Control:
    """Asks the simulator at `url`, its root, with a bearer `token` where it wants one."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.root = url.rstrip("/").removesuffix(CONTROL_PATH).rstrip("/")
        self.url = self.root + CONTROL_PATH
        self.token = token

    def ask(
        self,
        method: str,
        path: str,
        json: Any = None,
        *,
        query: Query | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> Any:
        """The decoded answer, None for 204. Raises `SimulatorError` for a refusal, `NotRunning` when nobody answers and
        `WrongAnswer` for what the control API would not."""
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
        asked = urlencode({name: _written(value) for name, value in query.items() if value is not None})
        url = f"{self.url}{path}{'?' if asked else ''}{asked}"
        try:
            answer = exchange(method, url, body, headers, timeout_s)
        except Malformed as error:
            raise wrong_answer(method, self.url + path, shortened(str(error))) from None
        except Unanswered as error:
            raise self.not_running(error) from None
        return _decoded(method, self.url + path, answer)

    def not_running(self, reason: Unanswered) -> NotRunning:
        """What to do when nobody answers."""
        return NotRunning(
            f"no simulator answers at {self.root} ({reason}): start one with `reseller-sim serve` or "
            "`Simulator.start()`, or name another address in RESELLER_SIM_URL"
        )

    def pages(self, path: str, member: str, filters: Query) -> Iterator[dict[str, Any]]:
        """Every item of a list, over all of its pages."""
        cursor: Any = None
        for _ in range(PAGES_MAX):
            query = {**filters, "limit": PAGE, "cursor": cursor}
            page = self.ask("GET", path, query=query)
            yield from page[member]
            if not page["has_more"]:
                return
            if page.get("cursor") in (None, cursor) or not page[member]:
                raise wrong_answer("GET", self.url + path, "it has more, but the same page again")
            cursor = page["cursor"]
        raise wrong_answer("GET", self.url + path, f"it has more than {PAGES_MAX} pages")


def _written(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def wrong_answer(method: str, url: str, wrong: str) -> WrongAnswer:
    """What to say when something else answers."""
    return WrongAnswer(f"{method} {url} was not answered as by a simulator of this version: {wrong}")


def _decoded(method: str, url: str, answer: Answer) -> Any:
    try:
        found = decoded(answer.body, Row) if answer.body else None
    except ValueError:
        raise wrong_answer(method, url, f"{answer.status} without JSON") from None
    if answer.status >= HTTP_ERROR:
        raise _refusal(answer.status, found)
    if answer.status >= HTTP_REDIRECT or not (isinstance(found, dict) or answer.status == HTTP_NO_CONTENT):
        raise wrong_answer(method, url, f"{answer.status}, and not with an object")
    return found


def _refusal(status: int, decoded: Any) -> SimulatorError:
    said = decoded if isinstance(decoded, dict) else {}
    listed = said.get("problems")
    problems = tuple(_problem(one) for one in listed[:PROBLEMS_MAX]) if isinstance(listed, list) else ()
    code, message = said.get("error", "unknown"), said.get("message", "the control API refused the request")
    hint = WHERE_TO_AUTHORIZE if status == HTTP_UNAUTHORIZED else ""
    return SimulatorError(
        status, shortened(code), shortened(message) + hint, shortened(said.get("path") or ""), problems
    )


def _problem(one: Any) -> str:
    if not isinstance(one, dict):
        return shortened(one)
    line = f"line {shortened(one['line'])}, " if one.get("line") else ""
    return f"{line}{shortened(one.get('path', ''))}: {shortened(one.get('message', ''))}"


def below(path: str, *names: str) -> str:
    """A path with more parts, which are names."""
    return "/".join([path, *(quote(name, safe="") for name in names)])


def sandbox_path(sandbox: str) -> str:
    """The path of a sandbox below `/_sim`."""
    return below("/sandboxes", sandbox)
