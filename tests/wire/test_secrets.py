"""Secrets are found in any text, among any number of others, and nothing else is."""

import json
from base64 import b64encode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.auth.tokens import Holder, Realm, Use, issue
from simulator.control.masking import Mask
from simulator.domain.model.secret_log import FORMER_MAX, SecretLog
from simulator.wire.secrets import CUT_CHARS_MIN, FOUND_CHARS_MIN, MASKED, Secrets, hidden

LETTERS = st.sampled_from('ab1/+ =é"\\%')
STRONG = st.tuples(st.text(LETTERS, max_size=6), st.text(LETTERS, min_size=6, max_size=12)).map("1-a".join)
SECRETS = st.lists(STRONG, min_size=1, max_size=5)


@given(secrets=SECRETS, texts=st.lists(st.text(LETTERS, max_size=12), max_size=4))
def test_a_secret_is_found_at_every_place_of_a_text(secrets: list[str], texts: list[str]) -> None:
    index = Secrets(secrets)
    for before in texts:
        for secret in secrets:
            text = f"{before}{secret}{before}".encode()
            start, end = len(before.encode()), len(f"{before}{secret}".encode().rstrip(b"="))
            spans = index.spans(text)
            covered = {place for span in spans for place in range(*span)}
            assert set(range(start, max(start, end))) <= covered or secret.strip("=") == ""


@given(text=st.text(st.sampled_from("abcxyz019-_ .:"), max_size=80))
def test_a_text_without_secrets_is_the_same(text: str) -> None:
    index = Secrets(["QQQQQQQQQQ", "abcABCabcABC", "a secret with blanks"])
    assert hidden(text, [index]) == text


@pytest.mark.slow
def test_it_is_found_among_twenty_thousand_others() -> None:
    others = [f"{n:08x}" * 4 for n in range(20_000)]
    index = Secrets(others)
    for secret in (others[0], others[9_999], others[-1]):
        assert hidden(f"x{secret}y", [index]) == f"x{MASKED}y"
    assert hidden("0000270f0000270f", [index]) == MASKED, "the beginning of one"
    assert hidden("q" * 1000, [index]) == "q" * 1000


@pytest.mark.parametrize("secret", ["", "a", "1234", "s" * (FOUND_CHARS_MIN - 1), "%41%42%43"])
def test_a_secret_too_short_is_not_looked_for(secret: str) -> None:
    text = "a 1234 sssssss ABC"
    assert hidden(text, [Secrets([secret])]) == text


def test_the_shortest_secret_is_found_and_the_beginning_of_a_longer_one() -> None:
    index = Secrets(["s" * FOUND_CHARS_MIN, "0123-456789abcdef"])
    assert hidden("s" * FOUND_CHARS_MIN, [index]) == MASKED
    assert hidden("0123-456789abcdef"[:CUT_CHARS_MIN], [index]) == MASKED
    assert hidden("0123-456789abcdef"[: CUT_CHARS_MIN - 1], [index]) == "0123-456789"


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "abcd", "user:", "/x/", "+"])
@pytest.mark.parametrize("secret", ["p4ssw0rd", "bm90LWEtc2VjcmV0LW9ubHk=", "with a blank é"])
def test_a_secret_is_found_in_base64_wherever_it_begins(before: str, secret: str) -> None:
    index = Secrets([secret])
    content = f"{before}{secret}{before}".encode()
    for spelt in (b64encode(content), urlsafe_b64encode(content), b64encode(content).rstrip(b"=")):
        text = f"v1={spelt.decode()}; {before}{spelt.decode()}."
        shown = hidden(text, [index])
        assert spelt.decode().rstrip("=") not in shown
        assert MASKED in shown


@pytest.mark.parametrize("text", ["eyJvcmRlciI6MTIzNDV9", "eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJvdGhlciJ9.c2ln"])
def test_json_in_base64_and_the_tokens_of_others_are_no_tokens_of_ours(text: str) -> None:
    assert hidden(text, [Secrets()]) == text


