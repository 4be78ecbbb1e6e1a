"""Faults: effects of a rule of the `faults` section on the HTTP exchange instead of the business. Other modules
apply them to answers."""

from datetime import timedelta
from enum import StrEnum, auto
from typing import Final

import msgspec

from simulator.domain.model.draw import Spread

JSON = "application/json"


class ScriptedAnswer(msgspec.Struct, frozen=True):
    """A replacement of the service's answer. `body` is JSON, or text sent verbatim; None is a standard error. `type` is
    the media type of the body."""

    status: int
    body: object = None
    type: str = JSON


class ExtraHeaders(msgspec.Struct, frozen=True):
    """Additional headers of the answer, which replace existing headers, including `Content-Type`. Names and values are
    ASCII."""

    headers: tuple[tuple[bytes, bytes], ...]


class AnswerDamage(StrEnum):
    """Damage to the answer that needs no values."""

    NO_ANSWER = auto()  # the connection closes before the first byte
    CUT = auto()  # the connection closes in the middle of the body
    MALFORMED = auto()  # the body is invalid JSON


class DrippingAnswer(msgspec.Struct, frozen=True):
    """A body that is sent slowly, in sandbox time."""

    bytes_per_second: float


class Denial(StrEnum):
    """A failure of authentication (SPEC 5.2)."""

    NONCE_SERVICE_DOWN = auto()  # nonces cannot be checked: 503
    INTERNAL_ERROR = auto()  # 401 `internal_error`


Failure = ScriptedAnswer | ExtraHeaders | AnswerDamage | DrippingAnswer


class FaultThen(msgspec.Struct, frozen=True):
    """The effect of a fault. In order: the request waits for `delay` (drawn from a range or a distribution), then in
    the hold of this name; authentication is denied; the answer is damaged. A virtual delay takes no time, and may
    exceed the integration timeout. With `after_commit`, the request is executed before it waits; a refusal is then left
    unchanged."""

    failures: tuple[Failure, ...] = ()
    denial: Denial | None = None
    delay: tuple[timedelta, timedelta] | Spread | None = None
    after_commit: bool = False
    is_delay_virtual: bool = False
    hold: str = ""

    @property
    def prevents_execution(self) -> bool:
        """Return whether the request is not executed at all."""
        return not self.after_commit and any(
            isinstance(failure, ScriptedAnswer) or failure is AnswerDamage.NO_ANSWER for failure in self.failures
        )


WITHOUT_BODY: Final = (204, 304)
"""Final statuses whose answers have no body (RFC 9112 6.3)."""
