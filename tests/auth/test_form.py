"""What the form of a signature shows, at the limits of what is no chance."""

import pytest

from simulator.auth.form import wrong_form

LETTERS = b"abcdefghij" * 5  # of which none may stand before the padding, since its last bits are not zero


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
def test_letters_of_one_case_are_named_when_that_is_no_chance(text: bytes, is_said: bool) -> None:
    assert ("all its letters are" in wrong_form(b"v1=" + text)) == is_said, wrong_form(b"v1=" + text)
