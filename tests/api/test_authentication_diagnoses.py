"""Every refusal of SPEC 5.2, 5.3 and 8 is explained in `X-Sim-Diagnosis` and the journal."""

from collections.abc import Callable
from typing import Any

import pytest

from simulator.auth.signature import MESSAGES, NO_ACTIVE_KEY
from tests.support.client import Client, Response, running

Send = Callable[[Client], Response]


def unsigned(**headers: str) -> Send:
    """`GET /v2/balance` with these headers alone."""
    return lambda client: client.send("GET", "/v2/balance", headers=headers)


def changed(name: str, value: str) -> Send:
    """A good request with one header changed."""
    return lambda client: client.call("GET", "/v2/balance", headers={name: value})


def without(name: str) -> Send:
    """A good request without one header."""

    def send(client: Client) -> Response:
        headers = {"X-Api-Key": client.key, "X-Timestamp": "1", "X-Nonce": "n" * 16, "X-Signature": "v1=AAAA"}
        del headers[name]
        return client.send("GET", "/v2/balance", headers=headers)

    return send


def by_key(state: str) -> Send:
    """A request with a key of this state."""

    def send(client: Client) -> Response:
        keys = client.live.core.state.keys
        return client.call(
            "GET", "/v2/balance", key=next(key for key, (_, held) in keys.items() if held.state == state)
        )

    return send


def off_by(seconds: int, factor: int = 1) -> Send:
    return lambda client: client.call(
        "GET", "/v2/balance", timestamp=(int(client.wall().timestamp()) + seconds) * factor
    )


def twice(client: Client) -> Response:
    client.call("GET", "/v2/balance", nonce="n" * 16)
    return client.call("GET", "/v2/balance", nonce="n" * 16)


def by_fault(client: Client) -> Response:
    return client.call("GET", "/v2/catalog")


def too_large(client: Client) -> Response:
    return client.call("POST", "/v2/topup", b" " * (10 * 1024 * 1024 + 1))


def by_token(token: str = "") -> Send:
    def send(client: Client) -> Response:
        credentials = b'{"username": "test_user_RS001", "password": "test_password_RS001"}'
        good = client.send("POST", "/v2/token", body=credentials).json["IdToken"]
        return client.send("POST", "/v2/topup", body=b"{}", headers={"authorization": f"Bearer {token or good}"})

    return send


def from_elsewhere(client: Client) -> Response:
    return client.call("GET", "/v2/balance", headers={"X-Forwarded-For": "198.51.100.7"})


def too_often(client: Client) -> Response:
    for _ in range(60):
        client.call("GET", "/v2/balance")
    return client.call("GET", "/v2/balance")


