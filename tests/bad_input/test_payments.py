"""Values within a payment: numbers, amounts and texts that no honest client sends."""

import json
from typing import Any

import pytest

from tests.support.bad_requests import ask, ids, said
from tests.support.client import Client

RELOAD = {"refid": "hostile", "product": "RELOAD", "account": "0123456789", "amount": "10"}
BILL = {"refid": "hostile", "product": "ELECTRIC", "account": "123456789012", "amount": "10"}

INVALID, WRONG_AMOUNT, POOR = "400 Invalid_Request", "400 Invalid_Denomination", "400 Insufficient_Balance"
NO_ACCOUNT, NO_PRODUCT = "400 Invalid_Account", "400 Invalid_Product"

# JSON text after "amount":
AMOUNTS: list[tuple[str, str, str]] = [
    ("zero", "0", WRONG_AMOUNT),
    ("zero as text", '"0"', WRONG_AMOUNT),
    ("zero with decimals", '"0.00"', WRONG_AMOUNT),
    ("negative zero", "-0", WRONG_AMOUNT),
    ("negative zero with decimals", "-0.0", WRONG_AMOUNT),
    ("negative", "-10", WRONG_AMOUNT),
    ("negative text", '"-10"', WRONG_AMOUNT),
    ("just below the least", "0.99", WRONG_AMOUNT),
    ("just above the most", "10000.01", WRONG_AMOUNT),
    ("more than the wallet holds", "9999.99", POOR),
    ("three decimals", "10.001", WRONG_AMOUNT),
    ("three decimals as text", '"10.001"', WRONG_AMOUNT),
    ("nine decimals", '"10.000000001"', WRONG_AMOUNT),
    ("a hair above one", "1.0000000000000000000000000001", WRONG_AMOUNT),
    ("60 digits", "1" + "0" * 59, WRONG_AMOUNT),
    ("60 digits as text", f'"{"9" * 60}"', WRONG_AMOUNT),
    ("60 decimals", "1." + "0" * 59 + "1", WRONG_AMOUNT),
    ("16 digits", '"1000000000000000"', WRONG_AMOUNT),
    ("15 digits", '"100000000000000"', WRONG_AMOUNT),
    ("beyond 64 bits", "18446744073709551616", WRONG_AMOUNT),
    ("2 to the 53rd", "9007199254740993", WRONG_AMOUNT),
    ("1e400", "1e400", WRONG_AMOUNT),
    ("-1e400", "-1e400", WRONG_AMOUNT),
    ("1e-400", "1e-400", WRONG_AMOUNT),
    ("1e999999999", "1e999999999", WRONG_AMOUNT),
    ("1e-999999999", "1e-999999999", WRONG_AMOUNT),
    ("1e9999999999999999999", "1e9999999999999999999", INVALID),
    ("hexadecimal text", '"0x10"', WRONG_AMOUNT),
    ("octal text", '"0o10"', WRONG_AMOUNT),
    ("an underscore", '"1_0"', WRONG_AMOUNT),
    ("a thousands separator", '"1,000"', WRONG_AMOUNT),
    ("a decimal comma", '"10,50"', WRONG_AMOUNT),
    ("a currency", '"RM10"', WRONG_AMOUNT),
    ("two signs", '"--10"', WRONG_AMOUNT),
    ("a bare fraction", '".5"', WRONG_AMOUNT),
    ("nothing but a point", '"."', WRONG_AMOUNT),
    ("an exponent of nothing", '"e1"', WRONG_AMOUNT),
    ("an exponent that is a fraction", '"1e1.5"', WRONG_AMOUNT),
    ("1e400 as text", '"1e400"', WRONG_AMOUNT),
    ("an exponent of 40 digits", f'"1e{"9" * 40}"', WRONG_AMOUNT),
    ("a blank within", '"1 0"', WRONG_AMOUNT),
    ("a no-break space before", '"\\u00a010"', WRONG_AMOUNT),
    ("4,000 digits", "1" * 4000, WRONG_AMOUNT),
    ("two points", '"1.0.0"', WRONG_AMOUNT),
    ("a vertical tab", '"10\\u000b"', WRONG_AMOUNT),
    ("NUL", '"10\\u0000"', WRONG_AMOUNT),
    ("empty text", '""', WRONG_AMOUNT),
    ("words", '"ten"', WRONG_AMOUNT),
    ("NaN as text", '"NaN"', WRONG_AMOUNT),
    ("Infinity as text", '"Infinity"', WRONG_AMOUNT),
    ("sNaN as text", '"sNaN"', WRONG_AMOUNT),
    ("Arabic digits", '"\u0661\u0660"', WRONG_AMOUNT),
    ("full-width digits", '"\uff11\uff10"', WRONG_AMOUNT),
    ("a superscript", '"1\u00b2"', WRONG_AMOUNT),
    ("a minus sign of mathematics", '"\u221210"', WRONG_AMOUNT),
    ("an expression", '"5+5"', WRONG_AMOUNT),
    ("a template", '"{{10}}"', WRONG_AMOUNT),
    ("SQL", '"10; DROP TABLE transactions"', WRONG_AMOUNT),
    ("100,000 digits as text", f'"{"1" * 100_000}"', WRONG_AMOUNT),
    ("true", "true", INVALID),
    ("false", "false", INVALID),
    ("null", "null", INVALID),
    ("a list", "[10]", INVALID),
    ("an object", '{"amount": "10", "currency": "MYR"}', INVALID),
]


