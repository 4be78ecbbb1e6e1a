"""Magic accounts whose voids, disputes and bill look-ups are refused; their payments go as usual."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, running

VOID, CHECK = "/v2/transactions/void", "/v2/transactions/check"
BILLS = [("ELECTRIC", "21001", "50"), ("WATER", "123", "12.50")]


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as made:
        yield made


def paid(client: Client, product: str, account: str, amount: str) -> None:
    assert client.pay("r", amount, product, account=account).status == 200
    client.advance(5)
    assert client.pay("r", amount, product, account=account).data["status"] == "Succesful"


def ask(client: Client, path: str) -> tuple[str, str]:
    """The answer's status and the rule that decided it."""
    answer = client.call("POST", path, {"refid": "r"} | ({"refund_type": 2} if path == VOID else {}))
    assert answer.status == 200
    return answer.data["status"], answer.headers.get("x-sim-rule", "")


@pytest.mark.parametrize(("product", "before", "amount"), BILLS)
@pytest.mark.parametrize(
    ("outcome", "refused", "taken"), [("09", VOID, CHECK), ("10", CHECK, VOID), ("00", "", VOID), ("00", "", CHECK)]
)
def test_one_kind_of_case_is_refused_and_the_other_taken(
    client: Client, outcome: str, refused: str, taken: str, product: str, before: str, amount: str
) -> None:
    paid(client, product, f"{before}00000{outcome}", amount)
    before_all = client.call("GET", "/v2/balance").data["balance"]
    if refused:
        assert ask(client, refused) == ("Failed", f"magic-{outcome}")
        client.advance(until="idle")
        assert client.call("GET", "/v2/balance").data["balance"] == before_all
    assert ask(client, taken)[0] == "Success"
    client.advance(until="idle")
    after_all = client.call("GET", "/v2/balance").data["balance"]
    assert (after_all > before_all) is (taken == VOID), "a void that is taken brings the money back"
    assert client.sim("GET", "/sandboxes/default/invariants").json["ok"]


def test_the_digit_for_the_duration_applies_too(client: Client) -> None:
    client.pay("r", "50", "ELECTRIC", account="210010000209")
    client.advance(29)
    assert ask(client, VOID) == ("Failed", ""), "it has not succeeded yet"
    client.advance(1)
    assert ask(client, VOID) == ("Failed", "magic-209")


LOOKED_UP = [("15", "Invalid account no"), ("16", "Service unavailable. Please try again later")]


@pytest.mark.parametrize(("outcome", "message"), LOOKED_UP)
@pytest.mark.parametrize(("product", "before", "amount"), [*BILLS, ("INTERBANK", "", "25.50")])
def test_a_bill_look_up_is_refused_and_the_payment_is_not(
    client: Client, outcome: str, message: str, product: str, before: str, amount: str
) -> None:
    account = f"{before}00000{outcome}"
    extras = {"biller_code": "1001", "ic_number": "900101145678"} if product == "INTERBANK" else {}
    biller = "&biller_code=1001" if extras else ""
    asked = client.call("GET", f"/v2/bill-presentment?account={account}&product={product}{biller}")
    assert (asked.status, asked.data["message"], asked.headers["x-sim-rule"]) == (400, message, f"magic-{outcome}")
    made: Any = client.pay("r", amount, product, account=account, extras=extras)
    assert (made.status, made.headers["x-sim-rule"]) == (200, f"magic-{outcome}")
    client.advance(5)
    assert client.pay("r", amount, product, account=account).data["status"] == "Succesful"


@pytest.mark.parametrize("outcome", ["00", "01", "09", "17"])
def test_bills_of_other_magic_accounts_are_ordinary(client: Client, outcome: str) -> None:
    asked = client.call("GET", f"/v2/bill-presentment?account=2100100000{outcome}&product=ELECTRIC")
    assert (asked.status, asked.headers.get("x-sim-rule", "")) == (200, "")


def test_a_look_up_of_a_payment_whose_answer_would_be_lost_is_answered(client: Client) -> None:
    for outcome in ("04", "05", "13", "14"):
        asked = client.call("GET", f"/v2/bill-presentment?account=2100100000{outcome}&product=ELECTRIC")
        assert asked.status == 200
