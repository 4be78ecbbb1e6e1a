"""Verdicts of runs are stored: whole lines, only for an equal command, and no other file of the folder is touched."""

from pathlib import Path

import pytest

from simulator.explore.run_verdicts import FILE, FailureReason, Kind, OtherRun, Record, RunVerdict

FAILED = RunVerdict(
    (FailureReason(Kind.PAID_TWICE, "paid twice", "a sentence", {"count": {"max": 1}}),), True, "printed"
)
ABOUT = {"command": ["npm", "test"]}


def begun(folder: Path, *, resumes: bool) -> Record:
    record = Record(folder, ABOUT, resumes=resumes)
    record.begin()
    return record


def kept(folder: Path) -> Record:
    record = begun(folder, resumes=False)
    record.add("a", FAILED)
    record.add("b", RunVerdict((), is_triggered=False, problem="it makes no scenario"))
    (folder / "01-found.yaml").write_text("found")
    record.add_file("01-found.yaml")
    record.close()
    return record


def test_a_later_run_has_the_verdicts_of_an_earlier_one(tmp_path: Path) -> None:
    kept(tmp_path)
    again = begun(tmp_path, resumes=True)
    assert again.get("a") == FAILED
    assert again.get("b") == RunVerdict((), is_triggered=False, problem="it makes no scenario")
    assert again.get("c") is None
    assert (tmp_path / "01-found.yaml").exists()
    again.close()


def test_a_last_line_that_was_cut_off_is_as_if_its_run_had_not_ended(tmp_path: Path) -> None:
    kept(tmp_path)
    path = tmp_path / FILE
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:2]) + lines[2][:20])
    again = begun(tmp_path, resumes=True)
    assert again.get("a") == FAILED
    assert again.get("b") is None
    again.add("b", FAILED)
    again.close()
    third = begun(tmp_path, resumes=True)
    assert third.get("b") == FAILED
    third.close()


def test_the_runs_of_another_command_are_not_taken_for_these(tmp_path: Path) -> None:
    kept(tmp_path)
    with pytest.raises(OtherRun, match=r"of another command, .* or of other flags; leave --resume out"):
        Record(tmp_path, {"command": ["make", "test"]}, resumes=True)


def test_the_runs_of_another_version_are_not_taken_for_these(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"version": 1, "about": "a digest"}\n')
    with pytest.raises(OtherRun, match="scenario or version"):
        Record(tmp_path, ABOUT, resumes=True)


def test_a_finding_keeps_its_file_and_others_get_the_next_number(tmp_path: Path) -> None:
    def named(number: int) -> str:
        return f"{number}.yaml"

    record = begun(tmp_path, resumes=False)
    assert [record.file_of(one, named) for one in ("a", "b", "a")] == ["1.yaml", "2.yaml", "1.yaml"]
    record.close()
    again = begun(tmp_path, resumes=True)
    assert [again.file_of(one, named) for one in ("c", "b")] == ["3.yaml", "2.yaml"]
    again.close()


def test_an_exploration_that_did_not_begin_deletes_and_writes_nothing(tmp_path: Path) -> None:
    kept(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for resumes in (False, True):
        Record(tmp_path, ABOUT, resumes=resumes).close()
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_new_exploration_deletes_what_the_last_one_has_written_and_nothing_else(tmp_path: Path) -> None:
    record = kept(tmp_path)
    (tmp_path / "mine.yaml").write_text("mine")
    (tmp_path.parent / "beside.yaml").write_text("mine")
    with (tmp_path / FILE).open("a") as file:
        file.write('{"file": "../beside.yaml"}\n')
    again = begun(tmp_path, resumes=False)
    assert again.get("a") is None
    assert sorted(one.name for one in tmp_path.iterdir()) == ["mine.yaml", FILE]
    assert (tmp_path.parent / "beside.yaml").exists()
    again.close()
    assert record.get("a") == FAILED
