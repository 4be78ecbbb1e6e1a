"""The latest attempts of a sandbox: the requests that they sent, and how long their receivers took."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from simulator.domain.model.callbacks import Callback
from simulator.domain.model.delivery_attempts import Attempt, OutgoingRequest, Send
from simulator.domain.model.webhooks import Delivery

SENT_MAX = 1_000
"""The number of latest requests of a sandbox's attempts that are stored, and of its probes."""


class SentAttempt(msgspec.Struct, gc=False):
    """The request of the attempt `number` of a job, with its reseller and its target, and once it has ended, its
    duration, and whether a status line came. A duration is measured, so it is not part of the sandbox's state."""

    job: str
    number: int
    request: OutgoingRequest
    reseller: str = ""
    url: str = ""
    duration_us: int | None = None
    is_answered: bool = False


class AttemptLog:
    """The latest attempts. It also tracks all jobs with an attempt in flight."""

    def __init__(self) -> None:
        self._sent: deque[SentAttempt] = deque(maxlen=SENT_MAX)
        self._begun: set[str] = set()

    def add(self, send: Send, request: OutgoingRequest) -> SentAttempt:
        """Store the request of an attempt, which begins with that. The caller sets the rest when it has ended."""
        job = send.job
        self._begun.add(job.id)
        sent = SentAttempt(job.id, send.attempt.number, request, job.reseller, job.url)
        self._sent.append(sent)
        return sent

    def ended(self) -> Iterator[SentAttempt]:
        """Yield the latest attempts whose duration was measured, newest first."""
        return (sent for sent in reversed(self._sent) if sent.duration_us is not None)

    def __iter__(self) -> Iterator[tuple[str, int, OutgoingRequest]]:
        """Yield each request with its job and attempt, oldest first."""
        return ((sent.job, sent.number, sent.request) for sent in self._sent)

    def is_begun(self, job: str) -> bool:
        """Return whether the attempt of a job has been sent and is in flight; False while it waits for its turn."""
        return job in self._begun

    def begun_attempts(self, job: Callback | Delivery) -> list[Attempt]:
        """Return the attempts of a job that have begun: without an attempt that waits for its turn at the receiver."""
        return [attempt for attempt in job.attempts if attempt.result is not None or self.is_begun(job.id)]

    def end(self, job: str) -> None:
        """Record that the attempt of a job has ended."""
        self._begun.discard(job)

    @property
    def begun(self) -> list[str]:
        """Return the jobs whose attempts are in flight."""
        return sorted(self._begun)

    def restore(self, sent: Iterable[tuple[str, int, OutgoingRequest]], begun: Iterable[str]) -> None:
        """Replace all requests with these, and mark the attempts of the jobs in `begun` as sent."""
        self._begun = set(begun)
        self._sent = deque((SentAttempt(*one) for one in sent), maxlen=SENT_MAX)

    def find(self, job: str, attempt: int) -> SentAttempt | None:
        """Return an attempt, or None if it was evicted."""
        return next((sent for sent in reversed(self._sent) if sent.number == attempt and sent.job == job), None)


class ReceiverTimes(NamedTuple):
    """The durations of the attempts to a target, in milliseconds, including attempts without an answer."""

    url: str
    attempts: int
    answered: int
    p50_ms: float
    p95_ms: float
    max_ms: float


def by_receiver(attempts: Iterable[SentAttempt]) -> list[ReceiverTimes]:
    """Return the durations by target, the busiest first."""
    found: dict[str, list[SentAttempt]] = {}
    for attempt in attempts:
        found.setdefault(attempt.url, []).append(attempt)
    return sorted((_of(url, ones) for url, ones in found.items()), key=lambda row: (-row.attempts, row.url))


def _of(url: str, ones: list[SentAttempt]) -> ReceiverTimes:
    took = sorted((attempt.duration_us or 0) / 1000 for attempt in ones)
    answered = sum(attempt.is_answered for attempt in ones)
    return ReceiverTimes(url, len(ones), answered, _share(took, 50), _share(took, 95), round(took[-1], 3))


def _share(ordered: list[float], percent: int) -> float:
    """Return the smallest value that `percent` of all values do not exceed."""
    return round(ordered[-(-len(ordered) * percent // 100) - 1], 3)
