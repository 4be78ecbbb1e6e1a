"""Bodies that are sent as something else, that say null, or that are spelt in unusual ways (SPEC 4)."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.api.call import BodyTooLarge, read_body
from simulator.api.routes import RESELLER_ROUTES
from simulator.contract.register import assumptions
from simulator.contract.schemas import schema
from tests.support.bad_requests import Operation, ask, operations
from tests.support.cases import PAID, pay_bill, void
from tests.support.client import Client, running
from tests.support.refusals import pay, refuse

BODILY = [one for one in operations() if one.takes_body]
RELOAD = {"product": "RELOAD", "account": "0123456789", "amount": "10"}
ELECTRIC = {"product": "ELECTRIC", "account": "210012345678", "amount": "100"}
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running() as made:
        yield made


# Content types


@pytest.mark.parametrize("content_type", ["text/plain;charset=UTF-8", "application/xml"])
@pytest.mark.parametrize("one", BODILY, ids=str)
def test_a_body_under_another_content_type_is_refused_with_both_named(
    client: Client, one: Operation, content_type: str
) -> None:
    answer = ask(client, one.method, one.path, b'{"url": "https://a.example"}', {"Content-Type": content_type})
    assert answer.status == 400
    said = answer.headers["x-sim-diagnosis"]
    assert said.startswith(f"body was sent as {content_type}, but must be application/json")
    if "errors" in answer.json:
        assert said.startswith(f"body {answer.json['errors']['body'][0]}")
    assert (FORM in said) is ("token" in one.path)


@pytest.mark.parametrize(
    "content_type", ["", "application/json", "Application/JSON; charset=utf-8", "application/vnd.any+json"]
)
def test_json_has_several_content_types(client: Client, content_type: str) -> None:
    answer = pay(client, RELOAD | {"refid": content_type or "none"}, headers={"Content-Type": content_type})
    assert answer.status == 200


def test_a_payment_under_another_content_type_is_echoed_in_its_own_shape(client: Client) -> None:
    data = refuse(client, RELOAD, 45, "Invalid_Request", headers={"Content-Type": FORM})
    echoed = (data["refid"], data["product"], data["productName"], data["account"], data["amount"])
    assert echoed == ("r", "RELOAD", "Mobile Reload", "0123456789", 10)


def test_a_content_type_may_be_ignored() -> None:
    with running({"assume": {"content-type": "ignored"}}) as client:
        assert pay(client, RELOAD, headers={"Content-Type": FORM}).status == 200
        user = b'{"username": "test_user_RS001", "password": "test_password_RS001"}'
        assert ask(client, "POST", "/v2/token", user, {"Content-Type": FORM}, signed=False).status == 200


# Size


@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        ("arrays", b"[" + b"[]," * 30_000 + b"1]", "more than 65536 bytes outside its strings"),
        ("numbers", b"[" + b"1.5," * 20_000 + b"1]", "more than 65536 bytes outside its strings"),
        ("depth", b"[" * 40_000 + b"]" * 40_000, "nested more than 64 levels deep"),
    ],
)
def test_a_payment_that_takes_long_to_decode_is_an_invalid_request(
    client: Client, name: str, more: bytes, said: str
) -> None:
    body = json.dumps(RELOAD | {"refid": name}).encode()[:-1] + b', "more": ' + more + b"}"
    answer = client.call("POST", "/v2/topup", body)
    assert (answer.status, answer.data["statusCode"], answer.data["remarks"]) == (400, 45, "Invalid_Request")
    assert said in answer.headers["x-sim-diagnosis"]
    forged = client.call("POST", "/v2/topup", body, secret="d3Jvbmc=")
    assert forged.json["error"] == "invalid_signature", "the signature is judged first"


def test_the_length_of_an_unknown_text_makes_no_payment_invalid(client: Client) -> None:
    assert pay(client, RELOAD | {"refid": "text", "more": "[{,:" * 500_000}).status == 200


async def counted(bytes_max: int) -> int:
    """How many bytes were asked for until a body that never ends was refused."""
    came = 0

    async def receive() -> dict[str, Any]:
        nonlocal came
        came += 1000
        return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

    with pytest.raises(BodyTooLarge):
        await read_body(receive, bytes_max)
    return came


def test_a_body_is_refused_with_the_first_byte_too_many() -> None:
    assert asyncio.run(counted(64_000)) == 65_000


async def never() -> None:
    raise AssertionError("the body was read")


def test_a_body_that_is_declared_too_long_is_refused_without_a_byte_of_it(client: Client) -> None:
    answer = client.run(client.acall("POST", "/v2/token", b" " * 65_537, before_body=never))
    assert (answer.status, answer.json["errors"]) == (400, {"body": ["is longer than 65536 bytes"]})


@pytest.mark.parametrize("path", ["/v2/token", "/v2/token/refresh"])
def test_a_body_of_credentials_over_64_kib_is_refused_in_the_endpoint_s_shape(client: Client, path: str) -> None:
    answer = ask(client, "POST", path, b" " * 65_537, signed=False)
    assert (answer.status, answer.json["errors"]) == (400, {"body": ["is longer than 65536 bytes"]})
    with running() as other:
        other.sandbox({"extends": "default"}, "own", unique_credentials=True)
        at_root = ask(other, "POST", path, b" " * 65_537, signed=False)
        assert (at_root.status, at_root.json) == (400, answer.json), "where the body selects the sandbox, too"


MANY = "&".join(["a=1"] * 1001)


def test_more_than_a_thousand_parameters_are_refused(client: Client) -> None:
    assert client.call("GET", f"/v2/bill-presentment?product=ELECTRIC&{MANY}").status == 400
    answer = client.call("GET", f"/v2/catalog?{MANY}")
    assert (answer.status, answer.json["errors"]) == (400, {"query": ["has more than 1000 parameters"]})
    answer = client.call("GET", f"/v2/balance?{MANY}")
    said = "a query was sent, but this endpoint reads none"
    assert (answer.status, answer.headers["x-sim-diagnosis"]) == (200, said)
    answer = ask(client, "POST", "/v2/token", MANY.encode(), {"Content-Type": FORM}, signed=False)
    assert (answer.status, answer.json["errors"]) == (400, {"body": ["has more than 1000 parameters"]})


# Null


NULLS: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/v2/topup", {"refid": "n", **RELOAD, "remarks": None, "extras": None, "other": None}),
    (
        "POST",
        "/v2/topup",
        {"refid": "m", **ELECTRIC, "extras": {"biller_code": None}},
    ),
    ("POST", "/v2/transactions/check", {"refid": "ref-1", "trxid": None, "user_email": None}),
    ("POST", "/v2/transactions/void", {"refid": "ref-1", "trxid": None, "refund_type": 1, "refund_reason": None}),
    ("PUT", "/v2/balance-webhook", {"url": "inbox:webhooks", "enabled": None}),
    ("POST", "/v2/token", {"username": "test_user_RS001", "password": "test_password_RS001", "client": None}),
]


@pytest.mark.parametrize(("method", "path", "body"), NULLS, ids=lambda one: str(one)[:40])
def test_an_optional_member_that_is_null_is_as_if_absent(method: str, path: str, body: dict[str, Any]) -> None:
    with running(PAID) as client:
        pay_bill(client)
        answer = client.call(method, path, body)
        assert (answer.status, answer.headers.get("x-sim-diagnosis", "")) == (200, "")
        made = client.live.core.state.resellers["RS001"].refids
        assert all(one.extras == {} and one.remarks == "" for one in made.values())


@pytest.mark.parametrize("name", ["refid", "product", "account", "amount"])
def test_a_member_that_is_needed_may_not_be_null(client: Client, name: str) -> None:
    refuse(client, RELOAD | {name: None}, 45, "Invalid_Request")


# Lengths


def test_remarks_have_ten_thousand_characters(client: Client) -> None:
    paid = pay(client, RELOAD | {"refid": "long", "remarks": "ä" * 10_000})
    assert (paid.status, paid.data["remarks"]) == (200, "ä" * 10_000)


def test_every_bound_of_a_length_is_in_the_register() -> None:
    (row,) = (one for one in assumptions() if one.id == "length-bounds")
    used = {endpoint.schema for methods in RESELLER_ROUTES.values() for endpoint in methods.values() if endpoint.schema}
    bounds = {
        f"{name} {length}"
        for schema_name in used
        for name, one in schema(schema_name)["properties"].items()
        if (length := one.get("maxLength") or one.get("items", {}).get("maxLength"))
    }
    assert len(bounds) > 20
    assert {bound for bound in bounds if bound not in row.choice} == set()


# Amounts


SPELT: list[Any] = [
    "10", "10.00", "1e1", "1E+1", "+10", "10.", " 10 ", "\t10\n", "100e-1", "010", "10.000000000", 10, 10.0, 1e1,
]  # fmt: skip


@pytest.mark.parametrize("amount", SPELT, ids=repr)
def test_an_amount_has_the_same_value_in_every_notation(client: Client, amount: Any) -> None:
    for product in (RELOAD, ELECTRIC):
        refid = f"{product['product']} {amount!r}"
        paid = pay(client, product | {"refid": refid, "amount": amount})
        assert (paid.status, paid.data["amount"]) == (200, 10), paid.data
        again = pay(client, product | {"refid": refid, "amount": "10"})
        assert (again.status, again.headers.get("x-sim-diagnosis")) == (200, None)


def test_a_number_with_zeros_at_its_end_is_the_same_number(client: Client) -> None:
    body = b'{"refid": "zeros", "product": "RELOAD", "account": "0123456789", "amount": 10.000000000}'
    assert client.call("POST", "/v2/topup", body).data["amount"] == 10


ECHOED: list[tuple[str, str]] = [
    ('"7"', "7"),
    ('"+7.50"', "7.5"),
    ('"7e0"', "7"),
    ('".5"', "0.5"),
    ("-5", "-5"),
    ("10.000000001", "10.000000001"),
    ('"1000000000000000"', "1000000000000000"),
    ("1e20", "100000000000000000000"),
    ("1e400", "0"),
    ('"1e400"', "0"),
    ('"NaN"', "0"),
    ('"Infinity"', "0"),
    ('"1,000"', "0"),
    ('"0x10"', "0"),
    ('"1_0"', "0"),
    ('"\uff11\uff10"', "0"),
    ('""', "0"),
    ("9" * 60, "0"),
]


@pytest.mark.parametrize(("sent", "echoed"), ECHOED)
def test_a_refused_amount_is_echoed_as_the_number_that_was_sent(client: Client, sent: str, echoed: str) -> None:
    body = f'{{"refid": "no", "product": "RELOAD", "account": "0123456789", "amount": {sent}}}'
    answer = client.call("POST", "/v2/topup", body.encode())
    assert (answer.status, answer.data["statusCode"]) == (400, 58)
    assert f'"amount":{echoed},'.encode() in answer.body


THRESHOLDS = [
    ("1", 1),
    ("10.50", 10.5),
    ("1e2", 100),
    ("+7", 7),  # a space and 7
    ("%2B7", 7),
    ("7.", 7),
    ("7.50000000000", 7.5),
    ("0.99", None),
    ("0", None),
    ("-5", None),
    ("1.001", None),
    ("1,000", None),
    ("1e400", None),
    ("9" * 60, None),
    ("9" * 200, None),
    ("NaN", None),
    ("0x10", None),
    ("", None),
]


@pytest.mark.parametrize(("sent", "threshold"), THRESHOLDS)
def test_a_threshold_accepts_every_notation_of_an_amount(client: Client, sent: str, threshold: float | None) -> None:
    answer = client.call("POST", f"/v2/low-balance-threshold?amount={sent}")
    if threshold is None:
        assert (answer.status, list(answer.json["errors"])) == (400, ["amount"])
        assert answer.headers["x-sim-diagnosis"].startswith("amount must be ")
    else:
        assert (answer.status, answer.data["BalanceThreshold"]) == (200, threshold)


@pytest.mark.parametrize(("amount", "status"), [("1e2", 200), ("%2B100.", 200), ("100.001", 400), ("1e400", 400)])
def test_the_amount_of_a_bill_accepts_every_notation_of_an_amount(client: Client, amount: str, status: int) -> None:
    query = f"product=ELECTRIC&account=210012345678&amount={amount}"
    assert client.call("GET", f"/v2/bill-presentment?{query}").status == status


# Other sentences of a payment's 400


KNOWN = [
    ({"refid": ""}, "Mobile Reload"),
    ({"remarks": 7}, "Mobile Reload"),
    ({"account": None}, "Mobile Reload"),
    ({"product": "RETIRED", "refid": 1}, "Retired Reload"),
    ({"product": "NOPE", "refid": 1}, ""),
    ({"product": ["RELOAD"]}, ""),
    ({"product": None}, ""),
]


@pytest.mark.parametrize(("changes", "name"), KNOWN)
def test_an_invalid_request_names_the_product_that_it_names(client: Client, changes: dict[str, Any], name: str) -> None:
    assert refuse(client, RELOAD | changes, 45, "Invalid_Request")["productName"] == name


def test_an_empty_reference_counts_as_missing(client: Client) -> None:
    for body in ({"refid": ""}, {"refid": "", "trxid": ""}, {"trxid": ""}):
        answer = void(client, **{"refid": ""} | body)
        assert (answer.status, answer.json["errors"]) == (
            400,
            {"trxid": ["the request needs refid or trxid"]},
        )


# An option's price instead of its denomination


PRICES = [
    ("DATA", "5.20", "D5", 5),
    ("DATA", "5.20", None, 5),
    ("DATA", "30.2", "D30", 30),
    ("GAME", "4.50", None, 100),
    ("GIFTCARD", "25.75", None, 25),
]


@pytest.mark.parametrize(("product", "amount", "code", "denomination"), PRICES)
def test_the_price_of_an_option_is_refused_unless_the_scenario_takes_it(
    client: Client, product: str, amount: str, code: str | None, denomination: int
) -> None:
    extras = {"extras": {"subproduct_code": code}} if code else {}
    body = {"product": product, "account": "0123456789", "amount": amount, "refid": "price", **extras}
    refuse(client, body, 44 if code else 58)
    with running({"assume": {"price-amount": "taken", "refid-reused-with-other-parameters": "reject"}}) as taking:
        by_price, by_denomination = pay(taking, body), pay(taking, body | {"refid": "d", "amount": denomination})
        assert (by_price.status, by_price.data["amount"]) == (200, denomination)
        assert by_price.data["cost"] == by_denomination.data["cost"]
        assert "was accepted as its denomination" in by_price.headers["x-sim-diagnosis"]
        assert [pay(taking, body | {"amount": each}).status for each in (amount, denomination, "1")] == [200, 200, 400]
        assert not taking.live.core.violations()


def test_a_price_that_several_plans_share_still_needs_a_code() -> None:
    body = {"product": "DATA", "account": "0123456789", "amount": "10.20"}
    with running({"assume": {"price-amount": "taken"}}) as client:
        refuse(client, body, 44, "several plans share this amount and a plan code is required")
        assert pay(client, body | {"refid": "coded", "extras": {"subproduct_code": "D10W"}}).data["amount"] == 10
        refuse(client, body | {"extras": {"subproduct_code": "D30"}}, 44)


def test_a_refusal_echoes_only_the_beginning_of_an_overlong_text(client: Client) -> None:
    long = {name: name + "é" * 1_000_000 for name in ("refid", "account", "product")}
    answer = client.call("POST", "/v2/topup", json.dumps(long | {"amount": "10"}, ensure_ascii=False).encode())
    assert answer.status == 400
    assert {name: answer.data[name] for name in long} == {name: text[:10_000] for name, text in long.items()}
