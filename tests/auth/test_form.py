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
        *((text, "it is printed: encode the bytes of the digest in Base64, in JavaScript after `await`") for text in (
            b"[object Promise]", b"undefined", b"[1, -2, 127, -128]", b"<hmac.HMAC object at 0x7f>", b"[B@1b6d3586")),
        (bytes(range(200, 232)).hex("-").upper().encode(), "it is hexadecimal with dashes, as BitConverter writes it"),
        (
            b64encode(bytes(range(100, 132)).decode("latin-1").encode()),
            "the digest was made a text before it was encoded",
        ),
    ],
)  # fmt: skip
def test_texts_that_are_no_signature_are_named(text: bytes, said: str) -> None:
    assert said in wrong_form(b"v1=" + text)
    assert "comma" not in wrong_form(b"v1=" + text)
