"""Which refusal a request gets (SPEC 5.2), first failure first."""

import base64

import pytest

from simulator.auth.canonical import QueryRules
from simulator.auth.signature import BODY_BYTES_MAX, MESSAGES, Claim, Denied, check_headers, verify
from tests.support.signing import (
    KEY,
    KEYS,
    NONCE,
    NOW,
    headers,
    sign,
)

RULES = QueryRules()


def check(**changes: str | None) -> Claim | Denied:
    sent = headers(sign(), **changes)
    return check_headers(sent, KEYS.get(sent.get(b"x-api-key", b"").decode()), NOW, 300)


def code(outcome: Claim | Denied | None) -> str:
    return outcome.code if isinstance(outcome, Denied) else "fine"


HEADERS: list[tuple[dict[str, str | None], str]] = [
    ({}, "fine"),
    ({"x_api_key": None}, "missing_api_key"),
    ({"x_api_key": ""}, "missing_api_key"),
    ({"x_api_key": "nobody"}, "invalid_api_key"),
    ({"x_api_key": "gone"}, "invalid_api_key"),
    ({"x_api_key": f"{KEY}, {KEY}"}, "invalid_api_key"),
    ({"x_api_key": "bare"}, "hmac_not_configured"),
    ({"x_timestamp": None}, "missing_hmac_headers"),
    ({"x_nonce": None}, "missing_hmac_headers"),
    ({"x_signature": None}, "missing_hmac_headers"),
    ({"x_signature": None, "x_nonce": ""}, "missing_hmac_headers"),
    ({"x_timestamp": ""}, "empty_hmac_values"),
    ({"x_nonce": ""}, "empty_hmac_values"),
    ({"x_signature": ""}, "empty_hmac_values"),
    ({"x_nonce": "a" * 15}, "invalid_nonce_format"),
    ({"x_nonce": "a" * 16}, "fine"),
    ({"x_nonce": "a" * 128}, "fine"),
    ({"x_nonce": "a" * 129}, "invalid_nonce_format"),
    ({"x_nonce": "Az09-_Az09-_Az09"}, "fine"),
    ({"x_nonce": "a" * 15 + "."}, "invalid_nonce_format"),
    ({"x_nonce": "a" * 15 + "é"}, "invalid_nonce_format"),
    ({"x_nonce": "a" * 16 + "\n"}, "invalid_nonce_format"),
    ({"x_timestamp": "soon"}, "invalid_timestamp_format"),
    ({"x_timestamp": "-5"}, "invalid_timestamp_format"),
    ({"x_timestamp": "1.5"}, "invalid_timestamp_format"),
    ({"x_timestamp": "1e9"}, "invalid_timestamp_format"),
    ({"x_timestamp": "9" * 19}, "invalid_timestamp_format"),
    ({"x_timestamp": "9" * 18}, "timestamp_expired"),
    ({"x_timestamp": "0"}, "timestamp_expired"),
    ({"x_timestamp": str(NOW - 300)}, "fine"),
    ({"x_timestamp": str(NOW + 300)}, "fine"),
    ({"x_timestamp": str(NOW - 301)}, "timestamp_expired"),
    ({"x_timestamp": str(NOW + 301)}, "timestamp_expired"),
    ({"x_timestamp": str(NOW * 1000)}, "timestamp_expired"),
    ({"x_signature": "v2=abcd"}, "invalid_signature_format"),
    ({"x_signature": "abcd"}, "invalid_signature_format"),
    ({"x_signature": "V1=abcd"}, "invalid_signature_format"),
    ({"x_signature": "v1=not base64"}, "invalid_signature_format"),
    ({"x_signature": "v1=abc"}, "invalid_signature_format"),
    ({"x_signature": sign().rstrip("=")}, "invalid_signature_format"),
    ({"x_signature": sign() + "="}, "invalid_signature_format"),
    ({"x_signature": sign() + "\n"}, "invalid_signature_format"),
    ({"x_signature": "v1= " + sign()[3:]}, "invalid_signature_format"),
    ({"x_signature": sign()[:20] + "\t" + sign()[20:]}, "invalid_signature_format"),
    ({"x_signature": "v1=" + "-_" * 21 + "A="}, "invalid_signature_format"),
    ({"x_signature": "v1=" + "A" * 42 + "B="}, "invalid_signature_format"),
    ({"x_signature": "v1=AB=="}, "invalid_signature_format"),
    ({"x_signature": "v1=AA=="}, "fine"),
    ({"x_signature": "v1=" + "A" * 508}, "fine"),
    ({"x_signature": "v1=" + "A" * 509}, "invalid_signature_format"),  # 512 bytes
    ({"x_signature": "v1=" + "A" * 510}, "signature_too_large"),
    ({"x_signature": "x" * 9000}, "invalid_signature_format"),
]


@pytest.mark.parametrize(("changes", "expected"), HEADERS)
def test_headers_are_checked_before_the_body(changes: dict[str, str | None], expected: str) -> None:
    assert code(check(**changes)) == expected


