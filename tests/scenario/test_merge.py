"""`extends`: the inherited parts of a scenario, and the file named in a problem."""

from pathlib import Path

import pytest

from simulator.domain.commands import Credit
from simulator.domain.model.scenario import Scenario
from simulator.scenario.library import load_scenario, scenario_from_object
from simulator.scenario.reading.merge import merge
from simulator.scenario.reading.nodes import ProblemReport, ScenarioError
from simulator.scenario.reading.yaml_parser import load_text

BASE = """\
scenario: base
description: below
seed: 7
clock: { mode: manual, skew: 5s }
resellers:
  - { code: A, balance: 10, api_keys: [{ key: a, state: no_secret }], settings: { ip_allowlist: [10.0.0.1] } }
  - { code: B, balance: 20 }
catalog:
  groups:
    - { id: g, name: Group, categories: [{ id: c, name: Category, product_codes: [X] }] }
  products:
    - code: X
      name: X
      processing_time: instant
      discount: { type: percentage, value: 1 }
      fields:
        - { id: amount, label: Amount, role: pricing, type: select, options: [5, { code: TEN, denomination: 10 }] }
    - { code: Y, name: Y, processing_time: pin, discount: { type: fixed, value: 1 } }
payments:
  - { name: below, then: [{ status: Failed }] }
faults:
  - { name: fault below, then: { status: 500 } }
schedule:
  - { at: 1s, deposit: { reseller: A, amount: 1 } }
limits: { journal: 5, inbox: 6 }
assume: { nonce-scope: reseller }
"""


def laid_over(tmp_path: Path, over: str) -> Scenario:
    """`over` on top of `BASE`."""
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "over.yaml").write_text(f"extends: base.yaml\n{over}")
    return load_scenario(tmp_path / "over.yaml")


def test_every_section_is_inherited_except_title_and_description(tmp_path: Path) -> None:
    scenario = laid_over(tmp_path, "")
    assert (scenario.name, scenario.description, scenario.seed) == ("over", "", 7)
    assert [reseller.code for reseller in scenario.resellers] == ["A", "B"]
    assert list(scenario.catalog.products) == ["X", "Y"]
    assert scenario.assume == {"nonce-scope": "reseller"}


def test_objects_are_merged_key_by_key(tmp_path: Path) -> None:
    scenario = laid_over(tmp_path, "clock: { mode: real }\nlimits: { inbox: 9 }\nassume: { balance-record: flat }\n")
    assert (scenario.clock.mode, scenario.clock.skew.seconds) == ("real", 5)
    assert (scenario.limits.journal, scenario.limits.inbox) == (5, 9)
    assert scenario.assume == {"nonce-scope": "reseller", "balance-record": "flat"}


def test_rules_come_before_inherited_rules(tmp_path: Path) -> None:
    over = "payments: [{ name: above, then: [{ status: Failed }] }]\nfaults: [{ name: f, then: { status: 502 } }]\n"
    scenario = laid_over(tmp_path, over)
    assert [(rule.id, rule.name) for rule in scenario.payments] == [("payments-1", "above"), ("payments-2", "below")]
    assert [rule.name for rule in scenario.faults] == ["f", "fault below"]


def test_timelines_are_inherited_by_name_and_replaced_as_a_whole(tmp_path: Path) -> None:
    base = """\
timelines:
  slow: [{ status: Accepted }, { after: 1m, status: Failed }]
  lost: [{ status: Processing }]
magic: { outcomes: { "18": { outcome: slow, payments: { then: slow } } } }
payments: [{ then: slow }, { then: lost }]
"""
    (tmp_path / "base.yaml").write_text(base)
    (tmp_path / "over.yaml").write_text("extends: base.yaml\ntimelines: { slow: [{ status: Succesful }] }\n")
    load_scenario(tmp_path / "base.yaml")
    scenario = load_scenario(tmp_path / "over.yaml")
    magic = scenario.magic.of("payments")["018"]
    assert {name: len(steps) for name, steps in scenario.timelines.items()} == {"slow": 1, "lost": 1}
    assert [rule.then.steps[0].status.value for rule in (*scenario.payments, magic)] == [
        "successful",
        "processing",
        "successful",
    ]


def test_schedules_are_added(tmp_path: Path) -> None:
    scenario = laid_over(tmp_path, "schedule: [{ at: 2s, deposit: { reseller: B, amount: 2 } }]\n")
    deposits = [one for planned in scenario.schedule for one in planned.commands if isinstance(one, Credit)]
    assert [deposit.reseller for deposit in deposits] == ["A", "B"]


def test_resellers_and_keys_are_merged_by_code_and_key(tmp_path: Path) -> None:
    over = """\
resellers:
  - { code: C }
  - code: A
    api_keys: [{ key: z, state: no_secret }, { key: a, state: undecryptable }]
    settings: { ip_allowlist: [] }
"""
    first, second, third = laid_over(tmp_path, over).resellers
    assert (first.code, second.code, third.code) == ("A", "B", "C")
    assert [(key.key, str(key.state)) for key in first.keys] == [("a", "undecryptable"), ("z", "no_secret")]
    assert first.balance == 10
    assert first.ip_allowlist == ()


