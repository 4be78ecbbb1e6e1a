"""Validating requests against the schemas: what is accepted, and how violations are reported."""

import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.contract import schemas
from simulator.contract.body import decode_object
from simulator.contract.validator import PROBLEMS_MAX, expectation, validator

TOPUP = {"refid": "ref-1", "product": "P", "account": "0123456789", "amount": "10"}
REF_TEXT = "must be a string of 1 to 50 characters"
LONG_TEXT = "must be a string of at most 100 characters"
LINE_TEXT = "must be text without control characters"
URL_TEXT = "must be an absolute http or https URL of at most 2000 characters, or inbox:NAME"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"refid": "x"},
        {"refid": "é" * 50},
        {"product": ""},
        {"account": ""},
        {"product": "x" * 100, "account": "x" * 100, "remarks": "x" * 500},
        {"amount": 10},
        {"amount": Decimal("10.50")},
        {"amount": Decimal("1e400")},
        {"amount": Decimal("1e-400")},
        {"amount": Decimal("0." + "1" * 60)},
        {"amount": 10**60},
        {"amount": -1},
        {"amount": "no number"},
        {"remarks": "two\nlines"},
        {"extras": {}},
        {"extras": {"subproduct_code": "A", "unknown": [1, {"deep": None}]}},
        {"extras": {"ic_number": 9}},  # refused only by products that want it
        {"unknown": {"a": 1}},
    ],
)
def test_a_topup_may_say(changes: dict[str, Any]) -> None:
    assert validator("topup-request").problems(TOPUP | changes) == {}
    assert validator("topup-request").is_valid(TOPUP | changes)


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"refid": ""}, {"refid": [REF_TEXT]}),
        ({"refid": "x" * 51}, {"refid": [REF_TEXT]}),
        ({"refid": 7}, {"refid": [REF_TEXT]}),
        ({"refid": None}, {"refid": [REF_TEXT]}),
        ({"refid": "a\0b"}, {"refid": [LINE_TEXT]}),
        ({"refid": "\n" * 51}, {"refid": [REF_TEXT, LINE_TEXT]}),
        ({"product": "a\x7f"}, {"product": [LINE_TEXT]}),
        ({"product": ["P"]}, {"product": [LONG_TEXT]}),
        ({"account": "1\r\n"}, {"account": [LINE_TEXT]}),
        ({"account": "1" * 101}, {"account": [LONG_TEXT]}),
        ({"amount": None}, {"amount": ["must be a string or a number"]}),
        ({"amount": True}, {"amount": ["must be a string or a number"]}),
        ({"amount": [1]}, {"amount": ["must be a string or a number"]}),
        ({"remarks": "x" * 10_001}, {"remarks": ["must be a string of at most 10000 characters"]}),
        ({"extras": "x"}, {"extras": ["must be an object of at most 50 members"]}),
        ({"extras": {str(n): n for n in range(51)}}, {"extras": ["must be an object of at most 50 members"]}),
    ],
)
def test_an_invalid_topup_is_reported_by_member(changes: dict[str, Any], problems: dict[str, list[str]]) -> None:
    assert not validator("topup-request").is_valid(TOPUP | changes)
    assert validator("topup-request").problems(TOPUP | changes) == problems


@pytest.mark.parametrize("name", TOPUP)
def test_a_topup_requires_a_member(name: str) -> None:
    body = {key: value for key, value in TOPUP.items() if key != name}
    assert validator("topup-request").problems(body) == {name: ["is required"]}


