"""`GET /v2/bill-presentment` through the whole application (SPEC 2.6, 4.10)."""

from collections.abc import Iterator
from typing import Any

import pytest

from simulator.contract.validator import validator
from tests.support.bills import ACCOUNT, PATH, look_up
from tests.support.client import Client, Response, running

PAID = {"payments": [{"when": {}, "then": [{"status": "Succesful"}]}]}

# data.message, and error_message where it is another.
UNAVAILABLE = ("Bill presentment is unavailable for this product",) * 2
SERVICE = ("Service unavailable. Please try again later",) * 2
PRODUCT = ("Invalid product", "invalid product")
BAD_ACCOUNT = ("Invalid account no", "invalid account number")
BAD_BILLER = ("Invalid biller code", "invalid biller code")
BAD_AMOUNT = ("Invalid amount", "invalid amount")
REF2 = ("Ref-2 required", "Ref-2 required")


@pytest.fixture
def client() -> Iterator[Client]:
    with running(PAID) as made:
        yield made


def refusal(answer: Response, product: str) -> tuple[str, str]:
    """Message and label of a refusal that has the documented shape to the letter."""
    assert answer.status == 400
    body = answer.json
    assert validator("bill-refusal").problems(body) == {}
    message, label = body["data"]["message"], body["error_message"]
    assert body == {
        "data": {
            "message": message,
            "BillerName": "",
            "CustomerName": "",
            "Outstanding": None,
            "Balance": "",
            "Data": "",
            "Address": "",
            "E-Bill": "",
            "CustomField": "",
            "DueDate": "",
        },
        "metadata": {"status_code": 400, "product_code": product, "last_updated": "21-11-2026 12:00:00"},
        "transaction_validity": None,
        "transaction_message": None,
        "error_message": label,
    }
    return message, label


def test_a_bill_shows_what_its_biller_returns(client: Client) -> None:
    answer = look_up(client)
    data = answer.data
    assert answer.status == 200
    assert answer.json == {
        "data": {
            "message": "Account no is valid",
            "BillerName": "National Electricity",
            "CustomerName": data["CustomerName"],
            "Outstanding": data["Outstanding"],
            "Balance": "",
            "Data": "",
            "Address": data["Address"],
            "E-Bill": data["E-Bill"],
            "CustomField": {"tariff": "domestic"},
            "DueDate": data["DueDate"],
        },
        "metadata": {"status_code": 200, "product_code": "ELECTRIC", "last_updated": "21-11-2026 12:00:00"},
        "transaction_validity": True,
        "transaction_message": "Account no is valid",
        "error_message": "",
    }
    assert 20 <= data["Outstanding"] <= 400
    assert all(data[name] for name in ("CustomerName", "Address", "E-Bill", "DueDate"))
    water = look_up(client, "WATER", "1234567890").data
    assert (water["Address"], water["E-Bill"], water["CustomField"]) == ("", None, None)
    assert water["Balance"]


def test_the_bill_of_an_account_is_equal_in_every_run(client: Client) -> None:
    first = look_up(client).json
    assert look_up(client).json == first
    with running() as another:
        assert look_up(another).json == first
    assert look_up(client, account="210012345679").data["CustomerName"] != ""
    assert look_up(client, account="210012345679").data["Outstanding"] != first["data"]["Outstanding"]


def test_a_paid_bill_is_not_outstanding_and_a_voided_one_is_again(client: Client) -> None:
    full = look_up(client).data["Outstanding"]
    client.pay("part", "5.50", "ELECTRIC", account=ACCOUNT)
    assert look_up(client).data["Outstanding"] == pytest.approx(full - 5.5)
    client.pay("rest", str(round(full - 5.5, 2)), "ELECTRIC", account=ACCOUNT)
    assert look_up(client).data["Outstanding"] == 0
    client.call("POST", "/v2/transactions/void", {"refid": "part", "refund_type": 1})
    client.advance(59)
    assert look_up(client).data["Outstanding"] == 0
    client.advance(1)
    assert look_up(client).data["Outstanding"] == 5.5


REFUSALS: list[tuple[dict[str, str], tuple[str, str]]] = [
    ({"product": "RELOAD", "account": "0123456789"}, UNAVAILABLE),
    ({"product": "INTERBANK"}, BAD_BILLER),
    ({"product": "INTERBANK", "biller_code": "0"}, BAD_BILLER),
    ({"product": "INTERBANK", "biller_code": "1004"}, REF2),
    ({"product": "INTERBANK", "biller_code": "1004", "ref2": "x", "account": "123"}, BAD_ACCOUNT),
    ({"product": "INTERBANK", "biller_code": "1004", "ref2": "A_B"}, REF2),
    ({"product": "INTERBANK", "biller_code": "1001", "ref2": "A_B"}, REF2),
    ({"account": " "}, BAD_ACCOUNT),
    ({"product": "INTERBANK", "biller_code": "1005", "amount": "9.99"}, BAD_AMOUNT),
    ({"product": "NONE"}, PRODUCT),
    ({"account": "21001234567"}, BAD_ACCOUNT),
    ({"account": "x" * 100}, BAD_ACCOUNT),
    ({"account": "x" * 101}, BAD_ACCOUNT),
    ({"account": ""}, BAD_ACCOUNT),
    ({"account": "21001234567\n"}, BAD_ACCOUNT),
    ({"amount": "0"}, BAD_AMOUNT),
    ({"amount": "ten"}, BAD_AMOUNT),
    ({"amount": "10000.01"}, BAD_AMOUNT),
    ({"amount": "1" * 101}, BAD_AMOUNT),
]


