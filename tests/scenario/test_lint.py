"""Useless parts of a scenario: `check` reports them with their place, and they load nevertheless."""

import re
from pathlib import Path

import pytest

from simulator.scenario.library import bundled_path, load_scenario, names, problems
from tests.support.bad_scenarios import FAILS, USELESS_PARTS
from tests.support.findings import FINDINGS, MEANT


@pytest.mark.parametrize(
    ("text", "expected"), [row[1:] for row in USELESS_PARTS], ids=[row[0] for row in USELESS_PARTS]
)
def test_a_useless_part_is_reported_with_its_position(tmp_path: Path, text: str, expected: list[str]) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("extends: default\n" + text)
    load_scenario(path)
    assert [f"{one.line}:{one.column}: {one.code}" for one in problems(path)] == expected


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in FINDINGS], ids=[row[0] for row in FINDINGS])
def test_each_finding_says_where_and_why(tmp_path: Path, text: str, expected: list[str]) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("extends: default\n" + text)
    load_scenario(path)
    assert [f"{one.line}:{one.column}: {one.code} {one.message}" for one in problems(path)] == expected


def test_an_inherited_rule_that_hides_one_is_named_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(f"extends: default\npayments:\n- {{name: all, {FAILS}}}\n")
    path = tmp_path / "f.yaml"
    path.write_text(f"extends: base.yaml\npayments:\n- {{fallback: true, when: {{product: GAME}}, {FAILS}}}\n")
    [found] = problems(path)
    assert (found.line, found.code) == (3, "unreachable")
    assert f"rule 'all' in {tmp_path / 'base.yaml'}:3 matches the same requests" in found.message


def test_a_file_without_resellers_names_the_missing_part(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("clock: manual\n")
    assert [str(one).removeprefix(f"{path}:") for one in problems(path)] == [
        "1:1: missing_key without resellers no client can call; write 'extends: default' to start with a "
        "reseller, its key and a catalog, or list your own 'resellers'"
    ]
    path.write_text("resellers: []\n")
    assert problems(path) == []


def test_a_base_without_resellers_is_reported_where_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("clock: manual\n")
    path = tmp_path / "f.yaml"
    path.write_text("scenario: mine\nextends: base.yaml\n")
    assert [(one.line, one.column, one.code) for one in problems(path)] == [(2, 10, "missing_key")]


@pytest.mark.parametrize("text", [row[1] for row in MEANT], ids=[row[0] for row in MEANT])
def test_a_rule_that_only_looks_useless_is_not_reported(tmp_path: Path, text: str) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("extends: default\n" + text)
    assert problems(path) == []


THEN = {
    "payments": "[{status: Failed}]",
    "voids": "{status: Failed}",
    "disputes": "{status: Failed}",
    "bills": "{error: unavailable}",
    "faults": "{status: 500}",
}


@pytest.mark.parametrize("per", ["account", "reseller", "key", "address"])
@pytest.mark.parametrize("section", THEN)
def test_every_section_counts_per_account_reseller_key_and_address(tmp_path: Path, section: str, per: str) -> None:
    path = tmp_path / "f.yaml"
    for rule in (f"nth: 2, per: {per}", f"when: {{every: 2, per: {per}}}"):
        path.write_text(f"extends: default\n{section}: [{{{rule}, then: {THEN[section]}}}]\n")
        assert problems(path) == []


def test_errors_and_useless_parts_are_reported_together(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(f"sed: 1\nresellers: []\npayments:\n- {FAILS}\n- {{when: {{account: a}}, {FAILS}}}\n")
    assert [(one.line, one.code) for one in problems(path)] == [(1, "unknown_key"), (5, "unreachable")]


def test_a_path_that_is_near_gets_a_suggestion(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("resellers: []\nfaults: [{when: {path: /v2/topups}, then: {status: 500}}]\n")
    assert "did you mean '/v2/topup'?" in problems(path)[0].message


@pytest.mark.parametrize("name", names())
def test_a_bundled_scenario_has_no_useless_parts(name: str) -> None:
    assert problems(bundled_path(name)) == []


@pytest.mark.slow
def test_two_thousand_rules_are_compared_until_the_bound(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(
        "resellers: []\npayments:\n" + "".join(f"- {{when: {{account: a{n}}}, {FAILS}}}\n" for n in range(2_000))
    )
    assert problems(path) == []


EXAMPLES = re.findall(
    r"(?:<!-- file: (\S+) -->\n)?```yaml\n(.*?)```",
    "\n".join((Path(__file__).parents[2] / "docs" / name).read_text() for name in ("scenarios.md", "recipes.md")),
    re.DOTALL,
)
# Problems of a part of a file that is checked as a whole file.
OF_PARTS = {"unknown_key", "unknown_rule", "duplicate_key"}


def test_a_rule_whose_alternatives_an_earlier_rule_matches_is_hidden(tmp_path: Path) -> None:
    rules = [
        f"- {{when: {{any: [{', '.join(f'{{account: a{place}}}' for place in range(count))}]}}, {FAILS}}}"
        for count in (10, 5)
    ]
    path = tmp_path / "f.yaml"
    path.write_text("extends: default\npayments:\n" + "\n".join(rules) + "\n")
    assert [one.line for one in problems(path)] == [4]


@pytest.mark.slow
def test_the_examples_of_the_pages_have_no_useless_parts(tmp_path: Path) -> None:
    assert len(EXAMPLES) > 10
    for name, text in EXAMPLES:
        path = tmp_path / (name or "f.yaml")  # a file with a name may be extended by those below it
        path.write_text(text if "extends:" in text else "extends: default\n" + text)
        assert {one.code for one in problems(path)} <= OF_PARTS, text
