"""The exploration: a calm run, every single fault, and then storms until the time is over."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from simulator.explore.catalogue import single_faults
from simulator.explore.faults import Fault
from simulator.explore.findings import Finding, written
from simulator.explore.record import Record, Verdict
from simulator.explore.shrinking import Failure, repeated, shrunk
from simulator.explore.storms import storms
from simulator.explore.trials import Faults, Trial, Trials, now_s
from simulator.explore.weather import weathers

STORMS_AT_ONCE = 8
REPEATED_AT_ONCE = 8
STORM_FINDINGS_MAX = 20
"""So many findings of storms end the storms: who has them has enough to do."""

SILENT_BATCHES_MAX = 50
"""So many times no new storm could be drawn: there are no others."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be explored: `seed` draws the storms, which go on until `seconds` after the beginning; with
    `ends_at_first` the first finding is the last. `keys` are the API keys that a storm may revoke, as (reseller, key);
    `has_start` is true when the user decides at what time the sandbox starts. `again` as in `findings.written`."""

    folder: Path
    again: tuple[str, str]
    seed: int = 0
    seconds: float = 0
    ends_at_first: bool = False
    keys: tuple[tuple[str, str], ...] = ()
    has_start: bool = False


@dataclass(slots=True)
class Report:
    """What came of it: how many single faults and storms there are, how many of them were run, and what each came to;
    `unstruck` counts the single faults that met nothing, and `storms_survived_s` is how long the storms took that the
    command survived, by the wall."""

    singles: list[Fault] = field(default_factory=list)
    results: dict[str, Verdict] = field(default_factory=dict)
    storms: int = 0
    storms_failed: int = 0
    storms_survived_s: float = 0.0
    findings: list[Finding] = field(default_factory=list)

    @property
    def survived(self) -> int:
        """How many single faults the command survived."""
        return sum(1 for one in self.results.values() if one.survived)

    @property
    def unstruck(self) -> int:
        """How many of these met nothing: the command did not do the same again."""
        return sum(1 for one in self.results.values() if one.survived and not one.is_struck)


class Campaign:
    """Explores by trials; `on_finding` is told of each finding as soon as it is written."""

    def __init__(self, trials: Trials, record: Record, plan: Plan, on_finding: Callable[[Finding], None]) -> None:
        self.report = Report()
        self._trials = trials
        self._record = record
        self._plan = plan
        self._on_finding = on_finding
        self._began_s = now_s()

    def explore(self) -> Report:
        """All of it, after the calm run. Raises `CannotRun` and `OSError`."""
        self.report.singles = single_faults(self._trials.calm.seen)
        self._run_singles()
        if not self._is_over:
            self._run_storms()
        return self.report

    @property
    def _is_over(self) -> bool:
        return self._plan.ends_at_first and bool(self.report.findings)

    def _run_singles(self) -> None:
        failed: list[tuple[Trial, Verdict]] = []
        all_ = [Trial((one,)) for one in self.report.singles]
        for trial, verdict in self._trials.run(all_):
            self.report.results[trial.faults[0].words] = verdict
            if not verdict.survived:
                failed.append((trial, verdict))
                if self._plan.ends_at_first:
                    break
        order = {trial: place for place, trial in enumerate(all_)}
        failed.sort(key=lambda one: order[one[0]])
        for at in range(0, len(failed), REPEATED_AT_ONCE):
            part = failed[at : at + REPEATED_AT_ONCE]
            self._trials.all_run(Trial(trial.faults, attempt=1) for trial, _ in part)  # with all workers
            for trial, verdict in part:
                self._add(repeated(self._trials, trial.faults, verdict))

    def _run_storms(self) -> None:
        """Of what the command survives alone: a storm with a fault that it does not survive tells nothing new."""
        plan, calm = self._plan, self._trials.calm.seen
        alone = [one for one in self.report.singles if self.report.results[one.words].survived]
        drawn = storms(plan.seed, alone + weathers(calm, list(plan.keys), has_start=plan.has_start))
        known: set[frozenset[str]] = set()
        silent = 0
        while now_s() - self._began_s < plan.seconds and silent < SILENT_BATCHES_MAX and not self._is_over:
            batch = [one for one in islice(drawn, STORMS_AT_ONCE) if self._is_new(one, known)]
            silent = 0 if batch else silent + 1
            known |= {_words(one) for one in batch}
            for trial, verdict in self._trials.all_run(map(Trial, batch)):
                self.report.storms += 1
                self.report.storms_failed += not verdict.survived
                self.report.storms_survived_s += verdict.duration_s if verdict.survived else 0
                if not verdict.survived and self._may_add(trial.faults):
                    self._add_shrunk(trial.faults, verdict)
            if self.report.storms_failed >= STORM_FINDINGS_MAX:
                return

    def _is_new(self, faults: Faults, known: set[frozenset[str]]) -> bool:
        return _words(faults) not in known and self._may_add(faults)

    def _may_add(self, faults: Faults) -> bool:
        """False when what was found already is among these faults."""
        return not any(_words(one.failure.faults) <= _words(faults) for one in self.report.findings)

    def _add_shrunk(self, faults: Faults, first: Verdict) -> None:
        again = repeated(self._trials, faults, first)
        if not again.is_certain:  # shrinking it would follow chance
            self._add(again)
            return
        smaller, verdict = shrunk(self._trials, faults, first)
        if self._may_add(smaller):
            self._add(repeated(self._trials, smaller, verdict))

    def _add(self, failure: Failure) -> None:
        if self._is_over:
            return
        number, limit_s = len(self.report.findings) + 1, self._trials.limit_s(failure.faults)
        finding = written(failure, self._trials.base, self._plan.folder, number, self._plan.again, limit_s)
        for name in _names(finding):
            self._record.add_file(name)
        self.report.findings.append(finding)
        self._on_finding(finding)


def _words(faults: Faults) -> frozenset[str]:
    return frozenset(one.words for one in faults)


def _names(finding: Finding) -> Iterator[str]:
    yield finding.path.name
    if finding.failure.tape is not None:
        yield f"{finding.path.name}.tape"
