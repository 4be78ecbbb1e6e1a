"""Shrinks the faults of a failed run: to the fewest, and then to milder ones, that still make it fail alike."""

from collections.abc import Iterator
from dataclasses import dataclass

from simulator.explore.faults import Fault
from simulator.explore.judging import same
from simulator.explore.record import Verdict
from simulator.explore.trials import Faults, Trial, Trials

FAILED_ENOUGH = 2
_ROUNDS = ((0, 0), (1, 0), (0, 1), (1, 1))
"""How often those have failed and survived that are tried next: of three times two decide."""


def shrunk(trials: Trials, faults: Faults, first: Verdict) -> tuple[Faults, Verdict]:
    """The fewest and mildest faults under which it fails in one of the same ways."""
    verdict = first
    while (smaller := _failing(trials, _without_one(faults), first)) is not None:
        faults, verdict = smaller
    while (milder := _failing(trials, _with_one_milder(faults), first)) is not None:
        faults, verdict = milder
    return faults, verdict


@dataclass(slots=True)
class _Tally:
    """How often it failed under these faults, and the verdict of the last time that it did."""

    faults: Faults
    failed: int = 0
    survived: int = 0
    verdict: Verdict | None = None

    @property
    def trials(self) -> list[Trial]:
        """Those that were made, and the next one."""
        return [Trial(self.faults, attempt) for attempt in range(self.failed + self.survived + 1)]

    def add(self, verdict: Verdict, first: Verdict) -> None:
        """Count a run."""
        if same(first.reasons, verdict.reasons):
            self.failed, self.verdict = self.failed + 1, verdict
        else:
            self.survived += 1


def _failing(trials: Trials, candidates: Iterator[Faults], first: Verdict) -> tuple[Faults, Verdict] | None:
    """The first of them that fails alike, and not by chance: a run that survives by luck does not keep a fault in the
    finding, and one that fails by bad luck takes none out of it."""
    tallies = [_Tally(one) for one in candidates]
    chosen = next((one for state in _ROUNDS if (one := _tried(trials, tallies, state, first)) is not None), None)
    for one in tallies:
        if one is not chosen:
            for trial in one.trials:
                trials.tapes.pop(trial, None)
    return None if chosen is None or chosen.verdict is None else (chosen.faults, chosen.verdict)


def _tried(trials: Trials, tallies: list[_Tally], state: tuple[int, int], first: Verdict) -> _Tally | None:
    """Try those once more that stand so; returns the first that has failed often enough."""
    wanted = [one for one in tallies if (one.failed, one.survived) == state]
    tested = trials.all_run(one.trials[-1] for one in wanted)
    for one, (_, verdict) in zip(wanted, tested, strict=True):
        one.add(verdict, first)
    return next((one for one in wanted if one.failed >= FAILED_ENOUGH), None)


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
