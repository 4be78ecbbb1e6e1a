"""Trials of the command under faults: each is run and judged, and its verdict is recorded. Failed trials are repeated,
which rules out the machine as the cause, and their faults are shrunk."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256

from simulator.explore.fault_catalogue import Fault, sentence
from simulator.explore.observation import RunOutcome
from simulator.explore.run_scenario import Base, document, rule_names
from simulator.explore.run_verdicts import FailureReason, Record, RunVerdict, common, reasons, ways
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
        self.baseline = usable(self._workers.run_one(job))
        return self.baseline

    def left_s(self) -> float | None:
        """Return the time left for runs; None without a limit."""
        return None if self.ends_s is None else max(0.0, self.ends_s - now_s())

    def run(self, tests: Iterable[Trial]) -> Iterator[tuple[Trial, RunVerdict]]:
        """Yield the verdicts as they are reached, recorded verdicts first. The caller may append tests to a deque
        meanwhile. Raises `TimeIsOver` when time runs out before all tests have a verdict."""
        waiting = tests if isinstance(tests, deque) else deque(tests)
        under_way = 0

        def following() -> tuple[Trial, RunJob] | None:
            nonlocal under_way
            trial = None if self.left_s() == 0 else self._take(waiting, is_known=False)
            if trial is None:
                return None
            under_way += 1
            return trial, RunJob(document(self.base, trial.faults), self.limit_s(trial.faults), alone=trial.alone)

        while waiting:
            while (found := self._take(waiting, is_known=True)) is not None:
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
            if under_way or (waiting and self.left_s() == 0):
                raise TimeIsOver

    def all_run(self, tests: Iterable[Trial]) -> list[tuple[Trial, RunVerdict]]:
        """Return all verdicts in the order of the tests."""
        trials = list(tests)
        found = {id(trial): verdict for trial, verdict in self.run(trials)}
        return [(trial, found[id(trial)]) for trial in trials]

    def _take(self, waiting: deque[Trial], *, is_known: bool) -> Trial | None:
        """Remove and return the first trial that has a recorded verdict, or that lacks it."""
        for trial in waiting:
            if (self._record.get(self._key(trial)) is not None) is is_known:
                waiting.remove(trial)
                return trial
        return None

    def limit_s(self, faults: Faults) -> float:
        """Return the time after which a run under these faults counts as hanging."""
        if self._timeout_s is not None:
            return self._timeout_s
        waits_s = sum(fault.wait_s for fault in faults) / self._rate
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


def usable(baseline: RunOutcome) -> RunOutcome:
    """Return a run without faults. Raises `BaselineFails` when the command did not survive it, and `AsksNothing` when
    it sent no request."""
    last = f"; it printed last:\n{baseline.output.rstrip()}" if baseline.output.strip() else ""
    if baseline.exit_code is None:
        raise BaselineFails(f"it had not ended after {baseline.duration_s:.0f} s{last}")
    if baseline.exit_code:
        raise BaselineFails(f"it exited with {baseline.exit_code}{last}")
    if baseline.seen.unmet:
        raise BaselineFails("not as expected: " + "; ".join(baseline.seen.unmet.values()))
    if not baseline.seen.exchanges:
        raise AsksNothing("COMMAND sent no request to the service, so that no fault can strike it")
    return baseline


def now_s() -> float:
    """Return the monotonic wall time that limits an exploration."""
    return time.monotonic()


ATTEMPTS = 3
TWICE = 2
"""A single fault is certain after this number of failed runs. Several faults have to fail in all `ATTEMPTS`."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Faults under which the command failed in `failed` of `attempts` runs. The verdict is the verdict of the last
    failed run, with the reasons that all failed runs share. `is_alike` is false if they share no reason."""

    faults: Faults
    verdict: RunVerdict
    failed: int
    attempts: int
    tape: bytes | None = None
    is_alike: bool = True

    @property
    def is_certain(self) -> bool:
        """Return whether all runs failed for the same reason."""
        return self.failed == self.attempts and self.is_alike

    @property
    def is_once(self) -> bool:
        """Return whether the failure did not recur in two repetitions; a slow machine may have caused it."""
        return self.failed == 1 and self.attempts == ATTEMPTS


@dataclass(slots=True)
class Repetition:
    """The runs under the same faults, in sequence. The failure is certain after `enough` failed runs."""

    faults: Faults
    enough: int = TWICE
    attempts: int = 0
    failed: list[tuple[Trial, RunVerdict]] = field(default_factory=list)

    def add(self, trial: Trial, verdict: RunVerdict) -> None:
        """Count a run."""
        self.attempts += 1
        if not verdict.survived:
            self.failed.append((trial, verdict))

    def following(self) -> Trial | None:
        """Return the next run, on an otherwise idle machine; None when the rate of failures is known."""
        is_certain = len(self.failed) == self.attempts >= self.enough and self._common()
        return None if is_certain or self.attempts >= ATTEMPTS else Trial(self.faults, self.attempts, self.attempts > 0)

    def failure(self, tapes: dict[Trial, bytes]) -> Failure:
        """Return the failure with the latest tape, and discard the tapes."""
        found = [tapes.pop(trial, None) for trial, _ in self.failed]
        tape = next((content for content in reversed(found) if content is not None), None)
        reasons, last = self._common(), self.failed[-1][1]
        verdict = replace(last, reasons=reasons or last.reasons)
        return Failure(self.faults, verdict, len(self.failed), self.attempts, tape, bool(reasons))

    def _common(self) -> tuple[FailureReason, ...]:
        return common([verdict.reasons for _, verdict in self.failed])


def repeated(trials: Trials, faults: Faults, *, enough: int = TWICE) -> Failure:
    """Repeat a failed test on an otherwise idle machine until the rate of failures is known. Earlier runs of the test
    count."""
    repetition = Repetition(faults, enough)
    while (trial := repetition.following()) is not None:
        [(_, verdict)] = trials.run([trial])
        repetition.add(trial, verdict)
    return repetition.failure(trials.tapes)


_ROUNDS = ((0, 0), (1, 0), (0, 1), (1, 1))
"""(failures, survivals) of the candidates for the next run; two of three runs decide."""


def shrunk(trials: Trials, faults: Faults, first: RunVerdict) -> tuple[Faults, RunVerdict]:
    """Return the fewest faults under which the command fails with a shared reason."""
    verdict = first
    while (smaller := _failing(trials, _without_one(faults), first)) is not None:
        faults, verdict = smaller
    return faults, verdict


def _failing(trials: Trials, candidates: Iterator[Faults], first: RunVerdict) -> tuple[Faults, RunVerdict] | None:
    """Return the first candidate that fails alike in two of three runs. A run that survives by luck keeps no fault in
    the finding, and a run that fails by bad luck removes none."""
    failed: dict[Faults, list[RunVerdict]] = {faults: [] for faults in candidates}
    survived = dict.fromkeys(failed, 0)
    for state in _ROUNDS:
        group = [faults for faults in failed if (len(failed[faults]), survived[faults]) == state]
        for trial, verdict in trials.all_run(Trial(faults, sum(state)) for faults in group):
            if ways(first.reasons) & ways(verdict.reasons):
                failed[trial.faults].append(verdict)
            else:
                survived[trial.faults] += 1
        chosen = next((faults for faults in group if len(failed[faults]) >= TWICE), None)
        if chosen is not None:
            break
    for faults in failed:
        if faults != chosen:
            for attempt in range(ATTEMPTS):
                trials.tapes.pop(Trial(faults, attempt), None)
    return None if chosen is None else (chosen, failed[chosen][-1])


def _without_one(faults: Faults) -> Iterator[Faults]:
    if len(faults) > 1:
        for left_out in faults:
            yield tuple(fault for fault in faults if fault is not left_out)
