"""Asks the control API of a running simulator, and reads its events; what it answers is bounded in size and in time."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from time import monotonic, sleep
from typing import Any, NoReturn
from urllib.parse import quote, urlencode, urlsplit

import click
from click.core import ParameterSource

from reseller_sim.exchange import Connection, Unanswered, exchange
from reseller_sim.parameters import is_url
from simulator.cli.output import one_line, print_to_stderr
from simulator.cli.usage import CannotStart, Refused
from simulator.options import CONTROL_PATH, DEFAULT_PORT, LOOPBACK

SANDBOX_PREFIX = "/s/"
DEFAULT_URL = f"http://{LOOPBACK}:{DEFAULT_PORT}"
TIMEOUT_S = 60.0
LOCKED = (401, 403)
NO_SANDBOX = "unknown_sandbox"
NO_PATH = "unknown_path"
NOT_READY = ("starting", "rebuilding", "draining", "stopping")
JSON_TYPE = "application/json"
PAGE_ROWS = 1000
PROBLEMS_MAX = 3


@dataclass(frozen=True, slots=True)
class Control:
    """The control API at `url`, which may end in `/_sim` and by default is that of port 8080, for one sandbox.

    Each method takes a path below the sandbox, or with `is_root` below `/_sim`, and returns the decoded answer, None
    when it has no body. `answers` is the schema that an answer must have. They raise `Refused` when the simulator
    refuses, and `CannotStart` for anything that is no answer of a simulator; an unusable URL is a usage error. With
    https, `certificate` is the file of its own certificate, when that is known.
    """

    verb: str
    url: str | None
    sandbox: str
    control_token: str | None
    certificate: str | None = None

    @property
    def base(self) -> str:
        """The simulator's address, without `/_sim`."""
        return (self.url or DEFAULT_URL).rstrip("/").removesuffix(CONTROL_PATH)

    def get(
        self,
        path: str,
        answers: str,
        *,
        is_root: bool = False,
        query: Mapping[str, object] | None = None,
        timeout_s: float | None = None,
    ) -> Any:
        """`GET`."""
        target = f"{path}?{urlencode(query, errors='surrogateescape')}" if query else path
        return self._ask("GET", target, None, answers, is_root=is_root, timeout_s=timeout_s)

    def post(
        self, path: str, body: Mapping[str, Any], answers: str, *, is_root: bool = False, timeout_s: float | None = None
    ) -> Any:
        """`POST` with a JSON body."""
        return self._ask("POST", path, body, answers, is_root=is_root, timeout_s=timeout_s)

    def put(self, path: str, body: Mapping[str, Any], answers: str) -> Any:
        """`PUT` with a JSON body."""
        return self._ask("PUT", path, body, answers)

    def patch(self, path: str, body: Mapping[str, Any], answers: str) -> Any:
        """`PATCH` with a JSON body."""
        return self._ask("PATCH", path, body, answers)

    def delete(self, path: str, answers: str = "") -> Any:
        """`DELETE`, whose answer is empty unless `answers` names a schema."""
        return self._ask("DELETE", path, None, answers)

    def rows(self, path: str, name: str, answers: str, query: Mapping[str, object] | None = None) -> Iterator[Any]:
        """The rows of a list, page by page as they are asked for; `name` is the member that has them."""
        asked = {"limit": PAGE_ROWS, **(query or {})}
        while True:
            page = self.get(path, answers, query=asked)
            yield from page[name]
            if not page["has_more"] or page["cursor"] == asked.get("cursor"):
                return
            asked["cursor"] = page["cursor"]

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        answers: str,
        *,
        is_root: bool = False,
        timeout_s: float | None = None,
    ) -> Any:
        below = path if is_root else sandbox_path(self.sandbox) + path
        limit_s = TIMEOUT_S if timeout_s is None else timeout_s
        status, raw = self._exchange(method, path_before(self.base) + CONTROL_PATH + below, body, limit_s)
        if status == 204 and not raw:
            return None
        answer = self._decoded(status, raw)
        if not 200 <= status < 300:
            raise self._refusal(status, answer)
        if not answers:
            raise self._useless(f"answered {status} where a simulator answers 204")
        if not _has_shape(answers, answer):
            raise self._useless(f"answered {status} with something that is no {answers.replace('-', ' ')}")
        return answer

    def _decoded(self, status: int, raw: bytes) -> Any:
        import msgspec

        try:
            return msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise self._useless(f"answered {status} without JSON: is it a simulator?") from None

    def _refusal(self, status: int, answer: Any) -> click.ClickException:
        """Why a simulator did not do it: a simulator or a sandbox that cannot be used is as if there were none."""
        fields = answer if isinstance(answer, dict) else {}
        code, said = str(fields.get("error", "")), str(fields.get("message", ""))
        if code == NO_SANDBOX or (code == NO_PATH and self._is_odd()):
            return self._useless(f"answered {status}: there is no sandbox {self.sandbox!r}{_where_named()}")
        if code in NOT_READY and said:
            return Refused(one_line(f"{self.verb}: {self.base}: {said}"), code)
        if status in LOCKED or status >= 500 or not (code and said):
            hint = "; give the control API's token with --token or RESELLER_SIM_TOKEN" if status == 401 else ""
            return self._useless(f"answered {status}: {said}{hint}")
        return Refused(one_line(f"{self.verb}: {_problems(fields) or said}"), code)

    def _is_odd(self) -> bool:
        """True for an id that no sandbox can have: a path with it is none of the control API's."""
        return path_part(self.sandbox) != self.sandbox

    def _useless(self, what: str) -> CannotStart:
        return CannotStart(one_line(f"{self.verb}: {self.base} {what}"))

    def _exchange(self, method: str, path: str, body: Mapping[str, Any] | None, timeout_s: float) -> tuple[int, bytes]:
        content = None if body is None else _encoded(body)
        headers = {"Authorization": f"Bearer {self.control_token}"} if self.control_token else {}
        headers |= {"Content-Type": JSON_TYPE} if content is not None else {}
        if not is_url(self.base):
            text = f"{self.base!r} is no http or https URL, such as {DEFAULT_URL}"
            raise click.UsageError(text, click.get_current_context())
        parts = urlsplit(self.base)
        url = f"{parts.scheme}://{parts.netloc}{path}"
        try:
            answer = exchange(method, url, content, headers, timeout_s, self.certificate or "")
        except Unanswered as error:
            if isinstance(error.__cause__, TimeoutError):
                raise self._useless(f"did not answer within {timeout_s:g} seconds") from None
            hint = "start `reseller-sim serve`, or name another address with --url"
            raise self._useless(f"does not answer ({error}): {hint}") from None
        return answer.status, answer.body


