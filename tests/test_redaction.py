"""Secrets are found in any text, among any number of others, and nothing else is."""

import json
from base64 import b64encode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simulator.auth.tokens import Realm, TokenHolder, Use, issue
from simulator.domain.model.resellers import FORMER_MAX, SecretLog
from simulator.redaction import (
    CUT_CHARS_MIN,
    FOUND_CHARS_MIN,
    MASKED,
    Mask,
    Secrets,
    redact,
    redact_members,
    redact_urls,
)

LETTERS = st.sampled_from('ab1/+ =é"\\%')
STRONG = st.tuples(st.text(LETTERS, max_size=6), st.text(LETTERS, min_size=6, max_size=12)).map("1-a".join)
SECRETS = st.lists(STRONG, min_size=1, max_size=5)


@given(secrets=SECRETS, texts=st.lists(st.text(LETTERS, max_size=12), max_size=4))
@example(secrets=["/1-a11111é/"], texts=["\\"])
def test_a_secret_is_found_at_every_place_of_a_text(secrets: list[str], texts: list[str]) -> None:
    index = Secrets(secrets)
    for before in texts:
        for secret in secrets:
            text = f"{before}{secret}{before}".encode()
            start, end = len(before.encode()), len(f"{before}{secret}".encode().rstrip(b"="))
            covered = {place for span in index.spans(text) for place in range(*span)}
            assert set(range(start, max(start, end))) <= covered or secret.strip("=") == ""


@given(text=st.text(st.sampled_from("abcxyz019-_ .:"), max_size=80))
def test_a_text_without_secrets_is_the_same(text: str) -> None:
    index = Secrets(["QQQQQQQQQQ", "abcABCabcABC", "a secret with blanks"])
    assert redact(text, [index]) == text


@pytest.mark.slow
def test_it_is_found_among_twenty_thousand_others() -> None:
    others = [f"{n:08x}" * 4 for n in range(20_000)]
    index = Secrets(others)
    for secret in (others[0], others[9_999], others[-1]):
        assert redact(f"x{secret}y", [index]) == f"x{MASKED}y"
    assert redact("0000270f0000270f", [index]) == MASKED, "the beginning of one"
    assert redact("q" * 1000, [index]) == "q" * 1000


@pytest.mark.parametrize("secret", ["", "a", "1234", "s" * (FOUND_CHARS_MIN - 1), "%41%42%43"])
def test_a_secret_too_short_is_not_looked_for(secret: str) -> None:
    text = "a 1234 sssssss ABC"
    assert redact(text, [Secrets([secret])]) == text


