"""What a `when` matches."""

import re
from decimal import Decimal

import pytest

from simulator.scenario.reading.patterns import finder, glob
from simulator.scenario.reading.yaml_parser import load_text
from simulator.scenario.sections.matchers import compile_when

PAYMENT: dict[str, object] = {
    "reseller": "RS001",
    "product": "ELECTRIC",
    "account": "990012345678",
    "amount": Decimal("10.50"),
    "refid": "order-77",
    "extras": {"biller_code": "1234", "flag": True, "count": 3},
}
REQUEST: dict[str, object] = {
    "method": "POST",
    "path": "/v2/topup",
    "reseller": "",
    "headers": {"user-agent": "sdk/1.2", "x-api-version": "2026-09-16"},
    "product": "",
    "account": "",
    "refid": "",
    "amount": "10.5",
    "extras": "",
}

# the `when`, as YAML; whether it matches PAYMENT
PAYMENTS: list[tuple[str, bool]] = [
    ("{}", True),
    ("product: ELECTRIC", True),
    ("product: electric", False),
    ("product: [WATER, ELECTRIC]", True),
    ("product: [WATER, RELOAD]", False),
    ("product: {in: [WATER, ELECTRIC]}", True),
    ("product: {not: ELECTRIC}", False),
    ("product: {not: [WATER, RELOAD]}", True),
    ("product: {not: {prefix: W}}", True),
    ("{product: ELECTRIC, reseller: RS001}", True),
    ("{product: ELECTRIC, reseller: RS002}", False),
    ("{product: ELECTRIC, account: {prefix: 99}}", True),
    ("account: 990012345678", True),
    ('account: "990012345678"', True),
    ("account: {pattern: ^99}", True),
    ("account: {pattern: 5678}", True),
    ("account: {pattern: ^5678}", False),
    ("account: {pattern: '^[0-9]{12}$'}", True),
    ("account: {prefix: '9900'}", True),
    ("account: {suffix: '48'}", False),
    ("account: {suffix: 78}", True),
    ("account: {prefix: 99, suffix: 79}", False),
    ("account: {min: 990000000000, max: 999999999999}", True),
    ("account: {max: 5}", False),
    ("amount: 10.5", True),
    ('amount: "10.500"', True),
    ("amount: 10", False),
    ("amount: [10, 10.50]", True),
    ("amount: {in: [10, '10.5']}", True),
    ("amount: {min: 10.5, max: 10.5}", True),
    ("amount: {min: 10.51}", False),
    ("amount: {max: 10.49}", False),
    ("amount: {min: 1, max: 100, not: 10.5}", False),
    ("amount: {not: {min: 100}}", True),
    ("amount: {suffix: '.50'}", True),
    ("amount: {prefix: '10.'}", True),
    ("amount: {pattern: '^10[.]50$'}", True),
    ("refid: {prefix: order-}", True),
    ("extras: {biller_code: 1234}", True),
    ('extras: {biller_code: "1234", flag: true}', True),
    ("extras: {biller_code: '1234', flag: false}", False),
    ("extras: {count: 3}", True),
    ("extras: {count: {min: 2}}", True),
    ("extras: {absent: x}", False),
    ("extras: {absent: {pattern: ''}}", False),
    ("extras: {absent: {not: {pattern: ''}}}", True),
    ("extras: {}", True),
]

# the same for REQUEST
REQUESTS: list[tuple[str, bool]] = [
    ("method: POST", True),
    ("method: post", True),
    ("method: [get, post]", True),
    ("method: {not: GET}", True),
    ("path: /v2/topup", True),
    ("path: /v2/*", True),
    ("path: '*'", True),
    ("path: /v2/t*p", True),
    ("path: [/v2/balance, /v2/top*]", True),
    ("path: /v1/*", False),
    ("path: {not: /v2/*}", False),
    ("path: {prefix: /v2/}", True),
    ("reseller: ''", True),
    ("reseller: RS001", False),
    ("headers: {User-Agent: {prefix: sdk/}}", True),
    ("headers: {X-API-Version: 2026-09-16}", True),
    ("headers: {accept: '*/*'}", False),
    ("amount: 10.50", True),
    ("amount: {min: 11}", False),
    ("extras: {a: b}", False),
    ("{method: POST, path: /v2/topup, nth: 3, chance: 0.5, times: 1, every: 2}", True),
]


@pytest.mark.parametrize(("text", "expected"), PAYMENTS)
def test_a_payment_is_matched(text: str, expected: bool) -> None:
    assert compile_when(load_text(text, "f").data)(PAYMENT) is expected


@pytest.mark.parametrize(("text", "expected"), REQUESTS)
def test_a_request_is_matched(text: str, expected: bool) -> None:
    assert compile_when(load_text(text, "f").data)(REQUEST) is expected


@pytest.mark.parametrize("amount", [None, "", "ten", [], {}, True, Decimal("NaN"), Decimal("1e400"), "9" * 99])
@pytest.mark.parametrize(
    "text", ["amount: 1", "amount: [1, 2]", "amount: {min: 1}", "amount: {max: 1}", "amount: {suffix: '1'}"]
)
def test_an_invalid_amount_matches_no_amount(text: str, amount: object) -> None:
    assert compile_when(load_text(text, "f").data)({"amount": amount}) is False


@pytest.mark.parametrize("value", [None, 5, [], {}, "\ud800", "x" * 100_000])
def test_any_value_of_a_client_can_be_asked(value: object) -> None:
    text = "{account: {pattern: '^9+$'}, refid: {prefix: a}, product: {min: 1}, extras: {a: {pattern: b}}}"
    for key in ("account", "refid", "product", "extras"):
        assert compile_when(load_text(text, "f").data)({key: value}) is False


GLOBS = [
    ("a*", "a", True),
    ("a*", "b", False),
    ("*a", "ba", True),
    ("a*a", "a", False),
    ("a*a", "aa", True),
    ("*b*", "abc", True),
    ("*b*c*", "acb", False),
    ("a**b", "ab", True),
    ("a.c", "abc", False),
    ("[a]*", "a", False),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), GLOBS)
def test_a_star_stands_for_anything(pattern: str, text: str, expected: bool) -> None:
    assert glob(pattern)(text) is expected


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(a*)*b", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_no_pattern_hangs_the_server(pattern: str) -> None:
    """A backtracking engine would take longer than anybody waits, and so would the test."""
    assert finder(pattern)("a" * 50_000 + "!") in (True, False)


@pytest.mark.parametrize(
    "pattern", ["(?=a)", "(?<!a)b", r"(a)\1", "a{100000}", "((a{100}){100}){100}", "(" * 1000, "a{9999999999}"]
)
def test_a_pattern_that_the_linear_engine_cannot_run_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="linear"):
        finder(pattern)


@pytest.mark.parametrize(
    ("pattern", "reason"), [("(", "missing )"), ("[a", "unterminated"), ("*a", "nothing to repeat")]
)
def test_a_mistake_in_a_pattern_is_named(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^is not a regular expression: {re.escape(reason)}"):
        finder(pattern)


def test_many_stars_do_not_hang() -> None:
    assert glob("*a" * 1000 + "b")("a" * 100_000) is False
