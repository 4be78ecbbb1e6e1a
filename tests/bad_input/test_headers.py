"""Headers: the signature's headers in every wrong form, X-Sim-Rule, X-API-Version, and unknown headers."""

import pytest

from tests.support.bad_requests import (
    Operation,
    ask,
    ids,
    operations,
    said,
)
from tests.support.client import Client

BALANCE = "/v2/balance"
GOOD_SIGNATURE = "v1=" + "A" * 43 + "="

KEYS: list[tuple[str, str, str]] = [
    ("empty", "", "missing_api_key"),
    ("a blank", " ", "missing_api_key"),
    ("unknown", "nobody", "invalid_api_key"),
    ("another case", "TEST_KEY_RS001", "invalid_api_key"),
    ("two keys", "test_key_RS001, test_key_RS001", "invalid_api_key"),
    ("revoked", "test_key_RS001_revoked", "invalid_api_key"),
    ("without a secret", "test_key_RS001_no_secret", "hmac_not_configured"),
    ("of a dictionary's own", "__class__", "invalid_api_key"),
    ("SQL", "' OR 1=1 --", "invalid_api_key"),
    ("high bytes", "\xff\xfe\xfd", "invalid_api_key"),
    ("50,000 characters", "k" * 50_000, "invalid_api_key"),
]
NONCES: list[tuple[str, str, str]] = [
    ("empty", "", "empty_hmac_values"),
    ("15 characters", "n" * 15, "invalid_nonce_format"),
    ("129 characters", "n" * 129, "invalid_nonce_format"),
    ("50,000 characters", "n" * 50_000, "invalid_nonce_format"),
    ("a blank", "nonce 0123456789", "invalid_nonce_format"),
    ("15 characters between blanks", " " + "n" * 15 + " ", "invalid_nonce_format"),
    ("a dot", "nonce.0123456789", "invalid_nonce_format"),
    ("a plus", "nonce+0123456789", "invalid_nonce_format"),
    ("a colon", "nonce:0123456789", "invalid_nonce_format"),
    ("high bytes", "nonce-\xe9-0123456789", "invalid_nonce_format"),
    ("a tab", "nonce\t0123456789", "invalid_nonce_format"),
    ("two nonces", "nonce-0123456789, nonce-0123456789", "invalid_nonce_format"),
    ("markup", "<b>0123456789012</b>", "invalid_nonce_format"),
    ("16 characters", "n" * 16, "invalid_signature"),
    ("128 characters", "n" * 128, "invalid_signature"),
]
TIMESTAMPS: list[tuple[str, str, str]] = [
    ("empty", "", "empty_hmac_values"),
    ("words", "now", "invalid_timestamp_format"),
    ("ISO 8601", "2026-11-21T04:00:00Z", "invalid_timestamp_format"),
    ("decimals", "1795233600.5", "invalid_timestamp_format"),
    ("an exponent", "1e9", "invalid_timestamp_format"),
    ("negative", "-1795233600", "invalid_timestamp_format"),
    ("a plus", "+1795233600", "invalid_timestamp_format"),
    ("hexadecimal", "0x6b0123", "invalid_timestamp_format"),
    ("a blank within", "1795 233600", "invalid_timestamp_format"),
    ("an underscore", "1_795_233_600", "invalid_timestamp_format"),
    ("high bytes", "\xb2\xb3", "invalid_timestamp_format"),
    ("19 digits", "9" * 19, "invalid_timestamp_format"),
    ("50,000 digits", "9" * 50_000, "invalid_timestamp_format"),
    ("two of them", "1795233600, 1795233600", "invalid_timestamp_format"),
    ("zero", "0", "timestamp_expired"),
    ("18 digits", "9" * 18, "timestamp_expired"),
    ("milliseconds", "1795233600000", "timestamp_expired"),
    ("long ago", "1", "timestamp_expired"),
]
SIGNATURES: list[tuple[str, str, str]] = [
    ("empty", "", "empty_hmac_values"),
    ("no version", "A" * 44, "invalid_signature_format"),
    ("another version", "v2=" + "A" * 43 + "=", "invalid_signature_format"),
    ("the version in upper case", "V1=" + "A" * 43 + "=", "invalid_signature_format"),
    ("a blank after the version", "v1= " + "A" * 43 + "=", "invalid_signature_format"),
    ("no Base64", "v1=!!!!", "invalid_signature_format"),
    ("Base64 for URLs", "v1=" + "-_" * 21 + "A=", "invalid_signature_format"),
    ("hexadecimal", "v1=" + "0123456789abcdef" * 4, "invalid_signature"),
    ("padding in front", "v1====" + "A" * 40, "invalid_signature_format"),
    ("padding missing", "v1=" + "A" * 43, "invalid_signature_format"),
    ("padding alone", "v1==", "invalid_signature_format"),
    ("a line feed within", "v1=" + "A" * 20 + "\t" + "A" * 23 + "=", "invalid_signature_format"),
    ("high bytes", "v1=\xff\xfe", "invalid_signature_format"),
    ("only the version", "v1=", "invalid_signature"),
    ("513 bytes", "v1=" + "A" * 510, "signature_too_large"),
    ("50,000 bytes", "v1=" + "A" * 50_000, "signature_too_large"),
    ("50,000 bytes of no Base64", "v1=" + "!" * 50_000, "signature_too_large"),
    ("of another request", GOOD_SIGNATURE, "invalid_signature"),
    ("too short", "v1=AAAA", "invalid_signature"),
    ("two of them", f"{GOOD_SIGNATURE}, {GOOD_SIGNATURE}", "invalid_signature_format"),
]
CREDENTIALS = [
    (f"{name}: {what}", name, value, expected)
    for name, table in (
        ("X-Api-Key", KEYS),
        ("X-Nonce", NONCES),
        ("X-Timestamp", TIMESTAMPS),
        ("X-Signature", SIGNATURES),
    )
    for what, value, expected in table
]


