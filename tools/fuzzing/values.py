"""Values that exist in the fuzzed scenario, for places where random values never pass the first check."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from zlib import crc32

_T = TypeVar("_T")

# One payment of each kind that can succeed: product, account, amount, extras.
PAYMENTS: list[tuple[str, str, Any, dict[str, str] | None]] = [
    ("ELECTRIC", "210012345678", "10.50", None),  # bills can be voided
    ("WATER", "1234567890", 25, None),
    ("ELECTRIC", "210087654321", 80, None),
    ("WATER", "1234567899", "12.30", None),
    ("RELOAD", "0123456789", 10, None),
    ("DATA", "0123456789", 30, None),
    ("DATA", "0123456789", "10.0", {"subproduct_code": "D10W"}),
    ("INTERBANK", "12345678", 100, {"biller_code": "1001", "ic_number": "900101145678"}),
    ("INTERBANK", "12345678", 100, {"biller_code": "1046", "ic_number": "A1234567", "ref2": "X-1"}),
    ("STUDENTLOAN", "1029384756", 50, {"subproduct_code": "K", "ic_number": "900101145678"}),
    ("GAME", "player-1", 100, None),
    ("GIFTCARD", "any", 25, None),
]
BILL_PRODUCTS = ("ELECTRIC", "WATER")
BILLS: list[dict[str, str]] = [
    {"product": "ELECTRIC", "account": "210012345678"},
    {"product": "WATER", "account": "1234567890"},
    {"product": "INTERBANK", "account": "12345678", "biller_code": "1001"},
]
OPTIONS: list[dict[str, str]] = [
    {"product_code": "RELOAD", "field_id": "amount"},
    {"product_code": "DATA", "field_id": "plan", "account_number": "0123456789"},
    {"product_code": "INTERBANK", "field_id": "biller"},
    {"product_code": "STUDENTLOAN", "field_id": "loan", "account_number": "900101145678"},
]
DAYS = ["2026-11-22", "2026-11-01 - 2026-11-22", "2024-02-29"]
PRODUCTS = ["RELOAD", "DATA", "ELECTRIC", "INTERBANK", "FP"]
CREDENTIALS = {"username": "test_user_RS001", "password": "test_password_RS001"}

# Path parameters and queries that stand by themselves, by operation where one name means several things.
PATH_VALUES: dict[str, list[str]] = {
    "sandbox": ["default"],
    "name": ["callbacks", "events"],
    "product": PRODUCTS,
    "rule": ["fails"],
    "n": ["1", "2"],
}
PATH_VALUES_OF: dict[str, dict[str, list[str]]] = {
    "changeProduct": {"code": PRODUCTS},
    "changeCategory": {"id": ["bills", "games"]},
    "changeGroup": {"id": ["everyday", "travel"]},
    "addDeposit": {"code": ["RS001"]},
    "changeSettings": {"code": ["RS001"]},
    "addApiKey": {"code": ["RS001"]},
}
QUERY_VALUES_OF: dict[str, dict[str, list[str]]] = {
    "listTransactions": {"date": DAYS, "product": PRODUCTS, "account": ["0123456789"]},
    "getBalanceStatement": {"date": DAYS},
    "getNetworkStatus": {"product": PRODUCTS},
    "getCatalog": {"product_code": PRODUCTS},
    "listSubproducts": {"product_code": ["DATA", "INTERBANK"], "account_number": ["0123456789"]},
    "setLowBalanceThreshold": {"amount": ["1", "250.50", "1e3"]},
}

RULE = "fails"  # a payment rule of the scenario, for X-Sim-Rule
_HOST = re.compile(r"^(https?:)//[^/?#\\]*", re.IGNORECASE)
_NOBODY = r"\1//127.0.0.1:9"  # nothing listens there
_LONGEST_WAIT_S = 0.02


def good_paths(operation: str, parameters: Mapping[str, Any], *, share: float) -> dict[str, Any]:
    """Return path parameters that name existing objects in a share of the cases."""
    known = PATH_VALUES | PATH_VALUES_OF.get(operation, {})
    return {
        name: one_of(value, known[name]) if name in known and _is_chosen((name, value), share) else value
        for name, value in parameters.items()
    }


def good_query(operation: str, query: dict[str, Any]) -> dict[str, Any]:
    """Return the query with existing values in some of the cases."""
    known = QUERY_VALUES_OF.get(operation, {})
    chosen_ones = {name: one_of((name, query), known[name]) for name in query if name in known}
    if operation in _QUERIES and _is_chosen(query, 0.7):
        return query | one_of(query, _QUERIES[operation])
    return query | chosen_ones if _is_chosen(query, 0.7) else query


def good_body(operation: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the body with existing and matching members in some of the cases."""
    if operation not in _BODIES or not _is_chosen(body, 0.7):
        return body
    return {name: value for name, value in body.items() if name != "extras"} | one_of(body, _BODIES[operation])


def sent_home(value: Any) -> Any:
    """Return a copy whose web addresses are loopback addresses, so that requests stay on this machine."""
    if isinstance(value, str):
        return _HOST.sub(_NOBODY, value)
    if isinstance(value, list):
        return [sent_home(each) for each in value]
    if isinstance(value, dict):
        return {name: sent_home(each) for name, each in value.items()}
    return value


def not_waiting(query: dict[str, Any]) -> dict[str, Any]:
    """Return the query with a short `timeout` instead of a valid or default one."""
    default = 10 if "wait_for" in query else -1
    try:
        waits = 0 <= float(query.get("timeout", default)) <= 300
    except (TypeError, ValueError):
        waits = False
    return query | {"timeout": _LONGEST_WAIT_S} if waits else query


def one_of(seed: object, values: Sequence[_T]) -> _T:
    """One of the values, always the same for the same seed."""
    return values[_number(seed) // 1000 % len(values)]


def _is_chosen(seed: object, share: float) -> bool:
    return _number(seed) % 1000 < share * 1000


def _number(seed: object) -> int:
    return crc32(repr(seed).encode("utf-8", "backslashreplace"))


_QUERIES: dict[str, Sequence[dict[str, str]]] = {"getBill": BILLS, "getOptions": OPTIONS}
_BODIES: dict[str, Sequence[dict[str, Any]]] = {
    "createPayment": [
        {"product": product, "account": account, "amount": amount} | ({"extras": extras} if extras else {})
        for product, account, amount, extras in PAYMENTS
    ],
    "createToken": [CREDENTIALS],
    "putBalanceWebhook": [{"url": "inbox:events"}],
    "createSandbox": [{"scenario": "default"}, {"scenario": "mixed-results"}, {"scenario": {"extends": "default"}}],
    "addReseller": [{"code": "RS002"}],
}
