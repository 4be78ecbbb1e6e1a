"""The uvicorn protocol with bounds on a request's head and pace; `ending` below it makes the connection's faults.

All that it adds lies on the way of every request, so it asks for little there: a head that comes in one packet is never
measured, a request that comes in one packet never starts a timer, and one lazy timer per connection serves every wait.
"""

import asyncio
from typing import Any, ClassVar, Final

from httptools import HttpParserCallbackError, HttpParserError, HttpParserInvalidURLError, HttpParserUpgrade
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.server import ServerState

from simulator.server import limits as refusals
from simulator.server.ending import dismiss
from simulator.server.head import check_size, check_version_and_host, origin_form
from simulator.server.limits import Limits, Refusal
from simulator.server.prompt import PromptProtocol
from simulator.server.upgrade import framing_only, parser_after_head

__all__ = ["Limits", "Protocol", "protocol_class"]

_BETWEEN, _HEAD, _BODY = range(3)
"""What the parser waits for: the next request, the rest of a head, the rest of a body."""

_SLASH: Final = ord("/")
_PERCENT: Final = ord("%")
_FRAGMENT: Final = ord("#")


class Protocol(PromptProtocol):
    """One client connection. Give it to uvicorn as `Config(http=Protocol, ws="none")`.

    An application that answers before a body has ended does well not to ask for `connection: close`: the rest is read
    and dropped then, while closing resets the connection under the client's writes and may cost it the answer.
    """

    limits: ClassVar[Limits] = Limits()

    __slots__ = (
        "_client_excused",
        "_expecting",
        "_head_in_pieces",
        "_hosts",
        "_most_head_bytes",
        "_most_headers",
        "_refusal",
        "_served",
        "_unproductive",
    )

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.ws_protocol_class = None
        self._expecting = _BETWEEN
        self._most_headers = self.limits.headers
        self._most_head_bytes = self.limits.head_bytes
        self._hosts = 0
        self._served = False  # a request came whole before
        self._unproductive = 0  # bytes since the last head, body piece or message ended
        self._head_in_pieces = False
        self._refusal: Refusal | None = None
        self._client_excused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Take a new connection; its first head is due from now."""
        super().connection_made(transport)
        self.deadline.set(self.limits.head_timeout_s)

    # What comes in

    def data_received(self, data: bytes) -> None:
        """Parse what came; refuse it, or see to the clock where a request is not whole yet."""
        if self.deaf:
            return
        self._unproductive += len(data)
        try:
            try:
                self.parser.feed_data(data)
            except HttpParserUpgrade as upgrade:
                self._feed_after_upgrade(memoryview(data)[upgrade.args[0] :])
        except HttpParserError as error:
            self._refuse_unparsed(error)
            return
        if self._expecting != _BETWEEN:
            if self.held:
                self.release()
            self._await_rest()

    def _feed_after_upgrade(self, rest: memoryview) -> None:
        while True:
            self.parser = parser_after_head(self)
            try:
                self.parser.feed_data(framing_only(self.scope["headers"]))
                self.parser.feed_data(rest)
            except HttpParserUpgrade as upgrade:
                rest = rest[upgrade.args[0] :]
            else:
                return

    def on_message_begin(self) -> None:
        """Start a request, after the one before it was answered. Its scope is made when an exchange needs one."""
        self.answer_whole()
        self.url = b""
        self.expect_100_continue = False
        self.headers = []
        self._expecting = _HEAD
        self._hosts = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header line, or one of a trailer, which goes to a list that nobody reads."""
        name = name.lower()
        if name == b"host":
            self._hosts += 1
        elif name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Check the head; hold the request until it is whole, or hand it to the application now."""
        url = self.url
        try:
            plain = not (
                self._hosts != 1
                or len(self.headers) > self._most_headers
                or self._unproductive > self._most_head_bytes
                or self._head_in_pieces
                or _PERCENT in url
                or url[0] != _SLASH
                or _FRAGMENT in url
                or not url.isascii()
                or not self.parser.should_keep_alive()
            )
            if not plain:
                self._check_head()
            if not (plain and self.hold()):
                self.begin_exchange()
        except Refusal as refusal:
            self._refusal = refusal
            raise
        except HttpParserInvalidURLError:
            self._refusal = refusals.bad_target("is not a valid URL")
            raise
        self._served = True
        self._expecting = _BODY
        self._unproductive = 0

    def on_body(self, body: bytes) -> None:
        """Hold a piece of body for the application, and stop reading when it is slow to take it."""
        self._unproductive = 0
        if self.held:
            self.held_body += body
            return
        cycle = self.cycle
        if cycle.response_complete:
            return
        cycle.body += body
        if len(cycle.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        cycle.message_event.set()

    def on_message_complete(self) -> None:
        """End a request; one that offers an upgrade is not at its end here, but its parser is."""
        if self.held:
            self._expecting = _BETWEEN
            self._unproductive = 0
            self.held_is_whole()
            return
        if self.parser.should_upgrade():
            return
        self._expecting = _BETWEEN
        self._unproductive = 0
        cycle = self.cycle
        if cycle.response_complete:
            self.deadline.set(self.timeout_keep_alive)
            return
        cycle.more_body = False
        cycle.message_event.set()

    def on_response_complete(self) -> None:
        """Go on to the next request, to the refusal that waits for its turn, or to waiting for the client."""
        if self.pipeline:
            self.running = self.pipeline[-1][0]
            super().on_response_complete()
            return
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self._refusal is not None:
            self._send_refusal(self._refusal)
        elif self._expecting == _BETWEEN:
            self.deadline.set(self.timeout_keep_alive)

    # The bounds

    def _check_head(self) -> None:
        """Raise Refusal for a head that breaks a rule. A head that is plainly in order is not brought here."""
        self._head_in_pieces = False
        check_size(self.limits, self.url, self.headers)
        check_version_and_host(self.parser.get_http_version(), self._hosts)
        self.url = origin_form(self.url)

    def _await_rest(self) -> None:
        """Bound the waiting for the rest of a request that did not come in one packet, in bytes and time."""
        limits = self.limits
        self._client_excused = False
        if self._expecting == _BODY:
            if self._unproductive > limits.head_bytes:
                self._refuse(refusals.framing_too_large(limits))
            else:
                self.deadline.set(limits.body_timeout_s)
            return
        if not self._head_in_pieces:
            self._head_in_pieces = True
            if self._served:
                self.deadline.set(limits.head_timeout_s)
        try:
            check_size(limits, self.url, self.headers)
            if self._unproductive > limits.head_bytes:
                raise refusals.head_too_large(limits)
        except Refusal as refusal:
            self._refuse(refusal)

    # Time

    def on_deadline(self) -> None:
        """Refuse what did not come in time, and close a connection that nobody uses."""
        if self.lingering:
            self.transport.abort()
        elif self._expecting != _BETWEEN:
            self._on_stall()
        elif not self._served:
            self._refuse(refusals.head_timed_out(self.limits))
        elif self.cycle is None or self.cycle.response_complete:
            self.transport.close()

    def _on_stall(self) -> None:
        """Refuse a request that stopped arriving, unless it was we who would not read it."""
        in_head = self._expecting == _HEAD
        wait = self.limits.head_timeout_s if in_head else self.limits.body_timeout_s
        held_back = self.flow.read_paused or (not in_head and self.cycle.waiting_for_100_continue)
        if held_back or self._client_excused:
            self._client_excused = held_back
            self.deadline.set(wait)
        else:
            self._refuse((refusals.head_timed_out if in_head else refusals.body_timed_out)(self.limits))

    # Ends

    def _refuse_unparsed(self, error: HttpParserError) -> None:
        """Refuse what on_headers_complete found fault with, or what the parser did; an error of ours stays one."""
        if self._refusal is None and isinstance(error, HttpParserCallbackError):
            raise error
        self._refuse(self._refusal or refusals.not_http(str(error)))

    def _refuse(self, refusal: Refusal) -> None:
        """Read no more; answer the requests before, then this one by the refusal, unless it has been answered."""
        self.answer_whole()
        self.deaf = True
        expecting, self._expecting = self._expecting, _BETWEEN
        if self.held:
            self.held = False
        elif expecting == _BODY:
            if self.pipeline:
                self.pipeline.popleft()
            elif self.cycle.response_started:
                self.close_half_answered(self.cycle)
                return
            else:
                dismiss(self.cycle)
        running = self.running
        if running is None or running.response_complete or running.disconnected:
            self._send_refusal(refusal)
        else:
            self._refusal = refusal

    def _send_refusal(self, refusal: Refusal) -> None:
        if self.transport.is_closing():
            return
        self.send_unsent()
        self.transport.write(refusal.encode(self.server_state.default_headers))
        self.linger()


def protocol_class(limits: Limits) -> type[Protocol]:
    """Return a `Protocol` with these limits."""
    return type("Protocol", (Protocol,), {"limits": limits})
