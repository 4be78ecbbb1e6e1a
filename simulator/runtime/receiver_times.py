"""How long the receivers of callbacks and webhooks took for the latest attempts, by the wall clock."""

from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import NamedTuple

KEPT_MAX = 1_000

ATTEMPTS_MAX = 10_000
"""The latest attempts whose own durations are kept, as many as a sandbox has events."""


class Timed(NamedTuple):
    """An attempt that ended: whose it was, its target, whether a status line came, and how long it took."""

    reseller: str
    url: str
    is_answered: bool
    duration_ms: float


class ReceiverTimes(NamedTuple):
    """What the attempts to one target took, in milliseconds; those of attempts without an answer count, too."""

    url: str
    attempts: int
    answered: int
    p50_ms: float
    p95_ms: float
    max_ms: float


class AttemptDurations:
    """How long each of the latest attempts took, by job and attempt, in microseconds of wall time. It is measured, so
    it is no part of the sandbox's state."""

    def __init__(self) -> None:
        self._by_attempt: OrderedDict[tuple[str, int], int] = OrderedDict()

    def add(self, job: str, attempt: int, duration_us: int) -> None:
        """Remember one."""
        self._by_attempt[job, attempt] = duration_us
        if len(self._by_attempt) > ATTEMPTS_MAX:
            self._by_attempt.popitem(last=False)

    def find(self, job: str, attempt: int) -> int | None:
        """That of an attempt, unless it is evicted."""
        return self._by_attempt.get((job, attempt))


TimedAttempts = deque[Timed]


def timed_attempts() -> TimedAttempts:
    """Room for the latest ones."""
    return deque(maxlen=KEPT_MAX)


def by_receiver(attempts: Iterable[Timed]) -> list[ReceiverTimes]:
    """The times of each target, the busiest first."""
    found: dict[str, list[Timed]] = {}
    for one in attempts:
        found.setdefault(one.url, []).append(one)
    return sorted((_of(url, ones) for url, ones in found.items()), key=lambda one: (-one.attempts, one.url))


def _of(url: str, ones: list[Timed]) -> ReceiverTimes:
    took = sorted(one.duration_ms for one in ones)
    answered = sum(one.is_answered for one in ones)
    return ReceiverTimes(url, len(ones), answered, _share(took, 50), _share(took, 95), round(took[-1], 3))


def _share(ordered: list[float], percent: int) -> float:
    """The smallest value that so many percent of all do not exceed."""
    return round(ordered[-(-len(ordered) * percent // 100) - 1], 3)