@pytest.mark.parametrize(("what", "name", "value", "expected"), CREDENTIALS, ids=ids(CREDENTIALS))
def test_a_wrong_credential_gets_its_own_error(client: Client, what: str, name: str, value: str, expected: str) -> None:
    answer = ask(client, "GET", BALANCE, headers={name: value})
    assert said(answer) == f"401 {expected}"
    if len(value) > 4:
        assert value not in answer.body.decode()


@pytest.mark.parametrize("name", ["X-Api-Key", "X-Nonce", "X-Timestamp", "X-Signature"])
def test_a_credential_that_is_sent_twice_is_refused(client: Client, name: str) -> None:
    good = {"X-Api-Key": client.key, "X-Nonce": "n" * 20, "X-Timestamp": "1795233600", "X-Signature": GOOD_SIGNATURE}
    twice = [*good.items(), (name, good[name])]
    expected = {
        "X-Api-Key": "invalid_api_key",
        "X-Nonce": "invalid_nonce_format",
        "X-Timestamp": "invalid_timestamp_format",
        "X-Signature": "invalid_signature_format",
    }
    assert said(ask(client, "GET", BALANCE, headers=twice)) == f"401 {expected[name]}"


@pytest.mark.parametrize("one", [one for one in operations() if not one.template.startswith("/v2/token")], ids=str)
def test_every_endpoint_refuses_missing_and_wrong_credentials(client: Client, one: Operation) -> None:
    rows = [
        ("missing_api_key", {"X-Api-Key": ""}),
        ("invalid_api_key", {"X-Api-Key": "nobody"}),
        ("hmac_not_configured", {"X-Api-Key": "test_key_RS001_no_secret"}),
        ("empty_hmac_values", {"X-Signature": ""}),
        ("invalid_nonce_format", {"X-Nonce": "short"}),
        ("invalid_timestamp_format", {"X-Timestamp": "now"}),
        ("timestamp_expired", {"X-Timestamp": "1"}),
        ("invalid_signature_format", {"X-Signature": "none"}),
        ("invalid_signature", {"X-Signature": GOOD_SIGNATURE}),
    ]
    for expected, headers in rows:
        answer = ask(client, one.method, one.path, b"{}" if one.takes_body else b"", headers)
        assert answer.status == 401, (expected, answer.body[:300])
        assert answer.json["error"] == expected
    assert ask(client, one.method, one.path, signed=False).status == 401


