"""Which refusal a payment gets with two things wrong at once: the order of the checks (SPEC 4.11)."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, running
from tests.support.refusals import pay, refuse

INTERBANK = {
    "product": "INTERBANK",
    "account": "12345678",
    "amount": "25.50",
    "extras": {"biller_code": "1001", "ic_number": "900101145678"},
}
LOAN = {
    "product": "STUDENTLOAN",
    "account": "1029384756",
    "amount": "50",
    "extras": {"subproduct_code": "K", "ic_number": "900101145678"},
}
DATA = {"product": "DATA", "account": "0123456789", "amount": "10", "extras": {"subproduct_code": "D10W"}}

SHAPE: dict[str, Any] = {"remarks": 7}
PRODUCT = {"product": "NOPE"}
RETIRED = {"product": "RETIRED"}
ACCOUNT = {"account": "x"}
EXTRAS: dict[str, Any] = {"extras": {}}
AMOUNT = {"amount": "-1"}
NO_NUMBER = {"amount": "ten"}
NO_PLAN = {"amount": "10"}
UNKNOWN_PLAN: dict[str, Any] = {"extras": {"subproduct_code": "NOPE"}}
POOR = {"amount": "9999.99"}

TWO_WRONG = [
    # first, second, payment, both at once, what the first gets, what the second alone gets
    ("shape", "product", DATA, SHAPE, PRODUCT, 45, 41),
    ("shape", "refid", DATA, SHAPE, {"refid": ""}, 45, 45),
    ("product", "account", DATA, PRODUCT, ACCOUNT, 41, 42),
    ("inactive product", "account", DATA, RETIRED, ACCOUNT, 41, 42),
    ("account", "extras", INTERBANK, ACCOUNT, EXTRAS, 42, 43),
    ("account", "extras of a loan", LOAN, ACCOUNT, EXTRAS, 42, 43),
    ("extras", "amount", INTERBANK, EXTRAS, AMOUNT, 43, 58),
    ("extras", "amount that is no number", INTERBANK, EXTRAS, NO_NUMBER, 43, 58),
    ("extras", "limits of the biller", INTERBANK, EXTRAS, {"amount": "0.50"}, 43, 58),
    ("account of the option", "amount", LOAN, {"account": "9999999999"}, AMOUNT, 42, 58),
    ("type of a code", "amount", DATA, {"extras": {"subproduct_code": 5}}, AMOUNT | EXTRAS, 43, 58),
    ("plan code", "amount", DATA, UNKNOWN_PLAN, {"amount": "11", "extras": {}}, 44, 58),
    ("plan code", "amount below zero", DATA, UNKNOWN_PLAN, AMOUNT | EXTRAS, 44, 58),
    ("amount that is no number", "plan code", DATA, NO_NUMBER, UNKNOWN_PLAN, 58, 44),
    ("amount", "balance", INTERBANK, {"amount": "10000.01"}, POOR, 58, 40),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running() as made:
        yield made


@pytest.mark.parametrize(
    ("good", "first", "second", "code", "code_alone"),
    [row[2:] for row in TWO_WRONG],
    ids=[f"{row[0]}-{row[1]}" for row in TWO_WRONG],
)
def test_the_first_failure_in_the_order_wins(
    client: Client, good: dict[str, Any], first: dict[str, Any], second: dict[str, Any], code: int, code_alone: int
) -> None:
    refuse(client, good | second | first, code)
    refuse(client, good | second, code_alone)


def test_a_plan_code_comes_before_the_balance() -> None:
    with running({"resellers": [{"code": "RS001", "balance": "1.00"}]}) as client:
        refuse(client, DATA | {"extras": {"subproduct_code": "NOPE"}}, 44)
        refuse(client, DATA | {"extras": {}}, 44)
        refuse(client, DATA, 40, "Insufficient_Balance")


def test_a_rule_that_refuses_comes_last() -> None:
    with running({"payments": [{"then": {"refuse": "Invalid_Product"}}]}) as client:
        refuse(client, DATA | {"amount": "11"}, 44)
        refuse(client, DATA | EXTRAS | {"amount": "11"}, 58)
        refuse(client, INTERBANK | POOR, 40)
        refuse(client, DATA, 41)


@pytest.mark.parametrize("wrong", [PRODUCT, RETIRED, ACCOUNT, AMOUNT, EXTRAS, POOR, NO_PLAN | EXTRAS])
def test_an_existing_refid_comes_before_all_but_the_shape(client: Client, wrong: dict[str, Any]) -> None:
    refid = "-".join(wrong)
    created = pay(client, DATA | {"refid": refid})
    again = pay(client, DATA | {"refid": refid} | wrong)
    assert (again.status, again.data["product"], again.data["amount"]) == (200, "DATA", 10)
    assert again.data["cost"] == created.data["cost"]
    refuse(client, DATA | {"refid": refid} | SHAPE, 45)