ORDER: list[tuple[dict[str, str | None], str]] = [
    ({"x_api_key": None}, "missing_api_key"),
    ({"x_api_key": "nobody"}, "invalid_api_key"),
    ({"x_api_key": "bare"}, "hmac_not_configured"),
    ({"x_timestamp": None}, "missing_hmac_headers"),
    ({"x_timestamp": ""}, "empty_hmac_values"),
    ({"x_nonce": "short"}, "invalid_nonce_format"),
    ({"x_timestamp": "soon"}, "invalid_timestamp_format"),
    ({"x_timestamp": "0"}, "timestamp_expired"),
    ({"x_signature": "bad"}, "invalid_signature_format"),
    ({"x_signature": "v1=" + "A" * 600}, "signature_too_large"),
]


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_the_first_failure_of_the_table_wins(first: int) -> None:
    changes: dict[str, str | None] = {}
    for failure, _ in reversed(ORDER[first:]):
        changes |= failure
    assert code(check(**changes)) == ORDER[first][1]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"x_api_key": None}, "X-Api-Key is absent"),
        ({"x_api_key": ""}, "X-Api-Key is empty"),
        ({"x_nonce": "a" * 15}, "the nonce has 15 characters"),
        ({"x_nonce": "a" * 15 + "."}, "the nonce has '.'"),
        ({"x_nonce": "a" * 126 + ".!"}, "the nonce has '.'; only"),
        ({"x_timestamp": str(NOW - 301)}, "the timestamp is 301 s behind"),
        ({"x_timestamp": str(NOW + 301)}, "the timestamp is 301 s ahead of"),
        ({"x_timestamp": str(NOW - 4500)}, "the timestamp is 4,500 s behind the server's clock"),
        ({"x_timestamp": str(NOW + 86_400)}, "the timestamp is 24 h ahead of the server's clock"),
        ({"x_timestamp": "1"}, f"the timestamp is {NOW / 3600:,.0f} h behind the server's clock"),
        ({"x_timestamp": str(NOW + 8 * 3600 - 1)}, "the timestamp is 8 h ahead: local time signed as UTC?"),
        ({"x_timestamp": str(NOW - 19_800)}, "the timestamp is 5.5 h behind: local time signed as UTC?"),
        ({"x_timestamp": str(NOW - 3660)}, "the timestamp is 1 h behind: local time signed as UTC?"),
        ({"x_timestamp": str(NOW - 3661)}, "the timestamp is 3,661 s behind the server's clock"),
        ({"x_timestamp": str(NOW - 7500)}, "the timestamp is 2 h behind the server's clock"),
        ({"x_timestamp": str(NOW + 14 * 3600)}, "the timestamp is 14 h ahead: local time signed as UTC?"),
        ({"x_timestamp": str(NOW + 15 * 3600)}, "the timestamp is 15 h ahead of the server's clock"),
        ({"x_timestamp": f"{NOW}417123"}, "the timestamp is in microseconds; send seconds"),
        ({"x_timestamp": f"{NOW}417123456"}, "X-Timestamp must be whole seconds since 1970"),
        ({"x_api_key": None, "x_apikey": KEY}, "X-Api-Key is absent; x-apikey was sent, did you mean X-Api-Key?"),
        (
            {"x_timestamp": None, "timestamp": "1"},
            "not sent: X-Timestamp; timestamp was sent, did you mean X-Timestamp",
        ),
        ({"x_nonce": None, "nonce": "n"}, "not sent: X-Nonce; nonce was sent, did you mean X-Nonce?"),
        ({"x_signature": None, "x_sign": "v1=x"}, "not sent: X-Signature; x-sign was sent, did you mean X-Signature?"),
        ({"x_signature": None, "x_hmac_signature": "x"}, "not sent: X-Signature; x-hmac-signature was sent"),
    ],
)
def test_a_refusal_says_what_is_wrong(changes: dict[str, str | None], reason: str) -> None:
    outcome = check(**changes)
    assert isinstance(outcome, Denied)
    assert outcome.diagnosis.startswith(reason)


def test_a_header_whose_name_is_not_alike_is_not_taken_for_an_absent_one() -> None:
    assert check(x_nonce=None, x_request_id="n") == Denied("missing_hmac_headers", "not sent: X-Nonce")


def test_milliseconds_are_recognised() -> None:
    refused = check(x_timestamp=str(NOW * 1000))
    assert isinstance(refused, Denied)
    assert "milliseconds" in refused.diagnosis


@pytest.mark.parametrize("off_s", [0, 301, -301, 86_400 * 365])
def test_milliseconds_are_recognised_by_their_digits_whenever_they_were(off_s: int) -> None:
    refused = check(x_timestamp=f"{NOW + off_s}417")
    assert refused == Denied("timestamp_expired", "the timestamp is in milliseconds; send seconds")


