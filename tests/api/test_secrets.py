"""Secrets leave by the one answer that hands them out, and are found nowhere else afterwards."""

import hashlib
import hmac
import json
import logging
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.contract.openapi import CONTROL, OPENAPI
from tests.support.bad_requests import operations
from tests.support.client import Client, Response, running

BILL = "product=ELECTRIC&account=210012345648"
WALK: list[tuple[str, str, Any]] = [
    ("POST", "/v2/topup", {"refid": "r1", "product": "ELECTRIC", "account": "210012345648", "amount": "10"}),
    ("POST", "/v2/transactions/check", {"refid": "r1", "user_email": []}),
    ("POST", "/v2/transactions/void", {"refid": "r1", "user_email": [], "refund_type": 1}),
    ("GET", "/v2/transactions?limit=10&date=2026-11-21", None),
    ("GET", "/v2/balance", None),
    ("GET", "/v2/balance-statement?date=2026-11-21", None),
    ("GET", "/v2/catalog", None),
    ("GET", "/v2/options?product_code=RELOAD&field_id=amount", None),
    ("GET", "/v1/interbank/billers?page=1&limit=2", None),
    ("GET", "/v2/product-list", None),
    ("GET", "/v2/subproducts?product_code=INTERBANK&limit=1", None),
    ("GET", "/v2/networkstatus?product=FP", None),
    ("GET", f"/v2/bill-presentment?{BILL}", None),
    ("POST", "/v2/low-balance-threshold?amount=100", None),
    ("GET", "/v2/callback-url", None),
    ("POST", "/v2/callback-url?url=inbox:callbacks&method=POST", None),
    ("PUT", "/v2/balance-webhook", {"url": "inbox:webhooks"}),
    ("GET", "/v2/balance-webhook", None),
    ("POST", "/v2/balance-webhook/rotate-secret", None),
    ("PATCH", "/v2/balance-webhook/enabled", {"enabled": True}),
    ("GET", "/v2/balance-webhook/deliveries", None),
    ("GET", "/v2/balance-webhook/deliveries/nothing", None),
    ("POST", "/v2/balance-webhook/deliveries/nothing/replay", None),
    ("POST", "/v2/balance-webhook/deliveries/replay-bulk", {"job_ids": ["nothing"]}),
    ("DELETE", "/v2/balance-webhook", None),
]
# Where a sandbox hands out what its user needs to call it.
HANDED_OUT = ("/_sim/sandboxes", "/_sim/sandboxes/{sandbox}")


def test_the_walk_leaves_no_endpoint_out() -> None:
    walked = {(method, target.partition("?")[0]) for method, target, _ in WALK}
    wanted = {(one.method, one.template) for one in operations() if one.document == OPENAPI}
    named = {(method, path.replace("deliveries/nothing", "deliveries/{jobId}")) for method, path in walked}
    assert named == wanted - {("POST", "/v2/token"), ("POST", "/v2/token/refresh")}


def walk(client: Client) -> set[str]:
    """Every endpoint by key and by token, and all secrets there are afterwards."""
    reseller = client.app.scenario.resellers[0]
    found = {user.password for user in reseller.users} | {key.secret for key in reseller.keys}
    user = reseller.users[0]
    granted = tokens(client, "/v2/token", {"username": user.username, "password": user.password})
    found |= set(granted.values())
    renewed = tokens(client, "/v2/token/refresh", {"refresh_token": granted["RefreshToken"]})
    found |= set(renewed.values()) - {"None"}
    bearer = {"Authorization": f"Bearer {renewed['IdToken']}"}
    for method, target, body in WALK:
        refid = {"refid": "r2"} if body and "refid" in body else {}
        by_token = None if body is None else body | refid
        path, _, query = target.partition("?")
        content = b"" if by_token is None else json.dumps(by_token).encode()
        for answer in (client.call(method, target, body), client.send(method, path, query, content, bearer)):
            assert answer.status < 500
            found |= handed_out(answer)
        client.advance(10)
    made = client.sim("POST", "/sandboxes/default/resellers/RS001/api-keys")
    found.add(made.json["api_secret"])
    client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "5"})
    client.advance()
    return {secret for secret in found if secret}