@pytest.mark.parametrize(
    ("schema", "value", "problems"),
    [
        ("catalog-query", {}, {}),
        ("catalog-query", {"is_active": "true", "include_inactive": "False", "x": ["1", "2"]}, {}),
        ("catalog-query", {"is_active": "1"}, {"is_active": ["must be true or false"]}),
        ("catalog-query", {"is_active": ["true", "true"]}, {"is_active": ["must be true or false"]}),
        ("catalog-query", {"product_code": ["A", "B"]}, {"product_code": [LONG_TEXT]}),
        ("callback-url-query", {"url": "https://example.com/hook?x=1", "method": "POST"}, {}),
        ("callback-url-query", {"url": "HTTP://[::1]:8080", "method": "GET"}, {}),
        ("callback-url-query", {"url": "inbox:callbacks", "method": "GET"}, {}),
        ("callback-url-query", {}, {"url": ["is required"], "method": ["is required"]}),
        ("callback-url-query", {"url": "", "method": "GET"}, {"url": [URL_TEXT]}),
        ("callback-url-query", {"url": "/hook", "method": "GET"}, {"url": [URL_TEXT]}),
        ("callback-url-query", {"url": "ftp://example.com", "method": "GET"}, {"url": [URL_TEXT]}),
        ("callback-url-query", {"url": "http://a b", "method": "GET"}, {"url": [URL_TEXT]}),
        ("callback-url-query", {"url": "http://a\n", "method": "GET"}, {"url": [URL_TEXT]}),
        ("callback-url-query", {"url": "http://" + "a" * 1994, "method": "GET"}, {"url": [URL_TEXT]}),
        ("callback-url-query", {"url": "http://a", "method": "get"}, {"method": ["must be one of GET, POST"]}),
    ],
)
def test_a_query_is_checked(schema: str, value: Any, problems: dict[str, list[str]]) -> None:
    assert validator(schema).problems(value) == problems


ADVANCE_TEXT = "must be an object with exactly one of seconds, to and until"
IDLE_TEXT = "must be left out: only the mode xN has a rate"
AMOUNT_TEXT = "must be a positive amount with at most two decimals"