WEAK = ["12345678", "01234567890123456789", "callback", "Succesfully"]


@pytest.mark.parametrize("secret", WEAK)
def test_a_weak_secret_is_found_where_it_stands_alone(secret: str) -> None:
    index = [Secrets([secret])]
    for text in (f"0{secret}9", f"a{secret}", f"{secret}s", f"_{secret}"):
        assert hidden(text, index) == text
    for text in ("{}", "user:{}", "a {} b", '{{"a":"{}"}}'):
        assert hidden(text.format(secret), index) == text.format(MASKED)


@pytest.mark.parametrize("secret", ["callbacks", "12345678"])
def test_a_weak_secret_does_not_hide_the_names_of_members(secret: str) -> None:
    body = json.dumps({secret: secret, "n": f"x{secret}"}, separators=(",", ":")).encode()
    assert json.loads(Mask([secret]).answer(body)) == {secret: MASKED, "n": f"x{secret}"}


def test_the_beginning_of_a_secret_is_not_looked_for_when_it_is_a_word() -> None:
    index = [Secrets(["transactions-4711"])]
    assert hidden("transactions", index) == "transactions"
    assert hidden("transactions-4711", index) == MASKED


def test_a_token_is_found_without_any_secret_and_in_base64() -> None:
    holder = Holder("ann", "RS001")
    token = issue(Realm("default", b"k" * 32), Use.ID, holder, datetime(2026, 11, 1, tzinfo=UTC), timedelta(hours=1))
    assert hidden(f"a {token} b", [Secrets()]) == f"a {MASKED} b"
    assert hidden(b64encode(token.encode()).decode(), [Secrets()]) == MASKED


VALUES = st.recursive(st.text(LETTERS, max_size=30), lambda inner: st.dictionaries(st.text(LETTERS), inner, max_size=3))


@pytest.mark.slow
@given(value=VALUES, secrets=SECRETS)
def test_a_masked_answer_is_json_of_the_same_shape(value: object, secrets: list[str]) -> None:
    """Even when a secret has the characters between two strings in it."""
    mask = Mask([*secrets, '","b":"', '": {"a": "', "aaaaaaaa"])
    for written in ({"a": value, "b": "aaaaaaaa"}, [secrets, value]):
        shown = mask.answer(json.dumps(written).encode())
        decoded = json.loads(shown)
        assert type(decoded) is type(written)
        assert b"aaaaaaaa" not in shown


@pytest.mark.parametrize("secret", ['quo"te"and"more', "back\\slash\\es", "é€😀é€😀é€😀", "a/b+c=d&e f%25g"])
def test_an_answer_hides_a_secret_that_json_escapes_however_deep_it_is(secret: str) -> None:
    mask = Mask([secret])
    once = json.dumps({"refid": secret})
    for value in (secret, once, once.replace("/", "\\/"), json.dumps({secret: 1}, ensure_ascii=False)):
        for ascii_only in (False, True):
            body = json.dumps({"body": value}, ensure_ascii=ascii_only).encode()
            shown = json.loads(mask.answer(body))["body"]
            assert MASKED in shown
            assert secret not in shown


def test_replaced_secrets_are_remembered_up_to_a_bound() -> None:
    log = SecretLog()
    log.add("kept")
    log.add("0")
    for n in range(FORMER_MAX + 5):
        log.add(str(n + 1), replaced=str(n))
    assert len(log) == FORMER_MAX + 2
    assert {"kept", str(FORMER_MAX + 5), str(FORMER_MAX + 4), "5"} <= set(log)
    assert "4" not in log


def test_a_secret_that_two_have_stays_when_one_replaces_it() -> None:
    log = SecretLog()
    log.add("shared")
    log.add("shared")
    log.add("0", replaced="shared")
    for n in range(FORMER_MAX + 5):
        log.add(str(n + 1), replaced=str(n))
    assert "shared" in log
