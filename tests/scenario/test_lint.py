"""Useless parts of a scenario: `check` reports them with their place, and they load nevertheless."""

from pathlib import Path

import pytest

from simulator.scenario.library import bundled_path, load_scenario, names, problems
from tests.support.bad_scenarios import FAILS, USELESS_PARTS

# What might look vain and is not.
MEANT: list[tuple[str, str]] = [
    ("behind one that ends", f"payments:\n- {{times: 2, {FAILS}}}\n- {FAILS}\n"),
    ("behind one that acts once", f"payments:\n- {{nth: 2, {FAILS}}}\n- {FAILS}\n"),
    ("behind one that acts by chance", f"payments:\n- {{chance: 0.5, {FAILS}}}\n- {FAILS}\n"),
    ("behind one that acts now and then", f"payments:\n- {{when: {{every: 2}}, {FAILS}}}\n- {FAILS}\n"),
    ("behind a narrower one", f"payments:\n- {{when: {{product: GAME}}, {FAILS}}}\n- {FAILS}\n"),
    ("a fallback first", f"payments:\n- {{fallback: true, {FAILS}}}\n- {{when: {{account: a}}, {FAILS}}}\n"),
    ("for those that ask by name", f"payments:\n- {FAILS}\n- {{name: asked for, {FAILS}}}\n"),
    ("an inherited rule is overruled", "voids:\n- {fallback: true, then: {status: Failed}}\n"),
    (
        "a fault before the body and one behind",
        "faults:\n- {when: {path: /v2/topup}, then: {delay: 1s}}\n- {when: {product: GAME}, then: {status: 500}}\n",
    ),
    ("an nth among every", f"payments: [{{nth: 4, every: 2, {FAILS}}}]\n"),
    ("a path with an id", "faults: [{when: {path: /v2/balance-webhook/deliveries/7}, then: {status: 500}}]\n"),
    ("a path with a glob", "faults: [{when: {path: /v2/*}, then: {status: 500}}]\n"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"), [row[1:] for row in USELESS_PARTS], ids=[row[0] for row in USELESS_PARTS]
)
def test_a_useless_part_is_reported_with_its_position(tmp_path: Path, text: str, expected: list[str]) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("extends: default\n" + text)
    load_scenario(path)
    assert [f"{one.line}:{one.column}: {one.code}" for one in problems(path)] == expected


@pytest.mark.parametrize("text", [row[1] for row in MEANT], ids=[row[0] for row in MEANT])
def test_a_rule_that_only_looks_useless_is_not_reported(tmp_path: Path, text: str) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("extends: default\n" + text)
    assert problems(path) == []


def test_errors_and_useless_parts_are_reported_together(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(f"sed: 1\npayments:\n- {FAILS}\n- {{when: {{account: a}}, {FAILS}}}\n")
    assert [(one.line, one.code) for one in problems(path)] == [(1, "unknown_key"), (4, "unreachable")]


def test_a_path_that_is_near_gets_a_suggestion(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("faults: [{when: {path: /v2/topups}, then: {status: 500}}]\n")
    assert "did you mean '/v2/topup'?" in problems(path)[0].message


@pytest.mark.parametrize("name", names())
def test_a_bundled_scenario_has_no_useless_parts(name: str) -> None:
    assert problems(bundled_path(name)) == []


@pytest.mark.slow
def test_two_thousand_rules_are_compared_with_two_hundred_each(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("payments:\n" + "".join(f"- {{when: {{account: a{n}}}, {FAILS}}}\n" for n in range(2_000)))
    assert problems(path) == []
