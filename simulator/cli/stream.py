"""Reads the events of a running simulator, as they happen, for as long as it runs.

What comes is bounded and checked.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPResponse
from time import monotonic, sleep
from typing import Any, NoReturn
from urllib.parse import quote, urlencode, urlsplit

import click

from reseller_sim.exchange import Connection
from simulator.cli.control import NO_PATH, NO_SANDBOX, path_before, path_part
from simulator.cli.flags import CannotStart
from simulator.cli.output import one_line, print_to_stderr
from simulator.cli.request import DEFAULT_URL
from simulator.options import CONTROL_PATH

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