V1 = "X-Signature"
REFUSALS: list[tuple[str, Send, str]] = [
    ("missing_api_key", unsigned(), "X-Api-Key is absent"),
    ("missing_api_key", unsigned(x_api_key=""), "X-Api-Key is absent"),
    ("missing_api_key", changed("X-Api-Key", ""), "X-Api-Key is empty"),
    ("missing_api_key", unsigned(authorization="Basic eDp5"), "has no bearer token; write Bearer before the IdToken"),
    ("invalid_api_key", changed("X-Api-Key", "nobody"), NO_ACTIVE_KEY),
    ("invalid_api_key", changed("X-Api-Key", "a, a"), "was sent more than once"),
    ("invalid_api_key", by_key("revoked"), NO_ACTIVE_KEY),
    ("hmac_not_configured", by_key("no_secret"), "state: no_secret"),
    ("missing_hmac_headers", without("X-Nonce"), "not sent: X-Nonce"),
    ("missing_hmac_headers", without("X-Timestamp"), "not sent: X-Timestamp"),
    ("empty_hmac_values", changed("X-Timestamp", ""), "sent without a value: X-Timestamp"),
    ("invalid_nonce_format", changed("X-Nonce", "short"), "5 characters; it must have 16 to 128"),
    ("invalid_nonce_format", changed("X-Nonce", "n" * 15 + "."), "the nonce has '.'"),
    ("invalid_nonce_format", changed("X-Nonce", "n" * 15 + "\xe9"), "\\xe9"),
    (
        "invalid_timestamp_format",
        changed("X-Timestamp", "2026-11-21T04:00:00Z"),
        "whole seconds since 1970, digits only: now 179",
    ),
    ("timestamp_expired", off_by(-301), "301 s behind the server's clock, at most 300 s are accepted"),
    ("timestamp_expired", off_by(301), "301 s ahead of the server's clock"),
    ("timestamp_expired", off_by(0, 1000), "in milliseconds; send seconds"),
    ("invalid_signature_format", changed(V1, "AAAA"), "does not begin with v1="),
    ("invalid_signature_format", changed(V1, "v1=AAAA AAAA"), "blanks"),
    ("invalid_signature_format", changed(V1, "v1=AA-_"), "URL-safe alphabet"),
    ("invalid_signature_format", changed(V1, "v1=AA*A"), "characters that are not in Base64"),
    ("invalid_signature_format", changed(V1, "v1=AAA"), "padding"),
    ("invalid_signature_format", changed(V1, "v1=AA=A"), "padding"),
    ("invalid_signature_format", changed(V1, "v1=AAB="), "bits after its last byte"),
    ("signature_too_large", changed(V1, "v1=" + "A" * 600), "X-Signature has 603 bytes; at most 512 are read"),
    ("body_too_large", too_large, "at most 10485760 bytes are read"),
    ("invalid_signature", changed(V1, "v1=AAAA"), "3 bytes, an HMAC-SHA256 has 32"),
    ("invalid_signature", changed(V1, "v1=" + "A" * 43 + "="), "no common mistake was found in a short search"),
    ("nonce_reused", twice, "a nonce of its own"),
    (
        "nonce_reused",
        twice,
        "it is accepted again 600 s of the sandbox's time after its use, with a later X-Timestamp",
    ),
    ("decryption_error", by_key("undecryptable"), "state: undecryptable"),
    ("internal_error", by_fault, "a fault of the scenario"),
    ("invalid_token", by_token("a.b.c"), "not a JSON Web Token"),
]
FAULT = {"when": {"path": "/v2/catalog"}, "then": {"internal_error": True}}
TOLD_LESS = {"invalid_api_key", "ip_not_allowed"}
"""Refusals without proof of identity; the header reveals less than the journal: tests/api/test_told_to_strangers.py."""


def assert_explained(client: Client, answer: Response, code: str, said: str) -> None:
    assert answer.json["error"] == code
    diagnosis = answer.headers.get("x-sim-diagnosis", "")
    assert said in diagnosis
    newest = client.sim("GET", "/sandboxes/default/requests?limit=1").json["requests"][0]
    assert newest["error"] == code
    assert newest["diagnosis"]
    if code not in TOLD_LESS:
        assert newest["diagnosis"].encode("unicode_escape").decode() == diagnosis


@pytest.mark.parametrize(("code", "send", "said"), REFUSALS)
def test_a_refused_credential_is_explained(code: str, send: Send, said: str) -> None:
    with running({"faults": [FAULT]}) as client:
        answer = send(client)
        assert answer.status == 401
        assert_explained(client, answer, code, said)


def test_every_code_is_in_the_table() -> None:
    assert {code for code, _, _ in REFUSALS} == set(MESSAGES)


ELSEWHERE: list[tuple[str, dict[str, Any], Send, int, str]] = [
    (
        "nonce_service_unavailable",
        {"faults": [{"when": {}, "then": {"nonce_service": "down"}}]},
        by_fault,
        503,
        "nonces cannot be looked up; this nonce is not spent",
    ),
    (
        "ip_not_allowed",
        {"resellers": [{"code": "RS001", "settings": {"ip_allowlist": ["10.0.0.0/8", "::1"]}}]},
        from_elsewhere,
        403,
        "198.51.100.7 is not on the list of addresses that may use these credentials",
    ),
    (
        "api_key_required",
        {"resellers": [{"code": "RS001", "settings": {"require_api_key_for_topup": True}}]},
        by_token(),
        403,
        "RS001 has require_api_key_for_topup on; sign the request",
    ),
    ("ip_blocked", {"limits": {"requests_per_interval": 50}}, too_often, 403, "more than 50 requests came from"),
]


@pytest.mark.parametrize(("code", "scenario", "send", "status", "said"), ELSEWHERE)
def test_a_refused_address_is_explained(
    code: str, scenario: dict[str, Any], send: Send, status: int, said: str
) -> None:
    with running(scenario, trust_forwarded=True) as client:
        answer = send(client)
        assert answer.status == status
        assert_explained(client, answer, code, said)
