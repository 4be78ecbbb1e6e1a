"""Tokens are valid in a single sandbox, for one use and a limited time; others are refused with the reason."""

import string
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.auth.signature import Denied
from simulator.auth.tokens import ISSUER, Realm, TokenHolder, Use, claimed, issue, verify

NOW = datetime(2026, 11, 21, 4, 0, 0, tzinfo=UTC)
NOW_S = int(NOW.timestamp())
HOUR = timedelta(hours=1)
REALM = Realm("here", b"k" * 32)
ELSEWHERE = Realm("there", b"e" * 32)
HOLDER = TokenHolder("ann", "RS001")
CLAIMS: dict[str, Any] = {
    "iss": ISSUER,
    "aud": "here",
    "sub": "ann",
    "reseller": "RS001",
    "token_use": "id",
    "iat": NOW_S,
    "exp": NOW_S + 3600,
    "issued_us": 0,
}


def made(key: bytes | None = REALM.key, algorithm: str = "HS256", **changed: Any) -> str:
    """A token with changed claims; claims that are None are left out."""
    claims = {name: value for name, value in (CLAIMS | changed).items() if value is not None}
    return jwt.encode(claims, key or "", algorithm=algorithm)


def issued(use: Use = Use.ID, realm: Realm = REALM) -> str:
    return issue(realm, use, HOLDER, NOW, HOUR)


@pytest.mark.parametrize("use", Use)
def test_a_token_is_valid_for_its_own_use_only(use: Use) -> None:
    for other in Use:
        got = verify(REALM, issued(use), other, NOW)
        assert (got == HOLDER) if other is use else isinstance(got, Denied)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-1, "becomes valid in 1 s"),
        (0, ""),
        (3599, ""),
        (3600, "expired just now by"),
        (90_000, "expired 86400 s ago"),
    ],
)
def test_a_token_lives_by_the_time_that_is_passed_in(seconds: int, said: str) -> None:
    got = verify(REALM, issued(), Use.ID, NOW + timedelta(seconds=seconds))
    assert (said in got.diagnosis) if isinstance(got, Denied) else (not said and got == HOLDER)


SECOND, TICK = timedelta(seconds=1), timedelta(microseconds=1)


@pytest.mark.parametrize("use", Use)
@given(offset_us=st.integers(0, 999_999), lifetime_s=st.integers(1, 315_360_000))
def test_a_token_lives_to_the_microsecond_as_long_as_it_says(use: Use, offset_us: int, lifetime_s: int) -> None:
    begins = NOW + offset_us * TICK
    ends = begins + lifetime_s * SECOND
    token = issue(REALM, use, HOLDER, begins, lifetime_s * SECOND)
    for moment in (begins, ends - TICK):
        assert verify(REALM, token, use, moment) == HOLDER
    for moment in (begins - TICK, ends, ends + TICK):
        assert isinstance(verify(REALM, token, use, moment), Denied)


def test_other_libraries_read_whole_seconds_that_are_as_far_apart_as_the_lifetime() -> None:
    claims = claimed(issue(REALM, Use.ID, HOLDER, NOW + 750_000 * TICK, HOUR))
    assert (claims["iat"], claims["exp"], claims["issued_us"]) == (NOW_S, NOW_S + 3600, 750_000)
    assert type(claims["iat"]) is type(claims["exp"]) is int


def test_equal_inputs_give_equal_bytes() -> None:
    assert issued() == issued() == made()
    assert issued() != issued(realm=ELSEWHERE)
    assert issued() != issue(REALM, Use.ID, HOLDER, NOW + timedelta(seconds=1), HOUR)


HEADER, PAYLOAD, SIGNATURE = issued().split(".")


SPARE = jwt.utils.base64url_encode(b'{"a": 1}').decode()


def other_end(part: str) -> str:
    """A part of a token whose last character differs in the bits that Base64url leaves over."""
    assert len(part) % 4, "there are bits left over"
    letters = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
    return part[:-1] + letters[letters.index(part[-1]) ^ 1]