@pytest.mark.parametrize(
    ("schema", "value", "problems"),
    [
        ("sandbox-request", {}, {}),
        ("sandbox-request", {"id": "my-1", "scenario": "default", "seed": 7, "credentials": "unique"}, {}),
        ("sandbox-request", {"scenario": {"scenario": "own"}, "clock": {"mode": "xN", "rate": Decimal("1.5")}}, {}),
        ("sandbox-request", {"clock": {"start": 1}}, {"clock.start": ["must be a string of at most 40 characters"]}),
        ("sandbox-request", {"clock": {"mode": "x10"}}, {"clock.mode": ["must be real, manual, or xN beside a rate"]}),
        ("sandbox-request", {"clock": "manual"}, {"clock": ["must be an object of mode, start and rate"]}),
        ("sandbox-request", {"seed": -1}, {"seed": ["must be a whole number from 0 to 9223372036854775807"]}),
        (
            "sandbox-request",
            {"creds": 1},
            {"creds": ["is unknown; known: id, scenario, seed, clock, quotas, credentials, audit, fork, tape"]},
        ),
        ("sandbox-request", {"clock": {"speed": 2}}, {"clock.speed": ["is unknown; known: mode, start, rate"]}),
        ("clock-request", {"mode": "real"}, {}),
        ("clock-request", {"rate": 0}, {"rate": ["must be a number from 0.01 to 100000"]}),
        ("clock-request", {"rate": Decimal("1e999")}, {"rate": ["must be a number from 0.01 to 100000"]}),
        ("clock-request", {"mode": "xN", "rate": 2}, {}),
        ("clock-request", {"mode": "manual", "rate": 2}, {"rate": [IDLE_TEXT]}),
        ("sandbox-request", {"clock": {"mode": "real", "rate": 2}}, {"clock.rate": [IDLE_TEXT]}),
        ("inbox-replies-request", {"replies": [{"disconnect": True, "delay": 1}]}, {}),
        (
            "inbox-replies-request",
            {"replies": [{"disconnect": True, "status": 500}]},
            {"replies.0.status": ["must be left out: a closed connection has no status"]},
        ),
        ("inbox-replies-request", {"replies": [{"status": 204, "body": ""}]}, {}),
        (
            "inbox-replies-request",
            {"replies": [{"status": 204, "body": "x"}]},
            {"replies.0.body": ["must be empty: an answer with status 204 or 304 has no body"]},
        ),
        ("inbox-replies-request", {"during": [{"since": "5m", "status": 500}]}, {}),
        (
            "inbox-replies-request",
            {"during": [{"status": 500}]},
            {"during.0": ["needs time or weekday or since or until"]},
        ),
        ("advance-request", {"seconds": 0}, {}),
        ("advance-request", {"until": "idle"}, {}),
        ("advance-request", {}, {"": [ADVANCE_TEXT]}),
        ("advance-request", {"seconds": 1, "until": "idle"}, {"": [ADVANCE_TEXT]}),
        ("advance-request", {"until": "later"}, {"until": ["must be idle"]}),
        ("advance-request", {"seconds": -1}, {"seconds": ["must be a number from 0 to 316224000"]}),
        ("rule-request", {"section": "faults", "rule": {}}, {}),
        (
            "rule-request",
            {"section": "network", "rule": {}},
            {"section": ["must be one of payments, voids, disputes, bills, faults"]},
        ),
        ("rule-request", {"section": "faults", "rule": []}, {"rule": ["must be an object"]}),
        ("reseller-request", {"code": "RS002", "balance": "1.00", "users": []}, {}),
        ("reseller-request", {}, {"code": ["is required"]}),
        ("deposit-request", {"amount": "500.00", "type": "COMMISSION"}, {}),
        ("deposit-request", {"amount": Decimal("0.01")}, {}),
        ("deposit-request", {"amount": 0}, {"amount": [AMOUNT_TEXT]}),
        ("deposit-request", {"amount": "1.001"}, {"amount": [AMOUNT_TEXT]}),
        ("deposit-request", {"amount": "-1"}, {"amount": [AMOUNT_TEXT]}),
        ("settings-request", {"ip_allowlist": ["10.0.0.1", "10.0.0.0/8", "::1", "fd00::/8"]}, {}),
        (
            "settings-request",
            {"ip_allowlist": ["10.0.0.1", "10.0.0.300"]},
            {"ip_allowlist.1": ["must be an IP address or network such as 10.0.0.0/8"]},
        ),
        (
            "settings-request",
            {"require_api_key_for_topup": "no"},
            {"require_api_key_for_topup": ["must be true or false"]},
        ),
        ("api-key-request", {}, {}),
        ("api-key-request", {"key": "mine"}, {"": ["must be an empty object"]}),
        ("inbox-replies-request", {"replies": []}, {}),
        ("inbox-replies-request", {"replies": [{"status": 500}, {"delay": 1.5, "headers": {"X-A": "b"}}]}, {}),
        (
            "inbox-replies-request",
            {"replies": [{"status": 99}]},
            {"replies.0.status": ["must be a whole number from 200 to 599"]},
        ),
        (
            "inbox-replies-request",
            {"replies": [{"headers": {"X-A": "b\r\nSet-Cookie: c"}}]},
            {"replies.0.headers.X-A": ["must be printable ASCII of at most 1000 characters"]},
        ),
        (
            "inbox-replies-request",
            {"replies": [{"headers": {"a b": "c"}}]},
            {"replies.0.headers": ["has a member whose name must be a header name"]},
        ),
        ("inbox-replies-request", {"replies": {}}, {"replies": ["must be a list of at most 1000 items"]}),
    ],
)
def test_a_control_request_is_checked(schema: str, value: Any, problems: dict[str, list[str]]) -> None:
    assert validator(schema).problems(value) == problems


@pytest.mark.parametrize("value", [[], "x", None, 1])
def test_a_value_that_is_not_an_object_is_reported_as_a_whole(value: Any) -> None:
    assert validator("topup-request").problems(value) == {"": ["must be an object"]}


