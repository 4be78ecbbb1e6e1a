"""The values that pass through the pipeline: the incoming call, the outgoing reply, and how its connection ends."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Final, Protocol, TypeVar

import msgspec

from simulator.auth.signature import Claim, Denied
from simulator.domain.model.fault_kinds import FaultThen
from simulator.domain.model.outcomes import ConnectionEnd
from simulator.domain.model.resellers import ApiKey, Reseller
from simulator.domain.model.rules import Rule
from simulator.domain.sandbox import Sandbox
from simulator.persistence.tape.entries import RequestBegan, RequestResumed, Resumption
from simulator.persistence.tape.tape import Tape
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire import error_bodies

T = TypeVar("T")


class BodyIncomplete(Exception):
    """The error of a body that cannot be read whole; `how` is the resumption that the tape records."""

    how: Resumption


class ClientGone(BodyIncomplete):
    """The client closed the connection before its request was complete."""

    how = Resumption.GONE


class BodyTooLarge(BodyIncomplete):
    """The error of a body that exceeds its limit and was discarded."""

    how = Resumption.TOO_LARGE


class ConnectionFaults(Protocol):
    """The connection operations that ASGI lacks and our server offers. `lines` are header lines with their ends."""

    def abort(self) -> None: ...
    async def cut(self, status: int, lines: bytes, body: bytes, after_bytes: int) -> None: ...
    async def drip(self, status: int, lines: bytes, body: bytes, bytes_per_second: float) -> None: ...


class Ending(msgspec.Struct, frozen=True):
    """How a connection ends, unless as usual: without a byte of an answer, in the middle of its body, because its
    client has left, or whole but slowly, at this pace of the body."""

    name: ConnectionEnd
    bytes_per_second: float = 0.0

    async def send(self, connection: ConnectionFaults, status: int, lines: bytes, body: bytes) -> None:
        """Send as much of an answer as this ending lets through."""
        match self.name:
            case ConnectionEnd.WHOLE:
                await connection.drip(status, lines, body, self.bytes_per_second)
            case ConnectionEnd.CUT:
                await connection.cut(status, lines, body, len(body) // 2)
            case _:
                connection.abort()

    def __str__(self) -> str:
        return str(self.name) or f"{self.bytes_per_second:g} bytes a second"


ABORT: Final = Ending(ConnectionEnd.ABORTED)
CUT: Final = Ending(ConnectionEnd.CUT)
GONE: Final = Ending(ConnectionEnd.GONE)


HeaderPairs = tuple[tuple[bytes, bytes], ...]
Receive = Callable[[], Awaitable[Any]]


async def read_body(receive: Receive, bytes_max: int) -> bytes:
    """Return the whole body, at most `bytes_max` bytes. Raise `BodyTooLarge` as early as possible, and `ClientGone`.

    The server reads and drops the rest of a body that is too large, so that its sender can read the refusal.
    """
    chunks: list[bytes] = []
    total = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGone
        chunk = message.get("body", b"")
        total += len(chunk)
        if total > bytes_max:
            raise BodyTooLarge
        if not message.get("more_body"):
            return b"".join((*chunks, chunk)) if chunks else chunk
        chunks.append(chunk)


class ClientConnection(Protocol):
    """The connection's own record of a request: sets `has_left` and calls `on_left` when its client leaves before the
    answer."""

    has_left: bool
    on_left: Callable[[], object] | None


class ApiRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An incoming request: from a client, sent again by a user (`replay_of`), or played from a tape (`recorded`)."""

    method: str
    query: bytes
    headers: list[tuple[bytes, bytes]]  # names in lower case
    by_name: dict[bytes, bytes]  # the last of repeated headers
    client: str  # the socket's address
    body: bytes | None  # None when it must be awaited from `receive`
    receive: Receive | None = None  # of ASGI
    target: bytes = b""  # as in `Exchange`
    replay_of: int = 0  # as in `Exchange`
    verdict: Callable[[], Denied | None] | None = None  # the tape's, if no signature can be verified
    recorded: Exchange | None = None  # the record on the tape
    scheme: str = ""  # of the request that is sent again or played
    source: "ClientConnection | None" = None


# A reply as the server sends it: status, header lines with line ends, body, ending.
EncodedReply = tuple[int, bytes, bytes, Ending | None]


class Reply(msgspec.Struct, frozen=True, gc=False):
    """The answer of an endpoint. `body` is encoded as JSON unless it is bytes already; `ending` is the ending of the
    connection; `journaled`, which has the same length, replaces a body with a secret in the journal."""

    status: int
    body: Any
    headers: HeaderPairs = ()
    ending: Ending | None = None
    journaled: bytes = b""


