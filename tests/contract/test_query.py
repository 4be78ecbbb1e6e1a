"""Query strings: decoded as UTF-8, repeated parameters kept apart from single ones."""

from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.contract.query import decode_query


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        (b"", {}),
        (b"a=1&b=2", {"a": "1", "b": "2"}),
        (b"a=", {"a": ""}),
        (b"a", {"a": ""}),
        (b"a=1=2", {"a": "1=2"}),
        (b"&&a=1&", {"a": "1"}),
        (b"a=x+y%20z", {"a": "x y z"}),
        (b"a%5Bb%5D=%C3%A9", {"a[b]": "é"}),
        ("a=é".encode(), {"a": "é"}),
        (b"a=1&a=2&b=3", {"a": ["1", "2"], "b": "3"}),
        (b"a=1&%61=2", {"a": ["1", "2"]}),
        (b"a=%2B%26%3D", {"a": "+&="}),
    ],
)
def test_a_query_is_read(raw: bytes, values: dict[str, Any]) -> None:
    assert decode_query(raw) == (values, {})


@pytest.mark.parametrize(
    ("raw", "name", "text"),
    [
        (b"a=%", "a", "has a % that two hexadecimal digits must follow"),
        (b"a=%zz", "a", "has a % that two hexadecimal digits must follow"),
        (b"a=%f", "a", "has a % that two hexadecimal digits must follow"),
        (b"a=%ff", "a", "is not UTF-8 when its percent-encoding is decoded"),
        (b"a=\xff", "a", "is not UTF-8 when its percent-encoding is decoded"),
        (b"a=%ED%A0%80", "a", "is not UTF-8 when its percent-encoding is decoded"),
        (b"%zz=1", "%zz", "has a % that two hexadecimal digits must follow"),
        (b"%ff=1", "%ff", "is not UTF-8 when its percent-encoding is decoded"),
        (b"x" * 1000 + b"=%", "x" * 60, "has a % that two hexadecimal digits must follow"),
    ],
)
def test_a_wrong_encoding_is_a_problem_of_its_parameter(raw: bytes, name: str, text: str) -> None:
    values, problems = decode_query(b"b=2&" + raw)
    assert values["b"] == "2"
    assert problems == {name: [text]}


@given(pairs=st.dictionaries(st.text(), st.text()))
def test_what_was_encoded_is_read(pairs: dict[str, str]) -> None:
    assert decode_query(urlencode(pairs).encode()) == (pairs, {})


@given(raw=st.binary())
def test_whatever_bytes_come_there_are_texts_or_problems(raw: bytes) -> None:
    values, problems = decode_query(raw)
    assert all(isinstance(value, str | list) for value in values.values())
    assert all(texts for texts in problems.values())
