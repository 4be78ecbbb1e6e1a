"""Requests are signed as SPEC 5.1 says."""

import base64
import hashlib
import hmac
import re

import pytest

from bench.sign import canonical_query, nonce, signed

SECRET = base64.b64encode(bytes(range(32))).decode()


@pytest.mark.parametrize(
    ("query", "canonical"),
    [
        ("", ""),
        ("b=2&a=1", "a=1&b=2"),
        ("flag&b=2&a=&c=3", "b=2&c=3"),
        ("a=2&a=1", "a=2&a=1"),
        ("url=http%3A%2F%2Fx&method=POST", "method=POST&url=http%3A%2F%2Fx"),
    ],
)
def test_the_query_is_signed_sorted_and_without_empty_parameters(query: str, canonical: str) -> None:
    assert canonical_query(query) == canonical


@pytest.mark.parametrize(
    ("method", "query", "body"),
    [("GET", "", b""), ("GET", "b=2&a=1", b""), ("post", "", b'{"refid":"1"}')],
)
def test_a_request_carries_the_signature_of_its_own_parts(method: str, query: str, body: bytes) -> None:
    head, _, sent = signed(method, "/v2/x", query, body, "a-key", SECRET, "127.0.0.1:80").partition(b"\r\n\r\n")
    line, *fields = head.decode().split("\r\n")
    headers = dict(field.split(": ", 1) for field in fields)
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    text = f"v1:{headers['X-Timestamp']}:{headers['X-Nonce']}:{method.upper()}:{canonical_query(query)}:{digest}"
    expected = hmac.new(bytes(range(32)), text.encode(), hashlib.sha256).digest()
    assert line == f"{method.upper()} /v2/x{'?' if query else ''}{query} HTTP/1.1"
    assert headers["X-Signature"] == "v1=" + base64.b64encode(expected).decode()
    assert headers["X-Api-Key"] == "a-key"
    assert headers.get("Content-Length", "0") == str(len(body))
    assert sent == body


def test_no_nonce_comes_twice_and_all_are_well_formed() -> None:
    nonces = [nonce() for _ in range(1000)]
    assert len(set(nonces)) == 1000
    assert all(re.fullmatch("[a-zA-Z0-9_-]{16,128}", each) for each in nonces)
