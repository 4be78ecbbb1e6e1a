"""The files of findings: nothing of a sentence is lost, and nothing of a command."""

import re
from contextlib import closing
from pathlib import Path

from simulator.explore.fault_catalogue import restarts, sentence, single_faults
from simulator.explore.fault_findings import FindingWriter, Reproduction, summary
from simulator.explore.run_verdicts import FailureReason, Kind, Record, RunVerdict
from simulator.explore.trials import Failure
from simulator.scenario.library import problems
from tests.support.explored import FAST, seen

EXIT = FailureReason(Kind.EXIT, "exit 1", "the command exited with 1")
FAULTS = tuple({one.place: one for one in single_faults(seen())}.values())[:8]


def test_a_long_sentence_is_whole(tmp_path: Path) -> None:
    failure = Failure(FAULTS, RunVerdict((EXIT,), True, output="x" * 1000), failed=2, attempts=3)
    reproduction = Reproduction(("sh", "-c", f"{'echo; ' * 100}last"))
    with closing(Record(tmp_path, {}, resumes=False)) as record:
        record.begin()
        finding = FindingWriter(FAST, tmp_path, record, reproduction, lambda faults: 60.0).write(failure)
    lines = finding.path.read_text().splitlines()
    words = re.sub(r"[^a-z0-9]+", "-", sentence(FAULTS).lower())
    assert words.startswith(f"{finding.path.stem[3:]}-"), "the name ends at the end of a word"
    assert 80 < len(finding.path.stem) < 110
    assert len(summary(failure)) > 300
    assert lines[0] == f"# {summary(failure)}."
    assert lines[0].endswith("exit 1 (fails 2 of 3).")
    assert f"#   {finding.command_line}" in lines
    assert finding.command_line.endswith("last'")
    assert problems(finding.path) == []


def test_a_client_that_restarts_is_shown_again_by_prove(tmp_path: Path) -> None:
    failure = Failure(tuple(restarts(seen())[:1]), RunVerdict((EXIT,), True), failed=2, attempts=2)
    line = Reproduction(("python", "shop.py"), ("sh", "-c", "kill $PID"), "--port 1 ").line(
        failure, tmp_path / "a.yaml", 60.0
    )
    file = tmp_path / "a.yaml"
    assert line == f"""reseller-sim prove {file} --restart 'sh -c '"'"'kill $PID'"'"'' -- python shop.py"""