def path_before(base: str) -> str:
    """What a proxy has before our paths, of a simulator's address; empty for one without. What follows `/s/`, the part
    of the address of a sandbox, is none of it."""
    try:
        return quote(urlsplit(base).path.rstrip("/").partition(SANDBOX_PREFIX)[0], safe="/%")
    except ValueError:
        return ""  # it is no address, as whoever connects says


def sandbox_path(sandbox: str) -> str:
    """The path of a sandbox below `/_sim`."""
    return f"/sandboxes/{path_part(sandbox)}"


def path_part(text: str) -> str:
    """A text as one segment of a path."""
    return quote(text, safe="", errors="surrogateescape")


def _where_named() -> str:
    """Which variable named the sandbox, if one did, and how to find those that exist."""
    context = click.get_current_context()
    is_variable = context.get_parameter_source("sandbox") is ParameterSource.ENVIRONMENT
    variable = ", which RESELLER_SIM_SANDBOX names" if is_variable and "ids" not in context.params else ""
    return f"{variable}: `reseller-sim sandbox list` lists them"


def _encoded(body: Mapping[str, Any]) -> bytes:
    """As JSON; decimals of a scenario keep their digits."""
    from simulator.wire.money import encode

    try:
        return encode(body)
    except UnicodeError:
        raise click.UsageError("an argument is not text in UTF-8", click.get_current_context()) from None


def _has_shape(schema: str, answer: Any) -> bool:
    from simulator.contract.validate import validator

    return validator(schema).is_valid(answer)


def _problems(fields: Mapping[str, Any]) -> str:
    """What is wrong with a refused scenario or rule; empty when the refusal is of another kind."""
    listed = fields.get("problems")
    found = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    texts = [f"{one.get('path') or 'it'}: {one.get('message', '')}" for one in found[:PROBLEMS_MAX]]
    left_out = len(found) - len(texts)
    return "; ".join(texts) + (f"; and {left_out} more" if left_out else "")


Event = dict[str, Any]

SILENCE_S = 40.0
"""A server that says nothing for so long is gone: it sends a comment every 15 seconds."""

PATIENCE_S = 3.0
"""How long a server may be gone, such as one that is being started again."""

PAUSE_S = 0.2
LINE_BYTES_MAX = 4 * 1024 * 1024
FIELDS = frozenset({"id", "data"})
OK = 200
UNAUTHORIZED = 401