def verified(
    method: str = "GET", query: str = "", body: bytes = b"", *, signed: str | None = None, key: str = KEY
) -> str:
    claim = check_headers(headers(signed or sign(method, query, body), x_api_key=key), KEYS[key], NOW, 300)
    assert isinstance(claim, Claim)
    return code(verify(claim, method.encode(), query.encode(), body, RULES))


@pytest.mark.parametrize(
    ("method", "query", "body"),
    [
        ("GET", "", b""),
        ("GET", "b=2&a=1", b""),
        ("GET", "b=2&flag&a=1&empty=", b""),
        ("GET", "q=%E2%82%AC&x=a%2Bb", b""),
        ("POST", "", b'{"refid":"a"}'),
        ("POST", "", b"\x00\xff"),
        ("DELETE", "", b""),
    ],
)
def test_a_request_signed_according_to_spec_is_accepted(method: str, query: str, body: bytes) -> None:
    assert verified(method, query, body) == "fine"


def test_every_part_of_the_request_is_signed() -> None:
    good = sign("POST", "a=1", b"body")
    assert verified("POST", "a=1", b"body", signed=good) == "fine"
    assert verified("PUT", "a=1", b"body", signed=good) == "invalid_signature"
    assert verified("POST", "a=2", b"body", signed=good) == "invalid_signature"
    assert verified("POST", "a=1", b"bodY", signed=good) == "invalid_signature"
    assert (
        verified("POST", "a=1", b"body", signed=sign("POST", "a=1", b"body", secret=b"x" * 32)) == "invalid_signature"
    )
    assert verified("POST", "a=1", b"body", signed=sign("POST", "a=1", b"body", nonce="n" * 16)) == "invalid_signature"


def test_truncated_and_empty_signatures_do_not_match() -> None:
    whole = base64.b64decode(sign()[3:])
    for length in (0, 1, 31):
        assert verified(signed="v1=" + base64.b64encode(whole[:length]).decode()) == "invalid_signature"


def test_an_undecryptable_secret_is_reported_when_the_signature_would_be_checked() -> None:
    assert verified(key="dark") == "decryption_error"


def test_every_code_of_the_table_and_the_bearers_own_has_a_message_and_nothing_else() -> None:
    assert set(MESSAGES) == {
        "missing_api_key", "invalid_api_key", "hmac_not_configured", "missing_hmac_headers", "empty_hmac_values",
        "invalid_nonce_format", "invalid_timestamp_format", "timestamp_expired", "invalid_signature_format",
        "signature_too_large", "body_too_large", "invalid_signature", "nonce_reused", "decryption_error",
        "internal_error", "invalid_token",
    }  # fmt: skip
    assert len(NONCE) == 16


def test_a_body_has_at_most_10_mib() -> None:
    assert BODY_BYTES_MAX == 10 * 2**20


def test_the_message_of_a_timestamp_just_too_old_does_not_round_to_the_limit() -> None:
    denied = check_headers(headers(sign(), x_timestamp=str(NOW - 300)), KEYS[KEY], NOW + 0.0004, 300)
    assert isinstance(denied, Denied)
    assert "is 300.0004 s behind" in denied.diagnosis
    denied = check_headers(headers(sign()), KEYS[KEY], NOW + 0.5, 0)
    assert isinstance(denied, Denied)
    assert "is 0.5 s behind" in denied.diagnosis


@pytest.mark.parametrize(("key", "is_said"), [("nobody", False), (f"{KEY}, {KEY}", True)])
def test_a_key_that_was_sent_twice_is_reported_so(key: str, is_said: bool) -> None:
    denied = check(x_api_key=key)
    assert isinstance(denied, Denied)
    assert ["sent more than once" in text for text in (denied.diagnosis, denied.public_diagnosis)] == [is_said, is_said]


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        (f'"{KEY}"', "it has quotes around it"),
        (f"Bearer {KEY}", "send the key alone, without Bearer"),
        ("undefined", "it is a placeholder, or a variable that is not set"),
        ("{{api_key}}", "it is a placeholder, or a variable that is not set"),
        ("$RESELLER_API_KEY", "it is a placeholder, or a variable that is not set"),
        ("YOUR_API_KEY", "it is a placeholder, or a variable that is not set"),
        ("test%5Fkey", "it is percent-encoded"),
    ],
)
def test_a_key_with_a_wrong_form_is_explained_to_every_caller(key: str, hint: str) -> None:
    denied = check(x_api_key=key)
    assert isinstance(denied, Denied)
    assert all(text.endswith(f"; {hint}") for text in (denied.diagnosis, denied.public_diagnosis))


@pytest.mark.parametrize("name", ["x_nonce", "x_timestamp", "x_signature"])
def test_a_header_that_was_sent_twice_is_reported_so(name: str) -> None:
    once = {"x_nonce": NONCE, "x_timestamp": str(NOW), "x_signature": sign()}[name]
    denied = check_headers(headers(sign(), **{name: f"{once}, {once}"}), KEYS[KEY], NOW, 300)
    assert isinstance(denied, Denied)
    assert "the header was sent more than once" in denied.diagnosis
