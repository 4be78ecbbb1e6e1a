"""Magic accounts through the API: every row of the table, for products whose accounts differ."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.scenario.library import load_scenario, text
from simulator.scenario.reading.yaml_parser import load_text
from simulator.wire.formats import encode
from tests.support.client import Client, running

# A product, what stands before the last seven digits of an account of its, and an amount that it sells.
PRODUCTS = [
    ("RELOAD", "012", "10"),
    ("RELOAD", "0112", "10"),
    ("WATER", "123", "12.50"),
    ("ELECTRIC", "21001", 100),
    ("GIFTCARD", "", "25"),
    ("GIFTCARD", "nobody-", "25"),
]
OUTCOMES = load_scenario("default").magic.outcomes

Seen = list[tuple[float, str, int]]


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as made:
        yield made


def balance(client: Client) -> Any:
    return client.call("GET", "/v2/balance").data["balance"]


def story(client: Client, product: str, account: str, amount: Any) -> Seen:
    """Pay and let everything happen: each status with its time in seconds since the creation."""
    answer = client.pay("r", amount, product, account=account)
    assert answer.status == 200
    seen: Seen = [(0, answer.data["status"], answer.data["statusCode"])]
    began = client.live.core.state.now
    for fired in client.sim("POST", "/sandboxes/default/clock/advance", {"until": "idle"}).json["fired"]:
        if fired["kind"] == "status":
            [transaction] = client.live.core.state.transactions.values()
            at = transaction.results[len(seen)].at
            word = fired["status"]
            seen.append(((at - began).total_seconds(), word, fired["status_code"]))
    return seen


PAID: Seen = [(0, "Accepted", 1), (2, "Processing", 2), (5, "Succesful", 20)]
STORIES: dict[str, Seen] = {
    "00": PAID,
    "01": [(0, "Accepted", 1), (2, "Processing", 2), (5, "Failed", 48)],
    "02": [(0, "Accepted", 1), (2, "Processing", 2), (5, "Failed", 62)],
    "03": [(0, "Processing", 2)],
    "06": PAID,
    "07": PAID,
    "08": PAID,
    "11": [(0, "Succesful", 20)],
    "12": [(0, "Failed", 48)],
}


@pytest.mark.parametrize(("product", "before", "amount"), PRODUCTS)
@pytest.mark.parametrize("outcome", STORIES)
def test_an_outcome_is_played_for_every_product(
    client: Client, outcome: str, product: str, before: str, amount: Any
) -> None:
    account = f"{before}00000{outcome}"
    assert story(client, product, account, amount) == STORIES[outcome]
    again = client.pay("r", amount, product, account=account)
    assert (again.data["status"], again.data["statusCode"]) == STORIES[outcome][-1][1:]
    assert again.headers["x-sim-rule"] == f"magic-{outcome}"
    is_failed = again.data["status"] == "Failed"
    assert (balance(client) == 5000) is is_failed
    assert (again.data["cost"] == 0) is is_failed
    if outcome in ("01", "12"):
        assert again.data["remarks"] == "HC"
    assert client.sim("GET", "/sandboxes/default/invariants").json["ok"]


SPANS = [("0", 5), ("1", 3), ("2", 30), ("3", 300), ("4", 3600)]


@pytest.mark.parametrize(("digit", "seconds"), SPANS)
@pytest.mark.parametrize("outcome", ["00", "01", "06"])
def test_the_third_digit_from_the_end_says_how_long_it_takes(
    client: Client, outcome: str, digit: str, seconds: int
) -> None:
    first, second, (_, word, code) = STORIES[outcome]
    assert story(client, "RELOAD", f"0120000{digit}{outcome}", "10") == [first, second, (seconds, word, code)]


@pytest.mark.parametrize("digit", ["1", "4"])
@pytest.mark.parametrize("outcome", ["03", "11", "12"])
def test_an_outcome_that_is_final_at_once_takes_no_time(client: Client, outcome: str, digit: str) -> None:
    assert story(client, "RELOAD", f"0120000{digit}{outcome}", "10") == STORIES[outcome]


CALLBACKS: list[tuple[str, list[str]]] = [
    ("00", ["Processing", "Succesful"]),
    ("01", ["Processing", "Failed"]),
    ("03", []),
    ("06", []),
    ("07", ["Processing"] * 3 + ["Succesful"] * 3),
    ("08", ["Succesful", "Processing"]),
    ("11", []),
]


@pytest.mark.parametrize(("outcome", "expected"), CALLBACKS)
@pytest.mark.parametrize("digit", ["0", "3"])
def test_callbacks_come_as_the_outcome_says(client: Client, outcome: str, expected: list[str], digit: str) -> None:
    story(client, "RELOAD", f"0120000{digit}{outcome}", "10")
    items = client.sim("GET", "/sandboxes/default/inbox/callbacks").json["items"]
    assert [json.loads(item["body"])["data"]["status"] for item in items] == expected


def statuses(client: Client) -> list[str]:
    return [str(transaction.result.status) for transaction in client.live.core.state.transactions.values()]


LOST = [
    # outcome, answer (0: none at all), made
    ("04", 0, True),
    ("05", 0, False),
    ("13", 504, False),
    ("14", 504, True),
]


@pytest.mark.parametrize(("product", "before", "amount"), PRODUCTS)
@pytest.mark.parametrize(("outcome", "status", "made"), LOST)
def test_an_answer_is_lost_and_the_payment_made_or_not(
    client: Client, outcome: str, status: int, made: bool, product: str, before: str, amount: Any
) -> None:
    account = f"{before}00000{outcome}"
    lost = client.pay("r", amount, product, account=account)
    assert lost.status == status
    if status == 504:
        assert lost.json["error"] == "integration_timeout"
        assert lost.headers["x-sim-rule"] == f"magic-{outcome}"
    assert statuses(client) == ["accepted"] * made
    assert (balance(client) < 5000) is made
    again = client.pay("r", amount, product, account=account)
    assert again.status == (200 if made else status), "what was made can be asked for; what was not is never made"
    client.advance(5)
    assert statuses(client) == ["successful"] * made
    journal = client.sim("GET", "/sandboxes/default/requests?path=/v2/topup").json["requests"]
    assert journal[-1]["rule"] == (f"magic-{outcome}" if made else "")
    whole = client.sim("GET", f"/sandboxes/default/requests/{journal[-1]['n']}").json
    assert whole["fault"] == f"magic-{outcome}"


@pytest.mark.parametrize("outcome", ["04", "14"])
def test_the_answer_of_a_payment_that_was_refused_is_not_lost(client: Client, outcome: str) -> None:
    refused = client.pay("r", "7", account=f"01200000{outcome}")
    assert (refused.status, refused.data["remarks"]) == (400, "Invalid_Denomination")
    assert statuses(client) == []
    journal = client.sim("GET", "/sandboxes/default/requests?path=/v2/topup").json["requests"]
    assert client.sim("GET", f"/sandboxes/default/requests/{journal[0]['n']}").json["fault"] == ""


def test_a_lost_payment_takes_the_time_that_its_account_says(client: Client) -> None:
    client.pay("r", account="0120000304")
    client.advance(299)
    assert statuses(client) == ["processing"]
    client.advance(1)
    assert client.pay("r", account="0120000304").data["status"] == "Succesful"


@pytest.mark.parametrize(("product", "before", "amount"), PRODUCTS)
@pytest.mark.parametrize("digit", "01234")
def test_seventeen_is_refused_for_want_of_money(
    client: Client, product: str, before: str, amount: Any, digit: str
) -> None:
    refused = client.pay("r", amount, product, account=f"{before}0000{digit}17")
    assert (refused.status, refused.data["statusCode"], refused.data["remarks"]) == (400, 40, "Insufficient_Balance")
    assert (refused.data["status"], refused.data["cost"], refused.data["balance"]) == ("Failed", 0, 5000)
    assert refused.headers["x-sim-rule"] == ("magic-17" if digit == "0" else f"magic-{digit}17")
    assert not client.live.core.state.transactions
    assert client.pay("r", amount, product, account=f"{before}0000000").status == 200, "the refid is free"


def test_a_refusal_comes_after_all_checks(client: Client) -> None:
    assert client.pay("r", "7", account="0120000017").data["remarks"] == "Invalid_Denomination"


def test_the_table_is_played_completely() -> None:
    # Voids, disputes and bills have tests of their own.
    assert set(STORIES) | {outcome for outcome, *_ in LOST} | {"17"} | {"09", "10", "15", "16"} == set(OUTCOMES)


@pytest.mark.parametrize("account", ["0120001001", "0120000501", "0120000901", "0120000018", "0120000099"])
def test_other_accounts_are_ordinary(client: Client, account: str) -> None:
    assert client.pay("r", account=account).headers["x-sim-rule"] == "ordinary"


@pytest.mark.parametrize("account", ["0000001", "1", " ", "000001", "x0000001@example.com", "٠٠٠٠٠٠١"])
def test_only_the_last_seven_digits_count(client: Client, account: str) -> None:
    rule = client.pay("r", "25", "GIFTCARD", account=account).headers.get("x-sim-rule")
    assert rule == ("magic-01" if account == "0000001" else "ordinary")


def test_a_request_picks_a_magic_rule_by_name_for_any_account(client: Client) -> None:
    picked = client.pay("r", headers={"X-Sim-Rule": "magic-12"})
    assert (picked.data["status"], picked.headers["x-sim-rule"]) == ("Failed", "magic-12")
    late = client.pay("late", headers={"X-Sim-Rule": "magic-301"})
    assert (late.data["status"], late.headers["x-sim-rule"]) == ("Accepted", "magic-301")
    assert client.pay("lost", headers={"X-Sim-Rule": "magic-04"}).status == 0
    assert client.pay("lost").headers["x-sim-rule"] == "magic-04"
    assert client.pay("gone", headers={"X-Sim-Rule": "magic-05"}).status == 0
    assert client.pay("gone", headers={"X-Sim-Rule": "magic-09x"}).status == 400


@pytest.mark.parametrize("section", ["payments", "faults"])
def test_a_rule_cannot_have_the_name_of_a_magic_rule(client: Client, section: str) -> None:
    then: Any = [{"status": "Failed"}] if section == "payments" else {"status": 500}
    rule = {"section": section, "rule": {"name": "magic-01", "then": then}}
    refused = client.sim("POST", "/sandboxes/default/rules", rule)
    assert (refused.status, refused.json["error"]) == (409, "rule_exists")


FAILED = [{"status": "Failed"}]


def test_rules_of_the_users_own_come_first() -> None:
    with running({"payments": [{"name": "mine", "when": {"account": {"suffix": "01"}}, "then": FAILED}]}) as client:
        assert client.pay("a", account="0120000001").headers["x-sim-rule"] == "mine"
        assert client.pay("b", account="0120000000").headers["x-sim-rule"] == "magic-00"
        added = {"section": "payments", "rule": {"name": "added", "when": {}, "then": FAILED}}
        assert client.sim("POST", "/sandboxes/default/rules", added).status == 201
        assert client.pay("c", account="0120000000").headers["x-sim-rule"] == "added"


def test_a_fallback_comes_after_magic_accounts() -> None:
    rule = {"name": "else", "fallback": True, "then": FAILED}
    with running({"payments": [rule]}) as client:
        assert client.pay("a", account="0120000000").headers["x-sim-rule"] == "magic-00"
        assert client.pay("b").headers["x-sim-rule"] == "else"
        added = {"section": "payments", "rule": {"id": "added", "fallback": True, "then": FAILED}}
        assert client.sim("POST", "/sandboxes/default/rules", added).status == 201
        assert client.pay("c", account="0120000000").headers["x-sim-rule"] == "magic-00"
        assert client.pay("d").headers["x-sim-rule"] == "added"
        assert client.sim("DELETE", "/sandboxes/default/rules/added").status == 204
        assert client.pay("e").headers["x-sim-rule"] == "else"


def test_a_fault_of_the_users_own_comes_first() -> None:
    with running({"faults": [{"name": "mine", "when": {"account": "0120000004"}, "then": {"status": 418}}]}) as client:
        assert client.pay("a", account="0120000004").status == 418
        assert not client.live.core.state.transactions


def test_a_scenario_adds_outcomes_and_changes_some() -> None:
    own = {
        "durations": {"9": "1d"},
        "outcomes": {
            "00": {"outcome": "paid late", "payments": {"then": [{"status": "Processing"}]}},
            "99": {"outcome": "a custom answer", "faults": {"then": {"status": 500}}},
        },
    }
    with running({"magic": own}) as client:
        assert client.pay("a", account="0120000000").data["status"] == "Processing"
        assert client.pay("b", account="0120000099").status == 500
        client.pay("c", account="0120000901")
        client.advance(86_399)
        assert client.pay("c").data["status"] == "Processing"
        client.advance(1)
        assert client.pay("c").data["statusCode"] == 48


@pytest.mark.parametrize("off", [None, {"outcomes": {}}])
def test_a_scenario_may_do_without_magic(client: Client, off: Any) -> None:
    catalog = load_text(text("default"), "default").data | {"magic": off, "clock": "manual"}
    wanted = {"extends": "default", "magic": None} if off is None else json.loads(encode(catalog))
    made = client.sim("POST", "/sandboxes", {"scenario": wanted}).json["id"]
    for number, account in enumerate(["0120000001", "0120000005"]):
        body = {"refid": f"r-{number}", "product": "RELOAD", "account": account, "amount": "10"}
        assert client.call("POST", "/v2/topup", body, sandbox=made).headers["x-sim-rule"] == "ordinary"
