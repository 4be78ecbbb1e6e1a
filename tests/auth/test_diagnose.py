"""Known mistakes of clients, each recognised from the signature alone."""

import base64
import hashlib
import hmac
from collections.abc import Callable

import msgspec
import pytest

from simulator.auth.autopsy import search
from simulator.auth.autopsy.report import diagnose
from simulator.auth.canonical import QueryRules
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
RULES = QueryRules()


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
    (claim_of(canonical(), base64.b64encode(SECRET)), "decode the secret from Base64"),
    (claim_of(canonical(query="b=2&a=%201")), "not sorted"),
    (claim_of(canonical(query="")), "left out"),
    (claim_of(canonical(query="?" + SORTED)), "question mark"),
    (claim_of(canonical(query="a= 1&b=2")), "percent-decoded"),
    (claim_of(canonical(query=PATH)), "path is signed instead"),
    (claim_of(canonical(query=f"{PATH}?b=2&a=%201")), "path is signed together"),
    (claim_of(canonical(method="post")), "lower case"),
    (claim_of(canonical()[3:]), "v1: is missing"),
    (claim_of(canonical().replace(":", "\n")), "line feeds"),
    (claim_of(canonical() + "\n"), "ends in a line feed"),
    (claim_of(canonical(hashed=hashlib.sha256(BODY).hexdigest())), "body hash is hexadecimal"),
    (claim_of(canonical(hashed=BODY.decode())), "body itself"),
    (claim_of(canonical(hashed="")), "hash is missing"),
    (claim_of(canonical(hashed=EMPTY)), "empty body was signed"),
    (claim_of(canonical(hashed=hashed(b'{"a":1}'))), "serialised again"),
    (claim_of(canonical(), b"another secret of 32 bytes......"), "no common mistake"),
]


@pytest.mark.parametrize(("claim", "expected"), MISTAKES, ids=[text for _, text in MISTAKES])
def test_a_mistake_is_named(claim: Claim, expected: str) -> None:
    assert expected in diagnose(claim, METHOD, PATH, QUERY, BODY, RULES)


def test_a_signature_of_another_length_is_reported() -> None:
    short = claim_of(canonical())
    cut = msgspec.structs.replace(short, signature=short.signature[:20])
    assert "only a part of the signature is sent" in diagnose(cut, METHOD, PATH, QUERY, BODY, RULES)


def test_no_diagnosis_shows_the_secret() -> None:
    for claim, _ in MISTAKES:
        text = diagnose(claim, METHOD, PATH, QUERY, BODY, RULES)
        assert SECRET.decode() not in text
        assert base64.b64encode(SECRET).decode() not in text


@pytest.mark.parametrize("body", [b"", b"[" * 5000, b"\xff\xfe", b'{"a":"\\ud800"}', b"NaN"])
def test_any_body_can_be_diagnosed(body: bytes) -> None:
    assert diagnose(claim_of("nothing"), METHOD, PATH, b"=&&%zz=%", body, RULES)


PLAIN, SPACE = "a=1&b=2", "date=2026-10-01%20-%202026-10-02&limit=5"
QUERIES = [
    ("limit=5&date=1&flag", "date=1&flag&limit=5", "flag has no ="),
    ("limit=5&date=1&flag", "date=1&flag=&limit=5", "flag has no ="),
    (SPACE, "date=2026-10-01+-+2026-10-02&limit=5", "in another encoding than it is sent"),
    (SPACE.replace("%20", "+"), SPACE, "in another encoding than it is sent"),
    (SPACE.replace("%20", "+"), "date=2026-10-01 - 2026-10-02&limit=5", "percent-decoded"),
    ("url=http%3a%2f%2fh%2fx", "url=http%3A%2F%2Fh%2Fx", "in another encoding than it is sent"),
    ("url=http://h/x", "url=http%3A%2F%2Fh%2Fx", "in another encoding than it is sent"),
]


@pytest.mark.parametrize(("sent", "signed", "expected"), QUERIES)
def test_a_mistake_in_the_query_is_named(sent: str, signed: str, expected: str) -> None:
    claim = claim_of(canonical("GET", signed, EMPTY))
    assert expected in diagnose(claim, "GET", PATH, sent.encode(), b"", RULES)


def test_a_query_that_is_left_out_with_its_colon_is_named() -> None:
    claim = claim_of(f"v1:{NOW}:{NONCE}:GET:{EMPTY}")
    assert "colon" in diagnose(claim, "GET", PATH, b"", b"", RULES)


_BY_VALUE = "equal keys are signed in the order sent; sort by key, and equal keys by value (assume.repeated-query-keys)"
_LEAVE_OUT = "parameters with an empty value are signed; leave them out (assume.empty-query-values)"
TWICE, BLANK = "s=2&a=1&s=1", "b=&a=1"
FIXED = [
    (QueryRules("sorted", "either"), TWICE, "a=1&s=2&s=1", "equal keys are signed in the order sent; sort"),
    (
        QueryRules("as_sent", "either"),
        TWICE,
        "a=1&s=1&s=2",
        "equal keys are sorted by value; sort by key alone, equal keys stay in the order sent",
    ),
    (QueryRules("either", "without"), BLANK, "a=1&b=", "parameters with an empty value are signed; leave them out"),
    (QueryRules("either", "with"), BLANK, "a=1", "parameters with an empty value are not signed; sign them"),
    (QueryRules("sorted", "either"), "s=2&s=1", "s=2&s=1", "equal keys are signed in the order sent; sort"),
    (QueryRules("either", "without"), "a=1&b=", "a=1&b=", "parameters with an empty value are signed; leave them out"),
]


