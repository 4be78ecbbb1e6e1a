"""Reports of a campaign: at once, certain or not, with a tape, and nothing twice."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import pytest

from simulator.cli.reports.explore_report import UNREPEATED, result, suites
from simulator.explore import campaign
from simulator.explore.campaign import Campaign, Plan
from simulator.explore.fault_catalogue import crossed_requests, overtaken_answers, single_faults
from simulator.explore.fault_findings import ExplorationReport, FaultFinding, Reproduction, UnrepeatedFailure
from simulator.explore.run_verdicts import FailureReason, Kind, Record, RunVerdict
from simulator.explore.runs import RunJob, Setting, Workers
from simulator.explore.trials import Faults, TimeIsOver, Trial
from simulator.options import Options
from tests.support.explored import Foretold, seen

EXIT = FailureReason(Kind.EXIT, "exit 1", "the command exited with 1")
TWICE = FailureReason(Kind.PAID_TWICE, "paid twice", "it was paid twice", {"name": "once", "payments": {}})
SINGLES = [*overtaken_answers(seen()), *single_faults(seen()), *crossed_requests(seen())]
BATCHES = 40
TOPUP, BALANCE = "the first POST /v2/topup", "the first GET /v2/balance"


@pytest.fixture(autouse=True)
def one_batch_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = count()
    monkeypatch.setattr(campaign, "now_s", lambda: float(next(seconds)))


class Heard:
    """Return the reported findings, and the runs before each report."""

    def __init__(self, trials: Foretold) -> None:
        self.trials = trials
        self.reported: list[tuple[str, int]] = []

    def failed(self, failure: FaultFinding | UnrepeatedFailure) -> None:
        assert failure.path is not None
        assert failure.path.exists()
        self.reported.append((failure.text, len(self.trials.made)))


@contextmanager
def explored(
    folder: Path, reasons_of: Callable[[Trial], tuple[FailureReason, ...]], batches: float = 0
) -> Iterator[tuple[ExplorationReport, Heard]]:
    trials = Foretold(lambda trial: RunVerdict(reasons_of(trial), is_triggered=True))
    heard = Heard(trials)
    with closing(Record(folder, {}, resumes=False)) as record:
        record.begin()
        plan = Plan(folder, Reproduction(("true",)), seconds=batches)
        yield Campaign(trials, record, plan, heard.failed).explore(), heard


def places(faults: Faults) -> set[str]:
    return {one.place for one in faults}


def words(faults: Faults) -> list[str]:
    return [one.words for one in faults]


def test_a_finding_is_reported_and_written_with_its_tape_before_the_next_fault_is_tried(tmp_path: Path) -> None:
    failing = SINGLES[3].words
    with explored(tmp_path, lambda trial: (EXIT,) if failing in words(trial.faults) else ()) as (report, heard):
        [(text, made)] = heard.reported
        assert text == f"{failing}: exit 1"
        assert made == 3 + 2  # the three before it, and it twice
        [finding] = report.findings
        assert finding.path.with_suffix(".yaml.tape").read_bytes() == b"attempt 1 of 1 faults"


def test_a_failure_that_does_not_recur_is_no_finding_and_its_tape_is_stored(tmp_path: Path) -> None:
    failing = SINGLES[3].words

    def fails(trial: Trial) -> tuple[FailureReason, ...]:
        return (EXIT,) if words(trial.faults) == [failing] and not trial.attempt else ()

    with explored(tmp_path, fails) as (report, heard):
        assert report.findings == []
        assert report.survived == len(SINGLES)
        [once] = report.unrepeated
        assert once.text == f"{failing}: exit 1: failed once and not again"
        assert once.path is not None
        assert once.path.read_bytes() == b"attempt 0 of 1 faults"
        assert len(heard.reported) == 1


def test_a_storm_that_cannot_be_shrunk_has_its_tape(tmp_path: Path) -> None:
    def both(trial: Trial) -> tuple[FailureReason, ...]:
        return (EXIT,) if {TOPUP, BALANCE} <= places(trial.faults) else ()

    with explored(tmp_path, both, BATCHES) as (report, _):
        [finding] = report.findings
        assert len(finding.failure.faults) == 2
        assert finding.is_of_storm
        assert finding.failure.is_certain
        assert finding.path.with_suffix(".yaml.tape").read_bytes() == b"attempt 2 of 2 faults"


def test_a_storm_that_does_not_fail_each_time_is_shrunk_too(tmp_path: Path) -> None:
    def sometimes(trial: Trial) -> tuple[FailureReason, ...]:
        return (EXIT,) if {TOPUP, BALANCE} <= places(trial.faults) and trial.attempt != 1 else ()

    with explored(tmp_path, sometimes, BATCHES) as (report, _):
        [finding] = report.findings
        assert len(finding.failure.faults) == 2
        assert finding.text.endswith("(fails 2 of 3)")


def test_a_storm_that_fails_like_a_finding_at_the_same_place_is_not_reported(tmp_path: Path) -> None:
    worst = f"answer to {TOPUP} lost after commit"

    def fails(trial: Trial) -> tuple[FailureReason, ...]:
        met = places(trial.faults)
        return (TWICE,) if worst in words(trial.faults) or {TOPUP, BALANCE} <= met else ()

    with explored(tmp_path, fails, BATCHES) as (report, _):
        assert [words(one.failure.faults) for one in report.findings] == [[worst]]
        assert report.storms_failed > 0


def test_a_storm_that_fails_in_another_way_is_reported(tmp_path: Path) -> None:
    worst = f"answer to {TOPUP} lost after commit"

    def fails(trial: Trial) -> tuple[FailureReason, ...]:
        if worst in words(trial.faults):
            return (EXIT,)
        return (TWICE,) if {TOPUP, BALANCE} <= places(trial.faults) else ()

    with explored(tmp_path, fails, BATCHES) as (report, _):
        assert [one.text.rpartition(": ")[2] for one in report.findings] == ["exit 1", "paid twice"]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, ""), (0.5, campaign.TIME_IS_OVER), (BATCHES, "")],
)
def test_requested_storms_without_time_are_reported(seconds: float, said: str, tmp_path: Path) -> None:
    with explored(tmp_path, lambda trial: (), seconds) as (report, _):
        assert report.no_storms == said
    assert (f"storms: none, {said}" in result(report)) == bool(said)
    skipped = [case.skipped for suite in suites(report) if suite.name == "storms" for case in suite.cases]
    assert skipped == ([said] if said else [""] if report.storms else [])


def test_no_fault_is_tried_after_the_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure without a repetition by then is a finding; the rest is counted."""
    failing = SINGLES[1].words
    run = Foretold.run

    def bounded(trials: Foretold, tests: Iterable[Trial]) -> Iterator[tuple[Trial, RunVerdict]]:
        assert trials.ends_s == 30
        for made, found in enumerate(run(trials, tests)):
            if made == 2:
                raise TimeIsOver
            yield found

    monkeypatch.setattr(Foretold, "run", bounded)
    with explored(tmp_path, lambda trial: (EXIT,) if failing in words(trial.faults) else (), 30) as (report, _):
        assert len(report.results) == 2
        assert [words(one.failure.faults) for one in report.findings] == [[failing]]
    assert f"({len(SINGLES) - 2} not tried)" in "".join(result(report))


def test_workers_are_not_waited_for_when_no_time_is_left() -> None:
    setting = Setting(("true",), Options(), "127.0.0.1", 0, Path())
    workers = Workers(setting, 0)
    ours, theirs = multiprocessing.Pipe()
    job = RunJob({}, 60.0)
    workers._processes[ours] = multiprocessing.Process()
    jobs = iter([("one", job)])
    assert list(workers.run(lambda: next(jobs, None), lambda: 0.0)) == []
    assert theirs.recv() == job


def test_an_empty_set_of_storms_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "storms", lambda *of: iter(()))
    with explored(tmp_path, lambda trial: (), 10 * BATCHES) as (report, _):
        assert report.no_storms == campaign.NONE_ARE_LEFT


def test_an_unrepeated_failure_at_the_end_is_no_failure_of_the_report() -> None:
    report = ExplorationReport(singles=SINGLES[:2], results={SINGLES[0].words: RunVerdict((EXIT,), is_triggered=True)})
    (suite,) = suites(report)
    assert [(case.ok, case.skipped) for case in suite.cases] == [(True, UNREPEATED), (True, "not tried")]