@pytest.mark.parametrize(("asked", "expected"), REFUSALS)
def test_each_refusal_has_its_text_and_label(client: Client, asked: dict[str, str], expected: tuple[str, str]) -> None:
    assert refusal(look_up(client, **asked), asked.get("product", "ELECTRIC")) == expected


@pytest.mark.parametrize(
    ("query", "product", "expected"),
    [
        ("", "", PRODUCT),
        ("account=1", "", PRODUCT),
        ("product=ELECTRIC", "ELECTRIC", BAD_ACCOUNT),
        ("product=&account=1", "", PRODUCT),
        ("product=ELECTRIC&product=WATER&account=1", "", PRODUCT),
        (f"product=ELECTRIC&account={ACCOUNT}&account=1", "ELECTRIC", BAD_ACCOUNT),
        (f"product=ELECTRIC&account={ACCOUNT}&amount=1&amount=2", "ELECTRIC", BAD_AMOUNT),
        (f"product=ELECTRIC&account={ACCOUNT}&ref2=1&ref2=2", "ELECTRIC", REF2),
        (f"product=+%09&account={ACCOUNT}", "", PRODUCT),
        (f"product=ELECTRIC&account={ACCOUNT}&biller_code=1&biller_code=2", "ELECTRIC", BAD_BILLER),
        ("product=ELECTRIC&account=%ff", "ELECTRIC", BAD_ACCOUNT),
        ("product=ELECTRIC&account=1%", "ELECTRIC", BAD_ACCOUNT),
        ("%ff=1", "", ("Invalid request",) * 2),
    ],
)
def test_a_malformed_query_is_refused_in_the_same_shape(
    client: Client, query: str, product: str, expected: tuple[str, str]
) -> None:
    assert refusal(client.call("GET", f"{PATH}?{query}"), product) == expected


def test_a_query_that_violates_the_contract_is_refused_before_the_product_and_any_rule() -> None:
    rule = {"name": "any", "when": {"product": "ELECTRIC"}, "then": {"error": "service_unavailable"}}
    with running({"bills": [rule]}) as client:
        for query, product in (
            ("product=NOPE", "NOPE"),
            ("product=RELOAD&account=", "RELOAD"),
            ("product=ELECTRIC", "ELECTRIC"),
        ):
            answer = client.call("GET", f"{PATH}?{query}")
            assert refusal(answer, product) == BAD_ACCOUNT
            assert "x-sim-rule" not in answer.headers
        assert client.call("GET", f"{PATH}?product=ELECTRIC&account=x").headers["x-sim-rule"] == "any"


def test_an_interbank_bill_belongs_to_the_biller_that_ref_1_names(client: Client) -> None:
    bill = look_up(client, "INTERBANK", "12345678", biller_code="1004", ref2="P-1", amount="10.50").data
    assert (bill["BillerName"], bill["Address"], bill["E-Bill"]) == ("Meridian Insurance", "", None)
    other = look_up(client, "INTERBANK", "12345678", biller_code="1001").data
    assert (other["BillerName"], other["Outstanding"] != bill["Outstanding"]) == ("Northern Credit Union", True)
    extras = {"biller_code": "1001", "ic_number": "900101101234"}
    client.pay("a", str(other["Outstanding"]), "INTERBANK", account="12345678", extras=extras)
    assert look_up(client, "INTERBANK", "12345678", biller_code="1001").data["Outstanding"] == 0
    assert look_up(client, "INTERBANK", "12345678", biller_code="1004", ref2="P-1").data == bill


def test_an_interbank_bill_shows_the_identity_number_that_its_payment_requires(client: Client) -> None:
    bill = look_up(client, "INTERBANK", "12345678", biller_code="1001").data
    extras = {"biller_code": "1001", "ic_number": bill["CustomField"]["ic_number"]}
    assert len(extras["ic_number"]) == 12
    assert client.pay("a", "10.00", "INTERBANK", account="12345678", extras=extras).status == 200


