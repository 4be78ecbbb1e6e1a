"""The operational state of a server: readiness, answers and their durations, event loop lag, process and internal
errors."""

import asyncio
import logging
import os
import time
import traceback
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, is_accepted

BOUNDS_US: Final = (
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000, 30_000_000,
)  # fmt: skip
"""The upper bounds of the durations that are counted together, in microseconds."""

CALLBACK, WEBHOOK = "callback", "webhook"
_FAILURES: Final = (AttemptEnd.TIMEOUT, AttemptEnd.CONNECTION, AttemptEnd.DNS, AttemptEnd.BLOCKED)
OUTCOMES: Final = ("accepted", "refused", *map(str, _FAILURES))
"""The outcomes of attempts: a status of 2xx, another status, or no answer, as in `AttemptEnd`."""

# Method, path as in the contract, status, error, and ending of the connection, as in `Counters`.
AnswerKind = tuple[str, str, int, str, str]
Durations = list[int]
"""The number of durations up to each bound and above the previous bound, the number above all bounds, and the sum."""


def no_durations() -> Durations:
    """Return the counts for no durations."""
    return [0] * (len(BOUNDS_US) + 2)


def add_duration(durations: Durations, duration_us: int) -> None:
    """Add a duration to the counts."""
    durations[bisect_left(BOUNDS_US, duration_us)] += 1
    durations[-1] += duration_us


class ServerCounts:
    """The counts of a server: `answers` by kind, `attempts` by CALLBACK or WEBHOOK and outcome, and the number of
    requests `evicted` from the journals of deleted sandboxes."""

    def __init__(self) -> None:
        self.answers: dict[AnswerKind, Durations] = {}
        self.attempts = {(kind, outcome): no_durations() for kind in (CALLBACK, WEBHOOK) for outcome in OUTCOMES}
        self.evicted = 0

    def begin(self, kind: AnswerKind) -> Durations:
        """Return the counts for a new kind of answer."""
        durations = self.answers[kind] = no_durations()
        return durations

    def count_attempt(self, kind: str, result: AttemptResult, duration_us: int) -> None:
        """Count an attempt of a callback or webhook."""
        answer = "accepted" if is_accepted(result) else "refused"
        add_duration(self.attempts[kind, str(result.kind) if result.status is None else answer], duration_us)


TICK_S: Final = 0.25
IDLE_S: Final = 300.0
"""Seconds without a look after which measuring stops."""


class LoopLag:
    """The lag of an event loop, a single loop at a time. `lags` are counted in the same way as durations."""

    def __init__(self) -> None:
        self.lags = no_durations()
        self._timer: asyncio.TimerHandle | None = None
        self._until = 0.0

    def look(self) -> None:
        """Start or continue to measure. Needs a running loop."""
        loop = asyncio.get_running_loop()
        self._until = loop.time() + IDLE_S
        if self._timer is None:
            self._arm(loop)

    def close(self) -> None:
        """Stop measuring."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        due = loop.time() + TICK_S
        self._timer = loop.call_at(due, self._tick, loop, due)

    def _tick(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        now = loop.time()
        add_duration(self.lags, int(max(0.0, now - due) * 1e6))
        self._timer = None
        if now < self._until:
            self._arm(loop)


class NotReady(NamedTuple):
    """Why a server is not ready: a code for machines, a sentence for people."""

    code: str
    message: str


STARTING: Final = NotReady("starting", "the server is starting; ask again")
REBUILDING: Final = NotReady("rebuilding", "the sandboxes of the data folder are being rebuilt; ask again")
DRAINING: Final = NotReady(
    "draining", "the server is about to stop and answers for a little while longer; send no more"
)
STOPPING: Final = NotReady("stopping", "the server is being stopped")


class Operations:
    """The operational state. `not_ready` says why the server is not ready, None when it is. `answers` counts the
    answers of the control API by status; `refusals` counts requests that the server refused before routing, by code.
    `store_trouble` says that its store does not answer. `certificate_ends_s` is the Unix time when the first of its
    certificates expires, None without TLS. `wall_steps` counts how often the machine's clock was set."""

    def __init__(self, refusals: Mapping[str, int]) -> None:
        self.not_ready: NotReady | None = STARTING
        self.store_trouble: NotReady | None = None
        self.store_figures: Callable[[], Mapping[str, float]] = dict  # of PostgreSQL, by metric
        self.answers: dict[int, int] = {}
        self.refusals = refusals
        self.lag = LoopLag()
        self.began_s = time.time()
        self.certificate_ends_s: float | None = None
        self.wall_steps = 0


_SELF = Path("/proc/self")


def process_figures() -> dict[str, float]:
    """Return the figures of the process that this system has, by the names of their metrics."""
    return {"process_cpu_seconds_total": time.process_time(), **dict(_memory()), **dict(_files())}


def _memory() -> Iterator[tuple[str, float]]:
    with suppress(OSError, ValueError):  # not on Linux
        total, resident, *_ = (_SELF / "statm").read_text().split()
        page = os.sysconf("SC_PAGE_SIZE")
        yield "process_virtual_memory_bytes", int(total) * page
        yield "process_resident_memory_bytes", int(resident) * page


def _files() -> Iterator[tuple[str, float]]:
    with suppress(OSError):
        yield "process_open_fds", len(os.listdir(_SELF / "fd"))
    with suppress(ImportError):
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY:
            yield "process_max_fds", soft


_LOG: Final = logging.getLogger(__name__)
_reports: Final = [0]


def reported() -> int:
    """Return how many unexpected exceptions this process has logged."""
    return _reports[0]


def report(error: Exception, doing: str) -> str:
    """Log an unexpected exception, and return its type and place: `KeyError in payments.py, line 12`.

    Its message is left out, since it may quote a secret. `doing` says what failed.
    """
    _reports[0] += 1
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "no place"
    what = f"{type(error).__name__} in {place}"
    _LOG.error("%s failed: %s\n%s", doing, what, "".join(traceback.format_list(frames)).rstrip())
    return what