class Access(Enum):
    """The authentication that an endpoint requires.

    `SIGNED`: an API key's signature, or a bearer token unless the scenario restricts tokens to the legacy endpoints.
    `LEGACY`: either. `OPEN`: neither.
    """

    SIGNED = "signed"
    LEGACY = "legacy"
    OPEN = "open"


class ChosenFault(msgspec.Struct, gc=False):
    """The fault of a call."""

    rule: Rule[FaultThen]
    is_selected: bool = False  # by its name
    values: tuple[tuple[str, str], ...] = ()  # to count, see `Choice`
    has_waited: bool = False  # its delay has passed
    timed_out: bool = False  # the delay exceeded the timeout


class ApiCall(msgspec.Struct, kw_only=True, gc=False):
    """A request in the pipeline, whose steps set the fields with defaults."""

    request: ApiRequest
    sandbox: LiveSandbox
    core: Sandbox | None = None  # the sandbox's when the request came
    now: datetime  # the sandbox's time, derived from `wall`, which is read once
    wall: datetime
    exchange: Exchange  # its record for the journal
    headers: Mapping[bytes, bytes]  # the values of repeated headers are joined
    endpoint: "ApiEndpoint" = None  # type: ignore[assignment]  # set before it is read
    path_parameters: Mapping[str, str] = {}
    named: tuple[Reseller, ApiKey] | None = None  # the API key in the headers, and its owner
    claim: Claim | Reseller | None = None  # what the headers claim: a signature, or the reseller of a bearer token
    reseller: Reseller | None = None  # authenticated
    key: str = ""  # authenticated; empty for a bearer token
    has_body: bool = False  # its body was read, or was too large
    fields: dict[str, Any] = {}  # the decoded and validated body or query
    is_exact: bool = True  # no part of the body may be ignored
    awaits_fault: bool = True  # the search for a fault has not ended
    matched_faults: tuple[str, ...] = ()  # rules that matched in the search before the body
    fault: ChosenFault | None = None
    tape: Tape | None = None  # the tape where the call began, if it has waited

    @property
    def is_lost(self) -> bool:
        """Return whether the call's sandbox was deleted or reset since the request came."""
        return self.sandbox.is_closed or self.sandbox.core is not self.core

    async def suspended(self, wait: Awaitable[T], *, keeps_time: bool = False) -> T:
        """Return the result of a wait. The tape records the suspension, and the resumption with the result if that is a
        `Resumption`. What fell due meanwhile is processed; the call's times are those of the resumption, unless it
        `keeps_time` or its body is incomplete."""
        if self.tape is None and not self.is_lost:
            self.tape = self.sandbox.tape
            self.tape.add(RequestBegan(self.exchange))
        try:
            result = await wait
        except BodyIncomplete as end:
            await self._resume(end.how)
            raise
        except Exception:  # our mistake: the request continues on the tape, too
            await self._resume(Resumption.READY)
            raise
        times = await self._resume(result if isinstance(result, Resumption) else Resumption.READY)
        if not keeps_time:
            self.now, self.wall = times
        return result

    async def _resume(self, how: Resumption) -> tuple[datetime, datetime]:
        """Process what fell due, and record the resumption unless the sandbox is gone, and the tape with it. Return the
        times of sandbox and wall clock."""
        sandbox = self.sandbox
        wall = sandbox.clock.wall()
        now = sandbox.clock.at(wall)
        try:
            if not self.is_lost and not sandbox.driver.catch_up(now):
                await sandbox.driver.settle(now)
        finally:
            if self.tape is sandbox.tape and not sandbox.is_closed:
                self.tape.add(RequestResumed(self.exchange, now, wall, how))
        return now, wall

    @property
    def owner(self) -> Reseller:
        """Return the authenticated reseller."""
        assert self.reseller is not None, "only after authentication"
        return self.reseller


Problems = Mapping[str, list[str]]


class ApiEndpoint(msgspec.Struct, frozen=True):
    """A method of a path. `source` is where `schema` finds its input: `body` (JSON), `form` (a JSON or form body),
    `query`, or none.

    `invalid` builds the answer to input that violates the schema, None for the usual answer; `denied` builds the body
    of the 401 to failed authentication, from its code and message (SPEC 5.2, 7.1). `may_want_key`: a reseller may close
    it to bearer tokens (SPEC 5.3). `is_deprecated`: answers of its path have the header.
    """

    handle: Callable[[ApiCall], Reply]
    source: str = ""
    schema: str = ""
    invalid: Callable[[ApiCall, Problems], Reply] | None = None
    denied: Callable[[str, str], Any] = error_bodies.coded
    access: Access = Access.SIGNED
    may_want_key: bool = False
    is_deprecated: bool = False
