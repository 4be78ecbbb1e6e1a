"""What a server has served since it started: answers with their durations, attempts, evictions.

All sandboxes of a server count into one object, which only grows: a reset, a rewind or a deletion takes nothing back,
and what is rebuilt from a tape counts elsewhere. Clients cannot make it large: answers are of the kinds of `Counters`.
"""

from bisect import bisect_left
from typing import Final

from simulator.domain.model.effects import AttemptEnd, AttemptResult, is_accepted

BOUNDS_US: Final = (
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000, 30_000_000,
)  # fmt: skip
"""The upper bounds of the durations that are counted together, in microseconds."""

CALLBACK, WEBHOOK = "callback", "webhook"
_FAILURES: Final = (AttemptEnd.TIMEOUT, AttemptEnd.CONNECTION, AttemptEnd.DNS, AttemptEnd.BLOCKED)
OUTCOMES: Final = ("accepted", "refused", *map(str, _FAILURES))
"""How attempts end: with a status of 2xx, with another one, or without an answer as `AttemptEnd` says."""

# Method, path as the contract writes it, status, error, ending of the connection, as `Counters` has them.
AnswerKind = tuple[str, str, int, str, str]
Durations = list[int]
"""How many took at most as long as each bound and longer than the one before, how many longer than all; their sum."""


def no_durations() -> Durations:
    """Of nothing yet."""
    return [0] * (len(BOUNDS_US) + 2)


def add_duration(durations: Durations, duration_us: int) -> None:
    """Count one more."""
    durations[bisect_left(BOUNDS_US, duration_us)] += 1
    durations[-1] += duration_us


class Served:
    """`answers` by kind, `attempts` by CALLBACK or WEBHOOK and one of OUTCOMES, and how many requests journals have
    `evicted` that are not there any more."""

    def __init__(self) -> None:
        self.answers: dict[AnswerKind, Durations] = {}
        self.attempts = {(kind, outcome): no_durations() for kind in (CALLBACK, WEBHOOK) for outcome in OUTCOMES}
        self.evicted = 0

    def begin(self, kind: AnswerKind) -> Durations:
        """The durations of a kind of answer that was not met before."""
        durations = self.answers[kind] = no_durations()
        return durations

    def attempted(self, kind: str, result: AttemptResult, duration_us: int) -> None:
        """Count an attempt of a callback or webhook."""
        answered = "accepted" if is_accepted(result) else "refused"
        outcome = answered if result.kind is AttemptEnd.ANSWERED else str(result.kind)
        add_duration(self.attempts[kind, outcome], duration_us)
