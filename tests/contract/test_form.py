"""Bodies that may be JSON or a form: which of them one is, and what is wrong with it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.contract.form import FORM, FORM_BYTES_MAX, decode_form


@pytest.mark.parametrize(
    ("content_type", "body", "members"),
    [
        (b"", b"", {}),
        (FORM, b"", {}),
        (FORM, b"a=1&b=x+y%21", {"a": "1", "b": "x y!"}),
        (b" Application/X-WWW-Form-Urlencoded ; charset=UTF-8", b"a=1", {"a": "1"}),
        (b"application/json", b'{"a": 1}', {"a": 1}),
        (b"text/plain", b'{"a": 1}', {"a": 1}),
        (b"", b'{"a": 1}', {"a": 1}),
    ],
)
def test_a_body_is_read_as_what_its_content_type_says(content_type: bytes, body: bytes, members: Any) -> None:
    assert decode_form(content_type, body) == (members, {})


@pytest.mark.parametrize(
    ("content_type", "body", "name", "said"),
    [
        (FORM, b' {"a": 1}', "body", "looks like JSON"),
        (FORM, b"a=%", "a", "two hexadecimal digits"),
        (b"", b"a=1", "body", "no valid JSON"),
        (b"", b"[1]", "body", "no JSON object"),
        (b"", b"x" * (FORM_BYTES_MAX + 1), "body", "longer than 65536 bytes"),
    ],
)
def test_what_is_wrong_is_said(content_type: bytes, body: bytes, name: str, said: str) -> None:
    _, problems = decode_form(content_type, body)
    assert set(problems) == {name}
    assert said in problems[name][0]


def test_a_repeated_member_may_be_refused() -> None:
    twice = b'{"a": 1, "a": 2}'
    assert decode_form(b"", twice) == ({"a": 2}, {})
    assert decode_form(b"", twice, reject_duplicates=True)[1]


@given(content_type=st.sampled_from([b"", FORM]), body=st.binary(max_size=200))
def test_whatever_bytes_come_there_are_members_or_problems(content_type: bytes, body: bytes) -> None:
    members, problems = decode_form(content_type, body)
    assert isinstance(members, dict)
    assert all(problems.values())
