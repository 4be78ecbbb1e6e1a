"""difficult-billers, refunds, bill-errors: look-ups, voids and disputes."""

import pytest

from tests.support.bills import look_up
from tests.support.cases import cases, void
from tests.support.client import running
from tests.support.play import (
    balance,
    buy,
    callback_statuses,
    settle,
)

# scenario, the account's ending, HTTP status, data.message and whether the client may then pay
BILLS = [
    ("default", "78", 200, "Account no is valid"),
    ("difficult-billers", "15", 400, "Invalid account no"),
    ("difficult-billers", "16", 400, "Service unavailable. Please try again later"),
    ("bill-errors", "41", 400, "Invalid account no"),
    ("bill-errors", "42", 400, "Service unavailable. Please try again later"),
    ("bill-errors", "43", 400, "Bill presentment is unavailable for this product"),
    ("bill-errors", "44", 400, "Invalid biller code"),
    ("bill-errors", "45", 400, "Ref-2 required"),
    ("bill-errors", "46", 400, "Invalid amount"),
    ("bill-errors", "47", 400, "Account under review"),
    ("bill-errors", "78", 200, "Account no is valid"),
]


@pytest.mark.parametrize(("scenario", "ending", "http", "message"), BILLS)
def test_a_bill_is_looked_up(scenario: str, ending: str, http: int, message: str) -> None:
    with running(scenario) as client:
        answer = look_up(client, account="2100123456" + ending)
        assert (answer.status, answer.data["message"]) == (http, message)


ODD = [
    ("difficult-billers", "21", 9999.90),
    ("bill-errors", "51", 0),
    ("difficult-billers", "20", None),
    ("bill-errors", "52", None),
]


@pytest.mark.parametrize(("scenario", "ending", "outstanding"), ODD)
def test_an_odd_bill_is_shown(scenario: str, ending: str, outstanding: float | None) -> None:
    with running(scenario) as client:
        data = look_up(client, account="2100123456" + ending).data
        assert data.get("Outstanding") == outstanding


DAY = 86_400
# scenario, the account's ending, refund_type, the answer, then after how many seconds the refund comes (None: never)
VOIDS = [
    ("default", "8", 1, "Success", 60),
    ("difficult-billers", "09", 1, "Failed", None),
    ("difficult-billers", "19", 1, "Success", None),
    ("difficult-billers", "29", 1, "Success", 3 * DAY),
    ("refunds", "61", 1, "Success", 3600),
    ("refunds", "62", 1, "Success", 3 * DAY),
    ("refunds", "63", 1, "Failed", None),
    ("refunds", "64", 1, "Success", None),
    ("refunds", "65", 1, "Failed", None),
    ("refunds", "65", 2, "Success", 60),
    ("refunds", "68", 1, "Success", 60),
]


@pytest.mark.parametrize(("scenario", "ending", "refund_type", "answer", "refunded_after"), VOIDS)
def test_a_void_goes_as_the_scenario_says(
    scenario: str, ending: str, refund_type: int, answer: str, refunded_after: int | None
) -> None:
    with running(scenario) as client:
        refid, _ = buy(client, "ELECTRIC", ending)
        client.advance(5)
        assert void(client, refid, refund_type=refund_type).data["status"] == answer
        if refunded_after:
            client.advance(refunded_after - 1)
            assert balance(client) == 4900.30
        settle(client)
        assert balance(client) == (5000 if refunded_after else 4900.30)
        assert callback_statuses(client, refid) == ["Processing", "Succesful"] + (["Failed"] if refunded_after else [])
        if refunded_after:
            assert client.inbox()[-1]["json"]["data"]["statusCode"] == 53


DISPUTES = [
    ("difficult-billers", "10", "Failed"),
    ("refunds", "66", "Success"),
    ("refunds", "67", "Failed"),
    ("refunds", "68", "Success"),
]


@pytest.mark.parametrize(("scenario", "ending", "answer"), DISPUTES)
def test_a_dispute_goes_as_the_scenario_says(scenario: str, ending: str, answer: str) -> None:
    with running(scenario) as client:
        refid, _ = buy(client, "ELECTRIC", ending)
        client.advance(5)
        told_now = client.call("POST", "/v2/transactions/check", {"refid": refid}).data
        assert told_now["status"] == answer
        assert [case["kind"] for case in cases(client, refid)].count("dispute") == 1


def test_water_of_the_difficult_billers_is_interrupted_for_a_minute() -> None:
    with running("difficult-billers") as client:
        seen = []
        for seconds in (119, 1, 60):
            client.advance(seconds)
            seen.append(client.call("GET", "/v2/networkstatus?product=WATER").data["network_status"])
        assert seen == ["Healthy", "Interruption", "Healthy"]
