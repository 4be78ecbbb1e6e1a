"""The bytes of a request, word for word, and where they are sent."""

import pytest

from simulator.domain.model.delivery_attempts import OutgoingRequest
from simulator.http_client.attempts import NotAllowedError, request_bytes, route
from simulator.http_client.dialer import Origin
from simulator.http_client.targets import HttpTarget, parse_target

Headers = tuple[tuple[str, str], ...]


MARK = b"X-Sim-Delivery: 1\r\n"


def sent(method: str, url: str, headers: Headers = (), body: bytes | None = None) -> bytes:
    """The bytes without the mark of a delivery, which every request has once."""
    target = parse_target(url)
    assert isinstance(target, HttpTarget)
    request = request_bytes(OutgoingRequest(method, target.url, headers, body), route(target))
    assert request.lower().count(b"\r\nx-sim-delivery:") == 1
    return request.replace(MARK, b"")


def test_a_delivery_is_marked_once_with_any_headers() -> None:
    assert sent("GET", "http://h.test/", (("x-sim-delivery", "0"),)) == b"GET / HTTP/1.1\r\nHost: h.test\r\n\r\n"


def test_a_request_has_what_it_was_given_and_host_and_length() -> None:
    headers = (("User-Agent", "x"), ("content-type", "a/b"), ("X", "1"), ("x", "2"), ("Empty", ""), ("Tab", "a\tb"))
    assert sent("POST", "http://h.test/cb", headers, b'{"a":1}') == (
        b"POST /cb HTTP/1.1\r\nHost: h.test\r\nUser-Agent: x\r\ncontent-type: a/b\r\nX: 1\r\nx: 2\r\nEmpty: \r\n"
        b'Tab: a\tb\r\nContent-Length: 7\r\n\r\n{"a":1}'
    )


@pytest.mark.parametrize(
    ("method", "body", "length"),
    [
        *((method, None, "") for method in ("GET", "HEAD", "OPTIONS", "TRACE")),
        *((method, None, "Content-Length: 0\r\n") for method in ("POST", "PUT", "PATCH", "DELETE", "FOO")),
        ("GET", b"", "Content-Length: 0\r\n"),
        ("POST", b"", "Content-Length: 0\r\n"),
        ("GET", b"ab", "Content-Length: 2\r\n"),
    ],
)
def test_a_length_is_sent_with_a_body_and_with_methods_that_may_have_a_body(
    method: str, body: bytes | None, length: str
) -> None:
    expected = f"{method} / HTTP/1.1\r\nHost: h.test\r\n{length}\r\n".encode() + (body or b"")
    assert sent(method, "http://h.test/", (), body) == expected


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://h.test", "/"),
        ("http://h.test?q", "/?q"),
        ("http://h.test/a?", "/a"),
        ("http://h.test?", "/"),
        ("http://h.test/a?b#c", "/a?b"),
        ("http://h.test/a#c?d", "/a"),
        ("http://h.test/a?b?c", "/a?b?c"),
        ("http://h.test/a/../b/./c//d", "/a/../b/./c//d"),
        ("http://h.test/%7e%2F%zz/a+b", "/%7e%2F%zz/a+b"),
        ("http://h.test/a;b=c?d;e", "/a;b=c?d;e"),
        ("http://h.test//x:y@z", "//x:y@z"),
        ("http://h.test/grüß?ä=ö", "/gr%C3%BC%C3%9F?%C3%A4=%C3%B6"),
    ],
)
def test_the_path_is_sent_unchanged(url: str, path: str) -> None:
    assert sent("GET", url).startswith(f"GET {path} HTTP/1.1\r\n".encode())


def test_a_long_query_is_sent_whole() -> None:
    query = "a=" + "b" * 100_000
    target = parse_target(f"http://h.test/cb?{query}#c", 200_000)
    assert isinstance(target, HttpTarget)
    way = route(target)
    assert (way.origin, way.host, way.path) == (Origin(False, "h.test", 80), "h.test", f"/cb?{query}")


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("http://h.test/", "h.test", (False, "h.test", 80)),
        ("http://h.test:80/", "h.test", (False, "h.test", 80)),
        ("http://h.test:/", "h.test", (False, "h.test", 80)),
        ("http://h.test:443/", "h.test:443", (False, "h.test", 443)),
        ("https://h.test/", "h.test", (True, "h.test", 443)),
        ("https://h.test:443/", "h.test", (True, "h.test", 443)),
        ("https://h.test:80/", "h.test:80", (True, "h.test", 80)),
        ("http://h.test:08080/", "h.test:8080", (False, "h.test", 8080)),
        ("http://H.Test:81/", "H.Test:81", (False, "h.test", 81)),
        ("HTTP://h.test/", "h.test", (False, "h.test", 80)),
        ("http://h.test.:81/", "h.test:81", (False, "h.test.", 81)),
        ("http://2130706433:81/", "127.0.0.1:81", (False, "127.0.0.1", 81)),
        ("http://[::1]/", "[::1]", (False, "::1", 80)),
        ("http://[::1]:81/", "[::1]:81", (False, "::1", 81)),
        ("http://[0:0::1]:81/", "[0:0::1]:81", (False, "0:0::1", 81)),
        ("http://bücher.test:81/", "xn--bcher-kva.test:81", (False, "xn--bcher-kva.test", 81)),
    ],
)
def test_the_host_header_is_the_host_of_the_url(url: str, host: str, origin: tuple[bool, str, int]) -> None:
    target = parse_target(url)
    assert isinstance(target, HttpTarget)
    assert sent("GET", url) == f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    assert route(target).origin == Origin(*origin)


def test_a_host_that_is_given_counts_and_comes_first() -> None:
    given = (("X", "1"), ("hOst", "other"))
    assert sent("GET", "http://h.test/", given) == b"GET / HTTP/1.1\r\nhOst: other\r\nX: 1\r\n\r\n"


def test_only_the_sender_states_the_length_of_a_body() -> None:
    given = (("content-length", "9"), ("Transfer-Encoding", "chunked"))
    assert sent("POST", "http://h.test/", given, b"ab") == (
        b"POST / HTTP/1.1\r\nHost: h.test\r\nContent-Length: 2\r\n\r\nab"
    )


def test_methods_are_sent_in_capitals_and_values_in_utf_8() -> None:
    assert sent("get", "http://h.test/", (("X", "grüß"),)) == (
        "GET / HTTP/1.1\r\nHost: h.test\r\nX: grüß\r\n\r\n".encode()
    )


@pytest.mark.parametrize("name", ["", "a b", "a:", "a\r\nb", "a\n", "a\0", "ü", "a\x7f", " a"])
def test_a_name_that_is_no_token_is_refused(name: str) -> None:
    with pytest.raises(NotAllowedError, match=r"^the name of a header is not allowed in HTTP$"):
        sent("POST", "http://h.test/", ((name, "hunter2"),))


@pytest.mark.parametrize("value", ["a\r\nB: c", "a\n", "a\r", "\0", "a\x7f", "\x1f", "\ud800"])
def test_a_value_with_a_control_character_is_refused(value: str) -> None:
    with pytest.raises(NotAllowedError, match=r"^the method or the value of a header is not allowed in HTTP$"):
        sent("POST", "http://h.test/", (("X", value),))


@pytest.mark.parametrize("method", ["", "A B", "A\r\n", "Ü", "A\n", "A:"])
def test_a_method_that_is_no_token_is_refused(method: str) -> None:
    with pytest.raises(NotAllowedError, match=r"^the method or the value of a header is not allowed in HTTP$"):
        sent(method, "http://h.test/")
