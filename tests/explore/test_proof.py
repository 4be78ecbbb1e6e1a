"""A finding is red when the command fails each time, green when it never does, else flaky."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from simulator.explore.findings import EXIT_IGNORED
from simulator.explore.observation import Outcome
from simulator.explore.proof import Colour, prove, read_finding
from simulator.explore.runs import CannotRun, Job, Workers
from simulator.explore.trials import BaselineFails
from tests.support.explored import outcome, seen

TEXT = 'scenario: late\nextends: "../mine.yaml"\nclock: { mode: xN, rate: 100 }\nfaults: []\n'


@dataclass
class Foreseen:
    """Workers whose runs end with these exit codes."""

    exit_codes: list[int]
    documents: list[dict[str, Any]] = field(default_factory=list)

    def run_one(self, job: Job) -> Outcome:
        self.documents.append(job.document)
        return outcome(seen(), self.exit_codes.pop(0))


def proven(folder: Path, *exit_codes: int, text: str = TEXT) -> tuple[Colour, Foreseen]:
    path = folder / "explored" / "01-late.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    workers = Foreseen(list(exit_codes))
    return prove(cast(Workers, workers), read_finding(path), len(exit_codes) - 1).colour, workers


@pytest.mark.parametrize(
    ("exit_codes", "colour"), [((0, 1, 1), Colour.RED), ((0, 0, 0), Colour.GREEN), ((0, 1, 0), Colour.FLAKY)]
)
def test_the_colour_says_how_often_the_command_failed(
    exit_codes: tuple[int, ...], colour: Colour, tmp_path: Path
) -> None:
    assert proven(tmp_path, *exit_codes)[0] is colour


def test_the_first_run_has_the_scenario_of_the_user_and_none_of_the_faults(tmp_path: Path) -> None:
    _, workers = proven(tmp_path, 0, 0)
    assert workers.documents == [
        {"extends": str(tmp_path / "mine.yaml"), "clock": {"mode": "xN", "rate": 100}},
        {"extends": str(tmp_path / "explored" / "01-late.yaml")},
    ]


def test_faults_in_sections_that_others_share_are_left_out_of_the_first_run(tmp_path: Path) -> None:
    shared = "extends: default\nclock: { mode: real, skew: 4m }\nlimits: { integration_timeout: null }\n"
    _, workers = proven(tmp_path, 0, 0, text=f"{shared}webhooks: {{ timeout: 9s, duplicate: 1 }}\n")
    assert workers.documents[0] == {"extends": "default", "clock": {"mode": "real"}, "webhooks": {"timeout": "9s"}}


def test_a_command_that_fails_without_faults_proves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BaselineFails, match="it exited with 4"):
        proven(tmp_path, 4, 1)


def test_the_exit_code_does_not_count_where_a_fault_decides_the_payment(tmp_path: Path) -> None:
    assert proven(tmp_path, 0, 1, text=f"# {EXIT_IGNORED}\n{TEXT}")[0] is Colour.GREEN


@pytest.mark.parametrize("text", ["", "- 1\n", "a: [\n", "seed: 1\n"])
def test_a_file_that_is_no_finding_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="is no finding"):
        proven(tmp_path, 0, text=text)