BENT = ("B" if SIGNATURE[0] == "A" else "A") + SIGNATURE[1:]


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (issued(Use.ACCESS), "this is the AccessToken; send the IdToken"),
        (issued(Use.REFRESH), "this is the RefreshToken; send the IdToken"),
        (made(token_use="other"), "this is another token; send the IdToken"),
        (made(token_use=["id"]), "this is another token"),
        (made(None, "none"), "not signed with HS256"),
        (made(REALM.key * 2, "HS512"), "not signed with HS256"),
        (made(b"x" * 32), "the token was changed, or signed with another key"),
        (f"{HEADER}.{PAYLOAD}.{BENT}", "the token was changed"),
        (f"{HEADER}.{PAYLOAD}.", "the token was changed"),
        (issued(realm=ELSEWHERE), "belongs to the sandbox 'there', and this is 'here'"),
        (made(b"x" * 32, aud="x" * 500), "belongs to the sandbox 'xxx"),
        (made(b"x" * 32, aud=["there"]), "the token was changed"),
        (made(aud="there"), "not those of this sandbox"),
        (made(aud=7), "not those of this sandbox"),
        (made(iss="somebody"), "not those of this sandbox"),
        (made(exp=None), "not those of this sandbox"),
        (made(reseller=None), "not those of this sandbox"),
        (made(iat=NOW_S + 60), "becomes valid in 60 s"),
        (made(exp=1e300), "must be whole numbers"),
        (made(iat=True), "must be whole numbers"),
        (made(issued_us=None), "not those of this sandbox"),
        (made(issued_us=0.5), "must be whole numbers"),
        (made(exp=10**30), ""),
        ("", "not a JSON Web Token"),
        ("...", "not a JSON Web Token"),
        ("a.b.c", "not a JSON Web Token"),
        ("eyJ.eyJ.x", "not a JSON Web Token"),
        (f"{jwt.utils.base64url_encode(b'[' * 2500).decode()}.e30.", "not a JSON Web Token"),
        (f"{HEADER}.{PAYLOAD}", "not a JSON Web Token"),
        (f"{HEADER}.{PAYLOAD}.{other_end(SIGNATURE)}", "not a JSON Web Token"),
        (f"{HEADER}.{other_end(SPARE)}.{SIGNATURE}", "not a JSON Web Token"),
        (f"{HEADER}.{PAYLOAD}.{SIGNATURE[:-2]}", "was it cut or changed?"),
        (f"{HEADER}.{PAYLOAD}.{SIGNATURE[:-1]}!", "was it cut or changed?"),
        (f"{PAYLOAD[1:]}.{PAYLOAD}.{SIGNATURE}", "not a JSON Web Token"),
        (f"{HEADER}.W.{SIGNATURE}", "not a JSON Web Token"),
        (f"{HEADER}.{PAYLOAD}.{SIGNATURE}.x", "not a JSON Web Token"),
        (f" {issued()}", "not a JSON Web Token"),
        ("\N{LATIN SMALL LETTER E WITH ACUTE}.\ud800.", "not a JSON Web Token"),
        ("x" * 65_536, "not a JSON Web Token"),
        (
            f"{HEADER}.{jwt.utils.base64url_encode(b'[' * 40_000).decode()}.{SIGNATURE}",
            "changed, or signed with another key",
        ),
    ],
)
def test_an_invalid_token_is_refused_with_the_reason(token: str, said: str) -> None:
    got = verify(REALM, token, Use.ID, NOW)
    if said:
        assert isinstance(got, Denied)
        assert got.code == "invalid_token"
        assert said in got.diagnosis
    else:
        assert got == HOLDER


@given(token=st.text(max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_refused_and_never_raises(token: str) -> None:
    assert isinstance(verify(REALM, token, Use.ID, NOW), Denied)
    claimed(token)


@given(header=st.binary(max_size=60), payload=st.binary(max_size=60))
def test_any_parts_are_refused_and_never_raise(header: bytes, payload: bytes) -> None:
    token = b".".join(map(jwt.utils.base64url_encode, (header, payload, b"x"))).decode()
    assert isinstance(verify(REALM, token, Use.ID, NOW), Denied)


def test_a_tokens_claims_can_be_read_without_verification() -> None:
    assert claimed(issued(realm=ELSEWHERE))["aud"] == "there"
    assert claimed("x" * 65_536) == claimed("a.b.c") == {}