class Stream:
    """The events of a simulator, or of one `sandbox`. `verb` is what messages begin with."""

    def __init__(
        self, verb: str, url: str | None, token: str | None, sandbox: str | None, query: Mapping[str, str]
    ) -> None:
        self._verb = verb
        self._sandbox = sandbox
        self._base = (url or DEFAULT_URL).rstrip("/").removesuffix(CONTROL_PATH)
        path = "/events" if sandbox is None else f"/sandboxes/{quote(sandbox, safe='')}/events"
        self._target = path_before(self._base) + CONTROL_PATH + path + ("?" + urlencode(query) if query else "")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._last_id = ""
        self._is_over = False
        self._connection: HTTPConnection

    def events(self, greeting: str = "") -> Iterator[Event]:
        """The events from now on. A stream that was interrupted goes on where it ended. It ends with the sandbox.

        `greeting` is printed to stderr once the first has begun. Raises `CannotStart` when there is no simulator, or no
        more, and for what it refuses."""
        response = self._open()
        if greeting:
            print_to_stderr(greeting)
        while True:
            with closing(self._connection), response:
                yield from self._read(response)
            if self._is_over:
                return
            sleep(PAUSE_S)
            response = self._open_again()

    def _read(self, response: HTTPResponse) -> Iterator[Event]:
        """The events until the connection ends."""
        fields: dict[str, str] = {}
        try:
            while line := response.readline(LINE_BYTES_MAX):
                if text := self._text(line):
                    name, _, value = text.partition(": ")
                    fields |= {name: value} if name in FIELDS else {}
                    continue
                self._last_id = fields.get("id", self._last_id)
                if "data" in fields:
                    event = self._decoded(fields["data"])
                    yield event
                    self._is_over = event.get("action") == "deleted" and "/sandboxes/" in self._target
                fields = {}
        except (HTTPException, OSError):
            return
        except ValueError:  # no chunk of HTTP
            self._refuse()

    def _text(self, line: bytes) -> str:
        """A line without its end. Raises `CannotStart` for one that is too long or has control characters."""
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if len(line) >= LINE_BYTES_MAX or (text.startswith("id") and not (text.isascii() and text.isprintable())):
            self._refuse()
        return text

    def _decoded(self, data: str) -> Event:
        """An event, of the shape that the contract gives it."""
        import msgspec

        from simulator.contract.validate import validator

        try:
            event = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            self._refuse()
        if not validator("event").is_valid(event):
            self._refuse()
        checked: Event = event
        return checked

    def _refuse(self) -> NoReturn:
        text = f"{self._verb}: {self._base} sent something that is no event: is it a simulator?"
        raise CannotStart(one_line(text)) from None

    def _open_again(self) -> HTTPResponse:
        """The same stream behind the last event. Raises `CannotStart` when the server is gone."""
        ends_at = monotonic() + PATIENCE_S
        while True:
            try:
                return self._open()
            except CannotStart:
                if monotonic() > ends_at:
                    text = f"{self._verb}: {self._base} has ended, or does not answer any more"
                    raise CannotStart(one_line(text)) from None
            sleep(PAUSE_S)

    def _open(self) -> HTTPResponse:
        connection = self._new_connection()
        headers = self._headers | ({"Last-Event-ID": self._last_id} if self._last_id else {})
        try:
            connection.request("GET", self._target, headers=headers)
            response = connection.getresponse()
            status = response.status
            body = b"" if status == OK else response.read(LINE_BYTES_MAX)
            if status == OK:
                self._connection = connection
                return response
        except (HTTPException, OSError, ValueError) as error:
            connection.close()
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            hint = "start `reseller-sim serve`, or name another address with --url"
            raise CannotStart(one_line(f"{self._verb}: {self._base} does not answer ({reason}): {hint}")) from None
        connection.close()
        code, said = _refusal(body)
        is_odd = self._sandbox is not None and path_part(self._sandbox) != self._sandbox
        if code == NO_SANDBOX or (code == NO_PATH and is_odd):
            said = f"there is no sandbox {self._sandbox!r}: `reseller-sim sandbox list` lists them"
        hint = "; give the control API's token with --token" if status == UNAUTHORIZED else ""
        raise CannotStart(one_line(f"{self._verb}: {self._base} answered {status}: {said}{hint}"))

    def _new_connection(self) -> HTTPConnection:
        try:
            parts = urlsplit(self._base)
            is_url = bool(parts.hostname) and parts.port != 0 and parts.scheme in ("http", "https")
        except ValueError:
            is_url = False
        if not is_url:
            text = f"{self._base!r} is no http or https URL, such as {DEFAULT_URL}"
            raise click.UsageError(text, click.get_current_context())
        return Connection(self._base, SILENCE_S)


def _refusal(body: bytes) -> tuple[str, str]:
    """The code of a refusal, and what it says."""
    import msgspec

    try:
        answer = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return "", "without JSON: is it a simulator?"
    fields = answer if isinstance(answer, dict) else {}
    return str(fields.get("error", "")), str(fields.get("message", ""))
