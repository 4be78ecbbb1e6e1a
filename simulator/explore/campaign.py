"""The exploration: the baseline, every single fault, and then storms until the time is over."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from simulator.explore.fault_catalogue import crossed_requests, overtaken_answers, restarts, single_faults
from simulator.explore.fault_findings import (
    ExplorationReport,
    FaultFinding,
    FindingWriter,
    Reproduction,
    UnrepeatedFailure,
    words_of,
)
from simulator.explore.run_verdicts import Record, RunVerdict
from simulator.explore.storms import outages, storms
from simulator.explore.trials import (
    ATTEMPTS,
    Failure,
    Faults,
    Repetition,
    TimeIsOver,
    Trial,
    Trials,
    now_s,
    repeated,
    shrunk,
)

STORMS_AT_ONCE = 8
SILENT_BATCHES_MAX = 50
"""Storms end after this number of batches in a row without a new storm, since all have been drawn."""

TIME_IS_OVER = "the time was over before storms began; give more --minutes"
NONE_ARE_LEFT = "none could be drawn of what is survived alone"


@dataclass(frozen=True, slots=True)
class Plan:
    """The bounds and inputs of an exploration, which ends after `seconds` (0 for no time limit and no storms). `seed`
    draws the storms. With `ends_at_first` it ends at the first finding. `keys` are the API keys that a storm may
    revoke, as (reseller, key). `has_start` is true when the user sets the start time of the sandbox. `rate` is the
    speed of the sandbox's clock as a multiple of wall time. `reproduction` is passed to `FindingWriter`. With
    `restarts`, callbacks also arrive while the client restarts."""

    folder: Path
    reproduction: Reproduction
    seed: int = 0
    seconds: float = 0
    ends_at_first: bool = False
    keys: tuple[tuple[str, str], ...] = ()
    has_start: bool = False
    rate: float = 1.0
    restarts: bool = False


class Campaign:
    """Explores by trials. `on_failure` gets each finding, and each failure that did not recur, as soon as it is
    written."""

    def __init__(
        self, trials: Trials, record: Record, plan: Plan, on_failure: Callable[[FaultFinding | UnrepeatedFailure], None]
    ) -> None:
        self.report = ExplorationReport()
        self._trials = trials
        self._plan = plan
        self._on_failure = on_failure
        self._writer = FindingWriter(trials.base, plan.folder, record, plan.reproduction, trials.limit_s)
        self._began_s = now_s()
        trials.ends_s = self._began_s + plan.seconds if plan.seconds else None

    def explore(self) -> ExplorationReport:
        """Explore after the baseline. Raises `CannotRun` and `OSError`."""
        seen, rate = self._trials.baseline.seen, self._plan.rate
        first = [*overtaken_answers(seen, rate), *(restarts(seen) if self._plan.restarts else ())]
        self.report.singles = [*first, *single_faults(seen), *crossed_requests(seen, rate)]
        try:
            self._run_singles()
            if not self._is_over:
                self._run_storms()
        except TimeIsOver:
            self._trials.tapes.clear()
        if self._plan.seconds and not self.report.storms and not self._is_over:
            is_late = now_s() - self._began_s >= self._plan.seconds
            self.report.no_storms = TIME_IS_OVER if is_late else NONE_ARE_LEFT
        return self.report

    @property
    def _is_over(self) -> bool:
        return self._plan.ends_at_first and bool(self.report.findings)

    def _run_singles(self) -> None:
        """Repeat each failure at once, so that it is reported and written even when the exploration is stopped."""
        waiting = deque(Trial((fault,)) for fault in self.report.singles)
        under_way: dict[Faults, Repetition] = {}
        try:
            self._run_each(waiting, under_way)
        except TimeIsOver:
            for repetition in under_way.values():
                self._add(repetition.failure(self._trials.tapes))
            raise

    def _run_each(self, waiting: deque[Trial], under_way: dict[Faults, Repetition]) -> None:
        for trial, verdict in self._trials.run(waiting):
            if trial.attempt == 0:
                self.report.results[trial.faults[0].words] = verdict
                if verdict.survived:
                    continue
            repetition = under_way.setdefault(trial.faults, Repetition(trial.faults))
            repetition.add(trial, verdict)
            following = repetition.following()
            if following is not None:
                waiting.appendleft(following)
                continue
            failure = under_way.pop(trial.faults).failure(self._trials.tapes)
            if failure.is_once:
                self.report.results[failure.faults[0].words] = verdict
                self._report_once(failure)
            else:
                self._add(failure)
            if self._is_over:
                return

    def _run_storms(self) -> None:
        """Run storms of the faults that the command survives alone. A storm with any other fault shows nothing new."""
        plan, baseline = self._plan, self._trials.baseline.seen
        alone = [fault for fault in self.report.singles if self.report.results[fault.words].survived]
        of_service = outages(baseline, list(plan.keys), has_start=plan.has_start, rate=plan.rate)
        drawn = storms(plan.seed, alone + of_service)
        known: set[frozenset[str]] = set()
        silent = 0
        while now_s() - self._began_s < plan.seconds and silent < SILENT_BATCHES_MAX and not self._is_over:
            batch = [storm for storm in islice(drawn, STORMS_AT_ONCE) if self._is_new(storm, known)]
            silent = 0 if batch else silent + 1
            known |= {words_of(fault) for fault in batch}
            for trial, verdict in self._trials.all_run(map(Trial, batch)):
                self.report.storms += 1
                self.report.storms_survived_s += verdict.duration_s if verdict.survived else 0
                if not verdict.survived and not self._is_over:
                    self._settle_storm(trial.faults, verdict)
            self._trials.tapes.clear()

    def _is_new(self, faults: Faults, known: set[frozenset[str]]) -> bool:
        """Return False for a set of faults that was drawn before or that includes the faults of a finding."""
        words = words_of(faults)
        return words not in known and not any(
            words_of(finding.failure.faults) <= words for finding in self.report.findings
        )

    def _settle_storm(self, faults: Faults, first: RunVerdict) -> None:
        if self.report.is_reported(faults, first):
            self.report.storms_failed += 1
            return
        failure = repeated(self._trials, faults)
        if failure.is_once:
            self._report_once(failure)
            return
        self.report.storms_failed += 1
        fewest, _ = shrunk(self._trials, faults, failure.verdict)
        smaller = repeated(self._trials, fewest, enough=ATTEMPTS)
        if not self.report.is_reported_by_place(smaller.faults, smaller.verdict):
            self._add(smaller, is_of_storm=True)

    def _report_once(self, failure: Failure) -> None:
        once = self._writer.write_unrepeated(failure)
        self.report.unrepeated.append(once)
        self._on_failure(once)

    def _add(self, failure: Failure, *, is_of_storm: bool = False) -> None:
        finding = replace(self._writer.write(failure), is_of_storm=is_of_storm)
        self.report.findings.append(finding)
        self._on_failure(finding)