def tokens(client: Client, path: str, fields: dict[str, str]) -> dict[str, str]:
    answer = client.send("POST", path, "", json.dumps(fields).encode(), {"content-type": "application/json"})
    assert answer.status == 200
    shown = answer.json
    result = shown.get("AuthenticationResult", shown)
    return {name: str(result[name]) for name in ("AccessToken", "IdToken", "RefreshToken") if result.get(name)}


def handed_out(answer: Response) -> set[str]:
    return {answer.json["webhook_secret"]} if b'"webhook_secret"' in answer.body else set()


def everything_shown(client: Client) -> Iterator[tuple[str, bytes]]:
    """Each answer of the control API, whole, but for those that hand credentials out."""
    for one in operations():
        if one.document != CONTROL or one.method != "GET" or one.is_stream or one.template in HANDED_OUT:
            continue
        if "{n}" in one.template or "{trxid}" in one.template:
            continue
        answer = client.send("GET", one.path, "limit=1000" if "limit" in one.query else "")
        yield one.path, answer.body + repr(answer.headers).encode()
    for n in range(1, client.live.journal.last_n + 1):
        yield f"exchange {n}", client.sim("GET", f"/sandboxes/default/requests/{n}").body
    for trxid in client.live.core.state.transactions:
        yield trxid, client.sim("GET", f"/sandboxes/default/transactions/{trxid}").body


@pytest.mark.parametrize("assume", [{}, {"bearer-endpoints": "all"}, {"deprecation-header": "none"}], ids=str)
def test_no_secret_is_found_in_journal_coverage_logs_or_output(
    assume: dict[str, str], capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with running({"assume": assume}) as client:
        secrets = walk(client)
        assert len(secrets) >= 10
        for where, shown in everything_shown(client):
            assert not [secret for secret in secrets if secret.encode() in shown], where
        assert client.live.journal.last_n > 2 * len(WALK)
    out, err = capfd.readouterr()
    for secret in secrets:
        assert secret not in out + err + caplog.text


def test_a_diagnosis_that_quotes_a_secret_does_not_cut_it_before_it_is_masked() -> None:
    """A part of a secret would not be recognized."""
    with running() as client:
        secret: str = client.call("PUT", "/v2/balance-webhook", {"url": "inbox:webhooks"}).json["webhook_secret"]
        client.call("GET", "/v2/balance", headers={"X-API-Version": secret})
        client.send("GET", "/v2/balance", secret, headers=signed_by_mistake(client, secret))
        client.call("GET", f"/v2/networkstatus?product={secret}")
        client.call("GET", f"/v2/balance-webhook/deliveries/{secret}")
        noted = [one["diagnosis"] for one in client.sim("GET", "/sandboxes/default/requests").json["requests"][:4]]
        assert all(noted)
        for where, shown in everything_shown(client):
            assert secret[:20].encode() not in shown, where


def signed_by_mistake(client: Client, query: str) -> dict[str, str]:
    """Headers whose signature includes a parameter without a value."""
    stamp, nonce = str(int(client.wall().timestamp())), "n" * 16
    hashed = b64encode(hashlib.sha256(b"").digest()).decode()
    text = f"v1:{stamp}:{nonce}:GET:{query}:{hashed}"
    signature = b64encode(hmac.digest(b64decode(client.secret), text.encode(), "sha256")).decode()
    return {"x-api-key": client.key, "x-timestamp": stamp, "x-nonce": nonce, "x-signature": f"v1={signature}"}


def test_a_secret_sent_as_business_data_is_shown_as_it_was_sent_and_masked_in_the_journal_alone() -> None:
    with running() as client:
        secret = client.app.scenario.resellers[0].keys[0].secret
        assert client.pay(secret, remarks=secret).data["remarks"] == secret
        (row,) = client.sim("GET", "/sandboxes/default/transactions").json["transactions"]
        assert row["refid"] == secret
        assert secret.rstrip("=") not in client.sim("GET", "/sandboxes/default/requests").body.decode()
