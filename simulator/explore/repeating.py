"""Repeats a failed run, which tells what the command does from what the machine does."""

from dataclasses import dataclass, field, replace

from simulator.explore.judging import Reason, common
from simulator.explore.record import Verdict
from simulator.explore.trials import Faults, Trial, Trials

ATTEMPTS = 3
TWICE = 2
"""So often must one fault make it fail that it is certain; of several it has to be each of `ATTEMPTS`."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Faults that made the command fail, in `failed` of `attempts` runs. The verdict is of the last that failed, with
    the reasons that all of them had, if there are any: then it `is_alike`."""

    faults: Faults
    verdict: Verdict
    failed: int
    attempts: int
    tape: bytes | None = None
    is_alike: bool = True

    @property
    def is_certain(self) -> bool:
        """True when it failed whenever it was tried, for the same reason."""
        return self.failed == self.attempts and self.is_alike

    @property
    def is_once(self) -> bool:
        """True when it failed neither time that it was repeated: a slow machine does that, too."""
        return self.failed == 1 and self.attempts == ATTEMPTS


@dataclass(slots=True)
class Repetition:
    """The runs under these faults, one after the other; it is certain after `enough` that failed."""

    faults: Faults
    enough: int = TWICE
    attempts: int = 0
    failed: list[tuple[Trial, Verdict]] = field(default_factory=list)

    def add(self, trial: Trial, verdict: Verdict) -> None:
        """Count a run."""
        self.attempts += 1
        if not verdict.survived:
            self.failed.append((trial, verdict))

    def following(self, *, alone: bool = True) -> Trial | None:
        """The next run; None when it is known how often it fails."""
        is_certain = len(self.failed) == self.attempts >= self.enough and self._common()
        return None if is_certain or self.attempts >= ATTEMPTS else Trial(self.faults, self.attempts, alone)

    def failure(self, tapes: dict[Trial, bytes]) -> Failure:
        """What came of it, with the last of the tapes, which are then not needed any more."""
        found = [tapes.pop(trial, None) for trial, _ in self.failed]
        tape = next((one for one in reversed(found) if one is not None), None)
        reasons, last = self._common(), self.failed[-1][1]
        verdict = replace(last, reasons=reasons or last.reasons)
        return Failure(self.faults, verdict, len(self.failed), self.attempts, tape, bool(reasons))

    def _common(self) -> tuple[Reason, ...]:
        return common([verdict.reasons for _, verdict in self.failed])


def repeated(trials: Trials, faults: Faults, *, enough: int = TWICE) -> Failure:
    """Run a test that has failed again, with nothing beside it, until it is known how often it fails. Those of its runs
    that have been made count."""
    repetition = Repetition(faults, enough)
    while (trial := repetition.following(alone=repetition.attempts > 0)) is not None:
        [(_, verdict)] = trials.run([trial])
        repetition.add(trial, verdict)
    return repetition.failure(trials.tapes)
