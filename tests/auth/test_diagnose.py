"""Known mistakes of clients, each recognised from the signature alone."""

import base64
import hashlib
import hmac
import json

import msgspec
import pytest

from simulator.auth.diagnose import diagnose
from simulator.auth.signature import Claim, check_headers
from tests.support.signing import (
    KEY,
    KEYS,
    NONCE,
    NOW,
    SECRET,
    headers,
)

METHOD, PATH, QUERY, BODY = "POST", "/v2/topup", b"b=2&a=%201", b'{"a": 1}'
HASH = base64.b64encode(hashlib.sha256(BODY).digest()).decode()
EMPTY = base64.b64encode(hashlib.sha256(b"").digest()).decode()
SORTED = "a=%201&b=2"


def canonical(method: str = METHOD, query: str = SORTED, hashed: str = HASH) -> str:
    return f"v1:{NOW}:{NONCE}:{method}:{query}:{hashed}"


def claim_of(text: str, secret: bytes = SECRET, *, hexadecimal: bool = False) -> Claim:
    digest = hmac.new(secret, text.encode(), "sha256")
    sent = digest.hexdigest() if hexadecimal else base64.b64encode(digest.digest()).decode()
    claim = check_headers(headers("v1=" + sent), KEYS[KEY], NOW, 300)
    assert isinstance(claim, Claim)
    return claim


def hashed(body: bytes) -> str:
    return base64.b64encode(hashlib.sha256(body).digest()).decode()


MISTAKES = [
    (claim_of(canonical(), hexadecimal=True), "hexadecimal"),
    (claim_of(canonical(), base64.b64encode(SECRET)), "decode it from Base64"),
    (claim_of(canonical(query="b=2&a=%201")), "not sorted"),
    (claim_of(canonical(query="")), "left out"),
    (claim_of(canonical(query="?" + SORTED)), "question mark"),
    (claim_of(canonical(query="a= 1&b=2")), "percent-decoded"),
    (claim_of(canonical(query=PATH)), "path is signed instead"),
    (claim_of(canonical(query=f"{PATH}?b=2&a=%201")), "path is signed together"),
    (claim_of(canonical(method="post")), "lower case"),
    (claim_of(canonical()[3:]), "v1: is missing"),
    (claim_of(canonical().replace(":", "\n")), "line feeds"),
    (claim_of(canonical(hashed=hashlib.sha256(BODY).hexdigest())), "body hash is hexadecimal"),
    (claim_of(canonical(hashed=BODY.decode())), "body itself"),
    (claim_of(canonical(hashed="")), "hash is missing"),
    (claim_of(canonical(hashed=EMPTY)), "empty body was signed"),
    (claim_of(canonical(hashed=hashed(b'{"a":1}'))), "serialised again"),
    (claim_of(canonical(hashed=hashed(json.dumps({"a": 1}, indent=2).encode()))), "serialised again"),
    (claim_of(canonical(), b"another secret of 32 bytes......"), "no known mistake"),
]


@pytest.mark.parametrize(("claim", "expected"), MISTAKES, ids=[text for _, text in MISTAKES])
def test_a_mistake_is_named(claim: Claim, expected: str) -> None:
    assert expected in diagnose(claim, METHOD, PATH, QUERY, BODY)


def test_a_signature_of_another_length_is_reported() -> None:
    short = claim_of(canonical())
    cut = msgspec.structs.replace(short, signature=short.signature[:20])
    assert "20 bytes" in diagnose(cut, METHOD, PATH, QUERY, BODY)


def test_no_diagnosis_shows_the_secret() -> None:
    for claim, _ in MISTAKES:
        told = diagnose(claim, METHOD, PATH, QUERY, BODY)
        assert SECRET.decode() not in told
        assert base64.b64encode(SECRET).decode() not in told


@pytest.mark.parametrize("body", [b"", b"[" * 5000, b"\xff\xfe", b'{"a":"\\ud800"}', b"NaN"])
def test_any_body_can_be_diagnosed(body: bytes) -> None:
    assert diagnose(claim_of("nothing"), METHOD, PATH, b"=&&%zz=%", body)


SIGNED_AS_SENT = "the query is signed as it is sent; sort it by key and leave out parameters without ="


@pytest.mark.parametrize(
    ("query", "signed", "expected"),
    [
        (b"b=2&a=1&c", "b=2&a=1", "the query is not sorted by key"),
        (b"b=2&a=1&c", "a=1&b=2&c", "a parameter without = is signed; leave it out"),
        (b"a=1&b=2&c", "a=1&b=2&c", "a parameter without = is signed; leave it out"),
        (b"c", "c", "a parameter without = is signed; leave it out"),
        (b"b=2&c&a=1", "b=2&c&a=1", SIGNED_AS_SENT),
    ],
)  # fmt: skip
def test_the_order_and_a_parameter_without_a_value_are_told_apart(query: bytes, signed: str, expected: str) -> None:
    assert diagnose(claim_of(canonical(query=signed)), METHOD, PATH, query, BODY) == expected
