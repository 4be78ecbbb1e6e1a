"""What the Python client takes for an id and for the text of a header: neither may break a URL, a header or a line."""

import pytest

from reseller_sim.shapes import HEADER, IDENTITY


@pytest.mark.parametrize("value", ["default", "a.b_c~d-e", "0", "A1"])
def test_an_id_is_of_letters_digits_and_some_marks_between(value: str) -> None:
    assert IDENTITY.has(value)


@pytest.mark.parametrize(
    "value", ["", ".", "..", "-a", "_a", "a/b", "a b", "a?b", "a%2f", "a\n", "\u00e9", "a\u00e9", 1, None]
)
def test_what_would_change_a_path_is_no_id(value: object) -> None:
    assert not IDENTITY.has(value)


@pytest.mark.parametrize("value", ["", "a b", "k: v", "~"])
def test_printable_ascii_can_be_a_header(value: str) -> None:
    assert HEADER.has(value)


@pytest.mark.parametrize("value", ["a\nb", "a\r\nX: y", "\x1b[2J", "\x7f", "\u00e9", "\u2028", 1, None, b"a"])
def test_what_would_end_a_header_can_be_none(value: object) -> None:
    assert not HEADER.has(value)
