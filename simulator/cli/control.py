"""Asks the control API of a running simulator by the client that tests import, and reads its events."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.client import HTTPException, HTTPResponse
from os import environ
from time import sleep
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import click

from reseller_sim import control as client
from reseller_sim.exchange import Answer, Connection, TlsFailed, Unanswered
from reseller_sim.formats import is_url
from simulator.cli.output import print_to_stderr
from simulator.cli.usage import BadResult, CannotStart, wrong_usage
from simulator.options import CONTROL_PATH, DEFAULT_PORT, LOOPBACK

SANDBOX_VARIABLE = "RESELLER_SIM_SANDBOX"
SANDBOX_PREFIX = "/s/"
DEFAULT_URL = f"http://{LOOPBACK}:{DEFAULT_PORT}"
TIMEOUT_S = 60.0
LOCKED = (401, 403)
NO_SANDBOX = "unknown_sandbox"
NO_PATH = "unknown_path"
NOT_READY = ("starting", "rebuilding", "draining", "stopping")
PROBLEMS_MAX = 3
OK = 200
EVENT_STREAM = "text/event-stream"

SILENCE_S = 40.0
"""The timeout of a silent stream. A server sends a comment every 15 seconds."""

PAUSE_S, PAUSES = 0.2, 15
"""How often, and after how long, a stream asks a server that may come back after a restart."""

LINE_BYTES_MAX = 4 * 1024 * 1024

Event = dict[str, Any]


class Control:
    """The control API of a sandbox at `url`, which may end in `/_sim`. The default is port 8080.

    `ask` takes a path below the sandbox, or with `is_root` below `/_sim`, and returns the decoded answer, None when it
    has no body. It raises `BadResult` when the simulator refuses, and `CannotStart` if anything but a
    simulator answers. An unusable URL is a usage error.
    """

    def __init__(self, url: str | None, sandbox: str, control_token: str | None) -> None:
        self.sandbox = sandbox
        self.base = (url or DEFAULT_URL).rstrip("/").removesuffix(CONTROL_PATH)
        if not is_url(self.base):
            raise wrong_usage(f"{self.base!r} is not an http or https URL such as {DEFAULT_URL}")
        parts = urlsplit(self.base)
        address = f"{parts.scheme}://{parts.netloc}{path_before(self.base)}"
        self.client = client.Control(address, control_token)

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        is_root: bool = False,
        query: client.Query | None = None,
        timeout_s: float | None = None,
    ) -> Any:
        """Send a request, with a JSON body if given."""
        below = path if is_root else f"/sandboxes/{path_part(self.sandbox)}{path}"
        with self.translate_errors():
            answer = self.client.ask(method, below, body, query=query, timeout_s=timeout_s or TIMEOUT_S)
        if answer is None and method != "DELETE":
            raise self.useless("answered nothing: is it a simulator?")
        return answer

    def rows(self, path: str, name: str, query: client.Query | None = None) -> Iterator[Any]:
        """Yield the rows of a list, page by page as they are consumed; `name` is the member that has them."""
        return client.pages(self.ask, path, name, query or {})

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Turn the errors of the client, and members that an answer lacks, into ends of the verb."""
        try:
            yield
        except client.SimulatorError as refused:
            raise self._refusal(refused) from None
        except client.WrongAnswer as wrong:
            text = str(wrong).removeprefix(f"{self.client.root} ")
            raise self.useless(text.partition(" was ")[2] or text) from None
        except KeyError as missing:
            raise self.useless(f"answered without {missing}: is it a simulator?") from None
        except client.NotRunning as gone:
            if gone.reason is not None and isinstance(gone.reason.__cause__, TimeoutError):
                raise self.useless("did not answer in time") from None
            raise self.useless(f"does not answer ({gone.reason}){start_advice(gone.reason)}") from None

    def _refusal(self, refused: client.SimulatorError) -> click.ClickException:
        """Return the error for a refusal. An unusable simulator or sandbox counts as not running."""
        status, code = refused.status, refused.code
        said = refused.message.removesuffix(client.WHERE_TO_AUTHORIZE)
        is_odd = path_part(self.sandbox) != self.sandbox  # the control API has no path with such an id
        if code == NO_SANDBOX or (code == NO_PATH and is_odd):
            source = f", which {SANDBOX_VARIABLE} names" if environ.get(SANDBOX_VARIABLE) == self.sandbox else ""
            advice = "`reseller-sim sandbox list` lists them"
            return self.useless(f"answered {status}: there is no sandbox {self.sandbox!r}{source}: {advice}")
        if code == NO_PATH:
            return BadResult(f"{self.base} answered {status}: {said}", code)
        if code in NOT_READY:
            return BadResult(f"{self.base}: {said}", code)
        if status in LOCKED or status >= 500:
            hint = "; give the control API's token with --token or RESELLER_SIM_TOKEN" if status == 401 else ""
            return self.useless(f"answered {status}: {said}{hint}")
        left_out = len(refused.problems) - PROBLEMS_MAX
        problems = "; ".join(refused.problems[:PROBLEMS_MAX]) + (f"; and {left_out} more" if left_out > 0 else "")
        return BadResult(problems or said, code)

    def useless(self, what: str) -> CannotStart:
        """Return the error about an answer, or about none."""
        return CannotStart(f"{self.base} {what}")


