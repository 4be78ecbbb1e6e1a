"""Output in CI of an exploration that a signal has ended."""

from simulator.cli.reports.explore_report import suites, suites_when_stopped
from simulator.explore.fault_catalogue import single_faults
from simulator.explore.fault_findings import ExplorationReport
from simulator.explore.run_verdicts import RunVerdict
from tests.support.explored import seen


def test_it_says_what_was_run_and_what_was_not() -> None:
    singles = single_faults(seen())
    report = ExplorationReport(
        singles=singles, results={one.words: RunVerdict((), is_triggered=True) for one in singles[:3]}, storms=2
    )
    *others, stopped = suites_when_stopped(report)
    assert others == suites(report)
    assert [one.skipped for one in others[0].cases].count("not tried") == len(singles) - 3
    [case] = stopped.cases
    assert not case.ok
    assert case.message == (
        f"stopped by a signal: 3 of {len(singles)} single faults and 2 storms were run;"
        " the same command with --resume continues"
    )


def test_it_says_that_nothing_was_tried() -> None:
    *_, stopped = suites_when_stopped(ExplorationReport())
    assert stopped.cases[0].message.startswith("stopped by a signal: 0 of 0 single faults and 0 storms were run;")
