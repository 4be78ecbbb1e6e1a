"""The control API: refused callers, unknown ids, empty queries and bodies."""

import json
from typing import Any

import pytest

from tests.support.bad_requests import (
    Operation,
    ask,
    control_operations,
    ids,
    said,
)
from tests.support.bad_values import STRANGE_QUERIES, VALUES
from tests.support.client import Client

OPERATIONS = control_operations()
DEFAULT = "/_sim/sandboxes/default"

FOREIGN_REQUESTS: list[tuple[str, dict[str, str], str]] = [
    ("another host", {"Host": "evil.example"}, "403 foreign_host"),
    ("another host with our port", {"Host": "evil.example:8080"}, "403 foreign_host"),
    ("no host", {"Host": ""}, "403 foreign_host"),
    ("a name that begins like ours", {"Host": "localhost.evil.example"}, "403 foreign_host"),
    ("a name that ends like ours", {"Host": "notlocalhost"}, "403 foreign_host"),
    ("an address of the network", {"Host": "192.168.1.10:8080"}, "403 foreign_host"),
    ("the wildcard address", {"Host": "0.0.0.0:8080"}, "403 foreign_host"),
    ("loopback in decimal", {"Host": "2130706433"}, "403 foreign_host"),
    ("loopback in short", {"Host": "127.1"}, "403 foreign_host"),
    ("a name that resolves to loopback", {"Host": "127.0.0.1.nip.io"}, "403 foreign_host"),
    ("a user in front", {"Host": "localhost@evil.example"}, "403 foreign_host"),
    ("two hosts", {"Host": "localhost, evil.example"}, "403 foreign_host"),
    ("an open bracket", {"Host": "[::1"}, "403 foreign_host"),
    ("a bracket and more", {"Host": "[::1]x"}, "403 foreign_host"),
    ("a port in words", {"Host": "localhost:http"}, "403 foreign_host"),
    ("a port of six digits", {"Host": "localhost:123456"}, "403 foreign_host"),
    ("two ports", {"Host": "localhost:80:80"}, "403 foreign_host"),
    ("a user after the port", {"Host": "localhost:80@evil.example"}, "403 foreign_host"),
    ("a path", {"Host": "localhost/"}, "403 foreign_host"),
    ("an empty port", {"Host": "localhost:"}, "200"),
    ("IPv6", {"Host": "[::1]:8080"}, "200"),
    ("upper case", {"Host": "LOCALHOST"}, "200"),
    ("50,000 characters", {"Host": "h" * 50_000}, "403 foreign_host"),
    ("high bytes", {"Host": "\xff\xfe"}, "403 foreign_host"),
    ("a callback of a simulator", {"X-Sim-Delivery": "1"}, "403 delivery_refused"),
    ("one that was changed on the way", {"x-SIM-delivery": ""}, "403 delivery_refused"),
    ("another origin", {"Origin": "http://evil.example"}, "403 foreign_origin"),
    ("another port of ours", {"Origin": "http://127.0.0.1:9999"}, "403 foreign_origin"),
    ("a sandboxed page", {"Origin": "null"}, "403 foreign_origin"),
    ("an empty origin", {"Origin": ""}, "403 foreign_origin"),
    ("an origin with a path", {"Origin": "http://127.0.0.1:8080/x"}, "403 foreign_origin"),
    ("an origin that only begins like ours", {"Origin": "http://127.0.0.1:8080.evil.example"}, "403 foreign_origin"),
    ("a page of another site", {"Sec-Fetch-Site": "cross-site"}, "403 foreign_origin"),
    ("a page of the same site", {"Sec-Fetch-Site": "same-site"}, "403 foreign_origin"),
    ("a page of no known site", {"Sec-Fetch-Site": "?"}, "403 foreign_origin"),
]


@pytest.mark.parametrize(("what", "headers", "expected"), FOREIGN_REQUESTS, ids=ids(FOREIGN_REQUESTS))
def test_a_request_from_a_foreign_page(client: Client, what: str, headers: dict[str, str], expected: str) -> None:
    answer = ask(client, "GET", "/_sim/sandboxes/default/clock", headers=headers)
    assert said(answer) == expected
    if expected != "200":
        assert said(ask(client, "DELETE", "/_sim/sandboxes/neighbour", headers=headers)) == expected
        assert said(ask(client, "POST", "/_sim/nothing", headers=headers)) == expected


