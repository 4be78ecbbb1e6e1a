"""Testers' mistakes in scenario files, and the positions at which they are reported."""

from typing import Any

import pytest

from simulator.scenario.library import scenario_from_object
from simulator.scenario.reading.document import ScenarioError
from tests.support.bad_scenarios import MISTAKES, STEPS
from tests.support.readings import places, problems


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in MISTAKES], ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_reported_with_its_position(text: str, expected: list[str]) -> None:
    assert places(text) == expected


def test_the_table_of_mistakes_is_complete_and_long() -> None:
    assert len(MISTAKES) >= 140
    assert len({row[0] for row in MISTAKES}) == len(MISTAKES)


SUGGESTIONS = [
    ("extnds: default\n", "'extends'"),
    ("extends: slow-provder\n", "'slow-provider'"),
    (STEPS + "    - { status: successful }\n", "'Succesful'"),
    (STEPS + "    - { status: acepted }\n", "'Accepted'"),
    ("assume: {refid-reused-with-other-params: reject}\n", "'refid-reused-with-other-parameters'"),
    ("extends: default\npayments: [{when: {product: electric}, then: [{status: Failed}]}]\n", "'ELECTRIC'"),
    ("faults: [{then: {afer_commit: true, status: 500}}]\n", "'after_commit'"),
    ("faults: [{then: {nonce_service: dwn}}]\n", "'down'"),
]


@pytest.mark.parametrize(("text", "near"), SUGGESTIONS)
def test_a_near_miss_gets_a_suggestion(text: str, near: str) -> None:
    assert f"(did you mean {near}?)" in "\n".join(problems(text))


def test_all_mistakes_of_a_file_are_reported_together_and_in_its_order() -> None:
    text = """\
scenario: many
sed: 1
payments:
  - when: { acount: 1, account: { pattern: "(" }, amount: x }
    then:
      - { status: Acepted, remarks: "{x}" }
      - { status: Failed }
faults:
  - then: { status: 700, delay: 3w }
limits: { nonces: 0, journal: lots }
schedule:
  - { at: 1s, deposit: { reseller: A } }
"""
    assert places(text) == [
        "2:1: unknown_key",
        "4:13: unknown_key",
        "4:44: bad_pattern",
        "4:59: bad_amount",
        "6:19: unknown_value",
        "6:37: bad_template",
        "7:9: timeline",
        "9:21: out_of_range",
        "9:33: bad_duration",
        "10:19: out_of_range",
        "10:31: type",
        "12:24: missing_key",
        "12:36: unknown_reseller",
    ]


def test_the_first_hundred_mistakes_are_reported() -> None:
    rule = "- { when: { account: { pattern: '(' }, amount: x }, then: [{ status: Failed }] }\n"
    assert len(places("payments:\n" + rule * 200)) == 100


def test_a_problem_says_file_line_column_code_and_message() -> None:
    assert problems("sed: 3\n") == ["1:1: unknown_key there is no key 'sed' here (did you mean 'seed'?)"]
    assert problems("clock: 5\n") == ["1:8: type must be real, manual or xN such as x60, not 5"]


def test_a_comma_in_unquoted_text_within_braces_is_explained() -> None:
    [problem] = problems("faults: [{ name: paid, but nobody heard, then: { status: 500 } }]\n")
    assert problem.endswith("there is no key 'but nobody heard' here; text with a comma within braces needs quotes")


def test_a_long_value_is_shortened_in_its_message() -> None:
    [problem] = problems(f"clock: {'x' * 5000}\n")
    assert len(problem) < 200


@pytest.mark.parametrize("below", [[1], [None], {"00": [1]}, {"": [1]}, {"": {"x": 1}}, {"0": {"": [1]}}])
@pytest.mark.parametrize("section", ["network", "inboxes", "payments"])
def test_a_mistake_below_an_empty_key_has_a_place(section: str, below: Any) -> None:
    with pytest.raises(ScenarioError) as raised:
        scenario_from_object({section: {"": below}})
    assert raised.value.problems[0].path.startswith(section)
