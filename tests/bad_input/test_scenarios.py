"""Scenarios that come as objects to POST /_sim/sandboxes: refused whole, with the place that is to blame."""

import json
from typing import Any

import pytest

from tests.support.bad_requests import ask, ids, said
from tests.support.client import Client

SANDBOXES = "/_sim/sandboxes"

# The members of the request itself: (what, body, error, path)
REQUESTS: list[tuple[str, Any, str, str]] = [
    ("unknown member", {"name": "x"}, "bad_request", "name"),
    ("id is a number", {"id": 7}, "bad_request", "id"),
    ("id is null", {"id": None}, "bad_request", "id"),
    ("id is empty", {"id": ""}, "bad_request", "id"),
    ("id with a slash", {"id": "a/b"}, "bad_request", "id"),
    ("id with two dots", {"id": ".."}, "bad_request", "id"),
    ("id with a dot", {"id": "a.b"}, "bad_request", "id"),
    ("id with a blank", {"id": "a b"}, "bad_request", "id"),
    ("id with NUL", {"id": "a\x00"}, "bad_request", "id"),
    ("id with a line feed", {"id": "a\n"}, "bad_request", "id"),
    ("id in Cyrillic", {"id": "\u0430"}, "bad_request", "id"),
    ("id of 65 characters", {"id": "i" * 65}, "bad_request", "id"),
    ("id of 50,000 characters", {"id": "i" * 50_000}, "bad_request", "id"),
    ("seed is negative", {"seed": -1}, "bad_request", "seed"),
    ("seed is a fraction", {"seed": 1.5}, "bad_request", "seed"),
    ("seed is text", {"seed": "1"}, "bad_request", "seed"),
    ("seed is true", {"seed": True}, "bad_request", "seed"),
    ("seed is beyond 64 bits", {"seed": 2**63}, "bad_request", "seed"),
    ("clock is text", {"clock": "manual"}, "bad_request", "clock"),
    ("clock of another mode", {"clock": {"mode": "x60"}}, "bad_request", "clock.mode"),
    ("clock without a rate", {"clock": {"mode": "real", "rate": 2}}, "bad_request", "clock.rate"),
    ("clock that stands", {"clock": {"rate": 0}}, "bad_request", "clock.rate"),
    ("clock too slow", {"clock": {"rate": 0.001}}, "bad_request", "clock.rate"),
    ("clock that starts in words", {"clock": {"start": "now"}}, "bad_request", "clock.start"),
    ("clock that starts nowhere", {"clock": {"start": "2027-01-01T00:00:00"}}, "bad_request", "clock.start"),
    ("clock that starts too early", {"clock": {"start": "0001-01-01T00:00:00+14:00"}}, "bad_request", "clock.start"),
    ("clock that starts too late", {"clock": {"start": "9999-12-31T23:59:59-14:00"}}, "bad_request", "clock.start"),
    ("credentials of another kind", {"credentials": "none"}, "bad_request", "credentials"),
    ("scenario is a number", {"scenario": 7}, "bad_request", "scenario"),
    ("scenario is null", {"scenario": None}, "bad_request", "scenario"),
    ("scenario is a list", {"scenario": []}, "bad_request", "scenario"),
    ("scenario of nobody", {"scenario": "nobody"}, "bad_request", "scenario"),
    ("scenario is a path", {"scenario": "/etc/passwd"}, "bad_request", "scenario"),
    ("scenario is a file beside", {"scenario": "../default"}, "bad_request", "scenario"),
    ("scenario with its suffix", {"scenario": "default.yaml"}, "bad_request", "scenario"),
    ("scenario is YAML", {"scenario": "scenario: x\n"}, "bad_request", "scenario"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("what", "body", "error", "path"), REQUESTS, ids=ids(REQUESTS))
def test_a_sandbox_that_cannot_be_meant(client: Client, what: str, body: Any, error: str, path: str) -> None:
    answer = ask(client, "POST", SANDBOXES, json.dumps(body).encode())
    assert (answer.status, answer.json["error"], answer.json["path"]) == (400, error, path), answer.body[:500]
    assert len(answer.body) < 3000


@pytest.mark.parametrize("taken", ["default", "neighbour"])
def test_an_id_that_is_taken(client: Client, taken: str) -> None:
    assert said(ask(client, "POST", SANDBOXES, json.dumps({"id": taken}).encode())) == "409 sandbox_exists"


def test_the_default_sandbox_stays(client: Client) -> None:
    assert said(ask(client, "DELETE", f"{SANDBOXES}/default")) == "409 default_stays"


def deep(levels: int) -> Any:
    made: Any = 1
    for _ in range(levels):
        made = {"and": made}
    return made


FIELDS = [{"id": "amount", "label": "Amount", "type": "money", "role": "pricing"}]
PRODUCT = {
    "code": "P",
    "name": "P",
    "image_url": "https://a.example/p",
    "processing_time": "instant",
    "discount": {"type": "percentage", "value": 1},
    "fields": FIELDS,
}
STEP = [{"status": "Succesful"}]
PAID: dict[str, Any] = {"then": STEP}

# Values of single keys of a scenario: (label, scenario, code of the first problem, its path)
SCENARIOS: list[tuple[str, dict[str, Any], str, str]] = [
    ("unknown key", {"colour": "red"}, "unknown_key", "colour"),
    ("key of an escape sequence", {"\x9b2J": 1}, "unknown_key", "\x9b2J"),
    ("a value that would turn the line", {"clock": "\u202e"}, "bad_clock", "clock"),
    ("misspelt key", {"reseller": []}, "unknown_key", "reseller"),
    ("key of NUL", {"\x00": 1}, "key_not_text", ""),
    ("key of 50,000 characters", {"k" * 50_000: 1}, "unknown_key", "k" * 500 + "…"),
    ("name is a list", {"scenario": []}, "type", "scenario"),
    ("name with a line feed", {"scenario": "a\nb"}, "bad_text", "scenario"),
    ("name with NUL", {"scenario": "a\x00"}, "bad_text", "scenario"),
    ("name with a lone surrogate", {"scenario": "\ud800"}, "bad_json", ""),
    ("description of 301 characters", {"description": "d" * 301}, "out_of_range", "description"),
    ("extends a file", {"extends": "/etc/passwd"}, "no_file", "extends"),
    ("extends a file beside", {"extends": "./default.yaml"}, "no_file", "extends"),
    ("extends nobody", {"extends": "nobody"}, "unknown_scenario", "extends"),
    ("extends a list of numbers", {"extends": ["default", 7]}, "type", "extends[1]"),
    ("extends an empty list", {"extends": []}, "out_of_range", "extends"),
    ("extends one twice", {"extends": ["default", "default"]}, "duplicate", "extends[1]"),
    ("extends a list with a file", {"extends": ["default", "./x.yaml"]}, "no_file", "extends[1]"),
    ("seed is text", {"seed": "x"}, "type", "seed"),
    ("seed is negative", {"seed": -1}, "out_of_range", "seed"),
    ("clock of another mode", {"clock": "sometimes"}, "bad_clock", "clock"),
    ("clock too fast", {"clock": "x1000000"}, "bad_clock", "clock"),
    ("clock of 400 digits", {"clock": "x" + "9" * 400}, "bad_clock", "clock"),
    ("clock that starts in words", {"clock": {"mode": "real", "start": "now"}}, "bad_time", "clock.start"),
    ("clock that starts on no day", {"clock": {"mode": "real", "start": "2027-02-30T00:00:00Z"}}, "bad_time", "clock.start"),
    ("clock with a skew of ages", {"clock": {"mode": "real", "skew": "999999999d"}}, "bad_duration", "clock.skew"),
    ("resellers in an object", {"resellers": {}}, "type", "resellers"),
    ("reseller without a code", {"resellers": [{}]}, "missing_key", "resellers[0]"),
    ("reseller twice", {"resellers": [{"code": "A"}, {"code": "A"}]}, "duplicate", "resellers[1].code"),
    ("negative balance", {"resellers": [{"code": "A", "balance": -1}]}, "out_of_range", "resellers[0].balance"),
    ("balance in words", {"resellers": [{"code": "A", "balance": "much"}]}, "bad_amount", "resellers[0].balance"),
    ("balance of half a sen", {"resellers": [{"code": "A", "balance": "0.005"}]}, "bad_amount", "resellers[0].balance"),
    ("balance of 60 digits", {"resellers": [{"code": "A", "balance": "9" * 60}]}, "bad_amount", "resellers[0].balance"),
    ("secret that is none", {"resellers": [{"code": "A", "api_keys": [{"key": "k", "secret": "!"}]}]}, "bad_secret", "resellers[0].api_keys[0].secret"),
    ("key without a secret", {"resellers": [{"code": "A", "api_keys": [{"key": "k"}]}]}, "missing_key", "resellers[0].api_keys[0]"),
    ("callback to nowhere", {"resellers": [{"code": "A", "callback": {"url": "x"}}]}, "bad_url", "resellers[0].callback.url"),
    ("allowlist with a name", {"resellers": [{"code": "A", "settings": {"ip_allowlist": ["localhost"]}}]}, "bad_address", "resellers[0].settings.ip_allowlist[0]"),
    ("allowlist with too wide a mask", {"resellers": [{"code": "A", "settings": {"ip_allowlist": ["10.0.0.0/33"]}}]}, "bad_address", "resellers[0].settings.ip_allowlist[0]"),
    ("catalog of text", {"catalog": "default"}, "no_file", "catalog"),
    ("product without a name", {"catalog": {"products": [{"code": "P"}]}}, "missing_key", "catalog.products[0]"),
    ("product twice", {"catalog": {"products": [PRODUCT, PRODUCT]}}, "duplicate", "catalog.products[1].code"),
    ("pattern that is none", {"catalog": {"products": [PRODUCT | {"fields": [*FIELDS, {"id": "a", "label": "A", "validation": {"pattern": "("}}]}]}}, "bad_pattern", "catalog.products[0].fields[1].validation.pattern"),
    ("rule without an outcome", {"payments": [{}]}, "missing_key", "payments[0]"),
    ("rule of text", {"payments": ["always"]}, "type", "payments[0]"),
    ("outcome of nothing", {"payments": [{"then": []}]}, "out_of_range", "payments[0].then"),
    ("outcome that does not exist", {"payments": [{"then": [{"status": "Successful"}]}]}, "unknown_value", "payments[0].then[0].status"),
    ("outcome out of order", {"payments": [{"then": [{"status": "Succesful"}, {"after": "1s", "status": "Processing"}]}]}, "timeline", "payments[0].then[1].status"),
    ("chance above one", {"payments": [{"when": {"chance": 2}, "then": STEP}]}, "out_of_range", "payments[0].when.chance"),
    ("nth of nothing", {"payments": [{"when": {"nth": 0}, "then": STEP}]}, "out_of_range", "payments[0].when.nth"),
    ("a pattern that could be slow", {"payments": [{"when": {"account": {"pattern": "^(?=(a+)+$)"}}, "then": STEP}]}, "bad_pattern", "payments[0].when.account.pattern"),
    ("a pattern that refers back", {"payments": [{"when": {"account": {"pattern": "(a)\\1"}}, "then": STEP}]}, "bad_pattern", "payments[0].when.account.pattern"),
    ("a pattern that is huge", {"payments": [{"when": {"account": {"pattern": "(a{1000}){1000}"}}, "then": STEP}]}, "bad_pattern", "payments[0].when.account.pattern"),
    ("a template that runs code", {"payments": [{"then": [{"status": "Succesful", "sn": "{refid.__class__}"}]}]}, "bad_template", "payments[0].then[0].sn"),
    ("a template that is huge", {"payments": [{"then": [{"status": "Succesful", "sn": "{digits:999999999}"}]}]}, "bad_template", "payments[0].then[0].sn"),
    ("a template with a width", {"payments": [{"then": [{"status": "Succesful", "sn": "{refid:>999999999}"}]}]}, "bad_template", "payments[0].then[0].sn"),
    ("two rules with the same name", {"payments": [PAID | {"name": "a"}, PAID | {"name": "a"}]}, "duplicate", "payments[1].name"),
    ("fault that does nothing", {"faults": [{"then": {}}]}, "out_of_range", "faults[0].then"),
    ("fault with a status of 99", {"faults": [{"then": {"status": 99}}]}, "out_of_range", "faults[0].then.status"),
    ("fault with a delay of ages", {"faults": [{"then": {"delay": "999999999d"}}]}, "bad_duration", "faults[0].then.delay"),
    ("fault that closes by a word", {"faults": [{"then": {"disconnect": "now"}}]}, "unknown_value", "faults[0].then.disconnect"),
    ("deposit for nobody", {"schedule": [{"at": "1s", "deposit": {"reseller": "X", "amount": 1}}]}, "unknown_reseller", "schedule[0].deposit.reseller"),
    ("deposit in the past", {"schedule": [{"at": "-1s", "deposit": {"reseller": "X", "amount": 1}}]}, "bad_duration", "schedule[0].at"),
    ("rate of nothing", {"limits": {"requests_per_interval": 0}}, "out_of_range", "limits.requests_per_interval"),
    ("journal without an end", {"limits": {"journal": 10**12}}, "out_of_range", "limits.journal"),
    ("journal of null", {"limits": {"journal": None}}, "type", "limits.journal"),
    ("assumption of nobody", {"assume": {"gravity": "up"}}, "unknown_key", "assume.gravity"),
    ("choice of nobody", {"assume": {"nonce-scope": "world"}}, "unknown_value", "assume.nonce-scope"),
    ("source that is no address", {"assume": {"source-address": "here"}}, "bad_address", "assume.source-address"),
    ("33 levels", {"payments": [{"when": deep(33), "then": STEP}]}, "too_deep", "payments[0].when" + ".and" * 29),
    ("60 levels", {"catalog": deep(58)}, "too_deep", "catalog" + ".and" * 31),
    ("a number of 50 digits", {"seed": 10**50}, "bad_number", "seed"),
    ("30,000 values", {"payments": [1] * 30_000}, "too_big", "payments[24998]"),
    ("5,000 empty rules", {"payments": [{}] * 5_000}, "missing_key", "payments[0]"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("what", "scenario", "code", "path"), SCENARIOS, ids=ids(SCENARIOS))
def test_a_scenario_that_cannot_be_used(
    client: Client, what: str, scenario: dict[str, Any], code: str, path: str
) -> None:
    answer = ask(client, "POST", SANDBOXES, json.dumps({"id": "hostile", "scenario": scenario}).encode())
    if code == "bad_json":
        assert said(answer) == "400 bad_request"
        return
    assert said(answer) == "400 bad_scenario", answer.body[:500]
    assert (answer.json["problems"][0]["code"], answer.json["path"]) == (code, path), answer.body[:600]
    assert len(answer.json["problems"]) <= 100
    assert all(problem["message"].isprintable() for problem in answer.json["problems"])
    assert len(answer.body) < 200_000