IDS: list[tuple[str, str]] = [
    ("unknown", "nobody"),
    ("a blank", " "),
    ("two dots", ".."),
    ("a wildcard", "*"),
    ("NUL", "\x00"),
    ("a line feed", "a\nb"),
    ("markup", "<b>"),
    ("SQL", "' OR 1=1 --"),
    ("a template", "{sandbox}"),
    ("of a dictionary's own", "__class__"),
    ("a lone surrogate", "\udc80"),
    ("Cyrillic", "def\u0430ult"),
    ("emoji", "\U0001f600"),
    ("percent", "%2e%2e"),
    ("a semicolon", "default;a=b"),
    ("negative", "-1"),
    ("beyond 64 bits", "9" * 20),
    ("5,000 digits", "9" * 5000),
    ("50,000 characters", "i" * 50_000),
]


def _at(template: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        template = template.replace(f"{{{name}}}", value)
    return template


@pytest.mark.parametrize("one", [one for one in OPERATIONS if "{sandbox}" in one.template], ids=str)
def test_every_path_refuses_an_unknown_sandbox(client: Client, one: Operation) -> None:
    others = {"code": "RS001", "name": "callbacks", "n": "1", "key": "k", "rule": "r", "trxid": "t"}
    for what, sandbox in IDS:
        answer = ask(
            client, one.method, _at(one.template, {"sandbox": sandbox, **others}), b"{}" if one.takes_body else b""
        )
        assert said(answer) == "404 unknown_sandbox", what
        assert len(answer.body) < 3000, what


def _inner(one: Operation) -> str:
    return one.template.replace("{sandbox}", "").partition("{")[2].partition("}")[0]


@pytest.mark.parametrize("one", [one for one in OPERATIONS if _inner(one)], ids=str)
def test_every_path_refuses_an_unknown_id(client: Client, one: Operation) -> None:
    inner = _inner(one)
    for what, value in IDS:
        known = {"sandbox": "default", "code": "RS001"} | {inner: value}
        answer = ask(client, one.method, _at(one.template, known), b"{}" if one.takes_body else b"")
        if inner == "name" and "/inbox/" in one.template:
            is_name = what in ("unknown", "beyond 64 bits")  # any inbox may be named: it is empty
            assert said(answer) in (("200", "204", "400 bad_request") if is_name else ("400 bad_inbox_name",)), what
        elif "/holds/" in one.template:  # what was held under any name may have gone on already
            assert answer.status in (200, 400, 404), (what, answer.body[:300])
        else:
            assert answer.status in ((400, 404) if one.takes_body else (404,)), (what, answer.body[:300])
        assert len(answer.body) < 3000, what


@pytest.mark.parametrize(
    "one", [one for one in OPERATIONS if one.method == "GET" and one.query and not one.is_stream], ids=str
)
def test_every_list_answers_any_value_of_its_parameters(client: Client, one: Operation) -> None:
    for what, value in VALUES:
        for name in one.query:
            target = f"{one.path}?{name}={value}" + ("&timeout=0" if name == "wait_for" else "")
            assert ask(client, "GET", target).status in (200, 400), (name, what)


@pytest.mark.parametrize("one", [one for one in OPERATIONS if one.method == "GET" and not one.is_stream], ids=str)
def test_every_list_answers_any_query(client: Client, one: Operation) -> None:
    for what, query in STRANGE_QUERIES:
        assert ask(client, "GET", f"{one.path}?{query}").status in (200, 400, 404), what


REQUESTS, INBOX, CALLBACKS = f"{DEFAULT}/requests", f"{DEFAULT}/inbox/callbacks", f"{DEFAULT}/callbacks"
NUMBERS = ("-1", "1.5", "1e2", "0x1", "%2B1", "+1", "1_0", "%C2%B2", "%D9%A1", "NaN", "", "x", "9" * 17, "9" * 5000)
QUERIES: list[tuple[str, str]] = [
    *((f"{REQUESTS}?limit={one}", "limit") for one in (*NUMBERS, "0", "1001")),
    *((f"{REQUESTS}?cursor={one}", "cursor") for one in NUMBERS),
    *((f"{REQUESTS}?timeout=0&wait_for={one}", "wait_for") for one in (*NUMBERS, "1000001")),
    *((f"{REQUESTS}?timeout={one}", "timeout") for one in ("-1", "301", "NaN", "inf", "-inf", "1e400", "", "x", "1s")),
    *((f"{INBOX}?timeout=0&wait_for={one}", "wait_for") for one in NUMBERS),
    *((f"{INBOX}?limit={one}", "limit") for one in (*NUMBERS, "0", "1001")),
    *((f"{INBOX}?cursor={one}", "cursor") for one in NUMBERS),
    *((f"{CALLBACKS}?timeout=0&wait_for={one}", "wait_for") for one in NUMBERS),
    (f"{REQUESTS}?Limit=1", "Limit"),
    (f"{REQUESTS}?limit[]=1", "limit[]"),
    (f"{REQUESTS}?colour=red", "colour"),
    (f"{REQUESTS}?=1", ""),
    (f"{DEFAULT}/transactions?wait_for=1", "wait_for"),
    (f"{CALLBACKS}?status=200", "status"),
    (f"{INBOX}?after=1", "after"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("target", "path"), QUERIES, ids=[target[:60] for target, _ in QUERIES])
def test_a_query_that_cannot_be_meant(client: Client, target: str, path: str) -> None:
    answer = ask(client, "GET", target)
    assert (said(answer), answer.json["path"]) == ("400 bad_request", path)


# (path below the sandbox, method, body, error, path in the body)
NO_DEPOSITS: list[Any] = [
    0, -1, "0x1", "", "1e3", "1,000", " 1", "1.001", "NaN", None, True, [], {}, 10**16, "9" * 60,
]  # fmt: skip
BODIES: list[tuple[str, str, Any, str, str]] = [
    ("clock/advance", "POST", {}, "bad_request", ""),
    ("clock/advance", "POST", {"seconds": 1, "until": "idle"}, "bad_request", ""),
    ("clock/advance", "POST", {"minutes": 1}, "bad_request", "minutes"),
    ("clock/advance", "POST", {"seconds": -1}, "bad_request", "seconds"),
    ("clock/advance", "POST", {"seconds": "1"}, "bad_request", "seconds"),
    ("clock/advance", "POST", {"seconds": None}, "bad_request", "seconds"),
    ("clock/advance", "POST", {"seconds": True}, "bad_request", "seconds"),
    ("clock/advance", "POST", {"seconds": 10**30}, "bad_request", "seconds"),
    ("clock/advance", "POST", {"seconds": 316224001}, "bad_request", "seconds"),
    ("clock/advance", "POST", b'{"seconds": 1e400}', "bad_request", "seconds"),
    ("clock/advance", "POST", b'{"seconds": 1e999999999}', "bad_request", "seconds"),
    ("clock/advance", "POST", {"to": "tomorrow"}, "bad_request", "to"),
    ("clock/advance", "POST", {"to": "2027-01-01"}, "bad_request", "to"),
    ("clock/advance", "POST", {"to": "2027-01-01T00:00:00"}, "bad_request", "to"),
    ("clock/advance", "POST", {"to": "2026-02-30T00:00:00Z"}, "bad_request", "to"),
    ("clock/advance", "POST", {"to": "2200-01-01T00:00:01Z"}, "bad_request", "to"),
    ("clock/advance", "POST", {"to": "9999-12-31T23:59:59-23:59"}, "bad_request", "to"),
    ("clock/advance", "POST", {"to": "0001-01-01T00:00:00+23:59"}, "bad_request", "to"),
    ("clock/advance", "POST", {"to": "2020-01-01T00:00:00Z"}, "bad_request", "to"),
    ("clock/advance", "POST", {"to": 1800000000}, "bad_request", "to"),
    ("clock/advance", "POST", {"to": ""}, "bad_request", "to"),
    ("clock/advance", "POST", {"to": "2" * 41}, "bad_request", "to"),
    ("clock/advance", "POST", {"until": "done"}, "bad_request", "until"),
    ("clock/advance", "POST", {"until": True}, "bad_request", "until"),
    ("clock", "PUT", {"mode": "fast"}, "bad_request", "mode"),
    ("clock", "PUT", {"mode": "x60"}, "bad_request", "mode"),
    ("clock", "PUT", {"mode": None}, "bad_request", "mode"),
    ("clock", "PUT", {"rate": 0}, "bad_request", "rate"),
    ("clock", "PUT", {"rate": -1}, "bad_request", "rate"),
    ("clock", "PUT", {"rate": 100_001}, "bad_request", "rate"),
    ("clock", "PUT", {"rate": 0.001}, "bad_request", "rate"),
    ("clock", "PUT", {"mode": "manual", "rate": 2}, "bad_request", "rate"),
    ("clock", "PUT", {"mode": "real", "rate": 2}, "bad_request", "rate"),
    ("clock", "PUT", {"now": "2020-01-01T00:00:00Z"}, "clock_goes_back", "now"),
    ("clock", "PUT", {"mode": "real", "now": "2020-01-01T00:00:00Z"}, "clock_goes_back", "now"),
    ("clock", "PUT", {"now": "then"}, "bad_request", "now"),
    ("clock", "PUT", {"skew": "1m"}, "bad_request", "skew"),
    *(
        ("resellers/RS001/deposits", "POST", {"amount": amount}, "bad_request", "amount")
        for amount in NO_DEPOSITS
    ),
    ("resellers/RS001/deposits", "POST", b'{"amount": 1e400}', "bad_request", "amount"),
    ("resellers/RS001/deposits", "POST", b'{"amount": 1e-400}', "bad_request", "amount"),
    ("resellers/RS001/deposits", "POST", b'{"amount": 0.001}', "invalid_amount", "amount"),
    ("resellers/RS001/deposits", "POST", b'{"amount": 1, "amount": 2}', "bad_request", ""),
    ("resellers/RS001/deposits", "POST", {"amount": 1, "type": "REFUND"}, "bad_request", "type"),
    ("resellers/RS001/deposits", "POST", {"amount": 1, "description": "\x00"}, "bad_request", "description"),
    ("resellers/RS001/deposits", "POST", {"amount": 1, "description": "d" * 201}, "bad_request", "description"),
    ("resellers/RS001/deposits", "POST", {"amount": 1, "currency": "USD"}, "bad_request", "currency"),
    ("resellers/RS001/settings", "PATCH", {"ip_allowlist": "10.0.0.1"}, "bad_request", "ip_allowlist"),
    ("resellers/RS001/settings", "PATCH", {"ip_allowlist": ["10.0.0.1"] * 1001}, "bad_request", "ip_allowlist"),
    ("resellers/RS001/settings", "PATCH", {"ip_allowlist": ["x" * 51]}, "bad_request", "ip_allowlist.0"),
    ("resellers/RS001/settings", "PATCH", {"ip_allowlist": None}, "bad_request", "ip_allowlist"),
    ("resellers/RS001/settings", "PATCH", {"require_api_key_for_topup": 1}, "bad_request", "require_api_key_for_topup"),
    ("resellers/RS001/settings", "PATCH", {"balance": 1}, "bad_request", "balance"),
    ("resellers/RS001/api-keys", "POST", {"key": "mine"}, "bad_request", ""),
    ("resellers/NOBODY/deposits", "POST", {"amount": 1}, "unknown_reseller", ""),
    ("resellers/NOBODY/settings", "PATCH", {}, "unknown_reseller", ""),
    ("resellers", "POST", {}, "bad_request", "code"),
    ("resellers", "POST", {"code": ""}, "bad_request", "code"),
    ("resellers", "POST", {"code": 7}, "bad_request", "code"),
    ("resellers", "POST", {"code": "a b"}, "bad_scenario", "code"),
    ("resellers", "POST", {"code": "RS001"}, "reseller_exists", "code"),
    ("resellers", "POST", {"code": "RS002", "balance": "-1"}, "bad_scenario", "balance"),
    ("resellers", "POST", {"code": "RS002", "balance": "1.001"}, "bad_scenario", "balance"),
    ("resellers", "POST", {"code": "RS002", "balance": 10**16}, "bad_scenario", "balance"),
    ("resellers", "POST", {"code": "RS002", "wallet": 1}, "bad_scenario", "wallet"),
    ("resellers", "POST", {"code": "RS002", "callback": {"url": "nowhere"}}, "bad_scenario", "callback.url"),
    ("resellers", "POST", {"code": "RS002", "settings": {"ip_allowlist": ["x"]}}, "bad_scenario", "settings.ip_allowlist[0]"),
    ("resellers", "POST", {"code": "RS002", "catalog": {"NOPE": {"is_active": True}}}, "bad_scenario", "catalog.NOPE"),
    ("resellers", "POST", {"code": "RS002", "api_keys": [{"key": "a b", "secret": "YQ=="}]}, "bad_scenario", "api_keys[0].key"),
    ("resellers", "POST", {"code": "RS002", "api_keys": [{"key": "k", "secret": "no Base64"}]}, "bad_scenario", "api_keys[0].secret"),
    ("rules", "POST", {"section": "payments"}, "bad_request", "rule"),
    ("rules", "POST", {"section": "nothing", "rule": {}}, "bad_request", "section"),
    ("rules", "POST", {"section": "faults", "rule": []}, "bad_request", "rule"),
    ("rules", "POST", {"section": "faults", "rule": {}}, "bad_scenario", ""),
    ("rules", "POST", {"section": "faults", "rule": {"then": {"status": 99}}}, "bad_scenario", "then.status"),
    ("rules", "POST", {"section": "faults", "rule": {"then": {"status": "500"}}}, "bad_scenario", "then.status"),
    ("rules", "POST", {"section": "faults", "rule": {"then": {"delay": "1y"}}}, "bad_scenario", "then.delay"),
    ("rules", "POST", {"section": "faults", "rule": {"then": {"delay": ["2s", "1s"]}}}, "bad_scenario", "then.delay"),
    ("rules", "POST", {"section": "faults", "rule": {"when": {"colour": "red"}, "then": {"status": 500}}}, "bad_scenario", "when.colour"),
    ("rules", "POST", {"section": "payments", "rule": {"then": []}}, "bad_scenario", "then"),
    ("rules", "POST", {"section": "payments", "rule": {"then": [{"status": "Successful"}]}}, "bad_scenario", "then[0].status"),
    ("rules", "POST", {"section": "payments", "rule": {"when": {"product": "NOPE"}, "then": [{"status": "Succesful"}]}}, "bad_scenario", "when.product"),
    ("rules", "POST", {"section": "payments", "rule": {"when": {"account": {"pattern": "("}}, "then": [{"status": "Succesful"}]}}, "bad_scenario", "when.account.pattern"),
    ("rules", "POST", {"section": "payments", "rule": {"when": {"account": {"pattern": "(a)\\1"}}, "then": [{"status": "Succesful"}]}}, "bad_scenario", "when.account.pattern"),
    ("rules", "POST", {"section": "payments", "rule": {"name": "ordinary", "then": [{"status": "Succesful"}]}}, "rule_exists", "name"),
    *(
        ("inbox/callbacks", "PUT", {"replies": replies}, "bad_request", path)
        for replies, path in (
            ("200", "replies"), ([200], "replies.0"), ([{"status": 99}], "replies.0.status"),
            ([{"status": 100}], "replies.0.status"), ([{"status": 600}], "replies.0.status"),
            ([{"status": "200"}], "replies.0.status"), ([{"delay": -1}], "replies.0.delay"),
            ([{"delay": 301}], "replies.0.delay"), ([{"delay": "soon"}], "replies.0.delay"),
            ([{"body": {}}], "replies.0.body"), ([{"body": "b" * 100_001}], "replies.0.body"),
            ([{"status": 204, "body": "b"}], "replies.0.body"), ([{"headers": {"a b": "c"}}], "replies.0.headers"),
            ([{"headers": {"a": "b\r\nc: d"}}], "replies.0.headers.a"),
            ([{"headers": {"Content-Length": "7"}}], "replies.0.headers"),
            ([{"headers": {"Transfer-Encoding": "chunked"}}], "replies.0.headers"), ([{}] * 1001, "replies"),
        )
    ),
    ("inbox/callbacks", "PUT", {"replies": [], "name": "x"}, "bad_request", "name"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "method", "body", "error", "where"),
    BODIES,
    ids=[f"{method} {path} {body}"[:90] for path, method, body, *_ in BODIES],
)
def test_a_body_that_cannot_be_meant(client: Client, path: str, method: str, body: Any, error: str, where: str) -> None:
    answer = ask(client, method, f"{DEFAULT}/{path}", body if isinstance(body, bytes) else json.dumps(body).encode())
    assert (answer.json["error"], answer.json["path"]) == (error, where), answer.body[:500]
    assert answer.status == {"unknown_reseller": 404, "reseller_exists": 409, "rule_exists": 409}.get(error, 400)
