"""The bundled scenarios as a set: enough of them, each introduced, played by a test and listed on its page."""

import re
from itertools import takewhile
from pathlib import Path

import pytest

from simulator.scenario import library
from tests.support.runner import invoke

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LISTED = re.compile(r"^\| `([a-z-]+)` \| (.+) \|$", re.MULTILINE)
LINES_MAX = 60  # a page
PLAYED = "".join(path.read_text() for path in HERE.glob("test_*.py") if path.name != Path(__file__).name)


def test_there_are_enough_bundled_scenarios() -> None:
    assert len(library.names()) >= 15


@pytest.mark.parametrize("name", library.names())
def test_each_bundled_scenario_is_played_by_a_test(name: str) -> None:
    assert f'"{name}"' in PLAYED


@pytest.mark.parametrize("name", [name for name in library.names() if name != "default"])
def test_each_scenario_begins_with_the_audience_that_it_is_for(name: str) -> None:
    lines = library.text(name).splitlines()
    assert len(lines) <= LINES_MAX
    assert sum(line.startswith("# ") for line in lines) >= 2


@pytest.mark.parametrize("name", library.names())
def test_each_begins_by_saying_what_a_good_client_does_under_it(name: str) -> None:
    opening = list(takewhile(lambda line: line.startswith("#"), library.text(name).splitlines()))
    said = " ".join(" ".join(line.removeprefix("#") for line in opening).split())
    assert len(re.findall(r"[.] A good client [a-z-]+s .{20,}?[.](?= |$)", said)) == 1


@pytest.mark.parametrize("name", library.names())
def test_a_sandbox_that_was_made_by_a_name_says_that_name(name: str) -> None:
    assert library.load_scenario(name).name == name


def test_the_page_lists_them_as_the_command_does() -> None:
    part = (
        (ROOT / "docs" / "bundled-scenarios.md").read_text().partition("## Bundled scenarios")[2].partition("\n## ")[0]
    )
    assert dict(LISTED.findall(part)) == library.descriptions()


def test_readme_counts_them() -> None:
    assert f"{len(library.names())} bundled scenarios" in (ROOT / "README.md").read_text()


def test_the_command_lists_them_with_a_line_each() -> None:
    lines = invoke("scenarios").stdout.splitlines()
    assert [line.split("  ")[0] for line in lines] == library.names()
    assert all(len(line) <= 160 for line in lines)


@pytest.mark.parametrize("name", library.names())
def test_magic_accounts_keep_working_beside_its_payment_rules(name: str) -> None:
    scenario = library.load_scenario(name)
    catch_all = [
        rule for rule in scenario.payments if rule.when({"product": "RELOAD", "account": "0120000001", "amount": 10})
    ]
    assert all(rule.fallback for rule in catch_all)
