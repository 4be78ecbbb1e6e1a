"""`X-Sim-Diagnosis` for callers who know an API key, but not its secret: nothing of the reseller, its other settings or
the state of the key. The journal has the complete diagnosis."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import pytest

from simulator.auth.signature import MESSAGES
from tests.support.client import Client, Response, running

SECRET = b64encode(b"s" * 32).decode()
LISTED_ADDRESSES = [*(f"10.0.0.{last}" for last in range(4)), "192.0.2.77", "192.0.2.78"]
SECRETIVE = {
    "resellers": [
        {"code": "RS001", "settings": {"ip_allowlist": LISTED_ADDRESSES}},
        {
            "code": "RS900",
            "api_keys": [
                {"key": "their_key_active", "secret": SECRET},
                {"key": "their_key_revoked", "secret": SECRET, "state": "revoked"},
                {"key": "their_key_bare", "state": "no_secret"},
                {"key": "their_key_broken", "state": "undecryptable"},
            ],
            "users": [{"username": "somebody", "password": "the-right-password"}],
        },
    ]
}
UNTOLD = ("RS001", "RS900", "10.0.0.", "192.0.2.", "revoked", "test_user", "test_key", "test_webhook", "ip_allowlist")
NOT_ACTIVE = "no active key of this sandbox has this value"
OPEN, LISTED = "their_key_active", "test_key_RS001"
# Refusals that only a request with the right signature gets.
OF_OWNERS = {"nonce_reused", "internal_error"}

ROWS: list[tuple[str, str, Mapping[str, str | None], str]] = [
    ("ip_not_allowed", LISTED, {}, "127.0.0.1 is not on the list of addresses that may use these credentials"),
    ("missing_api_key", "", {}, "X-Api-Key is empty; send the key and sign the request with its secret"),
    ("invalid_api_key", "nobody", {}, NOT_ACTIVE),
    ("invalid_api_key", "their_key_revoked", {}, NOT_ACTIVE),
    ("invalid_api_key", "a, b", {}, f"{NOT_ACTIVE}; X-Api-Key was sent more than once, or with a comma"),
    ("hmac_not_configured", "their_key_bare", {}, "the scenario gives this key no secret (state: no_secret)"),
    ("decryption_error", "their_key_broken", {}, "the scenario sets this for the key (state: undecryptable)"),
    ("missing_hmac_headers", OPEN, {"X-Nonce": None}, "not sent: X-Nonce"),
    ("empty_hmac_values", OPEN, {"X-Nonce": ""}, "sent without a value: X-Nonce"),
    ("invalid_nonce_format", OPEN, {"X-Nonce": "n"}, "the nonce has 1 characters; it must have 16 to 128"),
    ("invalid_timestamp_format", OPEN, {"X-Timestamp": "soon"}, "X-Timestamp must be whole seconds since 1970"),
    ("timestamp_expired", OPEN, {"X-Timestamp": "1"}, "behind the server's clock, at most 300 s are accepted"),
    ("invalid_signature_format", OPEN, {"X-Signature": "AAAA"}, "the signature does not begin with v1="),
    (
        "signature_too_large",
        OPEN,
        {"X-Signature": "v1=" + "A" * 600},
        "X-Signature has 603 bytes; at most 512 are read",
    ),
    ("invalid_signature", OPEN, {}, "no common mistake was found in a short search"),
    ("body_too_large", OPEN, {}, "at most 10485760 bytes are read"),
    ("invalid_token", OPEN, {"X-Api-Key": None, "Authorization": "Bearer a.b.c"}, "this is not a JSON Web Token"),
]


def asked(client: Client, code: str, key: str, changes: Mapping[str, str | None]) -> Response:
    """The answer to a request with a key, signed with a guess."""
    now = str(int(client.wall().timestamp()))
    guess = {"X-Api-Key": key, "X-Timestamp": now, "X-Nonce": "n" * 16, "X-Signature": "v1=" + "A" * 43 + "="}
    headers = {name: value for name, value in (guess | dict(changes)).items() if value is not None}
    body = b" " * (10 * 1024 * 1024 + 1) if code == "body_too_large" else b"{}"
    return client.send("POST", "/v2/topup", "", body, headers)


def in_journal(client: Client) -> Any:
    return client.sim("GET", "/sandboxes/default/requests?limit=1").json["requests"][0]


@pytest.mark.parametrize(("code", "key", "changes", "said"), ROWS)
def test_the_header_reveals_no_fact_of_the_reseller_to_a_stranger(
    code: str, key: str, changes: Mapping[str, str | None], said: str
) -> None:
    with running(SECRETIVE) as client:
        refused = asked(client, code, key, changes)
        told = refused.headers["x-sim-diagnosis"]
        assert refused.json["error"] == code
        assert said in told
        assert [each for each in UNTOLD if each in told] == []


def test_every_refusal_of_credentials_is_in_the_table() -> None:
    assert {code for code, *_ in ROWS} == (set(MESSAGES) | {"ip_not_allowed"}) - OF_OWNERS


def test_a_revoked_key_and_an_unknown_key_are_answered_alike_and_distinguished_in_the_journal() -> None:
    with running(SECRETIVE) as client:
        answers, rows = [], []
        for key in ("their_key_revoked", "their_key_that_never_was"):
            refused = asked(client, "", key, {})
            answers.append((refused.status, refused.body, refused.headers["x-sim-diagnosis"]))
            rows.append(in_journal(client)["diagnosis"])
        assert answers[0] == answers[1]
        assert rows == [
            "the key was revoked; use an active key of the reseller",
            "no reseller of this sandbox has this key",
        ]


def test_the_journal_names_the_reseller_and_the_first_five_of_its_addresses() -> None:
    with running(SECRETIVE) as client:
        assert asked(client, "", LISTED, {}).status == 403
        assert in_journal(client)["diagnosis"] == (
            "127.0.0.1 is not in the ip_allowlist of RS001: 10.0.0.0, 10.0.0.1, 10.0.0.2, 10.0.0.3, 192.0.2.77, ..."
        )


def test_a_wrong_password_and_an_unknown_user_are_answered_alike_and_distinguished_in_the_journal() -> None:
    with running(SECRETIVE) as client:
        answers, rows = [], []
        for username in ("somebody", "nobody"):
            credentials = f'{{"username":"{username}","password":"a guess","other":1}}'.encode()
            refused = client.send("POST", "/v2/token", "", credentials, {"Content-Type": "application/json"})
            answers.append((refused.status, refused.body, refused.headers["x-sim-diagnosis"]))
            rows.append(in_journal(client)["diagnosis"])
        assert answers[0] == answers[1]
        assert answers[0][2].startswith("no user of this sandbox has this name and this password; ")
        assert rows[0].startswith("the password is wrong; ")
        assert rows[1].startswith("this sandbox has no user of this name; ")
        ignored = "; an unknown member was ignored; known: username, password"
        assert answers[0][2].endswith(ignored)
        assert rows[0].endswith(ignored)
