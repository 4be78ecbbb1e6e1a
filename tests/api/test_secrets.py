"""Secrets leave by the one answer that hands them out, and are found nowhere else afterwards."""

import hashlib
import hmac
import json
import logging
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from simulator.contract.openapi import CONTROL, OPENAPI
from simulator.redaction import MASKED
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
    """Yield each answer of the control API, whole, except the answers that hand out credentials."""
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


def test_a_secret_sent_as_business_data_is_answered_unchanged_and_masked_by_the_control_api() -> None:
    with running() as client:
        secret = client.app.scenario.resellers[0].keys[0].secret
        paid = client.pay(secret, remarks=secret)
        assert paid.data["remarks"] == secret
        assert client.call("GET", "/v2/transactions?limit=10&date=2026-11-21").json["data"][0]["refid"] == secret
        (row,) = client.sim("GET", f"/sandboxes/default/transactions?refid={quote(secret)}").json["transactions"]
        assert (row["refid"], [row["trxid"]]) == (MASKED, list(client.live.core.state.transactions))
        for where, shown in everything_shown(client):
            assert secret.rstrip("=").encode() not in shown, where


def all_secrets(client: Client) -> dict[str, str]:
    """One secret of each kind, and former ones, by what they are."""
    reseller = client.live.core.state.resellers["RS001"]
    user = reseller.users[0]
    granted = tokens(client, "/v2/token", {"username": user.username, "password": user.password})
    put = client.call("PUT", "/v2/balance-webhook", {"url": "inbox:webhooks"})
    rotated = client.call("POST", "/v2/balance-webhook/rotate-secret")
    client.call("DELETE", "/v2/balance-webhook")
    again = client.call("PUT", "/v2/balance-webhook", {"url": "inbox:webhooks"})
    pair = client.sim("POST", "/sandboxes/default/resellers/RS001/api-keys").json
    client.sim("DELETE", f"/sandboxes/default/resellers/RS001/api-keys/{pair['api_key']}")
    return granted | {
        "API secret": reseller.keys[0].secret,
        "password": user.password,
        "rotated webhook secret": put.json["webhook_secret"],
        "removed webhook secret": rotated.json["webhook_secret"],
        "webhook secret": again.json["webhook_secret"],
        "revoked key's secret": pair["api_secret"],
    }


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "url": lambda secret: quote(secret, safe=""),
    "base64": lambda secret: b64encode(secret.encode()).decode(),
    "basic": lambda secret: b64encode(f"demo:{secret}".encode()).decode(),
    "basic2": lambda secret: urlsafe_b64encode(f"someone:{secret}:x".encode()).decode().rstrip("="),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_secret_sent_by_mistake_in_any_place_is_shown_nowhere(
    spelling: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with running() as client:
        secrets = all_secrets(client)
        if spelling.startswith("bas"):  # a token is known by its own form alone
            secrets = {what: secret for what, secret in secrets.items() if not secret.startswith("eyJ")}
        sent = {what: SPELLINGS[spelling](secret) for what, secret in secrets.items()}
        for n, spelt in enumerate(sent.values()):
            leak(client, n, spelt)
        client.advance(400)
        for where, shown in everything_shown(client):
            found = [what for what, spelt in sent.items() if spelt.rstrip("=").encode()[10:-4] in shown]
            assert not found, (where, found)
    out, err = capfd.readouterr()
    assert not [what for what, spelt in sent.items() if spelt in out + err + caplog.text]


def leak(client: Client, n: int, secret: str) -> None:
    """Send a secret in every odd place, by the API and to an inbox."""
    encoded = quote(secret, safe="%")
    for headers in ({"X-Whatever": secret}, {"X-Signature": secret}, {"X-Sim-Rule": secret}, {secret[:20]: secret}):
        assert secret not in repr(client.send("GET", "/v2/balance", headers=headers).headers)
    client.send("GET", "/v2/balance", f"q={encoded}")
    client.send("GET", f"/v2/{encoded}")
    client.call("POST", f"/v2/callback-url?url={quote('http://127.0.0.1:9/cb?token=' + encoded, safe='')}&method=POST")
    client.call("GET", f"/v2/catalog?{encoded}=1")
    client.pay(f"r{n}", remarks=secret, extras={"note": secret, secret: "x"})
    client.pay(secret[:60])
    client.pay(f"s{n}", product=secret)
    client.call("POST", "/v2/topup", {"refid": f"u{n}", "secretary": {"deep": [secret]}})
    client.call("POST", "/v2/callback-url?url=inbox:callbacks&method=POST")
    client.pay(f"t{n}", remarks=secret)
    inbox = "/_sim/inbox/default/webhooks"
    client.send("POST", inbox, f"t={encoded}", json.dumps({"x": secret, secret: 1}).encode(), {"x-more": secret})
    client.sim("PUT", "/sandboxes/default/inbox/webhooks", {"replies": [{"status": 500, "body": f"no {secret}"}]})
    refused = client.sim("GET", f"/sandboxes/default/requests?x{encoded}=1")
    assert refused.status == 400
    assert secret not in refused.body.decode()


def test_the_control_token_is_shown_nowhere() -> None:
    token = "control-token-0123456789"
    with running(control_token=token) as client:
        bearer = {"authorization": f"Bearer {token}"}
        for headers in ({"X-More": token}, {"X-Api-Version": token}, {"X-Sim-Rule": token}):
            assert token not in repr(client.send("GET", "/v2/balance", f"x={token}", headers=headers).headers)
        for path in ("requests", "requests/1", "requests/2", "requests/3"):
            shown = client.send("GET", f"/_sim/sandboxes/default/{path}", headers=bearer)
            assert shown.status == 200
            assert token.encode() not in shown.body


def test_the_secrets_of_a_life_before_a_reset_stay_hidden() -> None:
    with running() as client:
        secret: str = client.sim("POST", "/sandboxes/default/resellers/RS001/api-keys").json["api_secret"]
        client.sim("POST", "/sandboxes/default/reset")
        client.pay(remarks=secret)
        assert secret not in client.live.core.state.secrets
        for where, shown in everything_shown(client):
            assert secret.encode() not in shown, where


def test_the_secrets_of_a_deleted_sandbox_stay_hidden() -> None:
    with running() as client:
        made = client.sim("POST", "/sandboxes", {"credentials": "unique", "id": "gone"}).json["resellers"][0]
        client.send("GET", "/v2/balance", headers={"X-Api-Key": made["api_key"], "X-More": made["api_secret"]})
        client.sim("DELETE", "/sandboxes/gone")
        assert made["api_secret"].encode() not in client.sim("GET", "/sandboxes/default/requests/1").body


def test_former_secrets_stay_hidden_through_a_reset_and_a_deletion() -> None:
    with running() as client:
        client.sim("POST", "/sandboxes", {"credentials": "unique", "id": "gone"})
        secret: str = client.sim("POST", "/sandboxes/gone/resellers/RS001/api-keys").json["api_secret"]
        client.sim("POST", "/sandboxes/gone/reset")
        client.sim("DELETE", "/sandboxes/gone")
        client.pay(remarks=secret)
        assert secret.encode() not in client.sim("GET", "/sandboxes/default/requests/1").body


def test_errors_without_a_sandbox_hide_the_secrets_of_all() -> None:
    with running() as client:
        mine = client.live.core.state.resellers["RS001"].keys[0].secret
        made = client.sim("POST", "/sandboxes", {"credentials": "unique"}).json["resellers"][0]
        for secret in (mine, made["api_secret"], made["password"]):
            for refused in (
                client.sim("POST", "/sandboxes", {"scenario": secret}),
                client.sim("POST", "/sandboxes", {"scenario": {"extends": secret}}),
                client.sim("POST", "/sandboxes", {"id": secret + "/"}),
                client.sim("GET", f"/sandboxes/{quote(secret, safe='')}"),
            ):
                assert refused.status in (400, 404)
                assert secret not in refused.body.decode()
            assert MASKED in client.sim("POST", "/sandboxes", {"scenario": secret}).json["message"]


def test_answers_that_hand_credentials_out_are_whole() -> None:
    with running() as client:
        reseller = client.live.core.state.resellers["RS001"]
        for method, path in (
            ("GET", "/sandboxes"),
            ("GET", "/sandboxes/default"),
            ("POST", "/sandboxes/default/reset"),
        ):
            shown = client.sim(method, path).body.decode()
            assert reseller.keys[0].secret in shown
            assert reseller.users[0].password in shown


def test_a_password_too_short_to_look_for_leaves_everything_readable() -> None:
    users = [{"username": "ann", "password": "1234"}, {"username": "bob", "password": "a"}]
    with running({"resellers": [{"code": "RS001", "users": users, "balance": 100}]}) as client:
        client.send("GET", "/v2/balance", "q=0123456789&a=a")
        shown = client.sim("GET", "/sandboxes/default/requests/1").json
        assert shown["query"] == "q=0123456789&a=a"
        assert MASKED not in json.dumps(shown)
