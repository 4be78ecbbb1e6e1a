"""Names of rules in `X-Sim-Rule`: what is printed can be sent back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.runtime.rule_names import meant, printed

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
    assert printed(name) == header
    assert meant(header)[0] == name


@given(st.text(min_size=1, max_size=100))
def test_what_is_printed_is_printable_and_means_the_name(name: str) -> None:
    header = printed(name.encode("utf-8", "replace").decode())
    assert header.isascii()
    assert header == header.strip()
    assert header.decode().isprintable()
    assert meant(header)[0] == name.encode("utf-8", "replace").decode()


def test_a_name_may_be_sent_as_it_is() -> None:
    assert meant("zurück".encode()) == ("zurück",)
    assert meant("zurück".encode("latin-1")) == ("zurück",)
    assert meant(b"100%41") == ("100A", "100%41")
