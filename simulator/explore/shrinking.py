"""Shrinks the faults of a failed run: to the fewest, and then to milder ones, that still make it fail alike."""

from collections.abc import Iterator
from dataclasses import dataclass

from simulator.explore.faults import Fault
from simulator.explore.judging import same
from simulator.explore.record import Verdict
from simulator.explore.trials import Faults, Trial, Trials

ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Failure:
    """Faults that made the command fail, in `failed` of `attempts` runs; the verdict is of the last that failed."""

    faults: Faults
    verdict: Verdict
    failed: int
    attempts: int
    tape: bytes | None = None

    @property
    def is_certain(self) -> bool:
        """True when it failed whenever it was tried."""
        return self.failed == self.attempts


def repeated(trials: Trials, faults: Faults, first: Verdict) -> Failure:
    """Run a failed test once more, and a third time if that survives."""
    failed, attempts, last, tape = 1, 1, first, None
    while attempts < ATTEMPTS and not (failed == attempts > 1):
        trial = Trial(faults, attempts)
        [(_, verdict)] = trials.run([trial])
        attempts += 1
        if same(first.reasons, verdict.reasons):
            failed, last, tape = failed + 1, verdict, trials.tapes.pop(trial, None)
    return Failure(faults, last, failed, attempts, tape)


def shrunk(trials: Trials, faults: Faults, first: Verdict) -> tuple[Faults, Verdict]:
    """The fewest and mildest faults under which it fails in one of the same ways."""
    verdict = first
    while (smaller := _failing(trials, _without_one(faults), first)) is not None:
        faults, verdict = smaller
    while (milder := _failing(trials, _with_one_milder(faults), first)) is not None:
        faults, verdict = milder
    return faults, verdict


def _failing(trials: Trials, candidates: Iterator[Faults], first: Verdict) -> tuple[Faults, Verdict] | None:
    """The first of them that fails alike, whichever ends first."""
    for trial, verdict in trials.all_run(Trial(one) for one in candidates):
        if same(first.reasons, verdict.reasons):
            return trial.faults, verdict
    return None


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