def test_values_are_never_repeated() -> None:
    problems = validator("topup-request").problems(TOPUP | {"refid": "secret" * 20, "remarks": "secret" * 200_000})
    assert "secret" not in str(problems)


def test_names_in_problems_are_cut() -> None:
    (path,) = validator("clock-request").problems({"k" * 1000: 1})
    assert path == "k" * 100 + "..."


def numbered(count: int) -> dict[str, int]:
    return {str(number): number for number in range(count)}


@pytest.mark.parametrize(
    ("schema", "large"),
    [
        ("topup-request", lambda: numbered(300_000)),
        ("topup-request", lambda: {"extras": numbered(300_000)}),
        ("topup-request", lambda: {"refid": "x" * 10_000_000}),
        ("inbox-replies-request", lambda: {"replies": [1] * 300_000}),
        ("inbox-replies-request", lambda: {"replies": [1] * 15_000}),
        ("clock-request", lambda: numbered(15_000)),
    ],
)
def test_a_large_value_is_refused_in_few_words(schema: str, large: Callable[[], dict[str, Any]]) -> None:
    problems = validator(schema).problems(large())
    assert 0 < sum(map(len, problems.values())) <= PROBLEMS_MAX


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ({"type": "string", "minLength": 2}, "must be a string of at least 2 characters"),
        ({"type": "string", "minLength": 1}, "must be a string of at least 1 character"),
        ({"type": "string", "minLength": 2, "maxLength": 2}, "must be a string of exactly 2 characters"),
        ({"type": "array", "maxItems": 1}, "must be a list of at most 1 item"),
        ({"type": "integer", "minimum": 0}, "must be a whole number of at least 0"),
        ({"type": "number", "exclusiveMinimum": 0}, "must be a number above 0"),
        ({"type": ["string", "null"]}, "must be a string or null"),
        ({"const": 0}, "must be 0"),
        ({"not": {}}, "is not acceptable"),
        ({"type": "string", "x-must-be": "a date"}, "must be a date"),
    ],
)
def test_a_schema_in_words(wanted: dict[str, Any], text: str) -> None:
    assert expectation(wanted) == text


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=60) | st.decimals(allow_nan=False),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from(["refid", "product", "account", "amount", "extras", "url", "method", "seconds", "replies"])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in schemas.names() if name.endswith(("-request", "-query"))])
@settings(max_examples=20)  # of each of the schemas
@given(value=st.dictionaries(MEMBERS | st.text(max_size=3), JSON_VALUES, max_size=5) | JSON_VALUES)
def test_problems_and_is_valid_agree_on_any_value(name: str, value: Any) -> None:
    problems = validator(name).problems(value)
    assert validator(name).is_valid(value) == (not problems)
    assert all(texts and all(texts) for texts in problems.values())


def test_a_validator_is_compiled_once() -> None:
    assert validator("topup-request") is validator("topup-request")


def test_an_unknown_schema_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="no-such-schema"):
        validator("no-such-schema")


def test_validators_accept_a_decoded_body() -> None:
    body = b'{"refid": "r", "product": "P", "account": "1", "amount": 1e400}'
    assert validator("topup-request").is_valid(decode_object(body))


def test_slow_imports_are_made_only_when_used() -> None:
    code = """
import sys
import simulator.contract.body, simulator.contract.openapi, simulator.contract.query, simulator.contract.register
import simulator.contract.validator
assert not {"yaml", "jsonschema_rs"} & set(sys.modules), "too early"
simulator.contract.validator.validator("topup-request")
assert "yaml" not in sys.modules, "validators need no yaml"
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)  # our own interpreter and code


def test_a_mistake_inside_a_value_is_reported_instead_of_no_alternative_fits() -> None:
    balance = validator("balance-answer")
    assert set(balance.problems({"data": {"balance": "many", "currency": "MYR"}})) == {"data.balance"}
    assert set(balance.problems({"other": 1})) == {""}
