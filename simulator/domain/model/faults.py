"""Faults: what a rule of the `faults` section does to the HTTP exchange instead of the business (DESIGN 9). Each way of
failing is a type of its own; how it is done to an answer is not said here."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """Another answer than the service's. `body` is JSON, or text as it stands; None is a usual error."""

    status: int
    body: object = None


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The connection is closed before the first byte."""


@dataclass(frozen=True, slots=True)
class CutAnswer:
    """The connection is closed in the middle of the body."""


@dataclass(frozen=True, slots=True)
class MalformedAnswer:
    """The body is no JSON."""


@dataclass(frozen=True, slots=True)
class DrippingAnswer:
    """The body comes slowly, by sandbox time."""

    bytes_per_second: float


@dataclass(frozen=True, slots=True)
class NonceServiceDown:
    """Nonces cannot be checked: 503 (SPEC 5.2)."""


@dataclass(frozen=True, slots=True)
class InternalError:
    """Authentication fails for a reason of its own: 401 `internal_error` (SPEC 5.2)."""


Denial = NonceServiceDown | InternalError
Damage = ScriptedAnswer | NoAnswer | CutAnswer | MalformedAnswer | DrippingAnswer


@dataclass(frozen=True, slots=True)
class FaultThen:
    """What happens to a request: it waits for `delay`, a range to draw from, is denied, and its answer is damaged in
    these ways, one after the other. With `after_commit` it is carried out first, and only then it waits; a refusal
    is left alone then."""

    damages: tuple[Damage, ...] = ()
    denial: Denial | None = None
    delay: tuple[timedelta, timedelta] | None = None
    after_commit: bool = False

    @property
    def comes_instead(self) -> bool:
        """True when the request is not carried out at all."""
        return not self.after_commit and any(isinstance(one, ScriptedAnswer | NoAnswer) for one in self.damages)