@pytest.mark.parametrize(("rules", "sent", "signed", "expected"), FIXED)
def test_a_query_that_the_choices_of_the_sandbox_refuse_is_named(
    rules: QueryRules, sent: str, signed: str, expected: str
) -> None:
    claim = claim_of(canonical("GET", signed, EMPTY))
    said = diagnose(claim, "GET", PATH, sent.encode(), b"", rules)
    assert said.startswith(expected)
    assert "hexadecimal" not in said


def test_only_the_choices_that_a_query_breaks_are_named() -> None:
    rules = QueryRules("sorted", "without")
    for sent, signed, said in (
        ("s=2&b=&s=1", "b=&s=1&s=2", _LEAVE_OUT),
        ("s=2&b=&s=1", "s=2&s=1", _BY_VALUE),
        ("b=", "b=", _LEAVE_OUT),
    ):
        claim = claim_of(canonical("GET", signed, EMPTY))
        assert diagnose(claim, "GET", PATH, sent.encode(), b"", rules) == said


@pytest.mark.parametrize("signed", ["a=1&b=&s=2&s=1", "a=1&b=&s=1&s=2"])
def test_a_mistake_is_named_whichever_order_of_equal_keys_was_signed(signed: str) -> None:
    text = canonical("GET", signed, EMPTY)
    for claim, expected in (
        (claim_of(text, base64.b64encode(SECRET)), "decode the secret from Base64"),
        (claim_of(text, hexadecimal=True), "hexadecimal"),
        (claim_of(text[3:]), "v1: is missing"),
    ):
        assert expected in diagnose(claim, "GET", PATH, b"s=2&b=&a=1&s=1", b"", RULES)


@pytest.mark.parametrize(
    "query",
    [b"&" * 64_000, b"&".join(b"b%d=1" % n for n in range(7000)), b"&".join([b"a=1"] * 501), b"a=%41" * 4000],
    ids=["nothing", "many", "some", "long"],
)
def test_the_longer_a_query_is_the_fewer_mistakes_are_tried(query: bytes, tried: list[bytes]) -> None:
    claim = claim_of(canonical(query=""))
    said = diagnose(claim, "GET", PATH, query, b"", RULES)
    assert said.startswith("no common mistake was found in a short search; run `reseller-sim explain --last`")
    assert len(tried) * (1 + query.count(b"&") // 8) <= search.LOOP_HMACS_MAX


def test_a_client_that_has_not_shown_to_own_the_key_learns_nothing_of_it() -> None:
    """Neither the string to sign, nor that a secret was guessed which is not the key's."""
    for secret in (b"", b"another secret", KEY.encode()):
        said = diagnose(claim_of(canonical(), secret), METHOD, PATH, QUERY, BODY, RULES)
        assert said.startswith("no common mistake was found in a short search; run `reseller-sim explain --last`")
        assert str(NOW) not in said
    plain = base64.b64encode(hashlib.sha256(canonical().encode()).digest()).decode()
    claim = check_headers(headers("v1=" + plain), KEYS[KEY], NOW, 300)
    assert isinstance(claim, Claim)
    assert diagnose(claim, METHOD, PATH, QUERY, BODY, RULES).startswith("no common mistake")


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        (b"", "nothing follows v1="),
        (b"x" * 20, "SHA-1"),
        (b"x" * 33, "33 bytes, an HMAC-SHA256 has 32"),
        (b"x" * 64, "64 bytes, an HMAC-SHA256 has 32"),
    ],
)
def test_a_signature_of_the_wrong_length_is_not_called_hexadecimal(signature: bytes, expected: str) -> None:
    claim = msgspec.structs.replace(claim_of(canonical()), signature=signature)
    said = diagnose(claim, METHOD, PATH, QUERY, BODY, RULES)
    assert expected in said
    assert "hexadecimal" not in said


@pytest.mark.parametrize("of", [lambda text: text, base64.b64encode], ids=["as text", "in Base64"])
def test_any_hexadecimal_signature_is_called_so(of: Callable[[bytes], bytes]) -> None:
    digest = hmac.new(b"another secret", canonical().encode(), "sha256").hexdigest().encode()
    claim = check_headers(headers("v1=" + of(digest).decode()), KEYS[KEY], NOW, 300)
    assert isinstance(claim, Claim)
    assert "hexadecimal" in diagnose(claim, METHOD, PATH, QUERY, BODY, RULES)


SIGNED_AS_SENT = "the query is signed as it is sent; sort the query by key and leave out parameters without ="


C_IS_BARE = "c has no =, so it is not part of the canonical string; leave out every parameter that has no ="


@pytest.mark.parametrize(
    ("query", "signed", "expected"),
    [
        (b"b=2&a=1&c", "b=2&a=1", "the query is not sorted by key; sort the parameters of the query by key"),
        (b"b=2&a=1&c", "a=1&b=2&c", C_IS_BARE),
        (b"a=1&b=2&c", "a=1&b=2&c", C_IS_BARE),
        (b"c", "c", C_IS_BARE),
        (b"b=2&c&a=1", "b=2&c&a=1", SIGNED_AS_SENT),
    ],
)  # fmt: skip
def test_the_order_and_a_parameter_without_a_value_are_distinguished(query: bytes, signed: str, expected: str) -> None:
    assert diagnose(claim_of(canonical(query=signed)), METHOD, PATH, query, BODY, RULES) == expected
