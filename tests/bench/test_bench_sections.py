"""Short real runs of the sections that need the real simulator."""

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.comparisons import REFUSED
from bench.tail import BARE_NAME, OUR_NAME

pytestmark = pytest.mark.slow

SHORT = ["--rounds", "1", "--seconds", "0.1", "--starts", "1", "--connections", "2"]


def test_rows_are_measured_beside_a_bare_app_that_answers_as_many_bytes(tmp_path: Path) -> None:
    out, page = tmp_path / "figures.json", tmp_path / "page.md"
    sections = ["network", "catalog", "refusals"]
    assert main([*SHORT, "--json", str(out), "--page", str(page), "--only", *sections]) == 0
    figures = json.loads(out.read_text())
    titles = [row["row"] for row in figures["Rows"]]
    assert [title.partition(" ")[0] for title in titles[:2]] == ["GET"] * 2
    assert len(titles) == 2 + len(REFUSED)
    assert figures["machine"]["commit"]
    assert "## Rows" in page.read_text()


@pytest.mark.needs("initdb")
def test_payments_in_postgresql_are_measured_beside_a_folder_and_memory(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    assert main([*SHORT, "--json", str(out), "--only", "postgres"]) == 0
    rows = json.loads(out.read_text())["Rows"]
    assert [row["row"] for row in rows] == ["creates, --store to memory", "creates, --store to --data-dir"]
    assert all(float(row["ratio"]) > 0 for row in rows)


def test_the_tail_is_measured_by_turns_over_all_payments(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    assert main([*SHORT, "--tail-payments", "200", "--json", str(out), "--only", "tail"]) == 0
    tails = json.loads(out.read_text())["The tail"]
    assert [(row["server"], row["conn"], row["answers"]) for row in tails] == [
        (BARE_NAME, "16", "200"),
        (OUR_NAME, "16", "200"),
        (BARE_NAME, "64", "200"),
        (OUR_NAME, "64", "200"),
    ]
    assert all(float(row["gap ms"]) > 0 for row in tails)


def test_the_start_measures_an_installed_package_and_its_command(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    assert main([*SHORT, "--json", str(out), "--only", "startup"]) == 0
    rows = [row["start to first answer"] for row in json.loads(out.read_text())["Start and memory"]]
    assert {"ours, first signed answer", "reseller-sim exec -- true"} <= set(rows)
