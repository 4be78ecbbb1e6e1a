"""Useless parts of a scenario: `check` reports them with their place, and they load nevertheless."""

from pathlib import Path

import pytest

from simulator.scenario.library import bundled_path, load_scenario, names, problems

FAILED = "then: [{status: Failed}]"
KEY = "resellers: [{code: A, api_keys: [{key: k, secret: "

# name, text behind `extends: default`, so that it begins in line 2; where what is told
VAIN: list[tuple[str, str, list[str]]] = [
    (
        "a rule behind one that takes everything",
        f"payments:\n- {{{FAILED}}}\n- {{name: b, when: {{product: GAME}}, {FAILED}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "behind an empty when",
        f"payments:\n- {{when: {{}}, {FAILED}}}\n- {{when: {{account: '1'}}, {FAILED}}}\n",
        ["4:3: unreachable"],
    ),
    ("two that take everything", f"payments:\n- {FAILED}\n- {FAILED}\n", ["4:3: unreachable"]),
    (
        "all of them",
        f"payments:\n- {FAILED}\n- {FAILED}\n- {{when: {{account: a}}, {FAILED}}}\n",
        ["4:3: unreachable", "5:3: unreachable"],
    ),
    (
        "a narrower one behind a wider one",
        f"payments:\n- {{when: {{product: GAME}}, {FAILED}}}\n- {{when: {{product: GAME, account: a}}, {FAILED}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "one of several products",
        f"payments:\n- {{when: {{product: [GAME, DATA]}}, {FAILED}}}\n- {{when: {{product: DATA}}, {FAILED}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "several of more products",
        f"payments:\n- {{when: {{product: {{in: [GAME, DATA]}}}}, {FAILED}}}\n"
        f"- {{when: {{product: [DATA]}}, {FAILED}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "the same pattern",
        f"payments:\n- {{when: {{account: {{prefix: '9'}}}}, {FAILED}}}\n"
        f"- {{when: {{account: {{prefix: '9'}}}}, times: 2, {FAILED}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "the same extra and one more",
        f"payments:\n- {{when: {{extras: {{a: '1'}}}}, {FAILED}}}\n"
        f"- {{when: {{extras: {{a: '1', b: '2'}}}}, {FAILED}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "a chance of one takes everything",
        f"payments:\n- {{chance: 1, {FAILED}}}\n- {{when: {{account: a}}, {FAILED}}}\n",
        ["4:3: unreachable"],
    ),
    (
        "a fallback behind a rule for everything",
        f"payments:\n- {{fallback: true, when: {{account: a}}, {FAILED}}}\n- {FAILED}\n",
        ["3:3: unreachable"],
    ),
    (
        "a void",
        "voids:\n- then: {status: Failed}\n- {when: {refid: a}, then: {status: Failed}}\n",
        ["4:3: unreachable"],
    ),
    (
        "a dispute",
        "disputes:\n- then: {status: Failed}\n- {when: {refid: a}, then: {status: Failed}}\n",
        ["4:3: unreachable"],
    ),
    ("a bill", "bills:\n- then: {error: a}\n- {when: {account: a}, then: {error: b}}\n", ["4:3: unreachable"]),
    (
        "a fault",
        "faults:\n- {when: {method: GET}, then: {status: 500}}\n"
        "- {when: {method: GET, path: /v2/balance}, then: {status: 501}}\n",
        ["4:3: unreachable"],
    ),
    ("an nth that every leaves out", f"payments: [{{nth: 3, every: 2, {FAILED}}}]\n", ["2:18: unreachable"]),
    ("an nth beyond times", f"payments: [{{nth: 3, times: 2, {FAILED}}}]\n", ["2:18: out_of_range"]),
    ("the same within when", "faults: [{when: {nth: 3}, times: 2, then: {status: 500}}]\n", ["2:23: out_of_range"]),
    ("a range", f"payments: [{{when: {{amount: {{min: 10, max: 5}}}}, {FAILED}}}]\n", ["2:43: out_of_range"]),
    (
        "a range in an extra",
        f"payments: [{{when: {{extras: {{a: {{min: '10', max: 5.5}}}}}}, {FAILED}}}]\n",
        ["2:49: out_of_range"],
    ),
    (
        "a re-query behind an end that comes at once",
        "payments:\n- then:\n  - status: Accepted\n  - {after: 0s, status: Failed}\n"
        "  - {requery: 2, status: Succesful}\n",
        ["6:15: unreachable"],
    ),
    ("a path that there is not", "faults: [{when: {path: /v2/topups}, then: {status: 500}}]\n", ["2:24: unknown_path"]),
    (
        "one of several paths",
        "faults: [{when: {path: [/v2/topup, /v2/ballance]}, then: {status: 500}}]\n",
        ["2:36: unknown_path"],
    ),
    ("a short secret", KEY + "c2hvcnQ=}]}]\n", ["2:51: short_secret"]),
]  # fmt: skip

# What might look vain and is not.
MEANT: list[tuple[str, str]] = [
    ("behind one that ends", f"payments:\n- {{times: 2, {FAILED}}}\n- {FAILED}\n"),
    ("behind one that acts once", f"payments:\n- {{nth: 2, {FAILED}}}\n- {FAILED}\n"),
    ("behind one that acts by chance", f"payments:\n- {{chance: 0.5, {FAILED}}}\n- {FAILED}\n"),
    ("behind one that acts now and then", f"payments:\n- {{when: {{every: 2}}, {FAILED}}}\n- {FAILED}\n"),
    ("behind a narrower one", f"payments:\n- {{when: {{product: GAME}}, {FAILED}}}\n- {FAILED}\n"),
    ("a fallback first", f"payments:\n- {{fallback: true, {FAILED}}}\n- {{when: {{account: a}}, {FAILED}}}\n"),
    ("for those that ask by name", f"payments:\n- {FAILED}\n- {{name: asked for, {FAILED}}}\n"),
    ("an inherited rule is overruled", "voids:\n- {fallback: true, then: {status: Failed}}\n"),
    (
        "a fault before the body and one behind",
        "faults:\n- {when: {path: /v2/topup}, then: {delay: 1s}}\n- {when: {product: GAME}, then: {status: 500}}\n",
    ),
    ("an nth among every", f"payments: [{{nth: 4, every: 2, {FAILED}}}]\n"),
    ("a path with an id", "faults: [{when: {path: /v2/balance-webhook/deliveries/7}, then: {status: 500}}]\n"),
    ("a path with a glob", "faults: [{when: {path: /v3/*}, then: {status: 500}}]\n"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in VAIN], ids=[row[0] for row in VAIN])
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
    path.write_text(f"sed: 1\npayments:\n- {FAILED}\n- {{when: {{account: a}}, {FAILED}}}\n")
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
    path.write_text("payments:\n" + "".join(f"- {{when: {{account: a{n}}}, {FAILED}}}\n" for n in range(2_000)))
    assert problems(path) == []
