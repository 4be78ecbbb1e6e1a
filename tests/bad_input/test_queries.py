"""Queries: repeated, percent-encoded, huge and senseless, at every endpoint that has parameters."""

from urllib.parse import quote

import pytest

from tests.support.bad_requests import (
    Operation,
    ask,
    ids,
    operations,
    said,
)
from tests.support.bad_values import STRANGE_QUERIES, VALUES
from tests.support.client import Client

READING = [one for one in operations() if one.method == "GET"]


@pytest.mark.slow
@pytest.mark.parametrize("one", [one for one in READING if one.query], ids=str)
def test_every_reading_endpoint_answers_any_value_of_its_parameters(client: Client, one: Operation) -> None:
    for what, value in VALUES:
        for name in one.query:
            answer = ask(client, one.method, f"{one.path}?{name}={value}")
            assert answer.status in (200, 400, 404), (name, what)
        everywhere = "&".join(f"{name}={value}" for name in one.query)
        if len(everywhere) < 60_000:
            assert ask(client, one.method, f"{one.path}?{everywhere}").status in (200, 400, 404), what


@pytest.mark.parametrize("one", [one for one in READING if one.query], ids=str)
def test_every_reading_endpoint_answers_a_parameter_that_is_sent_twice(client: Client, one: Operation) -> None:
    for name in one.query:
        assert ask(client, one.method, f"{one.path}?{name}=1&{name}=1").status in (200, 400, 404)
        assert ask(client, one.method, f"{one.path}?" + "&".join([f"{name}=1"] * 5000)).status in (200, 400, 404)


@pytest.mark.slow
@pytest.mark.parametrize(("what", "query"), STRANGE_QUERIES, ids=ids(STRANGE_QUERIES))
def test_every_reading_endpoint_answers_any_query(client: Client, what: str, query: str) -> None:
    for one in READING:
        assert ask(client, one.method, f"{one.path}?{query}").status in (200, 400, 404), str(one)


