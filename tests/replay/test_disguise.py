"""A disguise has the same form as what it stands for: a broken text stays as broken as it was."""

import json
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.replay.disguise import disguised


@pytest.mark.parametrize(
    ("raw", "form"),
    [
        (b"session=Ab12; theme=dark", b"aaaaaaa=Aa99; aaaaa=aaaa"),
        (b'"x\\u0041\\u00e9\\ud83d\\ude00\\n\\q', None),
        (b"%41%2f%c3%a9%E2%82%AC%2541", None),
        ("é€😀".encode(), None),
        (b"\xff\xfe\x80a", None),
    ],
)
def test_it_is_as_long_and_other(raw: bytes, form: bytes | None) -> None:
    made = disguised(raw, 7)
    assert len(made) == len(raw)
    assert made != raw
    assert disguised(raw, 8) != made
    if form is not None:
        kinds = [b"a" if each.islower() else b"A" if each.isupper() else b"9" if each.isdigit() else each for each in
                 (made[at : at + 1] for at in range(len(made)))]  # fmt: skip
        assert b"".join(kinds) == form


@given(text=st.text(max_size=40), number=st.integers(1, 99))
def test_what_is_text_stays_text_in_every_encoding(text: str, number: int) -> None:
    made = disguised(text.encode(), number)
    made.decode()
    assert len(unquote_to_bytes(disguised(text.encode(), number))) == len(unquote_to_bytes(text.encode()))
    of_header = text.encode("latin-1", "ignore").decode("latin-1")
    assert len(disguised(of_header.encode(), number).decode().encode("latin-1")) == len(of_header)
    escaped = json.dumps(text).encode()
    again = json.loads(disguised(escaped, number))
    assert len(again.encode("utf-8", "surrogatepass")) == len(text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("raw", [b"", b";-/", b"%3b\\n"])
def test_what_has_no_letters_and_digits_stays(raw: bytes) -> None:
    assert disguised(raw, 1) == raw


def test_what_is_drawn_does_not_depend_on_what_it_stands_for() -> None:
    assert disguised(b"aaaaaaaaaaaaaaaa", 3) == disguised(b"qwertyuiopzxcvbn", 3)
