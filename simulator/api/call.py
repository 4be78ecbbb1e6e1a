"""What travels through the pipeline: the call that came in and the reply that goes out.

Made for every request, so they are msgspec's structs, which cost a fifth of what Python's own classes do.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Final

import msgspec

from simulator.auth.signature import Denied
from simulator.domain.commands import Command
from simulator.domain.model.faults import FaultThen
from simulator.domain.model.resellers import ApiKey, Reseller
from simulator.domain.model.rules import Rule
from simulator.runtime.journal import Exchange
from simulator.runtime.sandboxes import LiveSandbox

HeaderPairs = tuple[tuple[bytes, bytes], ...]
Receive = Callable[[], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Ending:
    """How the answer to a request ends: one of the constants below, or a `drip`. `name` is empty where the whole answer
    goes out, if slowly; `bytes_per_second` is the pace of its body, 0 for at once. The server reads both."""

    name: str
    bytes_per_second: float = 0.0


WHOLE: Final = Ending("")
"""As usual: all of it, and the connection is kept."""

ABORT: Final = Ending("abort")
"""The connection is closed without a byte."""

CUT: Final = Ending("cut")
"""The connection is closed in the middle of the body."""

GONE: Final = Ending("gone")
"""The client had left, and nothing is sent."""


def drip(bytes_per_second: float) -> Ending:
    """The head at once and the body at this pace."""
    return Ending("", bytes_per_second)


class Incoming(msgspec.Struct, frozen=True):
    """What came in, with lower-case header names and `client` the socket's address. `body` is None when it has to be
    waited for with `receive`, ASGI's own."""

    method: str
    query: bytes
    headers: list[tuple[bytes, bytes]]
    client: str
    body: bytes | None
    receive: Receive | None = None


# What goes out: status, header lines with their ends, body, ending.
Answer = tuple[int, bytes, bytes, Ending]


class Reply(msgspec.Struct, frozen=True):
    """An answer. `body` is encoded as JSON unless it is bytes already; `ending` is what becomes of the connection;
    `journaled` is what the journal keeps of a body that shows a secret, as long as that."""

    status: int
    body: Any
    headers: HeaderPairs = ()
    ending: Ending = WHOLE
    journaled: bytes = b""


class Access(Enum):
    """What an endpoint wants to see before it answers.

    `SIGNED`: an API key's signature, or a bearer token unless the scenario keeps those to the legacy endpoints.
    `LEGACY`: either of them. `OPEN`: neither.
    """

    SIGNED = "signed"
    LEGACY = "legacy"
    OPEN = "open"


class MetFault(msgspec.Struct):
    """The fault of a call: its rule, whether its delay has passed, and whether that took longer than anything may."""

    rule: Rule[FaultThen]
    has_waited: bool = False
    timed_out: bool = False


class Call(msgspec.Struct):
    """One request on its way. `now` is the sandbox's time, made of the `wall` that is read once; `named` is the API key
    that it names and whose it is, `reseller` is known after authentication; `fields` are the
    decoded and validated body or query; `places` are the values of a path's parameters; `is_unsigned` when no API key
    let it in; `is_deprecated` when the answer says that what was asked for is (SPEC 9);
    `prefix` stood before the path and named the sandbox, as `/s/mine` does."""

    sandbox: LiveSandbox
    now: datetime
    wall: datetime
    exchange: Exchange
    headers: Mapping[bytes, bytes]
    fields: dict[str, Any] = {}
    named: tuple[Reseller, ApiKey] | None = None
    reseller: Reseller | None = None
    places: Mapping[str, str] = {}
    endpoint: "Endpoint" = None  # type: ignore[assignment]  # found before anybody asks
    claim: Any = None
    fault: MetFault | None = None
    core: Any = None
    awaits_fault: bool = True
    passed_faults: tuple[str, ...] = ()
    is_unsigned: bool = False
    is_deprecated: bool = False
    prefix: str = ""

    def apply(self, command: Command) -> Any:
        """Let a command into the sandbox, at the time of this request; see `LiveSandbox.apply`."""
        return self.sandbox.apply(command, self.now)

    @property
    def is_lost(self) -> bool:
        """True when its sandbox was deleted or reset since the request came."""
        return self.sandbox.is_closed or self.sandbox.core is not self.core

    def look_again(self) -> None:
        """Read the time anew, after a wait; what fell due meanwhile happens."""
        clock = self.sandbox.clock
        self.wall = clock.wall()
        self.now = clock.at(self.wall)
        if not self.is_lost:
            self.sandbox.driver.catch_up(self.now)

    @property
    def owner(self) -> Reseller:
        """The authenticated reseller."""
        assert self.reseller is not None, "only after authentication"
        return self.reseller


Problems = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One method of one path. `source` says where `schema` finds its input: `body` (JSON), `form` (a JSON or form
    body), `query`, or nowhere.

    `invalid` makes the answer to input that violates the schema, `denied` the one to failed authentication.
    `may_want_key`: a reseller may close it to bearer tokens (SPEC 5.3). `is_deprecated`: its answers say so (SPEC 9).
    """

    handle: Callable[[Call], Reply]
    invalid: Callable[[Call, Problems], Reply]
    denied: Callable[[Denied], Reply]
    schema: str = ""
    source: str = ""
    access: Access = Access.SIGNED
    may_want_key: bool = False
    is_deprecated: bool = False
