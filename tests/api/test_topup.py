"""`POST /v2/topup` through the whole application (SPEC 4.11)."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, Response, running

SUCCESS = [{"status": "Succesful"}]


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as made:
        yield made


def balance(client: Client) -> Any:
    return client.call("GET", "/v2/balance").data["balance"]


def test_a_payment_goes_from_accepted_to_successful(client: Client) -> None:
    created = client.pay(amount="10", remarks="table 4")
    assert created.status == 200
    assert created.data | {"cost": 0, "balance": 0} == {
        "statusCode": 1,
        "status": "Accepted",
        "account": "0123456789",
        "product": "RELOAD",
        "productName": created.data["productName"],
        "amount": 10,
        "sn": "",
        "pin": "",
        "expiry": "",
        "cost": 0,
        "balance": 0,
        "remarks": "table 4",
        "refid": "ref-1",
        "timestamp": "2026-11-21 12:00:00",
        "note": "",
        "voucherlink": "",
    }
    assert created.data["balance"] == pytest.approx(5000 - created.data["cost"])
    assert created.headers["x-sim-rule"] == "ordinary"
    client.advance(2)
    assert (client.pay().data["status"], client.pay().data["statusCode"]) == ("Processing", 2)
    client.advance(3)
    done = client.pay().data
    assert (done["status"], done["statusCode"], done["timestamp"]) == ("Succesful", 20, "2026-11-21 12:00:05")
    assert done["sn"]


def test_the_amount_is_an_integer_when_whole_and_decimal_otherwise(client: Client) -> None:
    bills = [
        client.pay(f"b-{amount}", amount, "ELECTRIC", account="123456789012").body
        for amount in ("12.50", 12.5, "12.00", 12)
    ]
    assert [b'"amount":12.5,' in body for body in bills] == [True, True, False, False]
    assert [b'"amount":12,' in body for body in bills] == [False, False, True, True]


def test_pins_and_links_arrive_with_success(client: Client) -> None:
    client.pay("pin", "25", "GIFTCARD", account="nobody")
    client.pay("link", "10", "VOUCHER", account="you@example.com")
    client.advance(5)
    pin = client.pay("pin", "25", "GIFTCARD", account="nobody").data
    assert pin["pin"]
    assert pin["expiry"].isdigit()
    assert len(pin["expiry"]) == 8
    link = client.pay("link", "10", "VOUCHER", account="you@example.com").data
    assert link["voucherlink"].startswith("https://")


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"product": "NOPE"}, 41, "Invalid_Product"),
    ({"product": "RETIRED"}, 41, "Invalid_Product"),
    ({"account": "12"}, 42, "Invalid_Account"),
    ({"amount": "7"}, 58, "Invalid_Denomination"),
    ({"amount": "ten"}, 58, "Invalid_Denomination"),
    ({"amount": "-10"}, 58, "Invalid_Denomination"),
    ({"amount": "0"}, 58, "Invalid_Denomination"),
    ({"product": "ELECTRIC", "account": "123456789012", "amount": "10000.01"}, 58, "Invalid_Denomination"),
    ({"product": "ELECTRIC", "account": "123456789012", "amount": "1.005"}, 58, "Invalid_Denomination"),
    ({"product": "ELECTRIC", "account": "123456789012", "amount": "9999"}, 40, "Insufficient_Balance"),
    ({"refid": ""}, 45, "Invalid_Request"),
    ({"refid": "r" * 51}, 45, "Invalid_Request"),
    ({"amount": None}, 45, "Invalid_Request"),
    ({"amount": [1]}, 45, "Invalid_Request"),
    ({"account": 123}, 45, "Invalid_Request"),
    ({"refid": "a\x00b"}, 45, "Invalid_Request"),
]


@pytest.mark.parametrize(("changes", "code", "remarks"), REFUSED)
def test_a_refusal_creates_no_payment_and_leaves_the_refid_free(
    client: Client, changes: dict[str, Any], code: int, remarks: str
) -> None:
    good = {"refid": "ref-1", "product": "RELOAD", "account": "0123456789", "amount": "10"}
    refused = client.call("POST", "/v2/topup", good | changes)
    assert (refused.status, refused.data["statusCode"], refused.data["remarks"]) == (400, code, remarks)
    assert (refused.data["status"], refused.data["cost"], refused.data["balance"]) == ("Failed", 0, 5000)
    for name in ("refid", "product", "account"):
        sent = (good | changes)[name]
        assert refused.data[name] == (sent if isinstance(sent, str) else "")
    assert balance(client) == 5000
    assert client.pay().status == 200


@pytest.mark.parametrize(
    "body", [b"", b"nonsense", b"[]", b"null", b'"x"', b"{", b'{"refid":NaN}', b"[" * 10_000, b"\xff{}"]
)
def test_a_body_that_is_not_an_object_is_an_invalid_request(client: Client, body: bytes) -> None:
    refused = client.call("POST", "/v2/topup", body)
    assert (refused.status, refused.data["remarks"], refused.data["refid"]) == (400, "Invalid_Request", "")
    assert refused.headers["x-sim-diagnosis"]


def test_fifty_parallel_creations_of_a_refid_make_a_single_debit(client: Client) -> None:
    body = {"refid": "same", "product": "RELOAD", "account": "0123456789", "amount": "10"}

    async def storm() -> list[Response]:
        return await asyncio.gather(*(client.acall("POST", "/v2/topup", body) for _ in range(50)))

    answers = client.run(storm())
    assert {answer.status for answer in answers} == {200}
    assert len({answer.data["cost"] for answer in answers}) == 1
    assert len(client.live.core.state.transactions) == 1
    assert len(client.live.core.state.resellers["RS001"].wallet.entries) == 1


def test_a_failed_payment_is_answered_with_200_and_gives_the_money_back() -> None:
    rules = [{"when": {"account": {"suffix": "48"}}, "then": [{"status": "Failed", "statusCode": 48, "remarks": "HC"}]}]
    with running({"payments": rules}) as client:
        failed = client.pay(account="0123456748")
        assert (failed.status, failed.data["status"], failed.data["statusCode"]) == (200, "Failed", 48)
        assert (failed.data["remarks"], failed.data["cost"], failed.data["balance"]) == ("HC", 0, 5000)
        assert client.pay(account="0123456789").data["status"] == "Failed", "the refid is consumed"


def test_a_request_picks_a_rule_by_name(client: Client) -> None:
    rule = {"section": "payments", "rule": {"name": "mine", "when": {"account": "none"}, "then": SUCCESS}}
    assert client.sim("POST", "/sandboxes/default/rules", rule).status == 201
    picked = client.pay(headers={"X-Sim-Rule": "mine"})
    assert (picked.data["status"], picked.headers["x-sim-rule"]) == ("Succesful", "mine")
    assert client.pay("ref-2").data["status"] == "Accepted"
    unknown = client.pay("ref-3", headers={"X-Sim-Rule": "nobody"})
    assert (unknown.status, unknown.json["error"]) == (400, "unknown_rule")
    for wrong, meant in (("Mine", "mine"), ("magic01", "magic-01"), ("ordnary", "ordinary")):
        misspelt = client.pay("ref-3", headers={"X-Sim-Rule": wrong})
        assert misspelt.status == 400
        assert misspelt.headers["x-sim-diagnosis"] == f"no rule {wrong}; did you mean {meant}?"


@pytest.mark.parametrize("blank", ["", " ", "\t "])
def test_a_blank_name_selects_no_rule(client: Client, blank: str) -> None:
    answer = client.pay(headers={"X-Sim-Rule": blank})
    assert (answer.status, answer.data["status"]) == (200, "Accepted")
    assert "x-sim-diagnosis" not in answer.headers


def test_other_members_of_the_body_are_ignored(client: Client) -> None:
    body = {"refid": "r", "product": "RELOAD", "account": "0123456789", "amount": 10, "colour": "green", "extras": {}}
    assert client.call("POST", "/v2/topup", body).status == 200


def test_a_key_sent_twice_counts_last_unless_the_scenario_refuses_it() -> None:
    body = b'{"refid":"r","product":"RELOAD","account":"0123456789","amount":"99","amount":"10"}'
    with running() as client:
        assert client.call("POST", "/v2/topup", body).data["amount"] == 10
    with running({"assume": {"duplicate-json-keys": "reject"}}) as client:
        assert client.call("POST", "/v2/topup", body).status == 400