@pytest.mark.parametrize(("what", "written", "expected"), AMOUNTS, ids=ids(AMOUNTS))
def test_an_invalid_amount(client: Client, what: str, written: str, expected: str) -> None:
    body = json.dumps(BILL | {"amount": "@"}).replace('"@"', written)
    answer = ask(client, "POST", "/v2/topup", body.encode())
    assert said(answer) == expected
    assert isinstance(answer.data["amount"], int | float)


NOT_SOLD = [
    "7",
    "5.01",
    "10.00000001",
    "0.5",
    "-5",
    "1000",
    "55",
    "5 10",
    "5,10",
    "5|10",
    "10; 20",
    "RELOAD-10",
    "",
    "null",
]


@pytest.mark.parametrize("amount", NOT_SOLD, ids=repr)
def test_an_amount_that_is_not_sold(client: Client, amount: str) -> None:
    assert said(ask(client, "POST", "/v2/topup", json.dumps(RELOAD | {"amount": amount}).encode())) == WRONG_AMOUNT


NUL, SURROGATE, LONG = "\x00", "\\ud800", "x" * 100_000
CONTROL_CHARACTERS = ["\x00", "\x01", "\t", "\n", "\r", "\x1b[31m", "\x7f", "\x80", "\x85", "\x9f"]

