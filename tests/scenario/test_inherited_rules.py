"""Changes and removals of inherited rules and expectations."""

from pathlib import Path

import pytest

from simulator.scenario.build import build, build_rule
from simulator.scenario.library import load_scenario, problems, scenario_from_object
from simulator.scenario.reading.merge import CHANGEABLE
from simulator.scenario.reading.nodes import ScenarioError
from simulator.scenario.reading.yaml_parser import load_object

BASE = """\
resellers: [{ code: A }]
payments:
  - { name: one, then: [{ status: Failed }] }
  - { id: two, when: { account: a }, then: [{ status: Failed }] }
  - { then: [{ status: Succesful }] }
voids:
  - { name: void, then: { status: Failed } }
faults:
  - { name: outage, when: { path: /v2/topup }, then: { status: 503 } }
  - { name: slow, when: { path: /v2/catalog }, then: { delay: 1s } }
expect:
  - { name: paid, payments: { status: Succesful } }
  - { name: heard, callbacks: { state: delivered } }
  - { outcome: payment-failed-after-processing }
"""


@pytest.fixture
def over(tmp_path: Path) -> Path:
    (tmp_path / "base.yaml").write_text(BASE)
    return tmp_path / "over.yaml"


def names(path: Path, section: str) -> list[str]:
    return [rule.name or rule.id for rule in getattr(load_scenario(path), section)]


def test_a_rule_of_the_same_name_takes_the_place_of_the_inherited_one_whole(over: Path) -> None:
    over.write_text(
        "extends: base.yaml\nfaults:\n  - { name: slow, then: { status: 500 } }\n  - { then: { status: 502 } }\n"
    )
    assert names(over, "faults") == ["faults-1", "outage", "slow"]
    assert load_scenario(over).document["faults"][2] == {"name": "slow", "then": {"status": 500}}


def test_a_rule_of_the_same_id_does_so_too(over: Path) -> None:
    over.write_text("extends: base.yaml\npayments: [{ id: two, name: new, then: [{ status: Accepted }] }]\n")
    assert names(over, "payments") == ["one", "new", "payments-3"]
    assert load_scenario(over).payments[1].id == "two"


def test_a_name_is_not_an_id_and_a_rule_of_another_section_is_another(over: Path) -> None:
    for text in ("payments: [{ id: one, then: [{ status: Failed }] }]", "bills: [{ name: void, then: { error: a } }]"):
        over.write_text(f"extends: base.yaml\n{text}\n")
        [problem] = problems(over)
        assert (problem.line, problem.code) == (2, "duplicate")


@pytest.mark.parametrize(
    ("text", "section", "left"),
    [
        ("payments: [{ name: one, remove: true }]", "payments", ["two", "payments-2"]),
        ("payments: [{ id: two, remove: true }]", "payments", ["one", "payments-2"]),
        ("payments: [{ name: one, remove: true }, { id: two, remove: true }]", "payments", ["payments-1"]),
        ("voids: [{ name: void, remove: true }]", "voids", []),
        ("faults: [{ remove: true, name: outage }]", "faults", ["slow"]),
        ("expect: [{ name: heard, remove: true }]", "expect", ["paid", "outcome payment-failed-after-processing"]),
    ],
)
def test_a_removed_rule_is_gone_from_the_scenario_and_from_its_document(
    over: Path, text: str, section: str, left: list[str]
) -> None:
    over.write_text(f"extends: base.yaml\n{text}\n")
    scenario = load_scenario(over)
    found = [one.name if section == "expect" else one.name or one.id for one in getattr(scenario, section)]
    assert [name.partition(" {")[0] for name in found] == left
    assert len(scenario.document[section]) == len(left)
    assert "remove" not in str(scenario.document)
    again = build(load_object(scenario.document), scenario.name)
    assert again.document == scenario.document


def test_a_removed_rule_that_is_written_again_comes_before_the_inherited_rules(over: Path) -> None:
    over.write_text(
        "extends: base.yaml\nfaults: [{ name: slow, remove: true }, { name: slow, then: { status: 500 } }]\n"
    )
    assert names(over, "faults") == ["slow", "outage"]


