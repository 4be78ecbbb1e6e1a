"""Tests the command under faults: runs it, judges it, and remembers the verdict."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256

from simulator.explore.document import Base, document, rule_names
from simulator.explore.faults import Fault, sentence
from simulator.explore.observation import Outcome
from simulator.explore.runs import Job, Workers
from simulator.explore.verdicts import Record, Verdict, reasons

Faults = tuple[Fault, ...]
TIMEOUT_S = 30.0
SLOWER_MAX = 10
"""A run may take so many times as long as the baseline, with what its faults hold it up, and `TIMEOUT_S` more."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Faults to be tested; `attempt` counts repetitions from 0. One that runs `alone` is disturbed by no other run."""

    faults: Faults
    attempt: int = 0
    alone: bool = field(default=False, compare=False)


class BaselineFails(Exception):
    """The command fails without any fault. The text says how."""


class AsksNothing(Exception):
    """The command asks the service for nothing, so that nothing can go wrong. The text says so."""


class TimeIsOver(Exception):
    """The exploration has no time left, and some of its runs have no verdict."""


class Trials:
    """Tests with all workers. `rate` is how many times as fast as the wall the sandbox's clock runs; `timeout_s` bounds
    a run instead of what `SLOWER_MAX` says. Nothing runs after `ends_s`, a time of `now_s`. `tapes` are those of runs
    that failed and are not dealt with yet."""

    def __init__(
        self, workers: Workers, base: Base, record: Record, rate: float = 1.0, timeout_s: float | None = None
    ) -> None:
        self.base = base
        self.baseline: Outcome
        self.ends_s: float | None = None
        self.tapes: dict[Trial, bytes] = {}
        self.on_judged: Callable[[Trial, Verdict], None] = lambda trial, verdict: None
        self._workers = workers
        self._record = record
        self._rate = rate
        self._timeout_s = timeout_s

    def run_baseline(self) -> Outcome:
        """Run it without faults. Raises `BaselineFails`, `AsksNothing` and `CannotRun`."""
        job = Job(document(self.base, ()), self._timeout_s or 20 * TIMEOUT_S, wants_tape=False)
        outcome = surviving(self._workers.run_one(job))
        if not outcome.seen.exchanges:
            raise AsksNothing("COMMAND sent no request to the service, so that nothing can be explored")
        self.baseline = outcome
        return outcome

    def left_s(self) -> float | None:
        """How long runs may take from now on, None without a bound."""
        return None if self.ends_s is None else max(0.0, self.ends_s - now_s())

    def run(self, tests: Iterable[Trial]) -> Iterator[tuple[Trial, Verdict]]:
        """The verdicts as they come, those that are known before others. To a deque tests may be added meanwhile.
        Raises `TimeIsOver` when some of them have none by then."""
        left = tests if isinstance(tests, deque) else deque(tests)
        under_way = 0

        def following() -> tuple[Trial, Job] | None:
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

    def all_run(self, tests: Iterable[Trial]) -> list[tuple[Trial, Verdict]]:
        """Return all verdicts in the order of the tests."""
        wanted = list(tests)
        found = {id(trial): verdict for trial, verdict in self.run(wanted)}
        return [(trial, found[id(trial)]) for trial in wanted]

    def _taken(self, left: deque[Trial], *, is_known: bool) -> Trial | None:
        """Take the first of them whose verdict is known, or is not."""
        for trial in left:
            if (self._record.get(self._key(trial)) is not None) is is_known:
                left.remove(trial)
                return trial
        return None

    def _next_job(self, left: deque[Trial]) -> tuple[Trial, Job] | None:
        trial = self._taken(left, is_known=False)
        if trial is None:
            return None
        return trial, Job(document(self.base, trial.faults), self.limit_s(trial.faults), alone=trial.alone)

    def limit_s(self, faults: Faults) -> float:
        """How long a run under these faults may take until it is said to hang."""
        if self._timeout_s is not None:
            return self._timeout_s
        waits_s = sum(one.wait_s for one in faults) / self._rate
        return TIMEOUT_S + SLOWER_MAX * (self.baseline.duration_s + waits_s)

    def _key(self, trial: Trial) -> str:
        """By its words: what the baseline shows of a payment may have a number that is never drawn again."""
        return sha256(f"{trial.attempt} {sentence(trial.faults)}".encode()).hexdigest()

    def _judged(self, trial: Trial, outcome: Outcome | str) -> Verdict:
        if isinstance(outcome, str):
            return Verdict((), is_triggered=False, problem=outcome)
        found = reasons(self.baseline, outcome, trial.faults)
        if found and outcome.tape is not None:
            self.tapes[trial] = outcome.tape
        names = rule_names(trial.faults)
        is_triggered = not names or bool(names & outcome.seen.triggered)
        return Verdict(found, is_triggered, outcome.output if found else "", duration_s=outcome.duration_s)


def surviving(baseline: Outcome) -> Outcome:
    """Return a run without faults. Raises `BaselineFails` when the command did not survive it."""
    last = f"; it printed last:\n{baseline.output.rstrip()}" if baseline.output.strip() else ""
    if baseline.exit_code is None:
        raise BaselineFails(f"it had not ended after {baseline.duration_s:.0f} s{last}")
    if baseline.exit_code:
        raise BaselineFails(f"it exited with {baseline.exit_code}{last}")
    if baseline.seen.unmet:
        raise BaselineFails("not as expected: " + "; ".join(baseline.seen.unmet.values()))
    return baseline


def now_s() -> float:
    """The wall time in which an exploration is bounded."""
    return time.monotonic()
