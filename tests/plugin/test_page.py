"""docs/testing-without-sleeping.md and docs/pytest.md, played: their files and commands, in empty folders."""

import re
import sys
from inspect import signature
from pathlib import Path

import pytest

from reseller_sim import Simulator, pytest_plugin
from reseller_sim.pytest_sandbox import FILES, TEST
from tests.support.pages import blocks, empty_folder, follow, printed_on_terminal
from tests.support.processes import ROOT, serving

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "testing-without-sleeping.md").read_text("utf-8")
REFERENCE = (ROOT / "docs" / "pytest.md").read_text("utf-8")
SUITE = next(block.text for block in blocks(PAGE) if block.name == "test_shop.py")
SERVE = "reseller-sim serve "
SET_UP_LINES_MAX = 12
NAMES = set(signature(Simulator.sandbox).parameters) - {"self", "id"}


def folder_with_pytest(tmp_path: Path) -> Path:
    folder = empty_folder(tmp_path)
    program = tmp_path / "bin" / "pytest"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m pytest "$@"\n')
    program.chmod(0o755)
    return folder


def test_the_page_does_what_it_shows(tmp_path: Path) -> None:
    steps, folder = blocks(PAGE), folder_with_pytest(tmp_path)
    at = next(number for number, step in enumerate(steps) if step.text.startswith(SERVE))
    follow(steps[:at], folder)
    flags = steps[at].text.removeprefix(SERVE).split()
    with serving(*flags, "--port", "0", "--json", folder=str(folder)) as server:
        follow(steps[at + 1 :], folder, server, printed_on_terminal)


def test_the_reference_does_what_it_shows(tmp_path: Path) -> None:
    follow(blocks(REFERENCE), folder_with_pytest(tmp_path))


def test_the_reference_has_every_fixture_option_setting_and_argument() -> None:
    text = Path(pytest_plugin.__file__).read_text("utf-8")
    names = {*re.findall(r'"(--reseller-sim-\w+)"', text), *re.findall(r'addini\("(\w+)"', text), *NAMES, *FILES, TEST}
    names |= set(re.findall(r'@pytest.fixture(?:\(name="\w+".*\))?\ndef (\w+)', text))
    missing = [name for name in names - {"scenario"} if f"`{name.removeprefix('_')}" not in REFERENCE]
    assert missing == []


def test_a_suite_of_ten_tests_has_at_most_twelve_lines_of_set_up() -> None:
    set_up, *tests = re.split(r"^(?:@pytest\.mark.*\n)*def test_", SUITE, flags=re.MULTILINE)
    assert len(tests) == 10
    assert len([line for line in set_up.splitlines() if line]) <= SET_UP_LINES_MAX


def test_no_example_on_the_page_sleeps() -> None:
    assert "sleep " not in "".join(block.text for block in blocks(PAGE) if block.language == "sh")
    assert "time.sleep(" not in PAGE
