"""The canonical string (SPEC 5.1) and the silences about queries."""

import pytest

from simulator.auth.canonical import (
    EMPTY_BODY_HASH,
    QueryRules,
    body_hash,
    canonical_queries,
    canonical_query,
    canonical_string,
)

FORMS = [
    # raw query, the literal form
    (b"", b""),
    (b"a=1", b"a=1"),
    (b"b=2&a=1", b"a=1&b=2"),
    (b"b=2&flag&a=1", b"a=1&b=2"),
    (b"flag", b""),
    (b"a=", b"a="),
    (b"a=1=2&A=3", b"A=3&a=1=2"),
    (b"a=%20b&a%20=1", b"a=%20b&a%20=1"),
    (b"b=1&a=2&a=1", b"a=2&a=1&b=1"),
    (b"&&a=1&&", b"a=1"),
    (b"=x&a=1", b"=x&a=1"),
]


@pytest.mark.parametrize(("raw", "literal"), FORMS)
def test_the_query_is_sorted_by_key_and_otherwise_unchanged(raw: bytes, literal: bytes) -> None:
    assert canonical_query(raw) == literal
    assert canonical_queries(raw, QueryRules())[0] == literal


ACCEPTED = [
    (b"a=2&a=1", QueryRules(), {b"a=2&a=1", b"a=1&a=2"}),
    (b"a=2&a=1", QueryRules(repeated_keys="as_sent"), {b"a=2&a=1"}),
    (b"a=2&a=1", QueryRules(repeated_keys="sorted"), {b"a=1&a=2"}),
    (b"b=&a=1", QueryRules(), {b"a=1&b=", b"a=1"}),
    (b"b=&a=1", QueryRules(empty_values="with"), {b"a=1&b="}),
    (b"b=&a=1", QueryRules(empty_values="without"), {b"a=1"}),
]


@pytest.mark.parametrize(("raw", "rules", "forms"), ACCEPTED)
def test_the_register_says_which_forms_count(raw: bytes, rules: QueryRules, forms: set[bytes]) -> None:
    assert set(canonical_queries(raw, rules)) == forms


def test_the_parts_are_joined_in_their_order() -> None:
    assert canonical_string(b"17", b"n" * 16, b"GET", b"a=1", EMPTY_BODY_HASH) == (
        b"v1:17:nnnnnnnnnnnnnnnn:GET:a=1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    )


def test_the_body_hash_is_base64_of_sha256() -> None:
    assert body_hash(b"") == b"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    assert body_hash(b"abc") == b"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
