"""Decoding JSON bodies: every input is a value or is refused with a reason."""

import gzip
import json
import zlib
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.contract.body import (
    DEPTH_MAX,
    OUTLINE_BYTES_MAX,
    BadJson,
    decode_any,
    decode_object,
    read_members,
    repeated_keys,
)


def nested(levels: int, opening: str = '{"a":', closing: str = "}") -> bytes:
    return (opening * levels + "1" + closing * levels).encode()


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"{}", {}),
        (b' {"a": 1} \n', {"a": 1}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'{"a": 1.50}', {"a": Decimal("1.50")}),
        (b'{"a": 1e400}', {"a": Decimal("1e400")}),
        (b'{"a": -0.0}', {"a": Decimal("-0.0")}),
        (b'{"a": 18446744073709551616}', {"a": 18446744073709551616}),
        (b'{"a": "\\u0000 \\ud83d\\ude00"}', {"a": "\0 \U0001f600"}),
        ('{"ü": "é"}'.encode(), {"ü": "é"}),
        (b'{"a": [null, true, {"b": []}]}', {"a": [None, True, {"b": []}]}),
    ],
)
def test_an_object_is_read(body: bytes, value: dict[str, Any]) -> None:
    assert decode_object(body) == value


def test_numbers_with_a_fraction_are_decimals_to_the_last_digit() -> None:
    digits = "0." + "123456789" * 7
    assert str(decode_object(f'{{"amount": {digits}}}'.encode())["amount"]) == digits


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "the body is empty"),
        (b"   ", "not valid JSON"),
        (b"[]", "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"7", "not a JSON object"),
        (b"{", "not valid JSON"),
        (b"{} {}", "not valid JSON"),
        (b"{'a': 1}", "not valid JSON"),
        (b'{"a": 1,}', "not valid JSON"),
        (b'{"a": NaN}', "not valid JSON"),
        (b'{"a": Infinity}', "not valid JSON"),
        (b'{"a": -Infinity}', "not valid JSON"),
        (b'{"a": 01}', "not valid JSON"),
        (b'{"a": "\x00"}', "not valid JSON"),
        (b'{"a": "line\nfeed"}', "not valid JSON"),
        (b'{"a": "\\ud800"}', "not valid JSON: it has half a surrogate pair"),
        (b'{"a": "\\ud800 and more"}', "not valid JSON: unexpected end of escaped utf-16 surrogate pair"),
        (b'{"a": "x', "not valid JSON: it ends too early"),
        (b'{"a": "\\udc00"}', "not valid JSON"),
        (b'\xef\xbb\xbf{"a": 1}', "not valid JSON: it begins with a byte order mark"),
        ('{"a": 1}'.encode("utf-16"), "is in UTF-16; send it in UTF-8"),
        ('{"a": 1}'.encode("utf-16-le"), "is in UTF-16; send it in UTF-8"),
        ('{"a": 1}'.encode("utf-16-be"), "is in UTF-16; send it in UTF-8"),
        ('{"a": 1}'.encode("utf-32"), "is in UTF-32; send it in UTF-8"),
        (gzip.compress(b"{}", mtime=0), "is compressed; the service does not support Content-Encoding: send plain"),
        (zlib.compress(b"{}"), "is compressed; the service does not support Content-Encoding"),
        (b'"{\\"a\\": 1}"', "is a JSON string that has the JSON in it: serialise it once"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"\xff": 1}', "not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        (b'{"a": 1e99999999999999999999}', "number that is too long"),
        (b'{"a": 1e-99999999999999999999}', "number that is too long"),
        (b'{"a": ' + b"9" * 5000 + b"}", "number that is too long"),
        (b'{"a": 0.' + b"9" * 5000 + b"}", "number that is too long"),
        (b"refid=1&amount=10", "not valid JSON"),
    ],
)
@pytest.mark.parametrize("reject_duplicates", [False, True])
def test_anything_else_is_refused_with_its_reason(body: bytes, reason: str, reject_duplicates: bool) -> None:
    with pytest.raises(BadJson, match=reason):
        decode_object(body, reject_duplicates)