def test_products_groups_fields_and_options_are_merged_by_code_and_id(tmp_path: Path) -> None:
    over = """\
catalog:
  groups: [{ id: g, categories: [{ id: c, name: Other }, { id: d, name: D, product_codes: [Z] }] }]
  products:
    - { code: Z, name: Z, processing_time: pin, discount: { type: fixed, value: 1 } }
    - { code: X, fields: [{ id: amount, label: How much, options: [5, 20, { code: TEN, is_active: false }] }] }
"""
    scenario = laid_over(tmp_path, over)
    [group] = scenario.catalog.groups
    assert [(category.name, category.product_codes) for category in group.categories] == [
        ("Other", ("X",)),
        ("D", ("Z",)),
    ]
    x = scenario.catalog.products["X"]
    assert (x.name, x.fields[0].label) == ("X", "How much")
    options = [(option.code, option.is_active) for option in x.options["amount"]]
    assert options == [("X-5", True), ("TEN", False), ("X-20", True)]
    assert list(scenario.catalog.products) == ["X", "Y", "Z"]


def reported(tmp_path: Path, over: str) -> list[str]:
    with pytest.raises(ScenarioError) as raised:
        laid_over(tmp_path, over)
    return [str(problem).replace(f"{tmp_path}/", "") for problem in raised.value.problems]


def test_a_mistake_is_reported_with_the_file_that_it_is_in(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE.replace("seed: 7", "sed: 7"))
    (tmp_path / "over.yaml").write_text("extends: base.yaml\nresellers: [{ code: A, balance: x }]\n")
    with pytest.raises(ScenarioError) as raised:
        load_scenario(tmp_path / "over.yaml")
    places = {(Path(problem.source).name, problem.line, problem.code) for problem in raised.value.problems}
    assert places == {("base.yaml", 3, "unknown_key"), ("over.yaml", 2, "bad_amount")}


def test_a_repeated_code_is_found_after_merging(tmp_path: Path) -> None:
    [problem] = reported(tmp_path, "resellers: [{ code: A }, { code: A }]\n")
    assert problem.startswith("over.yaml:2:34: duplicate reseller 'A' exists already, on line 2")


def test_a_rule_name_is_unique_over_all_files(tmp_path: Path) -> None:
    [problem] = reported(tmp_path, "voids: [{ name: below, then: { status: Failed } }]\n")
    assert problem == "over.yaml:2:17: duplicate rule called 'below' exists already, in base.yaml:20"


def test_an_item_of_the_wrong_shape_is_reported_and_not_dropped(tmp_path: Path) -> None:
    assert reported(tmp_path, "resellers: [5, { balance: 1 }]\n") == [
        "over.yaml:2:13: type must be an object, not 5; its keys are code, email, balance, "
        "low_balance_threshold, api_keys, users, callback, balance_webhook, settings, catalog",
        "over.yaml:2:16: missing_key 'code' is missing",
    ]


def test_a_cycle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("extends: b.yaml\n")
    (tmp_path / "b.yaml").write_text("extends: ./a.yaml\n")
    (tmp_path / "c.yaml").write_text("extends: c.yaml\n")
    for name in ("a", "c"):
        with pytest.raises(ScenarioError, match=r":1:10: cycle .*extends itself"):
            load_scenario(tmp_path / f"{name}.yaml")


def test_a_catalog_may_be_in_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "goods.yaml").write_text(
        "products: [{ code: Q, name: Q, processing_time: pin, discount: { type: fixed, value: 1 } }]\n"
    )
    scenario = laid_over(tmp_path, "catalog: goods.yaml\n")
    assert list(scenario.catalog.products) == ["X", "Y", "Q"]
    (tmp_path / "goods.yaml").write_text("\nproducs: []\n")
    [problem] = reported(tmp_path, "catalog: goods.yaml\n")
    assert problem == "goods.yaml:2:1: unknown_key there is no key 'producs' here (did you mean 'products'?)"
    assert reported(tmp_path, "catalog: absent.yaml\n") == [
        "over.yaml:2:10: no_file there is no file 'absent.yaml' beside this file"
    ]


@pytest.mark.parametrize("value", ["../default.yaml", "/etc/passwd", "scenarios/default.yaml", "default.yaml"])
def test_an_object_can_name_no_file(value: str) -> None:
    for key in ("extends", "catalog"):
        with pytest.raises(ScenarioError) as raised:
            scenario_from_object({key: value})
        assert [(problem.path, problem.code) for problem in raised.value.problems] == [(key, "no_file")]


def test_merging_changes_neither_side() -> None:
    base, over = load_text(BASE, "base"), load_text("resellers: [{code: A, balance: 99}]\n", "over")
    before = (base.data, over.data)
    report = ProblemReport()
    merged = merge(base.root, over.root, report).plain()
    assert merged["resellers"][0]["balance"] == 99
    assert report.problems() == []
    assert (base.data, over.data) == before
