"""Decoding bodies as JSON or as a form, and the problems that are reported."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.contract.body import FORM, OUTLINE_BYTES_MAX, decode_form, decode_json, read_members


@pytest.mark.parametrize(
    ("content_type", "body", "members"),
    [
        (b"", b"", {}),
        (FORM, b"", {}),
        (FORM, b"a=1&b=x+y%21", {"a": "1", "b": "x y!"}),
        (b" Application/X-WWW-Form-Urlencoded ; charset=UTF-8", b"a=1", {"a": "1"}),
        (b"application/json", b'{"a": 1}', {"a": 1}),
        (b"Application/JSON; charset=utf-8", b'{"a": 1, "b": null}', {"a": 1, "b": None}),
        (b"application/problem+json", b'{"a": 1}', {"a": 1}),
        (b"", b'{"a": 1}', {"a": 1}),
    ],
)
def test_a_body_is_decoded_according_to_its_content_type(content_type: bytes, body: bytes, members: Any) -> None:
    assert decode_form(content_type, body) == (members, {})


@pytest.mark.parametrize(
    ("content_type", "body", "name", "said"),
    [
        (FORM, b' {"a": 1}', "body", "looks like JSON, but was sent as application/x-www-form-urlencoded; send it as"),
        (b"text/plain", b'{"a": 1}', "body", "was sent as text/plain, but must be application/json or application/x-"),
        (FORM, b"a=%", "a", "two hexadecimal digits"),
        (b"", b"a=1", "body", "not valid JSON"),
        (b"", b"[1]", "body", "not a JSON object"),
        (b"", b"x" * (OUTLINE_BYTES_MAX + 1), "body", "longer than 65536 bytes"),
        (FORM, b"a=1&" * 1000, "body", "has more than 1000 parameters"),
    ],
)
def test_problems_are_reported(content_type: bytes, body: bytes, name: str, said: str) -> None:
    _, problems = decode_form(content_type, body)
    assert set(problems) == {name}
    assert said in problems[name][0]


@pytest.mark.parametrize("content_type", [FORM, b"text/plain"])
def test_a_content_type_may_be_ignored(content_type: bytes) -> None:
    assert decode_form(content_type, b'{"a": 1}', any_type=True) == ({"a": 1}, {})
    assert decode_json(content_type, b'{"a": 1}', any_type=True) == ({"a": 1}, {})
    assert decode_form(FORM, b"a=1", any_type=True) == ({"a": "1"}, {})


def test_a_repeated_member_may_be_refused() -> None:
    twice = b'{"a": 1, "a": 2}'
    assert decode_form(b"", twice) == ({"a": 2}, {})
    assert decode_form(b"", twice, reject_duplicates=True)[1]


@given(content_type=st.sampled_from([b"", FORM]), body=st.binary(max_size=200))
def test_any_bytes_give_members_or_problems(content_type: bytes, body: bytes) -> None:
    members, problems = decode_form(content_type, body)
    assert isinstance(members, dict)
    assert all(problems.values())


@pytest.mark.parametrize(
    ("body", "members"),
    [
        (b'{"a": null}', {}),
        (b'{"a": {"b": null, "c": {"d": null}}, "e": "null"}', {"a": {"c": {}}, "e": "null"}),
        (b'{"a": [null, {"b": null}]}', {"a": [None, {"b": None}]}),
    ],
)
def test_a_member_that_is_null_is_absent(body: bytes, members: Any) -> None:
    assert read_members("topup-request", b"", body)[0] == members


@pytest.mark.parametrize(
    "content_type", [b"text/plain;charset=UTF-8", FORM, b"text/json", b"application/jsonp", b"json"]
)
def test_json_with_another_content_type_is_reported_with_both_types_and_still_decoded(content_type: bytes) -> None:
    members, problems = decode_json(content_type, b'{"a": 1}')
    assert members == {"a": 1}
    assert problems == {"body": [f"was sent as {content_type.decode()}, but must be application/json"]}
    assert decode_json(content_type, b"x")[1] == problems
    assert decode_json(content_type, b"")[1] == {"body": ["is empty"]}


def test_a_content_type_is_quoted_in_ascii_and_truncated() -> None:
    _, problems = decode_json(b"text/\xff" + b"x" * 1000, b"{}")
    assert problems["body"][0].startswith("was sent as text/\\xffxxx")
    assert len(problems["body"][0]) < 150
