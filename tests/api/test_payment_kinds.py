"""Payments of every kind of product: their extras, limits, costs, and what they bring (SPEC 2.3, 4.11)."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, running
from tests.support.loans import IC, loan
from tests.support.refusals import pay, refuse


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running({"resellers": [{"code": "RS001", "balance": "1000000.00"}]}) as made:
        yield made


def interbank(amount: Any = "25.50", **extras: Any) -> dict[str, Any]:
    named = {"biller_code": "1001", "ic_number": IC} | extras
    kept = {name: value for name, value in named.items() if value is not ...}
    return {"product": "INTERBANK", "account": "12345678", "amount": amount, "extras": kept}


WRONG: list[tuple[str, Any]] = [
    ("absent", ...),
    ("null", None),
    ("empty", ""),
    ("number", 1001),
    ("list", ["1001"]),
    ("object", {"code": "1001"}),
    ("true", True),
    ("unknown", "no-such-thing!"),
    ("other letters", "１００１"),
    ("long", "1" * 10_000),
]


@pytest.mark.parametrize("value", [value for _, value in WRONG], ids=[name for name, _ in WRONG])
@pytest.mark.parametrize("name", ["biller_code", "ic_number"])
def test_an_interbank_payment_needs_its_extras(client: Client, name: str, value: Any) -> None:
    refuse(client, interbank(**{name: value}), 43, "Invalid_Extras")


@pytest.mark.parametrize("value", [value for _, value in WRONG], ids=[name for name, _ in WRONG])
@pytest.mark.parametrize("name", ["subproduct_code", "ic_number"])
def test_a_student_loan_needs_its_extras(client: Client, name: str, value: Any) -> None:
    refuse(client, loan(**{name: value}), 43, "Invalid_Extras")


@pytest.mark.parametrize("code", ["1045", "9999", "1001 "])
def test_a_biller_that_is_inactive_or_unknown_is_refused(client: Client, code: str) -> None:
    refuse(client, interbank(biller_code=code, ref2="A-1"), 43, "Invalid_Extras")


@pytest.mark.parametrize("extras", [{}, None])
def test_extras_that_are_left_out_altogether_are_missing(client: Client, extras: Any) -> None:
    for body in (interbank(), loan()):
        if extras is None:
            del body["extras"]
        refuse(client, body | ({} if extras is None else {"extras": extras}), 43)


REF2: list[tuple[str, Any, bool]] = [
    ("1004", "A-1", True),
    ("1004", ..., False),
    ("1004", "", False),
    ("1004", None, False),
    ("1004", 7, False),
    ("1004", "no blanks", False),
    ("1004", "R" * 31, False),
    ("1001", ..., True),
    ("1001", "", True),
    ("1001", "A-1", True),
    ("1001", 7, False),
    ("1001", "no blanks", False),
]


@pytest.mark.parametrize(("biller", "ref2", "good"), REF2)
def test_some_billers_want_a_second_reference(client: Client, biller: str, ref2: Any, good: bool) -> None:
    body = interbank(biller_code=biller, ref2=ref2)
    if good:
        assert pay(client, body | {"refid": f"{biller}-{ref2}"}).status == 200
    else:
        refuse(client, body, 43, "Invalid_Extras")


LIMITS = [
    # biller, amount, good
    ("1001", "1.00", True),
    ("1001", "0.99", False),
    ("1001", "10000.00", True),
    ("1001", "10000.01", False),
    ("1005", "10.00", True),
    ("1005", "9.99", False),
    ("1005", "5000.00", True),
    ("1005", "5000.01", False),
    ("1010", "49.99", False),
    ("1007", "2000.01", False),
    ("1001", "10.005", False),
]


@pytest.mark.parametrize(("biller", "amount", "good"), LIMITS)
def test_a_biller_has_limits_of_its_own(client: Client, biller: str, amount: str, good: bool) -> None:
    body = interbank(amount, biller_code=biller)
    if good:
        assert pay(client, body | {"refid": f"{biller}-{amount}"}).status == 200
    else:
        refuse(client, body, 58, "Invalid_Denomination")


def test_the_limits_of_a_biller_may_be_wider_than_the_limits_of_the_field() -> None:
    wide = [{"code": "1001", "min_amount": 0, "max_amount": 20_000}, {"code": "1040", "label": "none"}]
    catalog = {"products": [{"code": "INTERBANK", "max_amount": 100, "fields": [{"id": "biller", "options": wide}]}]}
    with running({"catalog": catalog, "resellers": [{"code": "RS001", "balance": "50000"}]}) as client:
        for amount in ("0.01", "20000"):
            assert pay(client, interbank(amount) | {"refid": amount}).status == 200
        refuse(client, interbank("100.01", biller_code="1040", ref2="A"), 58)
        assert pay(client, interbank("100", biller_code="1040", ref2="A")).status == 200


def test_identity_numbers_are_written_without_dashes(client: Client) -> None:
    refuse(client, interbank(ic_number="900101-14-5678"), 43)
    refuse(client, loan(ic_number="900101-14-5678"), 43)
    assert pay(client, interbank(ic_number="A12345678") | {"refid": "passport"}).status == 200


LOANS = [
    # account, code, identity number, refusal
    ("1029384756", "K", IC, None),
    ("837465920", "SP", IC, None),
    ("837465920", "K", IC, 42),
    ("1029384756", "SP", IC, 42),
    ("1029384757", "K", IC, 42),
    ("1029384756", "K", "900101145679", 42),
    ("1029384756", "U", IC, 43),
    ("1029384756", "k", IC, 43),
    ("1029384756", "D10W", IC, 43),
    ("1234567", "K", IC, 42),
]


@pytest.mark.parametrize(("account", "code", "identity", "refusal"), LOANS)
def test_a_loan_account_belongs_to_code_and_identity(
    client: Client, account: str, code: str, identity: str, refusal: int | None
) -> None:
    body = loan(account, subproduct_code=code, ic_number=identity)
    if refusal is None:
        assert pay(client, body | {"refid": f"loan-{account}"}).status == 200
    else:
        refuse(client, body, refusal)


MAGIC = [
    interbank() | {"account": "00000012"},
    loan("120000012"),
    {"product": "DATA", "account": "0120000012", "amount": "30"},
    {"product": "ESIM", "account": "you@example.0000012", "amount": "15"},
    {"product": "GAME", "account": "0000012", "amount": "500"},
    {"product": "ABROAD", "account": "620000012", "amount": "25000"},
    {"product": "PARKING", "account": "0120000012", "amount": "15"},
]


@pytest.mark.parametrize("body", MAGIC, ids=lambda body: body["product"])
def test_every_kind_of_product_has_magic_accounts(client: Client, body: dict[str, Any]) -> None:
    answer = pay(client, body | {"refid": f"magic-{body['product']}"})
    assert (answer.status, answer.data["status"], answer.headers["x-sim-rule"]) == (200, "Failed", "magic-12")


COSTS = [
    # product, account, amount, cost
    ("GAME", "player1", "100", 4.23),
    ("GAME", "player1", 500, 21.15),
    ("ABROAD", "62812345678", "25000", 6.9),
    ("PARKING", "0123456789", "200", 198),
    ("ESIM", "you@example.com", "15", 13.8),
    ("ELECTRIC", "210012345678", "1.00", 0.7),
]


@pytest.mark.parametrize(("product", "account", "amount", "cost"), COSTS)
def test_the_cost_follows_from_the_unit_price(
    client: Client, product: str, account: str, amount: Any, cost: float
) -> None:
    before = client.call("GET", "/v2/balance").data["balance"]
    body = {"refid": f"cost-{product}-{amount}", "product": product, "account": account, "amount": amount}
    answer = pay(client, body)
    assert (answer.data["cost"], answer.data["amount"]) == (cost, float(amount))
    assert answer.data["balance"] == pytest.approx(before - cost)


AMOUNTS = [
    ("GAME", "player1", "250"),
    ("GAME", "player1", "4.50"),
    ("ABROAD", "62812345678", "6.90"),
    ("PARKING", "0123456789", "200.01"),
    ("PARKING", "0123456789", "201"),
    ("PARKING", "0123456789", "15.50"),
    ("PARKING", "0123456789", "0"),
]


@pytest.mark.parametrize(("product", "account", "amount"), AMOUNTS)
def test_an_amount_is_a_quantity_that_is_sold(client: Client, product: str, account: str, amount: str) -> None:
    refuse(client, {"product": product, "account": account, "amount": amount}, 58, "Invalid_Denomination")


BROUGHT = [
    # product, account, amount, extras, which fields are filled when it has succeeded
    ("RELOAD", "0123456789", "10", {}, {"sn"}),
    ("GIFTCARD", "anybody at all", "25", {}, {"sn", "pin", "expiry", "note"}),
    ("VOUCHER", "you@example.com", "10", {}, {"sn", "voucherlink", "expiry", "note"}),
    ("ESIM", "you@example.com", "45", {}, {"sn", "voucherlink", "expiry", "note"}),
    ("DATA", "0123456789", "10", {"subproduct_code": "D10M"}, {"sn"}),
    ("INTERBANK", "12345678", "10", interbank()["extras"], {"sn"}),
    ("STUDENTLOAN", "1029384756", "10", loan()["extras"], {"sn"}),
]
FIELDS = ("sn", "pin", "expiry", "note", "voucherlink")


@pytest.mark.parametrize(("product", "account", "amount", "extras", "filled"), BROUGHT)
def test_a_success_carries_the_texts_of_its_product(
    client: Client, product: str, account: str, amount: str, extras: dict[str, str], filled: set[str]
) -> None:
    body = {"refid": f"b-{product}", "product": product, "account": account, "amount": amount, "extras": extras}
    created = pay(client, body).data
    assert {name for name in FIELDS if created[name]} == set(), "nothing is delivered before it succeeded"
    client.advance(5)
    done = pay(client, body).data
    assert (done["status"], {name for name in FIELDS if done[name]}) == ("Succesful", filled)
    if "expiry" in filled:
        assert done["expiry"].isdigit()
        assert len(done["expiry"]) == 8


def test_a_product_without_an_account_field_needs_an_account_all_the_same(client: Client) -> None:
    body = {"product": "GIFTCARD", "amount": "25"}
    refuse(client, body, 45, "Invalid_Request")
    refuse(client, body | {"account": ""}, 42, "Invalid_Account")
    assert pay(client, body | {"account": "anybody", "refid": "an account"}).status == 200


def test_an_overlay_takes_a_product_from_one_reseller_alone() -> None:
    second = {
        "code": "RS002",
        "balance": "100.00",
        "api_keys": [{"key": "second", "secret": "bm90LWEtc2VjcmV0LW9ubHktZm9yLXRlc3RpbmctMDE="}],
        "catalog": {"GAME": {"is_active": False}, "RETIRED": {"is_active": True}},
    }
    game = {"product": "GAME", "account": "player1", "amount": "100"}
    retired = {"product": "RETIRED", "account": "0123456789", "amount": "10"}
    with running({"resellers": [second]}) as client:
        refuse(client, game, 41, "Invalid_Product", key="second")
        assert pay(client, game).status == 200
        refuse(client, retired | {"refid": "r2"}, 41, "Invalid_Product")
        assert pay(client, retired | {"refid": "r2"}, key="second").status == 200


def test_extras_stay_with_the_payment(client: Client) -> None:
    body = interbank(biller_code="1046", ref2="C-9") | {"refid": "kept"}
    assert pay(client, body).status == 200
    transaction = client.live.core.state.resellers["RS001"].refids["kept"]
    assert transaction.extras == {"biller_code": "1046", "ic_number": IC, "ref2": "C-9"}
