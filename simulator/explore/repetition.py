"""Repetitions of failed runs, which rule out the machine as the cause and shrink the faults."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from simulator.explore.fault_catalogue import Fault
from simulator.explore.run_verdicts import FailureReason, RunVerdict, common, same
from simulator.explore.trials import Faults, Trial, Trials

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

    def following(self, *, alone: bool = True) -> Trial | None:
        """Return the next run; None when the rate of failures is known."""
        is_certain = len(self.failed) == self.attempts >= self.enough and self._common()
        return None if is_certain or self.attempts >= ATTEMPTS else Trial(self.faults, self.attempts, alone)

    def failure(self, tapes: dict[Trial, bytes]) -> Failure:
        """Return the failure with the latest tape, and discard the tapes."""
        found = [tapes.pop(trial, None) for trial, _ in self.failed]
        tape = next((one for one in reversed(found) if one is not None), None)
        reasons, last = self._common(), self.failed[-1][1]
        verdict = replace(last, reasons=reasons or last.reasons)
        return Failure(self.faults, verdict, len(self.failed), self.attempts, tape, bool(reasons))

    def _common(self) -> tuple[FailureReason, ...]:
        return common([verdict.reasons for _, verdict in self.failed])


def repeated(trials: Trials, faults: Faults, *, enough: int = TWICE) -> Failure:
    """Repeat a failed test on an otherwise idle machine until the rate of failures is known. Earlier runs of the test
    count."""
    repetition = Repetition(faults, enough)
    while (trial := repetition.following(alone=repetition.attempts > 0)) is not None:
        [(_, verdict)] = trials.run([trial])
        repetition.add(trial, verdict)
    return repetition.failure(trials.tapes)


FAILED_ENOUGH = 2
_ROUNDS = ((0, 0), (1, 0), (0, 1), (1, 1))
"""(failures, survivals) of the candidates for the next run; two of three runs decide."""


def shrunk(trials: Trials, faults: Faults, first: RunVerdict) -> tuple[Faults, RunVerdict]:
    """Return the fewest and mildest faults under which the command fails with a shared reason."""
    verdict = first
    while (smaller := _failing(trials, _without_one(faults), first)) is not None:
        faults, verdict = smaller
    while (milder := _failing(trials, _with_one_milder(faults), first)) is not None:
        faults, verdict = milder
    return faults, verdict


def _failing(trials: Trials, candidates: Iterator[Faults], first: RunVerdict) -> tuple[Faults, RunVerdict] | None:
    """Return the first candidate that fails alike in two of three runs. A run that survives by luck keeps no fault in
    the finding, and a run that fails by bad luck removes none."""
    failed: dict[Faults, list[RunVerdict]] = {faults: [] for faults in candidates}
    survived = dict.fromkeys(failed, 0)
    for state in _ROUNDS:
        wanted = [faults for faults in failed if (len(failed[faults]), survived[faults]) == state]
        for trial, verdict in trials.all_run(Trial(faults, sum(state)) for faults in wanted):
            if same(first.reasons, verdict.reasons):
                failed[trial.faults].append(verdict)
            else:
                survived[trial.faults] += 1
        chosen = next((faults for faults in wanted if len(failed[faults]) >= FAILED_ENOUGH), None)
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
            yield tuple(one for one in faults if one is not left_out)


def _with_one_milder(faults: Faults) -> Iterator[Faults]:
    for place, one in enumerate(faults):
        for milder in one.milder:
            yield _replaced(faults, place, milder)


def _replaced(faults: Faults, place: int, fault: Fault) -> Faults:
    return (*faults[:place], fault, *faults[place + 1 :])