def start_advice(reason: Unanswered | None) -> str:
    """Return the end of a sentence about a simulator that is not there; empty when something answered, but not by
    TLS."""
    return "" if isinstance(reason, TlsFailed) else ": start `reseller-sim serve`, or name another address with --url"


def path_before(base: str) -> str:
    """Return the path prefix that a proxy adds to a simulator's address; empty without a prefix. The part from `/s/`
    on, which names a sandbox, does not belong to it."""
    return quote(urlsplit(base).path.rstrip("/").partition(SANDBOX_PREFIX)[0], safe="/%")


def path_part(text: str) -> str:
    """Return a text as one segment of a path."""
    return quote(text, safe="", errors="surrogateescape")


class Stream:
    """The live events of a simulator, or of a single `sandbox`."""

    def __init__(
        self, query: Mapping[str, str], url: str | None, sandbox: str | None, control_token: str | None
    ) -> None:
        self._control = Control(url, sandbox or "", control_token)
        self._is_of_one = sandbox is not None
        below = f"/sandboxes/{path_part(sandbox)}/events" if sandbox is not None else "/events"
        self._url = f"{self._control.client.url}{below}" + (f"?{urlencode(query)}" if query else "")
        self._headers = {"Authorization": f"Bearer {control_token}"} if control_token else {}
        self._connection: Connection

    def events(self, greeting: str = "") -> Iterator[Event]:
        """Yield the events from now on. After an interruption the stream resumes with the next event. It ends with the
        sandbox. `greeting` is printed to stderr when it begins. Raises `CannotStart` when no simulator answers."""
        response = self._open()
        if greeting:
            print_to_stderr(greeting)
        while True:
            with closing(self._connection), response:
                for event in self._read(response):
                    yield event
                    if event.get("action") == "deleted" and self._is_of_one:
                        return
            response = self._open_again()

    def _read(self, response: HTTPResponse) -> Iterator[Event]:
        """Yield the events until the connection ends."""
        fields: dict[str, str] = {}
        try:
            while line := response.readline(LINE_BYTES_MAX):
                name, _, value = line.decode("utf-8", "replace").rstrip("\r\n").partition(": ")
                if name:
                    fields |= {name: value} if name in ("id", "data") else {}
                    continue
                if "id" in fields:
                    self._headers["Last-Event-ID"] = fields["id"]
                if "data" in fields:
                    yield self._decoded(fields["data"])
                fields = {}
        except (HTTPException, OSError, ValueError):  # a ValueError comes from an invalid chunk
            return

    def _decoded(self, data: str) -> Event:
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict) or "kind" not in event:
            raise self._control.useless("sent something that is not an event: is it a simulator?")
        return event

    def _open_again(self) -> HTTPResponse:
        """Resume the stream after the last event. Raises `CannotStart` when the server is gone."""
        for _ in range(PAUSES):
            sleep(PAUSE_S)
            with suppress(CannotStart):
                return self._open()
        raise self._control.useless("has ended, or does not answer any more")

    def _open(self) -> HTTPResponse:
        self._connection = connection = Connection(self._url, SILENCE_S)
        with self._control.translate_errors():
            try:
                connection.request("GET", "/" + self._url.partition("://")[2].partition("/")[2], headers=self._headers)
                response = connection.getresponse()
                if response.status == OK and response.getheader("Content-Type", "").startswith(EVENT_STREAM):
                    return response
                answer = Answer(response.status, {}, response.read(LINE_BYTES_MAX))
            except (HTTPException, OSError, ValueError, Unanswered) as error:
                connection.close()
                text = getattr(error, "strerror", None) or str(error) or type(error).__name__
                reason = error if isinstance(error, Unanswered) else Unanswered(text)
                raise self._control.client.not_running(reason) from error
            connection.close()
            client.decoded(f"GET {self._url}", answer)
            raise client.WrongAnswer(f"answered {answer.status} instead of events")