def test_an_expectation_replaces_the_inherited_expectation_of_its_name_and_others_are_appended(over: Path) -> None:
    over.write_text(
        "extends: base.yaml\n"
        "expect:\n  - { name: new, calls: { path: /v2/topup } }\n  - { name: paid, payments: {}, count: 7 }\n"
    )
    found = load_scenario(over).expect
    assert [one.name for one in found][:2] == ["paid", "heard"]
    assert (found[0].count.low, found[0].count.high, found[-1].name) == (7, 7, "new")


def test_two_expectations_of_the_same_name_are_both_replaced_and_both_removed(over: Path) -> None:
    (over.parent / "base.yaml").write_text(BASE + "  - { name: paid, calls: { path: /v2/topup } }\n")
    over.write_text("extends: base.yaml\nexpect: [{ name: paid, payments: {} }]\n")
    assert [one.name for one in load_scenario(over).expect].count("paid") == 1
    over.write_text("extends: base.yaml\nexpect: [{ name: paid, remove: true }]\n")
    assert "paid" not in [one.name for one in load_scenario(over).expect]


def test_a_missing_name_to_remove_gets_a_suggestion(over: Path) -> None:
    over.write_text("extends: base.yaml\nfaults:\n  - { name: outrage, remove: true }\n")
    [problem] = problems(over)
    said = "there is no inherited item in faults with the name 'outrage' (did you mean 'outage'?)"
    assert (problem.line, problem.column, problem.path, problem.message) == (3, 13, "faults[0].name", said)


def test_a_name_in_another_section_is_not_removed(over: Path) -> None:
    over.write_text("extends: base.yaml\npayments: [{ name: slow, remove: true }]\n")
    [problem] = problems(over)
    assert problem.message == "there is no inherited item in payments with the name 'slow'"


def test_a_base_without_extends_may_not_remove_either(over: Path) -> None:
    (over.parent / "base.yaml").write_text(
        BASE.replace("name: slow, when: { path: /v2/catalog }, then: { delay: 1s }", "name: slow, remove: true")
    )
    over.write_text("extends: base.yaml\nfaults: [{ name: slow, then: { status: 500 } }]\n")
    [problem] = problems(over)
    assert (Path(problem.source).name, problem.line, problem.code) == ("base.yaml", 10, "misplaced")


def test_a_middle_file_removes_rules_for_the_files_above_it(over: Path) -> None:
    over.write_text("extends: base.yaml\nfaults: [{ name: slow, remove: true }]\n")
    top = over.parent / "top.yaml"
    top.write_text("extends: over.yaml\n")
    assert names(top, "faults") == ["outage"]
    top.write_text("extends: over.yaml\nfaults: [{ name: slow, remove: true }]\n")
    assert [problem.code for problem in problems(top)] == ["unknown_name"]


def test_an_object_changes_and_removes_too() -> None:
    rules = [{"name": "ordinary", "remove": True}, {"name": "mine", "then": [{"status": "Failed"}]}]
    scenario = scenario_from_object({"extends": "default", "payments": rules})
    assert [rule.name for rule in scenario.payments] == ["mine"]
    for value in ({"payments": rules}, {"extends": "default", "voids": rules[:1]}):
        with pytest.raises(ScenarioError):
            scenario_from_object(value)


@pytest.mark.parametrize("section", [section for section in CHANGEABLE if section != "expect"])
def test_a_single_rule_of_the_control_api_removes_nothing(section: str) -> None:
    with pytest.raises(ScenarioError, match="misplaced only a file with 'extends'"):
        build_rule(section, {"name": "ordinary", "remove": True}, "added-1")


def test_two_rules_of_the_same_name_in_a_file_are_reported_at_the_lower_rule(over: Path) -> None:
    over.write_text(
        "extends: base.yaml\nfaults:\n  - { name: slow, then: { status: 500 } }\n"
        "  - { name: slow, then: { status: 502 } }\n"
    )
    [problem] = problems(over)
    assert str(problem).endswith("over.yaml:4:13: duplicate rule called 'slow' exists already, on line 3")
