"""`expect`: read, merged, and refused with its place."""

from decimal import Decimal
from pathlib import Path

import pytest

from simulator.contract.endpoints import endpoints, statuses
from simulator.domain.model.expectations import Count, ExpectationKind
from simulator.scenario.library import load_scenario
from simulator.scenario.library import problems as findings
from simulator.scenario.reading.nodes import ScenarioError
from tests.support.readings import built, problems

BASE = "resellers: [{code: A, email: a@example.com}]\npayments: [{name: mine, then: [{status: Failed}]}]\n"


def test_an_expectation_is_about_one_thing_and_has_a_name_of_its_own_or_of_that() -> None:
    made = built(
        BASE + "expect:\n"
        "  - { name: paid, payments: { status: Succesful } }\n"
        "  - { calls: { method: POST, status: [200, 400] }, count: 2 }\n"
        "  - { calls: {} }\n"
        "  - { rule: { name: mine } }\n"
        "  - { outcome: callback-retried }\n"
    ).expect
    assert [one.name for one in made] == [
        "paid",
        "calls { method: POST, status: [200, 400] }",
        "calls",
        "rule { name: mine }",
        "outcome callback-retried",
    ]
    assert [one.label for one in made[3:]] == ["mine", "callback-retried"]


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        ("", Count(1, None)),
        ("count: 0", Count(0, 0)),
        ("count: 3", Count(3, 3)),
        ("count: { min: 2 }", Count(2, None)),
        ("count: { max: 2 }", Count(0, 2)),
        ("count: { min: 1, max: 1 }", Count(1, 1)),
    ],
)
def test_how_often_is_a_number_or_a_range_or_once_at_least(count: str, expected: Count) -> None:
    [one] = built(f"expect: [{{ calls: {{}}, {count} }}]\n").expect
    assert one.count == expected


def test_a_matcher_is_the_matcher_of_rules() -> None:
    [one] = built("expect: [{ calls: { path: /v2/*, status: { min: 400 }, method: { not: get } } }]\n").expect
    assert one.test({"path": "/v2/topup", "status": "404", "method": "POST"})
    assert not one.test({"path": "/v2/topup", "status": "200", "method": "POST"})
    assert not one.test({"path": "/v2/topup", "status": "404", "method": "GET"})


def test_a_balance_belongs_to_a_single_reseller() -> None:
    [one] = built(BASE + 'expect: [{ balance: { reseller: A, amount: "4990.25" } }]\n').expect
    assert (one.kind, one.label, one.amount) == (ExpectationKind.BALANCE, "A", Decimal("4990.25"))


def test_rules_of_magic_accounts_may_be_expected_too() -> None:
    [one] = built("extends: default\nexpect: [{ rule: { name: magic-01 } }]\n").expect
    assert one.label == "magic-01"