TEXTS: list[tuple[str, dict[str, Any], str]] = [
    *((f"{name} is a number", {name: 1}, INVALID) for name in ("refid", "product", "account", "remarks")),
    *((f"{name} is null", {name: None}, INVALID) for name in ("refid", "product", "account", "amount")),
    *((f"{name} is true", {name: True}, INVALID) for name in ("refid", "product", "account", "remarks", "extras")),
    *((f"{name} is a list", {name: ["a"]}, INVALID) for name in ("refid", "product", "account", "remarks", "extras")),
    *((f"{name} is an object", {name: {"a": 1}}, INVALID) for name in ("refid", "product", "account", "remarks")),
    *((f"{name} has 100,000 characters", {name: LONG}, INVALID) for name in ("refid", "product", "account", "remarks")),
    *((f"refid with {one!r}", {"refid": f"a{one}b"}, INVALID) for one in CONTROL_CHARACTERS),
    *((f"account with {one!r}", {"account": f"0123456789{one}"}, INVALID) for one in CONTROL_CHARACTERS),
    *((f"product with {one!r}", {"product": f"RELOAD{one}"}, INVALID) for one in CONTROL_CHARACTERS),
    ("refid is empty", {"refid": ""}, INVALID),
    ("refid of 51 characters", {"refid": "r" * 51}, INVALID),
    ("refid of 51 emoji", {"refid": "\U0001f600" * 51}, INVALID),
    ("remarks of 10,001 characters", {"remarks": "r" * 10_001}, INVALID),
    ("product is empty", {"product": ""}, NO_PRODUCT),
    ("product in lower case", {"product": "reload"}, NO_PRODUCT),
    ("product with blanks", {"product": " RELOAD "}, NO_PRODUCT),
    ("product with a zero-width space", {"product": "RELOAD\u200b"}, NO_PRODUCT),
    ("product in Cyrillic", {"product": "REL\u041eAD"}, NO_PRODUCT),
    ("product with a wildcard", {"product": "*"}, NO_PRODUCT),
    ("product of a dictionary's own", {"product": "__class__"}, NO_PRODUCT),
    ("product as a path", {"product": "../RELOAD"}, NO_PRODUCT),
    ("product with SQL", {"product": "RELOAD' OR '1'='1"}, NO_PRODUCT),
    ("inactive product", {"product": "RETIRED"}, NO_PRODUCT),
    ("unknown product and everything else wrong", {"product": "NOPE", "account": "", "amount": "x"}, NO_PRODUCT),
    ("account is empty", {"account": ""}, NO_ACCOUNT),
    ("account of blanks", {"account": "          "}, NO_ACCOUNT),
    ("account with a blank in front", {"account": " 0123456789"}, NO_ACCOUNT),
    ("account with a plus", {"account": "+60123456789"}, NO_ACCOUNT),
    (
        "account in Arabic digits",
        {"account": "\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669"},
        NO_ACCOUNT,
    ),
    (
        "account in full-width digits",
        {"account": "\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19"},
        NO_ACCOUNT,
    ),
    ("account one digit short", {"account": "012345678"}, NO_ACCOUNT),
    ("account one digit long", {"account": "012345678901"}, NO_ACCOUNT),
    ("account with a script", {"account": "<script>alert(1)</script>"}, NO_ACCOUNT),
    ("account to make a regular expression slow", {"account": "0" * 99 + "!"}, NO_ACCOUNT),
    ("wrong account and wrong amount", {"account": "1", "amount": "7"}, NO_ACCOUNT),
]


@pytest.mark.slow
@pytest.mark.parametrize(("what", "changes", "expected"), TEXTS, ids=ids(TEXTS))
def test_an_invalid_text(client: Client, what: str, changes: dict[str, Any], expected: str) -> None:
    answer = ask(client, "POST", "/v2/topup", json.dumps(RELOAD | changes).encode())
    assert said(answer) == expected
    assert answer.data["cost"] == 0
    assert answer.data["status"] == "Failed"


@pytest.mark.parametrize("name", ["refid", "product", "account", "amount"])
def test_a_payment_without_one_of_its_fields(client: Client, name: str) -> None:
    body = {key: value for key, value in RELOAD.items() if key != name}
    assert said(ask(client, "POST", "/v2/topup", json.dumps(body).encode())) == INVALID


def test_an_existing_refid_returns_its_payment_with_any_other_parameters(client: Client) -> None:
    for changes in ({"amount": "7"}, {"account": ""}, {"product": "NOPE"}, {"amount": -1, "remarks": "x"}):
        answer = ask(client, "POST", "/v2/topup", json.dumps(RELOAD | changes | {"refid": "settled"}).encode())
        assert (answer.status, answer.data["status"], answer.data["amount"]) == (200, "Succesful", 10)


def test_a_refid_differs_from_one_that_only_looks_the_same(client: Client) -> None:
    for refid in ("Settled", "settled ", " settled", "s\u0435ttled", "settled\u200b", "settled%20"):
        body = json.dumps(RELOAD | {"refid": refid, "amount": "7"}).encode()
        assert said(ask(client, "POST", "/v2/topup", body)) == WRONG_AMOUNT
