"""`reseller-sim openapi` writes the contract and its collection to stdout or to a file."""

import json
import os
from pathlib import Path

import pytest

from tests.support.runner import invoke, refusal


def test_the_command_line_writes_the_collection(tmp_path: Path) -> None:
    assert json.loads(invoke("openapi", "--as", "postman").stdout)["info"]["name"] == "Reseller API"
    file = tmp_path / "control.json"
    assert invoke("openapi", "--as", "postman", "--control", "--to", str(file)).exit_code == 0
    assert json.loads(file.read_text())["info"]["name"] == "Control API"


def test_the_document_can_be_written_to_a_file(tmp_path: Path) -> None:
    for flags in ((), ("--json",), ("--control", "--json")):
        file = tmp_path / "document"
        assert invoke("openapi", *flags, "--to", str(file)).stdout == ""
        assert file.read_text() == invoke("openapi", *flags).stdout


def test_flags_that_contradict_each_other_are_refused() -> None:
    assert "exclude each other" in refusal(invoke("openapi", "--as", "postman", "--json"), 2)
    assert "insomnia" in refusal(invoke("openapi", "--as", "insomnia"), 2)


@pytest.mark.parametrize("form", [("--as", "postman"), ("--json",)])
def test_an_unwritable_file_is_reported_on_one_line(form: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = refusal(invoke("openapi", *form, "--to", str(tmp_path / "file" / "below")), 3)
    assert "cannot be written" in said


def test_only_a_regular_file_is_replaced(tmp_path: Path) -> None:
    kept, link, pipe = tmp_path / "kept", tmp_path / "link", tmp_path / "pipe"
    kept.write_text("mine")
    link.symlink_to(kept)
    os.mkfifo(pipe)
    for path in (link, pipe):
        assert "not a regular file" in refusal(invoke("openapi", "--json", "--to", str(path)), 3)
    assert kept.read_text() == "mine"
    assert invoke("openapi", "--json", "--to", str(kept)).exit_code == 0
    assert json.loads(kept.read_text())["openapi"]
