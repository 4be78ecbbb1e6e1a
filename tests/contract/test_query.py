"""Query strings: decoded as UTF-8, repeated parameters kept apart from single ones."""

from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.contract.query import decode_query, parameters, read_query


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
        (b"x" * 1000 + b"=%", "x" * 100 + "...", "has a % that two hexadecimal digits must follow"),
    ],
)
def test_a_wrong_encoding_is_a_problem_of_its_parameter(raw: bytes, name: str, text: str) -> None:
    values, problems = decode_query(b"b=2&" + raw)
    assert values["b"] == "2"
    assert problems == {name: [text]}


@given(pairs=st.dictionaries(st.text(), st.text()))
def test_an_encoded_query_is_decoded_to_itself(pairs: dict[str, str]) -> None:
    assert decode_query(urlencode(pairs).encode()) == (pairs, {})


@given(raw=st.binary())
def test_any_bytes_give_texts_or_problems(raw: bytes) -> None:
    values, problems = decode_query(raw)
    assert all(isinstance(value, str | list) for value in values.values())
    assert all(texts for texts in problems.values())


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        (b"is_active=&include_inactive=true", {"include_inactive": "true"}),
        (b"is_active", {}),
        (b"is_active=%20+%09", {}),
        (b"is_active=&is_active=true", {"is_active": "true"}),
        (b"is_active=&is_active=", {}),
        (b"nobody=", {}),
    ],
)
def test_a_blank_optional_parameter_is_absent(raw: bytes, values: dict[str, Any]) -> None:
    assert read_query(raw, "catalog-query") == (values, {})


@pytest.mark.parametrize("blank", [b"", b"%20", b"+%09", b"%0A&product_code=%20"])
def test_a_required_parameter_of_white_space_is_refused_like_an_empty_one(blank: bytes) -> None:
    values, problems = read_query(b"field_id=amount&product_code=" + blank, "options-query")
    assert values == {"product_code": "", "field_id": "amount"}
    assert problems == {"product_code": ["must be text of 1 to 100 characters"]}


def test_blank_values_among_several_are_absent() -> None:
    raw = b"limit=1&date=2026-11-21&status=FAILED&status=&status=PENDING"
    values, problems = read_query(raw, "transactions-query")
    assert (values["status"], problems) == (["FAILED", "PENDING"], {})


def test_a_required_parameter_that_is_blank_is_refused() -> None:
    values, problems = read_query(b"product_code=&field_id=amount&limit=", "options-query")
    assert values == {"product_code": "", "field_id": "amount"}
    assert problems == {"product_code": ["must be text of 1 to 100 characters"]}


@pytest.mark.parametrize(
    ("name", "raw", "problems"),
    [
        ("catalog-query", b"is_active=true&is_active=true", {"is_active": ["was sent 2 times"]}),
        ("deliveries-query", b"status=x", {"status": ["must be one of all, success, failed"]}),
        (
            "transactions-query",
            b"limit=1&date=2026-11-21&status=FAILED&status=FOO",
            {"status": ["must be one or several of SUCCESSFUL, PENDING, FAILED, REFUND"]},
        ),
    ],
)
def test_a_problem_is_reported_once_and_correctly(name: str, raw: bytes, problems: dict[str, list[str]]) -> None:
    assert read_query(raw, name)[1] == problems


def test_the_parameters_match_the_schema() -> None:
    assert list(parameters("catalog-query")) == ["product_code", "is_active", "include_inactive"]
    assert parameters("") == {}
