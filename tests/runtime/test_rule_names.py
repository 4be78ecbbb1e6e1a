"""Names of rules in `X-Sim-Rule`: a name that an answer contains can be sent back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.runtime.journal import decode_rule_names, encode_rule_name

PRINTED: list[tuple[str, bytes]] = [
    ("ordinary", b"ordinary"),
    ("paid, but nobody heard", b"paid, but nobody heard"),
    ("50% off", b"50% off"),
    ("50%25", b"50%2525"),
    ("zurück", b"zur%C3%BCck"),
    ("支付", b"%E6%94%AF%E4%BB%98"),
    (" padded ", b"%20padded%20"),
    (" ", b"%20"),
    ("\\u00fc", b"\\u00fc"),
]


@pytest.mark.parametrize(("name", "header"), PRINTED)
def test_a_name_in_a_header(name: str, header: bytes) -> None:
    assert encode_rule_name(name) == header
    assert decode_rule_names(header)[0] == name


@given(st.text(min_size=1, max_size=100))
def test_an_encoded_name_is_printable_and_decodes_to_the_name(name: str) -> None:
    header = encode_rule_name(name.encode("utf-8", "replace").decode())
    assert header.isascii()
    assert header == header.strip()
    assert header.decode().isprintable()
    assert decode_rule_names(header)[0] == name.encode("utf-8", "replace").decode()


def test_a_name_may_be_sent_unencoded() -> None:
    assert decode_rule_names("zurück".encode()) == ("zurück",)
    assert decode_rule_names("zurück".encode("latin-1")) == ("zurück",)
    assert decode_rule_names(b"100%41") == ("100A", "100%41")
