"""Faults: what a rule of the `faults` section does to the HTTP exchange instead of the business (DESIGN 9)."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class FaultThen:
    """`delay` is a range to draw from. `disconnect` closes the connection: `head` before any byte, `body` in the
    middle of the body. `malformed` leaves an answer that is no JSON, `drip` sends its body at so many bytes a second.
    With `after_commit` the request is carried out first and only its answer is damaged; a refusal is not.
    `needs_body` says that the rule's `when` looks at what only the body tells, so that it is tried after it was read.
    """

    status: int | None = None
    body: object = None
    delay: tuple[timedelta, timedelta] | None = None
    disconnect: str | None = None
    malformed: bool = False
    drip: float | None = None
    after_commit: bool = False
    nonce_service_down: bool = False
    internal_error: bool = False
    needs_body: bool = False

    @property
    def replaces_answer(self) -> bool:
        """True when the client gets something else than the service's own answer."""
        return self.status is not None or self.disconnect is not None

    @property
    def comes_instead(self) -> bool:
        """True when the request is not carried out at all."""
        return self.replaces_answer and not (self.after_commit or self.disconnect == "body")
