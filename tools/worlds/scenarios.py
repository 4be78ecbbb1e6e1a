"""The scenarios of the worlds: variants of a small shop. Any variant may be loaded over another.

Each has the idle reseller of the default scenario and one to three others.
"""

import base64
import hashlib
from functools import cache
from typing import Any

from simulator.domain.model.scenario import Scenario
from simulator.scenario.library import scenario_from_object

RESELLERS = ("R1", "R2", "R3")
CALLBACKS = {"R1": "http://one.example/cb", "R2": "http://two.example/cb?own=1", "R3": "inbox:callbacks"}
METHODS = {"R1": "POST", "R2": "GET", "R3": "POST"}
OPENING = {"R1": "2000.00", "R2": "300.00", "R3": "40.00"}


def key_of(code: str) -> str:
    """Return the first API key of a reseller."""
    return f"key-{code}"


@cache
def secret_of(code: str) -> bytes:
    """Return the secret of that key."""
    return hashlib.sha256(code.encode()).digest()


def user_of(code: str) -> str:
    """Return the username of a reseller for tokens."""
    return f"user-{code}"


def password_of(code: str) -> str:
    """Return the password of that username."""
    return f"password-of-{code}"


A, P, S, F = "Accepted", "Processing", "Succesful", "Failed"
STEPS: dict[str, list[dict[str, Any]]] = {
    "slow": [{"status": A}, {"after": "40s", "status": P}, {"after": "5m", "status": S}],
    "fails": [{"status": A}, {"after": "3s", "status": P}, {"after": "20s", "status": F, "remarks": "HC"}],
    "asked": [{"status": P}, {"requery": 2, "status": F}],
    "asked twice": [
        {"status": A},
        {"requery": 1, "status": P},
        {"requery": 2, "status": S},
        {"after": "3m", "status": F},
    ],
    "in a second": [{"status": A}, {"after": "1s", "status": S}],
    "at once": [{"status": S}],
    "refused at once": [{"status": F}],
    "same time": [{"status": A}, {"after": "60s", "status": P}, {"after": "60s", "status": S}],
    "by day": [{"status": P}, {"at": "12:30", "status": S}],
    "skips": [{"status": A}, {"requery": 1, "status": P}, {"after": "20s", "status": P}, {"after": "2m", "status": S}],
}
WAYS: tuple[dict[str, Any], ...] = (
    {}, {"duplicate": 2}, {"reverse": True}, {"delay": "20s"}, {"again_after": "60s"}, {"duplicate": 1, "delay": "60s"},
)  # fmt: skip
FAULTS: tuple[dict[str, Any], ...] = (
    {"when": {"path": "/v2/topup"}, "then": {"after_commit": True, "disconnect": True}},
    {"when": {"path": "/v2/topup"}, "then": {"disconnect": True}},
    {"when": {"path": "/v2/topup"}, "then": {"delay": "8s"}},
    {"when": {"path": "/v2/topup"}, "then": {"delay": ["1s", "40s"], "after_commit": True}},
    {"when": {"path": "/v2/topup", "new": True}, "then": {"status": 504}},
    {"when": {"method": "POST"}, "then": {"nonce_service": "down"}},
    {"when": {"amount": {"min": 20}}, "then": {"nonce_service": "down"}},
    {"when": {"path": "/v2/balance"}, "then": {"malformed": True}},
    {"when": {"path": "/v2/topup"}, "then": {"disconnect": "body", "after_commit": True}},
    {"when": {}, "then": {"internal_error": True}},
)

SCHEDULES: tuple[list[dict[str, Any]], ...] = (
    [],
    [
        {"at": "60s", "deposit": {"reseller": "R1", "amount": "7.77"}},
        {"at": "2m", "network": {"product": "WATER", "status": "Interruption"}},
        {"at": "20m", "deposit": {"reseller": "R1", "amount": "7.77"}},
    ],
    [
        {"at": "5m", "deposit": {"reseller": "R1", "amount": "7.77"}},
        {"at": "10m", "rule": {"add": {"payments": {"name": "scheduled", "then": STEPS["fails"]}}}},
        {"at": "40m", "rule": {"remove": "scheduled"}},
        {"at": "3h", "deposit": {"reseller": "R1", "amount": "7.77"}},
    ],
)
SCHEDULED_DEPOSIT = "7.77"


def _reseller(code: str) -> dict[str, Any]:
    secret = base64.b64encode(secret_of(code)).decode()
    return {
        "code": code,
        "balance": OPENING[code],
        "api_keys": [{"key": key_of(code), "secret": secret, "state": "active"}],
        "users": [{"username": user_of(code), "password": password_of(code)}],
        "callback": {"url": CALLBACKS[code], "method": METHODS[code]},
        "balance_webhook": {"url": f"http://hooks.example/{code}"},
    }


def _rules(number: int) -> list[dict[str, Any]]:
    """Return the payment rules of a variant, which match the account's last digit."""
    names = list(STEPS)
    shifted = names[number:] + names[:number]
    return [
        {"name": f"{name} by {digit}", "when": {"account": {"suffix": str(digit)}, "product": ["ELECTRIC", "WATER"]}}
        | {"then": STEPS[name], "callbacks": WAYS[(digit + number) % len(WAYS)]}
        for digit, name in enumerate(shifted)
    ]


VARIANTS = 8


@cache
def variant(number: int, mode: str) -> Scenario:
    """Return one of the `VARIANTS` for a sandbox with this clock mode. Odd variants have small logs."""
    limits = {"requests_per_interval": 60, "rate_limit_interval": "1m", "rate_limit_block": "2m"} if number == 6 else {}
    small = {"journal": 40, "callbacks": 25, "deliveries": 12, "inbox": 20} if number % 2 else {}
    whole = {
        "scenario": f"variant-{number}",
        "extends": "default",
        "seed": 7,
        "clock": {"mode": mode} if mode != "xN" else {"mode": mode, "rate": 60},
        "resellers": [*map(_reseller, RESELLERS[: (3, 2, 3, 3, 2, 3, 3, 3)[number]])],
        "payments": _rules(number) if number else [],
        "voids": [{"name": "refused later", "when": {"account": {"suffix": "5"}},
                   "then": {"status": "Success", "refused_after": "2m"}}] if number % 4 == 1 else [],
        "schedule": SCHEDULES[number % len(SCHEDULES)],
        "limits": limits | small,
        "assume": {"refid-reused-with-other-parameters": "reject"} if number % 4 == 2 else {},
    }  # fmt: skip
    return scenario_from_object(whole)