RULES: list[tuple[str, str]] = [
    ("unknown", "nobody wrote this"),
    ("another case", "Ordinary"),
    ("two", "ordinary, ordinary"),
    ("a wildcard", "*"),
    ("Latin-1", "ordin\xe4ry"),
    ("UTF-8", "ordinär".encode().decode("latin-1")),
    ("high bytes", "\xff\xfe\xfd"),
    ("an escape sequence", "\x1b[2Jordinary"),
    ("a quotation mark", 'ordinary"'),
    ("markup", "<script>alert(1)</script>"),
    ("50,000 characters", "r" * 50_000),
]


@pytest.mark.parametrize(("what", "name"), RULES, ids=ids(RULES))
def test_a_rule_that_does_not_exist_is_refused_before_anything_happens(client: Client, what: str, name: str) -> None:
    body = b'{"refid": "by-rule", "product": "RELOAD", "account": "0123456789", "amount": "10"}'
    answer = ask(client, "POST", "/v2/topup", body, {"X-Sim-Rule": name})
    assert said(answer) == "400 unknown_rule"
    assert len(answer.body) < 2000
    assert said(ask(client, "GET", BALANCE, headers={"X-Sim-Rule": name})) == "400 unknown_rule"


VERSIONS = [
    "", " ", "v2", "2", "2026", "2026-9-16", "2026-13-01", "2026-02-30", "2026-09-16T00:00:00", "2026-W38-3",
    "20260916", "16-09-2026", "0000-00-00", "9999-99-99", "-026-09-16", "2026/09/16", "\xb2026-09-1", "2026-09 -16",
    "2026-09-16, 2026-09-16", "9" * 50_000, "latest", "null",
]  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: repr(version)[:20])
def test_a_version_that_is_not_a_date_is_ignored(client: Client, version: str) -> None:
    plain = ask(client, "GET", "/v2/catalog")
    answer = ask(client, "GET", "/v2/catalog", headers={"X-API-Version": version})
    assert (answer.status, answer.body) == (200, plain.body)


@pytest.mark.parametrize("version", ["0001-01-01", "9999-12-31", "2026-09-15", "2026-09-17", "2024-02-29"])
def test_any_real_date_is_a_version(client: Client, version: str) -> None:
    assert ask(client, "GET", "/v2/catalog", headers={"X-API-Version": version}).status == 200


IGNORED = [
    ("Authorization", "Bearer x"), ("Authorization", "Basic eDp5"), ("Authorization", "\xff"), ("Cookie", "a=b; c"),
    ("X-HTTP-Method-Override", "DELETE"), ("X-Original-URL", "/_sim/sandboxes"), ("X-Rewrite-URL", "/v2/topup"),
    ("X-Forwarded-For", "10.0.0.1"), ("Forwarded", "for=10.0.0.1"), ("Range", "bytes=0-1"), ("If-Match", "*"),
    ("Accept", "application/xml"), ("Accept-Encoding", "gzip;q=1e400"), ("Accept-Language", "x" * 50_000),
    ("Origin", "http://evil.example"), ("Referer", "\x7f"), ("User-Agent", ""), ("Content-Type", "application/xml"),
    ("Content-Encoding", "gzip"), ("Expect", "200-maybe"), ("Host", ""), ("Host", "evil.example"), ("Te", "trailers"),
    ("X-Sim-Sandbox", "neighbour"), ("X-Sim-Request-Id", "-1"), ("X-Sim-Diagnosis", "x"), ("If-None-Match", "*"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), IGNORED, ids=[f"{name}: {value}"[:40] for name, value in IGNORED])
def test_an_unknown_header_is_ignored(client: Client, name: str, value: str) -> None:
    answer = ask(client, "GET", BALANCE, headers={name: value})
    assert (answer.status, answer.headers["x-sim-sandbox"]) == (200, "default")