def test_another_seed_has_other_account_holders_and_the_same_seed_the_same() -> None:
    def holders(seed: int) -> list[tuple[str, str]]:
        with running({"seed": seed}) as client:
            bills = [look_up(client, account=f"2100123456{number}").data for number in range(10, 20)]
        return [(bill["CustomerName"], bill["Address"]) for bill in bills]

    assert holders(1) == holders(1) != holders(2)
    assert len(set(holders(1))) == 10


def test_a_product_that_is_inactive_for_the_reseller_has_no_bills() -> None:
    overlay = {"code": "RS001", "catalog": {"ELECTRIC": {"is_active": False}}}
    with running({"resellers": [overlay]}) as client:
        assert refusal(look_up(client), "ELECTRIC") == UNAVAILABLE


def test_a_rule_writes_a_bill_for_an_account_that_the_form_would_refuse() -> None:
    bill = {
        "message": "Account is fine",
        "BillerName": "Other Biller",
        "CustomerName": "Somebody",
        "Outstanding": "120.50",
        "Balance": 12.30,
        "Data": "3 GB",
        "Address": None,
        "E-Bill": None,
        "CustomField": [1, {"deep": None}],
        "DueDate": "31-12-2026",
        "transaction_validity": False,
        "transaction_message": "Pay at the counter",
    }
    rule = {"name": "odd", "when": {"product": "ELECTRIC", "account": "123"}, "then": {"bill": bill}}
    with running({"bills": [rule]}) as client:
        answer = look_up(client, account="123")
        assert (answer.status, answer.headers["x-sim-rule"]) == (200, "odd")
        assert answer.data == {
            "message": "Account is fine",
            "BillerName": "Other Biller",
            "CustomerName": "Somebody",
            "Outstanding": 120.5,
            "Balance": "12.3",
            "Data": "3 GB",
            "Address": "",
            "E-Bill": None,
            "CustomField": [1, {"deep": None}],
            "DueDate": "31-12-2026",
        }
        assert (answer.json["transaction_validity"], answer.json["transaction_message"]) == (
            False,
            "Pay at the counter",
        )


def test_a_rule_may_leave_open_whether_the_account_is_valid() -> None:
    with running({"bills": [{"then": {"bill": {"transaction_validity": None}}}]}) as client:
        body = look_up(client).json
        assert (body["transaction_validity"], body["transaction_message"]) == (None, None)


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ({"error": "invalid_account"}, BAD_ACCOUNT),
        ({"error": "service_unavailable"}, SERVICE),
        ({"error": "unavailable"}, UNAVAILABLE),
        ({"error": "invalid_biller_code"}, BAD_BILLER),
        ({"error": "invalid_amount"}, BAD_AMOUNT),
        ({"error": "ref2_required"}, REF2),
        ({"error": "unknown_product"}, PRODUCT),
        ({"error": "The biller is on holiday"}, ("The biller is on holiday",) * 2),
        ({"error": "invalid_account", "error_message": "Check the number"}, ("Invalid account no", "Check the number")),
    ],
)
def test_a_rule_refuses_with_any_of_the_documented_texts_or_its_own(
    client: Client, then: Any, expected: tuple[str, str]
) -> None:
    added = client.sim("POST", "/sandboxes/default/rules", {"section": "bills", "rule": {"name": "down", "then": then}})
    assert added.status == 201
    answer = look_up(client)
    assert refusal(answer, "ELECTRIC") == expected
    assert answer.headers["x-sim-rule"] == "down"
    client.sim("DELETE", f"/sandboxes/default/rules/{added.json['id']}")
    assert look_up(client).status == 200


def test_a_request_names_the_rule_that_decides() -> None:
    rule = {"name": "down", "when": {"account": "none"}, "then": {"error": "service_unavailable"}}
    with running({"bills": [rule]}) as client:
        assert look_up(client).status == 200
        assert refusal(look_up(client, headers={"X-Sim-Rule": "down"}), "ELECTRIC") == SERVICE


def test_rules_match_the_query_of_the_look_up() -> None:
    rules = [
        {"name": "biller", "when": {"extras": {"biller_code": "77"}}, "then": {"error": "a"}},
        {"name": "amount", "when": {"amount": {"min": 50}}, "then": {"error": "b"}},
        {"name": "water", "when": {"product": "WATER"}, "times": 1, "then": {"error": "c"}},
    ]
    with running({"bills": rules}) as client:

        def decided(**asked: str) -> str:
            return look_up(client, **asked).headers.get("x-sim-rule", "")

        assert decided(biller_code="77") == "biller"
        assert [decided(amount=amount) for amount in ("49.99", "50", "50.00")] == ["", "amount", "amount"]
        assert [decided(product="WATER", account="1234567890") for _ in range(2)] == ["water", ""]


def test_looking_up_takes_a_signature(client: Client) -> None:
    query = f"{PATH}?product=ELECTRIC&account={ACCOUNT}"
    assert client.call("GET", query, secret="c29tZXRoaW5nIGVsc2U=").status == 401
    assert client.call("POST", query).status == 405