CATALOG: list[tuple[str, str, str]] = [
    ("a product that does not exist", "product_code=NOPE", "200"),
    ("a product in lower case", "product_code=reload", "200"),
    ("no product", "product_code=", "200"),
    ("100 characters", f"product_code={'x' * 100}", "200"),
    ("101 characters", f"product_code={'x' * 101}", "400 product_code"),
    ("two products", "product_code=RELOAD&product_code=WATER", "400 product_code"),
    ("the same product twice", "product_code=RELOAD&product_code=RELOAD", "400 product_code"),
    ("the same product twice, once encoded", "product_code=RELOAD&product%5Fcode=RELOAD", "400 product_code"),
    ("a product in no UTF-8", "product_code=%ff", "400 product_code"),
    ("a product with a broken escape", "product_code=%4", "400 product_code"),
    ("a boolean that is a number", "is_active=1", "400 is_active"),
    ("a boolean in other words", "is_active=yes", "400 is_active"),
    ("a boolean in mixed case", "is_active=tRUE", "400 is_active"),
    ("a boolean with a blank", "is_active=true+", "400 is_active"),
    ("a blank boolean", "is_active=+", "200"),
    ("an empty boolean", "is_active=", "200"),
    ("a boolean without a value", "is_active", "200"),
    ("two booleans", "is_active=true&is_active=false", "400 is_active"),
    ("both booleans wrong", "is_active=1&include_inactive=0", "400 include_inactive,is_active"),
    ("a parameter of nobody", "colour=red", "200"),
    ("an unknown parameter in no UTF-8", "colour=%ff", "400 colour"),
    ("another case", "IS_ACTIVE=1", "200"),
    ("brackets", "is_active[]=1", "200"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("what", "query", "expected"), CATALOG, ids=ids(CATALOG))
def test_a_query_of_the_catalog(client: Client, what: str, query: str, expected: str) -> None:
    assert said(ask(client, "GET", f"/v2/catalog?{query}")) == expected


URL, METHOD = "400 url", "400 method"
CALLBACKS: list[tuple[str, str, str]] = [
    ("nothing", "", "400 method,url"),
    ("no URL", "method=POST", URL),
    ("no method", "url=https://example.com/", METHOD),
    ("an empty URL", "url=&method=POST", URL),
    ("a blank URL", "url=%20&method=POST", URL),
    ("a relative URL", "url=/callbacks&method=POST", URL),
    ("no scheme", "url=example.com&method=POST", URL),
    ("two slashes", "url=//example.com&method=POST", URL),
    ("javascript", "url=javascript:alert(1)&method=POST", URL),
    ("a file", "url=file:///etc/passwd&method=POST", URL),
    ("ftp", "url=ftp://example.com/&method=POST", URL),
    ("gopher", "url=gopher://example.com/&method=POST", URL),
    ("data", "url=data:text/plain,a&method=POST", URL),
    ("no host", "url=https://&method=POST", URL),
    ("no host but a path", "url=https:///path&method=POST", URL),
    ("no host but a port", "url=https://:80/&method=POST", URL),
    ("a user", "url=https://me:secret@example.com/&method=POST", URL),
    ("port zero", "url=https://example.com:0/&method=POST", URL),
    ("port 65536", "url=https://example.com:65536/&method=POST", URL),
    ("port in words", "url=https://example.com:https/&method=POST", URL),
    ("a blank within", "url=https://example.com/a%20b&method=POST", URL),
    ("a backslash", "url=https://example.com%5c@evil.example/&method=POST", URL),
    ("NUL", "url=https://example.com/%00&method=POST", URL),
    ("CR LF", "url=https://example.com/%0d%0aX-Evil:1&method=POST", URL),
    ("a line feed in front", "url=%0ahttps://example.com/&method=POST", URL),
    ("right to left", f"url=https://example.com/{quote(chr(0x202E))}&method=POST", URL),
    ("metadata of a cloud", "url=http://169.254.169.254/latest/meta-data/&method=POST", URL),
    ("the same in decimal", "url=http://2852039166/&method=POST", URL),
    ("the same in hexadecimal", "url=http://0xa9fea9fe/&method=POST", URL),
    ("the same in octal", "url=http://0251.0376.0251.0376/&method=POST", URL),
    ("the same, short", "url=http://169.254.43518/&method=POST", URL),
    ("the same within IPv6", f"url={quote('http://[::ffff:169.254.169.254]/')}&method=POST", URL),
    ("link-local IPv6", f"url={quote('http://[fe80::1]/')}&method=POST", URL),
    ("a zone", f"url={quote('http://[fe80::1%eth0]/')}&method=POST", URL),
    ("brackets without an address", f"url={quote('http://[]/')}&method=POST", URL),
    ("a bracket", f"url={quote('http://[/')}&method=POST", URL),
    ("a number that is no address", "url=http://256.1.1.1/&method=POST", URL),
    ("a label of 64 characters", f"url=https://{'a' * 64}.example/&method=POST", URL),
    ("a name of 300 characters", f"url=https://{'a.' * 150}example/&method=POST", URL),
    ("2,001 characters", f"url=https://example.com/{'a' * 1981}&method=POST", URL),
    ("an inbox without a name", "url=inbox:&method=POST", URL),
    ("an inbox with a path", "url=inbox:../default&method=POST", URL),
    ("an inbox with a blank", "url=inbox:a%20b&method=POST", URL),
    ("two URLs", "url=https://a.example/&url=https://b.example/&method=POST", URL),
    ("no UTF-8", "url=https://example.com/%ff&method=POST", URL),
    ("an empty method", "url=https://example.com/&method=", METHOD),
    ("another method", "url=https://example.com/&method=PUT", METHOD),
    ("a method in lower case", "url=https://example.com/&method=post", METHOD),
    ("two methods", "url=https://example.com/&method=GET&method=POST", METHOD),
    ("both wrong", "url=x&method=x", "400 method,url"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("what", "query", "expected"), CALLBACKS, ids=ids(CALLBACKS))
def test_an_invalid_callback_address(client: Client, what: str, query: str, expected: str) -> None:
    assert said(ask(client, "POST", f"/v2/callback-url?{query}")) == expected


def test_query_parameters_are_not_read_from_a_body(client: Client) -> None:
    answer = ask(client, "POST", "/v2/callback-url", b'{"url": "https://example.com/", "method": "POST"}')
    assert said(answer) == "400 method,url"
    assert "query" in answer.headers["x-sim-diagnosis"]
