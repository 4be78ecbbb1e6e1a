"""Measuring JSON before it is decoded: exact for any strings."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.contract.body import BLANK_FACTOR, OUTLINE_BYTES_MAX, opened, outline

MAX = 40
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('a{[,:]}" \\\n\t/é')),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text('a"\\,['), children, max_size=4),
    max_leaves=20,
)


def outside(value: Any) -> tuple[int, int]:
    """By another way than the code: the length of a value with its strings emptied, and how many backslashes it has."""

    def emptied(one: Any) -> str:
        if isinstance(one, str):
            return '""'
        if isinstance(one, dict):
            return "{" + ",".join('"":' + emptied(each) for each in one.values()) + "}"
        if isinstance(one, list):
            return "[" + ",".join(map(emptied, one)) + "]"
        return json.dumps(one)

    return len(emptied(value)), json.dumps(value, ensure_ascii=False).count("\\")


@pytest.mark.slow
@given(value=JSON_VALUES, indent=st.none() | st.just(0), bytes_max=st.integers(1, 60))
def test_a_body_is_measured_exactly(value: Any, indent: int | None, bytes_max: int) -> None:
    body = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    size, escapes = outside(value)
    is_small = len(body) <= bytes_max or (size <= bytes_max and escapes <= bytes_max)
    assert (outline(body, bytes_max) is None) is is_small


@given(body=st.binary(max_size=200) | st.text('"\\[]{},:1 ').map(str.encode), bytes_max=st.integers(1, 60))
def test_any_bytes_can_be_measured(body: bytes, bytes_max: int) -> None:
    start = outline(body, bytes_max)
    assert start is None or len(start) <= bytes_max


@pytest.mark.parametrize(
    "text", [b"[{,:" * 100, rb"\"[" * 30, rb"\\" * 20, b" " * 1000, "é".encode() * 1000, rb"\\\"[,]\\"]
)
def test_the_content_of_a_string_is_not_counted(text: bytes) -> None:
    assert outline(b'{"a": "' + text + b'", "b": [1]}', MAX) is None


@pytest.mark.parametrize("blank", [b" ", b"\t", b"\n"])
def test_white_space_does_not_count_unless_it_is_sixteen_times_as_much(blank: bytes) -> None:
    assert outline(b"[" + blank * (BLANK_FACTOR * MAX - 3) + b"1]", MAX) is None
    assert outline(b"[" + blank * (BLANK_FACTOR * MAX) + b"1]", MAX) is not None


HOSTILE = [
    b"[]," * MAX, b'"",' * MAX, b"1," * MAX, b'"a":1,' * MAX, b"9" * (MAX + 1), b'"' + rb"\"" * (MAX + 1) + b'"',
    b'"' + rb"\u00e9" * (MAX + 1) + b'"', b'"' * (MAX + 1), b"\\" * (MAX + 1), b"," * (MAX + 1),
]  # fmt: skip


@pytest.mark.parametrize("body", HOSTILE)
def test_everything_that_costs_the_decoder_time_is_counted(body: bytes) -> None:
    assert outline(body, MAX) is not None


def test_the_beginning_shows_how_deep_a_body_is() -> None:
    assert opened(outline(b'{"a":' * 100, MAX) or b"") == 2 * MAX // len('{"a":')
    assert opened(outline(b"[]," * 100, MAX) or b"") <= 1
    assert OUTLINE_BYTES_MAX == 65536