@pytest.mark.parametrize("levels", [DEPTH_MAX + 1, 500, 10_000, 1_000_000])
@pytest.mark.parametrize(("opening", "closing"), [('{"a":', "}"), ("[", "]")])
def test_nesting_beyond_the_bound_is_refused(levels: int, opening: str, closing: str) -> None:
    with pytest.raises(BadJson, match="nested more than 64 levels"):
        decode_any(nested(levels, opening, closing))


def test_nesting_up_to_the_bound_and_a_width_above_it_are_read() -> None:
    assert decode_object(nested(DEPTH_MAX))
    assert len(decode_object(b'{"a": [' + b"{}," * 500 + b"[]]}")["a"]) == 501
    assert decode_object(b'{"a": "' + b"[{" * 500 + b'"}')


def test_a_body_of_any_length_is_read_if_that_is_the_length_of_its_strings() -> None:
    text = "[{," * 100_000
    assert decode_object(json.dumps({"a": text}).encode()) == {"a": text}
    assert decode_object(b'{"a":' + b" " * 1_000_000 + b"1}") == {"a": 1}


WIDE: list[tuple[str, bytes]] = [
    ("empty arrays", b"[" + b"[]," * 30_000 + b"1]"),
    ("arrays within the depth", b"[" + (b"[" * 60 + b"]" * 60 + b",") * 1000 + b"1]"),
    ("empty objects", b"[" + b"{}," * 30_000 + b"1]"),
    ("numbers", b"[" + b"1," * 40_000 + b"1]"),
    ("fractions", b"[" + b"1.5," * 20_000 + b"1]"),
    ("long numbers", b"[" + (b"9" * 4300 + b",") * 20 + b"1]"),
    ("one long number", b"9" * 70_000),
    ("one long fraction", b"0." + b"9" * 70_000),
    ("texts", b"[" + b'"",' * 30_000 + b"1]"),
    ("members", b"{" + b",".join(b'"%d":1' % number for number in range(20_000)) + b"}"),
    ("the same member", b"{" + b'"a":1,' * 20_000 + b'"a":1}'),
    ("escapes", b'"' + rb"\u00e9" * 70_000 + b'"'),
    ("escaped quotes", b'"' + rb"\"" * 70_000 + b'"'),
    ("white space", b"{" + b" " * 1_100_000 + b"}"),
    ("commas", b"[" + b"," * 70_000),
    ("colons", b'{"a"' + b":" * 70_000),
]


@pytest.mark.parametrize(("what", "body"), WIDE, ids=[what for what, _ in WIDE])
def test_a_body_that_takes_long_to_decode_is_refused_before(
    what: str, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulator.contract.body._decode", lambda _: pytest.fail("it was decoded"))
    with pytest.raises(BadJson, match="more than 65536 bytes outside its strings"):
        decode_object(body, reject_duplicates=True)
    with pytest.raises(BadJson, match="more than 40000 bytes outside its strings"):
        decode_object(body, outline_max=40_000)


def test_an_unclosed_depth_is_refused_too() -> None:
    with pytest.raises(BadJson):
        decode_object(b"[" * 1_000_000)


@pytest.mark.parametrize(
    "body",
    [b'{"a": 1, "a": 1}', b'{"a": {"b": [{"c": 1, "c": 2}]}}', b'{"a": 1, "\\u0061": 2}', b'{"": 1, "": 2}'],
)
def test_a_repeated_key_is_refused_at_any_level_when_that_is_asked(body: bytes) -> None:
    assert decode_object(body)
    with pytest.raises(BadJson, match="same key twice"):
        decode_object(body, reject_duplicates=True)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"a": 1, "b": {"a": 2}, "c": [{"a": "x:y"}]}', {}),
        (b'{"a": "::::", "b": null}', {}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'{"a": 1, "b": 1, "\\u0061" : 2, "a":3}', {"a": 3}),
        (b'{"a": [{"b": 1, "b": 1}, {"b": 1, "b": 1, "b": 1}], "": 1, "": 2}', {"b": 3, "": 2}),
        (b'{"a": {"b": 1, "c": 2}, "a": 1}', {"a": 2}),
    ],
)
def test_repeated_keys_are_found_with_how_often_they_came(body: bytes, found: dict[str, int]) -> None:
    assert repeated_keys(body, decode_object(body)) == found


