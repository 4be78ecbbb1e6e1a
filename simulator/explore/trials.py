"""Trials of the command under faults: each is run and judged, and its verdict is recorded."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256

from simulator.explore.fault_catalogue import Fault, sentence
from simulator.explore.observation import RunOutcome
from simulator.explore.run_scenario import Base, document, rule_names
from simulator.explore.run_verdicts import Record, RunVerdict, reasons
from simulator.explore.runs import RunJob, Workers

Faults = tuple[Fault, ...]
TIMEOUT_S = 30.0
SLOWER_MAX = 10
"""The timeout of a run is this multiple of the baseline's duration, plus the delays of its faults and `TIMEOUT_S`."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Faults to be tested. `attempt` counts repetitions from 0. No other run disturbs a trial that runs `alone`."""

    faults: Faults
    attempt: int = 0
    alone: bool = field(default=False, compare=False)


class BaselineFails(Exception):
    """The command fails without any fault. The text says how."""


class AsksNothing(Exception):
    """The command sends no request to the service, so an exploration cannot test anything. The text says so."""


class TimeIsOver(Exception):
    """The exploration has no time left, and some of its runs have no verdict."""


class Trials:
    """Trials on all workers. `rate` is the speed of the sandbox's clock as a multiple of wall time. `timeout_s`
    overrides the timeout by `SLOWER_MAX`. No run starts after `ends_s`, a time of `now_s`. `tapes` has the tapes of
    failed runs that have not been reported yet."""

    def __init__(
        self, workers: Workers, base: Base, record: Record, rate: float = 1.0, timeout_s: float | None = None
    ) -> None:
        self.base = base
        self.baseline: RunOutcome
        self.ends_s: float | None = None
        self.tapes: dict[Trial, bytes] = {}
        self.on_judged: Callable[[Trial, RunVerdict], None] = lambda trial, verdict: None
        self._workers = workers
        self._record = record
        self._rate = rate
        self._timeout_s = timeout_s

    def run_baseline(self) -> RunOutcome:
        """Run the command without faults. Raises `BaselineFails`, `AsksNothing` and `CannotRun`."""
        job = RunJob(document(self.base, ()), self._timeout_s or 20 * TIMEOUT_S, wants_tape=False)
        self.baseline = asking(surviving(self._workers.run_one(job)))
        return self.baseline

    def left_s(self) -> float | None:
        """Return the time left for runs; None without a limit."""
        return None if self.ends_s is None else max(0.0, self.ends_s - now_s())

    def run(self, tests: Iterable[Trial]) -> Iterator[tuple[Trial, RunVerdict]]:
        """Yield the verdicts as they are reached, recorded verdicts first. The caller may append tests to a deque
        meanwhile. Raises `TimeIsOver` when time runs out before all tests have a verdict."""
        left = tests if isinstance(tests, deque) else deque(tests)
        under_way = 0

        def following() -> tuple[Trial, RunJob] | None:
            nonlocal under_way
            job = None if self.left_s() == 0 else self._next_job(left)
            under_way += job is not None
            return job

        while left:
            while (found := self._taken(left, is_known=True)) is not None:
                verdict = self._record.get(self._key(found))
                assert verdict is not None
                self.on_judged(found, verdict)
                yield found, verdict
            for trial, outcome in self._workers.run(following, self.left_s):
                under_way -= 1
                verdict = self._judged(trial, outcome)
                self._record.add(self._key(trial), verdict)
                self.on_judged(trial, verdict)
                yield trial, verdict
            if under_way or (left and self.left_s() == 0):
                raise TimeIsOver

    def all_run(self, tests: Iterable[Trial]) -> list[tuple[Trial, RunVerdict]]:
        """Return all verdicts in the order of the tests."""
        wanted = list(tests)
        found = {id(trial): verdict for trial, verdict in self.run(wanted)}
        return [(trial, found[id(trial)]) for trial in wanted]

    def _taken(self, left: deque[Trial], *, is_known: bool) -> Trial | None:
        """Remove and return the first trial that has a recorded verdict, or that lacks it."""
        for trial in left:
            if (self._record.get(self._key(trial)) is not None) is is_known:
                left.remove(trial)
                return trial
        return None

    def _next_job(self, left: deque[Trial]) -> tuple[Trial, RunJob] | None:
        trial = self._taken(left, is_known=False)
        if trial is None:
            return None
        return trial, RunJob(document(self.base, trial.faults), self.limit_s(trial.faults), alone=trial.alone)

    def limit_s(self, faults: Faults) -> float:
        """Return the time after which a run under these faults counts as hanging."""
        if self._timeout_s is not None:
            return self._timeout_s
        waits_s = sum(one.wait_s for one in faults) / self._rate
        return TIMEOUT_S + SLOWER_MAX * (self.baseline.duration_s + waits_s)

    def _key(self, trial: Trial) -> str:
        """Return a key made of the faults' words. Other details of a fault may include a number of the baseline that is
        not drawn again."""
        return sha256(f"{trial.attempt} {sentence(trial.faults)}".encode()).hexdigest()

    def _judged(self, trial: Trial, outcome: RunOutcome | str) -> RunVerdict:
        if isinstance(outcome, str):
            return RunVerdict((), is_triggered=False, problem=outcome)
        found = reasons(self.baseline, outcome, trial.faults)
        if found and outcome.tape is not None:
            self.tapes[trial] = outcome.tape
        names = rule_names(trial.faults)
        is_triggered = not names or bool(names & outcome.seen.triggered)
        return RunVerdict(found, is_triggered, outcome.output if found else "", duration_s=outcome.duration_s)


def surviving(baseline: RunOutcome) -> RunOutcome:
    """Return a run without faults. Raises `BaselineFails` when the command did not survive it."""
    last = f"; it printed last:\n{baseline.output.rstrip()}" if baseline.output.strip() else ""
    if baseline.exit_code is None:
        raise BaselineFails(f"it had not ended after {baseline.duration_s:.0f} s{last}")
    if baseline.exit_code:
        raise BaselineFails(f"it exited with {baseline.exit_code}{last}")
    if baseline.seen.unmet:
        raise BaselineFails("not as expected: " + "; ".join(baseline.seen.unmet.values()))
    return baseline


def asking(baseline: RunOutcome) -> RunOutcome:
    """Return a run without faults. Raises `AsksNothing` when the command sent no request."""
    if not baseline.seen.exchanges:
        raise AsksNothing("COMMAND sent no request to the service, so that no fault can strike it")
    return baseline


def now_s() -> float:
    """Return the monotonic wall time that limits an exploration."""
    return time.monotonic()