def test_the_shortest_secret_is_found_and_the_beginning_of_a_longer_one() -> None:
    index = Secrets(["s-" * (FOUND_CHARS_MIN // 2), "0123-456789abcdef"])
    assert redact("s-" * (FOUND_CHARS_MIN // 2), [index]) == MASKED
    assert redact("0123-456789abcdef"[:CUT_CHARS_MIN], [index]) == MASKED
    assert redact("0123-456789abcdef"[: CUT_CHARS_MIN - 1], [index]) == "0123-456789"


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "abcd", "user:", "/x/", "+"])
@pytest.mark.parametrize("secret", ["p4ssw0rd", "bm90LWEtc2VjcmV0LW9ubHk=", "with a blank é"])
def test_a_secret_is_found_in_base64_wherever_it_begins(before: str, secret: str) -> None:
    index = Secrets([secret])
    content = f"{before}{secret}{before}".encode()
    for spelt in (b64encode(content), urlsafe_b64encode(content), b64encode(content).rstrip(b"=")):
        shown = redact(f"v1={spelt.decode()}; {before}{spelt.decode()}.", [index])
        assert shown.count(MASKED) == 2
        assert spelt.decode()[len(b64encode(before.encode())) + 1 :][:5] not in shown


@pytest.mark.parametrize("secret", ["a+b/c1d2e3f4A5B6", "p/+ö 1&2%41x", "bm90+WEtc/Vj=="])
def test_a_secret_is_found_in_every_percent_encoding(secret: str) -> None:
    every = "".join(f"%{byte:02x}" for byte in secret.encode())
    for spelt in (quote(secret), quote_plus(secret), quote(secret, safe=""), every):
        assert redact(f"/x%/{spelt}/é%20", [Secrets([secret])]) == f"/x%/{MASKED}/é%20", spelt
    assert redact(f"no product '{secret.replace('+', ' ')}'", [Secrets([secret])]) == f"no product '{MASKED}'"
    in_base64 = quote(b64encode(secret.encode()), safe="")
    assert redact(f"/x%/{in_base64}", [Secrets([secret])]).startswith(f"/x%/{MASKED}")


@pytest.mark.parametrize("text", ["eyJvcmRlciI6MTIzNDV9", "eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJvdGhlciJ9.c2ln"])
def test_json_in_base64_and_the_tokens_of_others_are_no_tokens_of_ours(text: str) -> None:
    assert redact(text, [Secrets()]) == text


@pytest.mark.parametrize("secret", ["12345678", "01234567890123456789", "callback", "Succesfully"])
def test_a_word_or_a_number_is_not_looked_for_since_harmless_text_has_it(secret: str) -> None:
    assert redact(f"a {secret} b", [Secrets([secret])]) == f"a {secret} b"
    long = secret * 3
    assert redact(f"a {long} b", [Secrets([long])]) == f"a {MASKED} b"


def test_the_beginning_of_a_secret_is_not_looked_for_when_it_is_a_word() -> None:
    index = [Secrets(["transactions-4711"])]
    assert redact("transactions", index) == "transactions"
    assert redact("transactions-4711", index) == MASKED


def test_a_token_is_found_without_any_secret() -> None:
    holder = TokenHolder("ann", "RS001")
    token = issue(Realm("default", b"k" * 32), Use.ID, holder, datetime(2026, 11, 1, tzinfo=UTC), timedelta(hours=1))
    assert redact(f"a {token} b", [Secrets()]) == f"a {MASKED} b"


VALUES = st.recursive(st.text(LETTERS, max_size=30), lambda inner: st.dictionaries(st.text(LETTERS), inner, max_size=3))


@pytest.mark.slow
@given(value=VALUES, secrets=SECRETS)
def test_a_masked_answer_is_json_of_the_same_shape(value: object, secrets: list[str]) -> None:
    """Even when a secret has the characters between two strings in it."""
    mask = Mask([Secrets([*secrets, '","b":"', '": {"a": "', "aaaa-aaa"])])
    for written in ({"a": value, "b": "aaaa-aaa"}, [secrets, value]):
        shown = mask.answer(json.dumps(written).encode())
        decoded = json.loads(shown)
        assert type(decoded) is type(written)
        assert b"aaaa-aaa" not in shown


@pytest.mark.parametrize("secret", ['quo"te"and"more', "back\\slash\\es", "é€😀é€😀é€😀", "a/b+c=d&e f%25g"])
def test_an_answer_hides_a_secret_however_its_json_escapes_it(secret: str) -> None:
    mask = Mask([Secrets([secret])])
    for ascii_only in (False, True):
        body = json.dumps({"refid": f"x {secret} y"}, ensure_ascii=ascii_only)
        for spelt in (body, body.replace("/", "\\/")):
            assert json.loads(mask.answer(spelt.encode())) == {"refid": f"x {MASKED} y"}


def test_the_longest_of_secrets_that_begin_alike_is_replaced() -> None:
    known = [Secrets(["alike-secret-1", "alike-secret-1-and-more"])]
    assert redact("alike-secret-1-and-more, alike-secret-1!", known, "<{}>".format) == (
        "<alike-secret-1-and-more>, <alike-secret-1>!"
    )


def test_a_caller_may_put_something_else_instead_of_a_secret() -> None:
    known = [Secrets(["a/b+c d=e&f1"])]
    assert redact("x a%2Fb%2Bc%20d%3De%26f1 y", known, lambda spelt: f"<{len(spelt)}>") == "x <22> y"
    mask = Mask(known, ["known-key"], put=lambda _: "other")
    assert mask.header("X-Auth-Token", "abc") == "other"
    assert mask.header("X-Api-Key", "0123456789") == "01234567other"
    assert (
        mask.body("/v2/token", b'{"username":"u","password":12,"x":"y"}')
        == '{"username":"u","password":0,"other":"other"}'
    )
    assert mask.body("/v2/topup", b"password=a%20b&c=d") == "password=other&c=d"
    assert mask.path("/http://u:p@h/a;token=x") == "/http://other@h/a;token=other"


BODIES = [
    b'{"username":"u","password":"hush-hush"}',
    b'{"a": {"b": [{"Password" : "hush-hush"}]}}',
    b'{"refresh_token":"hush-hush"',
    b'[{"AccessToken":"hush-hush","IdToken":"hush-hush"}]',
    b"password=hush-hush",
    b"username=u&password=hush%2Dhush&x=1",
    b'{"secret":"hush-hush","x":"hush"}',
    b'{"webhookKey":"hush-hush","shared_key":"hush-hush","passphrase":"hush-hush","userPass":"hush-hush","code":"hush"}',
]


@pytest.mark.parametrize("body", BODIES)
def test_a_secret_is_found_by_the_name_of_its_member_or_parameter(body: bytes) -> None:
    assert b"<hush-hush>" in redact_members(body, "<{}>".format)
    shown = redact_members(body)
    assert b"hush-" not in shown
    assert b"%2D" not in shown
    assert b"(not shown)" in shown


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"password": 12345678, "a": 1}', b'{"password": "(not shown)", "a": 1}'),
        (b'{"password": "a\\"b", "a": 1}', b'{"password": "(not shown)", "a": 1}'),
        (b'{"password": "cut', b'{"password": "(not shown)"'),
        (b'{"password": ["x"], "a": 1}', b'{"password": ["x"], "a": 1}'),
        *((body, body) for body in (b"", b'{"refid":"password","x":"secret"}', b'{"secret":null}', b"xpassword=1")),
        *((body, body) for body in (b'"password"', b'{"secrets":"x"}')),
    ],
)
def test_values_are_hidden_whole_and_other_members_stay(body: bytes, shown: bytes) -> None:
    assert redact_members(body) == shown