def test_expectations_are_added_to_the_expectations_of_the_base(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("expect: [{ name: below, calls: {} }]\n")
    (tmp_path / "over.yaml").write_text("extends: base.yaml\nexpect: [{ name: above, calls: {} }]\n")
    assert [one.name for one in load_scenario(tmp_path / "over.yaml").expect] == ["below", "above"]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("{}", "expect[0] missing_key"),
        ("{ count: 3 }", "expect[0] missing_key"),
        ("{ calls: {}, payments: {} }", "expect[0].payments misplaced"),
        ("{ audit: none }", "expect[0].audit unknown_key"),
        ("{ calls: { pth: /v2/topup } }", "expect[0].calls.pth unknown_key"),
        ("{ calls: { path: { pattern: '(' } } }", "expect[0].calls.path.pattern bad_pattern"),
        ("{ calls: { status: 2OO } }", "expect[0].calls.status impossible"),
        ("{ calls: { reseller: B } }", "expect[0].calls.reseller unknown_reseller"),
        ("{ payments: { product: NONE } }", "expect[0].payments.product unknown_product"),
        ("{ payments: { status: Successful } }", "expect[0].payments.status unknown_value"),
        ("{ payments: { status: [Failed, { a: b }] } }", "expect[0].payments.status[1] type"),
        ("{ payments: { status: { not: Success } } }", "expect[0].payments.status.not unknown_value"),
        ("{ payments: { amount: ten } }", "expect[0].payments.amount bad_amount"),
        ("{ callbacks: { status: Accepted } }", "expect[0].callbacks.status unknown_value"),
        ("{ callbacks: { state: received } }", "expect[0].callbacks.state unknown_value"),
        ("{ webhooks: { state: delivered } }", "expect[0].webhooks.state unknown_value"),
        ("{ rule: mine }", "expect[0].rule type"),
        ("{ rule: {} }", "expect[0].rule missing_key"),
        ("{ rule: { name: mind } }", "expect[0].rule.name unknown_rule"),
        ("{ outcome: callback-retry }", "expect[0].outcome unknown_outcome"),
        ("{ balance: { reseller: A } }", "expect[0].balance missing_key"),
        ("{ balance: { reseller: B, amount: 1 } }", "expect[0].balance.reseller unknown_reseller"),
        ("{ balance: { reseller: A, amount: much } }", "expect[0].balance.amount bad_amount"),
        ("{ balance: { reseller: A, amount: 1 }, count: 1 }", "expect[0].count misplaced"),
        ("{ calls: { path: /v2/topupp } }", "expect[0].calls.path unknown_path"),
        ("{ calls: { path: [/v2/topup, /v2/balanse] } }", "expect[0].calls.path[1] unknown_path"),
        ("{ calls: { path: /v3/* } }", "expect[0].calls.path unknown_path"),
        ("{ calls: { path: { prefix: /v3 } } }", "expect[0].calls.path unknown_path"),
        ("{ calls: { method: PSOT } }", "expect[0].calls.method unknown_method"),
        ("{ calls: { status: 2000 } }", "expect[0].calls.status impossible"),
        ("{ calls: { status: 418 } }", "expect[0].calls.status impossible"),
        ("{ webhooks: { type: balance.aded } }", "expect[0].webhooks.type unknown_value"),
        ("{ webhooks: { type: { not: product.update } } }", "expect[0].webhooks.type.not unknown_value"),
        ("{ calls: { status: { min: 600 } } }", "expect[0].calls.status impossible"),
        ("{ webhooks: { type: { suffix: .changed } } }", "expect[0].webhooks.type impossible"),
        ("{ calls: {}, per: refid }", "expect[0].per misplaced"),
        ("{ calls: {}, per: sender, count: 1 }", "expect[0].per unknown_value"),
        ("{ calls: {}, apart: 0s }", "expect[0].apart out_of_range"),
        ("{ calls: {}, apart: soon }", "expect[0].apart bad_duration"),
        ("{ payments: {}, per: refid, count: 1 }", "expect[0].per misplaced"),
        ("{ callbacks: {}, apart: 5s }", "expect[0].apart misplaced"),
        ("{ calls: {}, count: -1 }", "expect[0].count out_of_range"),
        ("{ calls: {}, count: {} }", "expect[0].count out_of_range"),
        ("{ calls: {}, count: once }", "expect[0].count type"),
        ("{ calls: {}, count: { min: 3, max: 2 } }", "expect[0].count.max out_of_range"),
        ("{ calls: {}, count: { min: 0 } }", "expect[0].count out_of_range"),
        ("{ calls: {}, per: refid, count: { min: 0 } }", "expect[0].count out_of_range"),
        ('{ payments: { account: "01*" }, count: 0 }', "expect[0].payments.account literal_star"),
        ('{ callbacks: { refid: ["a", "b*"] }, count: 0 }', "expect[0].callbacks.refid[1] literal_star"),
        ('{ calls: { refid: "a*" }, count: 0 }', "expect[0].calls.refid literal_star"),
        ("{ payments: { amount: { min: 3, max: 2 } }, count: 0 }", "expect[0].payments.amount impossible"),
        ("{ webhooks: { reseller: { in: [A], not: A } } }", "expect[0].webhooks.reseller impossible"),
        ("{ payments: { statusCode: [20, 21] }, count: 0 }", "expect[0].payments.statusCode[1] impossible"),
        ("{ payments: { statusCode: { min: 60 } }, count: 0 }", "expect[0].payments.statusCode impossible"),
        ("{ calls: {}, count: { least: 3 } }", "expect[0].count.least unknown_key"),
    ],
)
def test_an_invalid_expectation_is_refused_at_its_line(item: str, expected: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        built(BASE + f"expect: [{item}]\n")
    [problem] = caught.value.problems
    assert (f"{problem.path} {problem.code}", problem.line) == (expected, 3)


def test_there_are_two_hundred_expectations_at_most() -> None:
    assert len(built("expect: [" + "{ calls: {} }, " * 200 + "]\n").expect) == 200
    with pytest.raises(ScenarioError, match="at most 200 items"):
        built("expect: [" + "{ calls: {} }, " * 201 + "]\n")


@pytest.mark.parametrize(
    "item",
    [
        "{ calls: { path: /v2/balance-webhook/deliveries/* } }",
        "{ calls: { path: /v2/topupp, status: 404 } }",
        "{ calls: { method: GET, path: /v2/topup, status: 405 } }",
        "{ calls: { method: HEAD } }",
        "{ calls: { method: { not: GET }, status: { min: 400 } } }",
        "{ calls: { status: [0, 418] } }",
        "{ calls: { error: [teapot, nonce_reused, ''] } }",
        "{ webhooks: { type: [balance.added, category.deleted] } }",
        "{ calls: { path: /v2/balance, refid: { not: a } } }",
        "{ calls: { path: /v2/*, refid: a } }",
        '{ payments: { account: { in: ["01*"] } } }',
        "{ calls: { path: /v2/topup, method: GET, status: 405 }, per: refid, count: 1 }",
        "{ payments: { status: Succesful, statusCode: [20, 21] } }",
        "{ callbacks: { status: Failed, statusCode: 53 } }",
    ],
)
def test_a_possible_expectation_is_accepted_also_when_only_a_rule_of_the_file_makes_it_possible(item: str) -> None:
    rules = "faults:\n  - { then: { status: 418 } }\ntimelines: { odd: [{ status: Succesful, statusCode: 21 }] }\n"
    assert len(built(BASE + rules + f"expect: [{item}]\n").expect) == 1


def test_a_status_of_a_payment_is_no_status_of_an_answer() -> None:
    item = "{ calls: { path: /v2/topup, status: [200, Succesful] } }"
    [problem] = problems(f"extends: default\nexpect: [{item}]\n")
    assert "there is no answer with status 'Succesful'; there are 0, 200," in problem


def test_an_impossible_expectation_gets_a_suggestion() -> None:
    text = "\n".join(problems("expect: [{ calls: { path: /v2/topupp } }, { webhooks: { type: balance.aded } }]\n"))
    assert "(did you mean '/v2/topup'?)" in text
    assert "(did you mean 'balance.added'?)" in text


def test_an_expectation_knows_its_file_and_line_also_when_it_is_inherited(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("expect:\n  - { calls: {} }\n")
    (tmp_path / "over.yaml").write_text("extends: base.yaml\n\nexpect:\n  - { payments: {} }\n")
    places = [str(one.place) for one in load_scenario(tmp_path / "over.yaml").expect]
    assert places == [f"{tmp_path}/base.yaml:2", f"{tmp_path}/over.yaml:4"]


@pytest.mark.slow
def test_every_endpoint_and_answer_of_the_service_may_be_expected() -> None:
    """Expectations refused as impossible can never happen: the codes match the parts of the service."""
    for one in endpoints():
        path = "/".join("*" if part.startswith("{") else part for part in one.path.split("/"))
        for status in statuses()[one]:
            assert built(f"expect: [{{ calls: {{ method: {one.method}, path: '{path}', status: {status} }} }}]\n")


def test_codes_that_the_scenario_assumes_may_be_expected() -> None:
    assume = BASE + "assume: { payment-status-codes: { Failed: 99 } }\n"
    assert built(assume + "expect: [{ payments: { status: Failed, statusCode: 99 } }]\n").expect
    with pytest.raises(ScenarioError, match="99"):
        built(assume + "expect: [{ payments: { status: Failed, statusCode: 48 } }]\n")


def test_an_amount_that_is_not_sold_is_a_finding_since_a_catalog_may_change(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("extends: default\nexpect:\n  - { payments: { product: RELOAD, amount: 11 }, count: 0 }\n")
    assert load_scenario(path).expect
    [found] = findings(path)
    assert (found.line, found.code) == (3, "not_sold")
