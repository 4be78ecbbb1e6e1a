"""Bodies written otherwise for the autopsy: what that costs, counted, and that it is what `json.dumps` writes."""

import json
from base64 import b64decode
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.auth.autopsy import bodies, search
from simulator.auth.autopsy.facts import Facts
from simulator.auth.canonical import body_hash
from tests.support.mistaken_clients import NONCE, NOW, SECRET
from tests.support.tiers import examples

NESTED = b'{"a":{"b":[[[[' + b",".join([b"[1]"] * 3700) + b"]]]]}}"
MIDDLE = b'{"a":{"b":[[[[' + b",".join([b"[1]"] * 1900) + b"]]]]}}"
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


def facts(body: bytes, query: bytes = b"") -> Facts:
    return Facts(
        timestamp=str(NOW).encode(),
        nonce=NONCE.encode(),
        method=b"POST",
        query=query,
        body=body,
        hashed=body_hash(body),
        signature=b"v1=" + b"A" * 43 + b"=",
        secret=b64decode(SECRET),
    )


@pytest.mark.parametrize(("body", "written_max"), [(NESTED, 40), (MIDDLE, 60), (b"[" * 7500 + b"]" * 7500, 0)])
@pytest.mark.parametrize("query", [b"", b"s=2&b=&s=1&c=&a=%2F&b=3&flag"])
def test_a_nested_body_is_written_in_few_ways_and_by_no_slow_writer(
    body: bytes, written_max: int, query: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    dumps, indented = json.dumps, msgspec.json.format

    def counted(value: Any, **how: Any) -> str:
        assert "indent" not in how, "the writer of the standard library that indents is the slow one"
        text = dumps(value, **how)
        if len(text) > len(body) // 2:
            written.append(len(text))
        return text

    def counted_indented(text: bytes, *, indent: int) -> bytes:
        made = indented(text, indent=indent)
        written.append(len(made))
        return made

    monkeypatch.setattr(json, "dumps", counted)
    monkeypatch.setattr(msgspec.json, "format", counted_indented)
    found, _ = search.whole_search(facts(body, query))
    assert found is None
    assert len(written) <= written_max
    assert sum(written) <= 5_000_000


@settings(max_examples=examples(60))
@given(VALUES, st.booleans())
def test_indented_is_what_the_standard_library_writes(value: Any, is_ascii: bool) -> None:
    tight = json.dumps(value, separators=(",", ":"), ensure_ascii=is_ascii).encode()
    for indent in (1, 2, 3, 4):
        assert bodies._indented(tight, indent) == json.dumps(value, indent=indent, ensure_ascii=is_ascii).encode()
    assert bodies._indented(tight, 0) == json.dumps(value, indent="\t", ensure_ascii=is_ascii).encode()
