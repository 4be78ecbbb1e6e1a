"""Evidence in the form of a signature, at the limits of chance."""

from base64 import b64encode

import pytest

from simulator.auth.form import wrong_form

LETTERS = b"abcdefghij" * 5  # none may stand before the padding, since its last bits are not zero


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        (LETTERS[:43] + b"=", True),
        (LETTERS[:39] + b"=", True),
        (LETTERS[:38].upper() + b"J=", True),
        (LETTERS[:38] + b"J=", False),
        (LETTERS[:35] + b"=", False),
        ((LETTERS[1:9] * 5)[:38] + b"i=", False),
        ((LETTERS[:9] * 5)[:38] + b"i=", True),
    ],
)
def test_letters_in_a_single_case_are_named_when_chance_is_excluded(text: bytes, is_said: bool) -> None:
    assert ("all its letters are" in wrong_form(b"v1=" + text)) == is_said, wrong_form(b"v1=" + text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"[object Promise]", "it is the text [object Promise]; await the signature"),
        (b"undefined", "it is the text undefined; nothing was signed"),
        (b"[1, -2, 127, -128]", "it is a list of numbers; encode the digest's bytes in Base64"),
        (b"1,-2,127", "it is a list of numbers"),
        (b"<hmac.HMAC object at 0x7f>", "it is a printed object; encode the bytes of its digest in Base64"),
        (b"[B@1b6d3586", "it is a printed object"),
        (b"0x" + b"a9" * 32, "it is hexadecimal with 0x before it; encode the raw digest in Base64"),
        (bytes(range(200, 232)).hex("-").upper().encode(), "it is hexadecimal with dashes, as BitConverter writes it"),
        (
            b64encode(bytes(range(100, 132)).decode("latin-1").encode()),
            "the digest was made a text before it was encoded",
        ),
    ],
)
def test_texts_that_are_no_signature_are_named(text: bytes, said: str) -> None:
    assert said in wrong_form(b"v1=" + text)
    assert "comma" not in wrong_form(b"v1=" + text)


@pytest.mark.parametrize(("begin", "said"), [(b"V1=", "'V1='"), (b"v1:", "'v1:'"), (b"v1 =", "'v1 '")])
def test_a_prefix_that_is_like_v1_is_shown(begin: bytes, said: str) -> None:
    assert wrong_form(begin + b64encode(bytes(32))) == f"the signature does not begin with v1=; it begins with {said}"
