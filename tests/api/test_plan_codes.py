"""Plan codes: rules 2 and 3 of SPEC 4.11."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, running
from tests.support.refusals import pay, refuse

AMBIGUOUS = "several plans share this amount and a plan code is required"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running({"resellers": [{"code": "RS001", "balance": "100000.00"}]}) as made:
        yield made


def unknown(code: str) -> str:
    return f"unknown or inactive option code: {code}"


def mismatch(code: str, amount: str) -> str:
    return f"option code does not match the amount: code {code}, amount {amount}"


def plan(code: Any, amount: Any, **more: Any) -> dict[str, Any]:
    extras = {} if code is None else {"extras": {"subproduct_code": code}}
    return {"product": "DATA", "account": "0123456789", "amount": amount, **extras, **more}


REFUSED = [
    (None, "10", AMBIGUOUS),
    (None, 10, AMBIGUOUS),
    (None, "10.00", AMBIGUOUS),
    ("", "10", AMBIGUOUS),
    ("NOPE", "10", unknown("NOPE")),
    ("d10w", "10", unknown("d10w")),
    ("D10W ", "10", unknown("D10W ")),
    ("D15", "10", unknown("D15")),
    ("RELOAD-10", "10", unknown("RELOAD-10")),
    ("NOPE", "30", unknown("NOPE")),
    ("D" * 5000, "30", unknown("D" * 100)),
    ("a\u0000b", "30", unknown("a\u0000b")),
    ("D30", "10", mismatch("D30", "10")),
    ("D10W", "30", mismatch("D10W", "30")),
    ("D10W", "30.00", mismatch("D10W", "30")),
    ("D50", 5, mismatch("D50", "5")),
]


@pytest.mark.parametrize("version", [None, "2020-01-01", "2026-09-16", "2027-06-01"])
@pytest.mark.parametrize(("code", "amount", "remarks"), REFUSED)
def test_a_plan_code_is_refused_with_44_in_every_api_version(
    client: Client, code: Any, amount: Any, remarks: str, version: str | None
) -> None:
    headers = {"X-API-Version": version} if version else {}
    data = refuse(client, plan(code, amount), 44, remarks, headers=headers)
    assert (data["productName"], data["refid"], data["account"]) == ("Mobile Internet", "r", "0123456789")


SOLD = [("D10W", "10"), ("D10M", 10), ("D10N", "10.00"), ("D30", "30"), (None, "30"), ("", "30"), (None, 5), (None, 50)]


@pytest.mark.parametrize("version", [None, "2027-06-01"])
@pytest.mark.parametrize(("code", "amount"), SOLD)
def test_a_plan_is_bought_by_its_code_or_by_an_amount_that_is_its_alone(
    client: Client, code: Any, amount: Any, version: str | None
) -> None:
    refid = f"{code}-{amount}-{version}"
    headers = {"X-API-Version": version} if version else {}
    bought = pay(client, plan(code, amount, refid=refid), headers=headers)
    assert (bought.status, bought.data["status"]) == (200, "Accepted")
    transaction = client.live.core.state.resellers["RS001"].refids[refid]
    assert transaction.extras == ({"subproduct_code": code} if code else {}), "a blank extra is as if absent"


def test_the_refid_of_a_refused_plan_is_free(client: Client) -> None:
    refuse(client, plan(None, "10", refid="again"), 44)
    refuse(client, plan("D30", "10", refid="again"), 44)
    assert pay(client, plan("D10W", "10", refid="again")).status == 200


@pytest.mark.parametrize("code", [None, ""])
@pytest.mark.parametrize("amount", ["7", "15", "11.50", "-10", "0", 1e9])
def test_an_amount_without_a_code_that_no_active_plan_has_is_an_invalid_denomination(
    client: Client, code: Any, amount: Any
) -> None:
    refuse(client, plan(code, amount), 58, "Invalid_Denomination")


CODES_OF_ANY_AMOUNT = [
    ("D15", "7", unknown("D15")),
    ("D15", "11.50", unknown("D15")),
    ("NOPE", "15", unknown("NOPE")),
    ("d15", "15", unknown("d15")),
    ("NOPE", "-10", unknown("NOPE")),
    ("D30", "15", mismatch("D30", "15")),
    ("D30", "7", mismatch("D30", "7")),
    ("D30", "29.9", mismatch("D30", "29.90")),
    ("D30", 0, mismatch("D30", "0")),
    ("D30", "-30", mismatch("D30", "-30")),
    ("D30", "1e6", mismatch("D30", "1000000")),
]


@pytest.mark.parametrize(("code", "amount", "remarks"), CODES_OF_ANY_AMOUNT)
def test_an_invalid_code_is_44_with_any_amount(client: Client, code: str, amount: Any, remarks: str) -> None:
    refuse(client, plan(code, amount), 44, remarks)


@pytest.mark.parametrize("amount", ["ten", "", "1e400", "1" * 16])
def test_an_amount_that_is_not_a_number_comes_before_the_code(client: Client, amount: str) -> None:
    refuse(client, plan("NOPE", amount), 58, "Invalid_Denomination")


@pytest.mark.parametrize("amount", ["15", 15, "15.00"])
def test_a_plan_that_is_sold_no_more_is_refused_by_its_code_at_its_own_amount(client: Client, amount: Any) -> None:
    refuse(client, plan("D15", amount), 44, unknown("D15"))


def test_a_plan_that_was_taken_off_sale_is_named() -> None:
    with running() as client:
        assert pay(client, plan("D30", "30", refid="before")).status == 200
        off = {"options": {"D30": {"is_active": False}}}
        assert client.sim("PATCH", "/sandboxes/default/catalog/products/DATA", off).status == 200
        refuse(client, plan("D30", "30"), 44, unknown("D30"))
        refuse(client, plan(None, "30"), 58, "Invalid_Denomination")


def test_a_plan_must_be_offered_to_the_account(client: Client) -> None:
    offered = {account: pay(client, plan("D20L", "20", account=account, refid=account)) for account in numbers(40)}
    refused = [answer.data for answer in offered.values() if answer.status == 400]
    assert 5 < len(refused) < 35, "half of all numbers are offered it"
    assert {data["remarks"] for data in refused} == {unknown("D20L")}
    account = refused[0]["account"]
    refuse(client, plan(None, "20", account=account), 58, "Invalid_Denomination")
    refuse(client, plan("D20L", "30", account=account), 44, unknown("D20L"))


def numbers(count: int) -> list[str]:
    return [f"01{number:08}" for number in range(1000, 1000 + count)]


def test_plans_may_be_written_for_an_account() -> None:
    only = {"options_for": {"0111111111": [{"code": "X10", "label": "only one", "denomination": 10}]}}
    catalog = {"products": [{"code": "DATA", "fields": [{"id": "plan", **only}]}]}
    with running({"catalog": catalog}) as client:
        assert pay(client, plan(None, "10", account="0111111111")).status == 200, "the amount is clear for this account"
        refuse(client, plan("D10W", "10", account="0111111111", refid="r2"), 44, unknown("D10W"))
        refuse(client, plan("D30", "30", account="0111111111", refid="r2"), 44, unknown("D30"))
        refuse(client, plan(None, "10", refid="r2"), 44, AMBIGUOUS)


def test_a_plan_that_becomes_the_only_one_needs_no_code() -> None:
    closed = [{"code": code, "is_active": False} for code in ("D10M", "D10N")]
    catalog = {"products": [{"code": "DATA", "fields": [{"id": "plan", "options": closed}]}]}
    with running({"catalog": catalog}) as client:
        refuse(client, plan("D10M", "10"), 44, unknown("D10M"))
        assert pay(client, plan(None, "10")).status == 200


RELOAD = {"product": "RELOAD", "account": "0123456789", "amount": "10"}
ELECTRIC = {"product": "ELECTRIC", "account": "210012345678", "amount": "10"}
REASONS = [
    ("Plan_Code_Required", AMBIGUOUS),
    ("Unknown_Plan_Code", unknown("D10W")),
    ("Plan_Code_Mismatch", mismatch("D10W", "10")),
]


@pytest.mark.parametrize(("reason", "remarks"), REASONS)
def test_a_rule_refuses_a_plan_code(reason: str, remarks: str) -> None:
    with running({"payments": [{"then": {"refuse": reason}}]}) as client:
        refuse(client, plan("D10W", "10"), 44, remarks)
        journal = client.sim("GET", "/sandboxes/default/requests?path=/v2/topup").json["requests"]
        assert journal[0]["error"] == reason
