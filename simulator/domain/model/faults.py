"""Faults: what a rule of the `faults` section does to the HTTP exchange instead of the business. Each
failure mode is its own type; other modules apply it to answers."""

from datetime import timedelta
from typing import Final

import msgspec

from simulator.domain.model.draw import Spread

JSON = "application/json"


class ScriptedAnswer(msgspec.Struct, frozen=True):
    """Replaces the service's answer. `body` is JSON, or text sent verbatim; None is a standard error. `type` is the
    media type of the body."""

    status: int
    body: object = None
    type: str = JSON


class ExtraHeaders(msgspec.Struct, frozen=True):
    """Adds headers to the answer; one that it has is replaced, its `Content-Type` too. Names and values are ASCII."""

    headers: tuple[tuple[bytes, bytes], ...]


class NoAnswer(msgspec.Struct, frozen=True):
    """Closes the connection before the first byte."""


class CutAnswer(msgspec.Struct, frozen=True):
    """Closes the connection in the middle of the body."""


class MalformedAnswer(msgspec.Struct, frozen=True):
    """Makes the body invalid JSON."""


class DrippingAnswer(msgspec.Struct, frozen=True):
    """Sends the body slowly, in sandbox time."""

    bytes_per_second: float


class NonceServiceDown(msgspec.Struct, frozen=True):
    """Nonces cannot be checked: 503 (SPEC 5.2)."""


class InternalError(msgspec.Struct, frozen=True):
    """Authentication fails for an internal reason: 401 `internal_error` (SPEC 5.2)."""


Denial = NonceServiceDown | InternalError
Failure = ScriptedAnswer | ExtraHeaders | NoAnswer | CutAnswer | MalformedAnswer | DrippingAnswer


class FaultThen(msgspec.Struct, frozen=True):
    """What happens to a request: it waits for `delay`, a range or a distribution to draw from, then in the hold of this
    name; authentication is denied; and its answer is damaged in these ways, in order. A virtual delay takes no time,
    and may exceed the integration timeout. With `after_commit` it is executed first and then waits; a refusal is then
    left unchanged."""

    failures: tuple[Failure, ...] = ()
    denial: Denial | None = None
    delay: tuple[timedelta, timedelta] | Spread | None = None
    after_commit: bool = False
    is_delay_virtual: bool = False
    hold: str = ""

    @property
    def waits(self) -> bool:
        """True when the request has to wait for something."""
        return self.delay is not None or bool(self.hold)

    @property
    def prevents_execution(self) -> bool:
        """True when the request is not executed at all."""
        return not self.after_commit and any(isinstance(one, ScriptedAnswer | NoAnswer) for one in self.failures)


WITHOUT_BODY: Final = (204, 304)
"""Final statuses whose answers end with their head (RFC 9112 6.3)."""
