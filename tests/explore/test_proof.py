"""A finding is red when the command fails each time, green when it never does, else flaky."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from simulator.explore.fault_findings import EXIT_IGNORED, REPRODUCTION
from simulator.explore.finding_proof import Colour, prove, read_finding
from simulator.explore.observation import Observation, RunOutcome
from simulator.explore.runs import CannotRun, RunJob, Workers
from simulator.explore.trials import AsksNothing, BaselineFails
from tests.support.explored import ORDER, outcome, seen

HEAD = f"# {REPRODUCTION}\n"
TEXT = f'{HEAD}scenario: late\nextends: "../mine.yaml"\nclock: {{ mode: xN, rate: 100 }}\nfaults: []\n'


@dataclass
class Foreseen:
    """Workers whose runs end with these exit codes, and have seen this."""

    exit_codes: list[int]
    seen: Observation = field(default_factory=seen)
    documents: list[dict[str, Any]] = field(default_factory=list)

    def run_one(self, job: RunJob) -> RunOutcome:
        self.documents.append(job.document)
        return outcome(self.seen, self.exit_codes.pop(0))


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
    shared = f"{HEAD}extends: default\nclock: {{ mode: real, skew: 4m }}\nlimits: {{ integration_timeout: null }}\n"
    _, workers = proven(tmp_path, 0, 0, text=f"{shared}webhooks: {{ timeout: 9s, duplicate: 1 }}\n")
    assert workers.documents[0] == {"extends": "default", "clock": {"mode": "real"}, "webhooks": {"timeout": "9s"}}


def test_a_command_that_fails_without_faults_proves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BaselineFails, match="it exited with 4"):
        proven(tmp_path, 4, 1)


def test_the_exit_code_does_not_count_where_a_fault_decides_the_payment(tmp_path: Path) -> None:
    assert proven(tmp_path, 0, 1, text=f"# {EXIT_IGNORED}\n{TEXT}")[0] is Colour.GREEN


@pytest.mark.parametrize("text", ["", "- 1\n", f"{HEAD}seed: 1\n", "extends: default\n"])
def test_a_file_that_is_no_finding_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "finding.yaml"
    path.write_text(text)
    with pytest.raises(CannotRun, match="is not a finding"):
        read_finding(path)


def test_a_file_that_cannot_be_read_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match="cannot be read: this is a folder"):
        read_finding(tmp_path)
    path = tmp_path / "finding.yaml"
    path.write_text("\udcff", errors="surrogateescape")
    with pytest.raises(CannotRun, match="cannot be read: this is not UTF-8"):
        read_finding(path)


def test_a_section_that_was_edited_to_another_shape_is_left_to_its_run(tmp_path: Path) -> None:
    text = f"{HEAD}extends: default\nclock: [1]\nlimits: 4\nwebhooks: x\n"
    _, workers = proven(tmp_path, 0, 0, text=text)
    assert workers.documents[0] == {"extends": "default"}


@pytest.mark.parametrize(
    "text",
    [
        "faults: [{ name: another, when: { path: /v2/topup }, then: { disconnect: true } }]",
        "payments: [{ name: another, when: { product: RELOAD }, steps: [{ status: Failed }] }]",
    ],
)
def test_a_run_without_a_strike_does_not_count(text: str, tmp_path: Path) -> None:
    assert proven(tmp_path, 0, 0, 0, text=f"{HEAD}extends: default\n{text}\n")[0] is Colour.UNMET
    assert proven(tmp_path, 0, 0, 0, text=f"{HEAD}extends: default\n{text.replace('another', 'ordinary')}\n")[0] is (
        Colour.GREEN
    )
    assert proven(tmp_path, 0, 0, 1, text=f"{HEAD}extends: default\n{text}\n")[0] is Colour.FLAKY


def test_a_webhook_sent_twice_strikes_only_a_command_that_has_webhooks(tmp_path: Path) -> None:
    text = f"{HEAD}extends: default\nwebhooks: {{ duplicate: 1 }}\n"
    assert proven(tmp_path, 0, 0, text=text)[0] is Colour.GREEN
    without = seen()
    without.webhooks.clear()
    (tmp_path / "finding.yaml").write_text(text)
    workers = cast(Workers, Foreseen([0, 0], without))
    assert prove(workers, read_finding(tmp_path / "finding.yaml"), 1).colour is Colour.UNMET


def test_a_command_without_requests_proves_nothing(tmp_path: Path) -> None:
    (tmp_path / "finding.yaml").write_text(TEXT)
    with pytest.raises(AsksNothing, match="sent no request"):
        prove(cast(Workers, Foreseen([0], Observation())), read_finding(tmp_path / "finding.yaml"), 1)


def test_an_expectation_of_the_finding_does_not_repeat_its_reason(tmp_path: Path) -> None:
    (tmp_path / "finding.yaml").write_text(TEXT)
    name = f"{ORDER} is paid 2 times"
    calm, twice = seen(), seen()
    twice.kept[ORDER] = 4
    twice.unmet[name] = f"{name}: expected 0 to 2, got 4"

    class Twice(Foreseen):
        def run_one(self, job: RunJob) -> RunOutcome:
            self.seen = twice if self.documents else calm
            return super().run_one(job)

    proof = prove(cast(Workers, Twice([0, 0])), read_finding(tmp_path / "finding.yaml"), 1)
    assert [reason.words for reason in proof.reasons] == ["paid twice"]