def test_equal_keys_in_different_objects_are_not_repeated_keys() -> None:
    body = b'{"a": {"a": [{"a": 1.5}, {"a": 1e5}]}}'
    assert decode_object(body, reject_duplicates=True) == {"a": {"a": [{"a": Decimal("1.5")}, {"a": Decimal(100000)}]}}


def test_a_reason_does_not_repeat_the_body() -> None:
    with pytest.raises(BadJson) as caught:
        decode_object(b'{"secret": ' + b"x" * 1000)
    assert len(str(caught.value)) < 100
    assert "secret" not in str(caught.value)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=4), children, max_size=4),
    max_leaves=20,
)
FRAGMENTS = st.lists(
    st.sampled_from(
        [b"{", b"}", b"[", b"]", b'"', b":", b",", b"1", b"1e9", b"-", b".", b'"a"', b"\\u", b"d800", b"\xff"]
    )
    | st.sampled_from([b"NaN", b"null", b"true", b" ", b"\n", b"\x00", b"\xef\xbb\xbf", b"{}", b'{"a":1,"a":2}']),
    max_size=60,
).map(b"".join)


@given(
    body=st.binary(max_size=200) | FRAGMENTS | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")),
    reject_duplicates=st.booleans(),
)
def test_any_bytes_give_an_object_or_bad_json(body: bytes, reject_duplicates: bool) -> None:
    with suppress(BadJson):
        assert type(decode_object(body, reject_duplicates)) is dict


@pytest.mark.slow
@given(value=st.dictionaries(st.text(), JSON_VALUES, max_size=5), ascii_only=st.booleans())
def test_an_encoded_value_is_decoded_to_itself(value: dict[str, Any], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert decode_object(text.encode(), reject_duplicates=True) == json.loads(text, parse_float=Decimal)


@pytest.mark.slow
@given(pairs=st.lists(st.tuples(st.text(max_size=2), JSON_VALUES), max_size=5), key=st.text(max_size=2))
def test_no_repeated_key_is_overlooked(pairs: list[tuple[str, Any]], key: str) -> None:
    members = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in [*pairs, (key, 1), (key, 2)]]
    body = f"{{{', '.join(members)}}}".encode()
    assert repeated_keys(body, decode_object(body))[key] >= 2


@given(value=st.dictionaries(st.text(), JSON_VALUES, max_size=3), at=st.integers(0, 400), wrong=st.binary(max_size=3))
def test_a_damaged_body_is_read_as_something_or_refused(value: dict[str, Any], at: int, wrong: bytes) -> None:
    body = json.dumps(value).encode()
    damaged = body[:at] + wrong + body[at + 1 :]
    with suppress(BadJson):
        assert type(decode_object(damaged)) is dict


@pytest.mark.parametrize(
    ("count", "problems"), [(1, set()), (OUTLINE_BYTES_MAX, set()), (OUTLINE_BYTES_MAX + 1, {"remarks"})]
)
def test_a_blank_text_that_is_longer_than_any_may_be_is_refused_by_its_length(count: int, problems: set[str]) -> None:
    body = {"refid": "r", "product": "RELOAD", "account": "1", "amount": 1, "remarks": " " * count}
    assert read_members("topup-request", b"application/json", json.dumps(body).encode())[1].keys() == problems