def test_a_long_run_of_quotes_takes_no_long_time() -> None:
    body = b'"password":"' + b"\\" * 200_001 + b'"password":' * 20_000
    assert redact_members(body).startswith(b'"password":"(not shown)"')


HARMLESS_NAMES = (
    "author", "bypass", "design", "keyword", "a", "product_code", "subproduct_code", "status_code", "barcode", "codec",
    "passenger", "monkey",
)  # fmt: skip
SECRET_NAMES = (
    "token", "sig", "auth", "jwt", "pass", "hmac", "accessKey", "access_key", "bearer", "apikey", "X-Amz-Signature",
    "client_secret", "user.key", "Authorization", "AWSAccessKeyId", "webhookKey", "sharedkey", "signing-key",
    "privatekey", "authkey", "passphrase", "pass_code", "userPass", "hookSig", "code", "auth_code", "oauthCode",
)  # fmt: skip
HIDDEN = "(not shown)"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        *((same, same) for same in ("", "inbox:callbacks", "http://h/hook", "http://h/hook?", "//", "http://[::1/a")),
        ("http://h/hook?a=1&&b=%20#token=x", "http://h/hook?a=1&&b=%20#token=x"),
        ("http://h/a@b?c=d@e", "http://h/a@b?c=d@e"),
        ("write to ann@example.com", "write to ann@example.com"),
        ("http://u:p@h?token=x", f"http://{HIDDEN}@h?token={HIDDEN}"),
        ("see https://ann:pw@h/a, please", f"see https://{HIDDEN}@h/a, please"),
        ('{"url": "https://ann@h/"}', f'{{"url": "https://{HIDDEN}@h/"}}'),
        ("https://ann:p@ss@[::1]:80/", f"https://{HIDDEN}@[::1]:80/"),
        ("https://ann:pw@[::1", f"https://{HIDDEN}@[::1"),
        ("http://h?to=http%3A%2F%2Fu%3Ap%40i&a=1", "http://h?to=http%3A%2F%2F(not%20shown)%40i&a=1"),
        ("http://h?Access_Token=x&api%5Fkey=y&key=z", f"http://h?Access_Token={HIDDEN}&api%5Fkey={HIDDEN}&key={HIDDEN}"),
        ("http://h?token=&password", "http://h?token=&password"),
        ("http://h?token=x#part", f"http://h?token={HIDDEN}#part"),
        ("http://h/a;token=x", f"http://h/a;token={HIDDEN}"),
        ("http://h?b=1;token=x;y&c=2", f"http://h?b=1;token={HIDDEN}&c=2"),
        ("http://h?token=a%26b%23c&d=1", f"http://h?token={HIDDEN}&d=1"),
        ("http://h?to=http%3A%2F%2Fi%3Ftoken%3Da%26c%3D1&d=1", "http://h?to=http%3A%2F%2Fi%3Ftoken%3D(not%20shown)%26c%3D1&d=1"),
        ("http://h?to=http://i?token=x&d=1", f"http://h?to=http://i?token={HIDDEN}&d=1"),
        *((f"http://h?{name}=x&a=1", f"http://h?{name}={HIDDEN}&a=1") for name in SECRET_NAMES),
        *((f"http://h?{name}=x&a=1", f"http://h?{name}=x&a=1") for name in HARMLESS_NAMES),
    ],
)  # fmt: skip
def test_a_url_is_shown_without_its_credentials(url: str, shown: str) -> None:
    assert redact_urls(url) == shown


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
