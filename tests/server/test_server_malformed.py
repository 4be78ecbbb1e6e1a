"""Bytes that are no request that this server takes: each gets one plain refusal and the end of its connection."""

import asyncio

import pytest

from tests.support.client import Response
from tests.support.echo_server import PATIENCE_S, Served, request

H = b"Host: localhost\r\n"
POST = b"POST / HTTP/1.1\r\n" + H

MALFORMED: dict[str, tuple[bytes, int]] = {
    "TLS hello": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50), 400),
    "zeros": (bytes(200), 400),
    "SSH banner": (b"SSH-2.0-OpenSSH_9.6\r\n", 400),
    "SMTP": (b"EHLO example.com\r\n", 400),
    "HTTP/2 preface": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "response": (b"HTTP/1.1 200 OK\r\n\r\n", 400),
    "unknown method": (b"FOO / HTTP/1.1\r\n" + H + b"\r\n", 400),
    "method in lower case": (b"get / HTTP/1.1\r\n" + H + b"\r\n", 400),
    "no version": (b"GET /\r\n\r\n", 400),
    "HTTP/0.9": (b"GET / HTTP/0.9\r\n" + H + b"\r\n", 400),
    "HTTP/1.2": (b"GET / HTTP/1.2\r\n" + H + b"\r\n", 400),
    "HTTP/2.0": (b"GET / HTTP/2.0\r\n" + H + b"\r\n", 400),
    "HTTP/3": (b"GET / HTTP/3\r\n" + H + b"\r\n", 400),
    "version in lower case": (b"GET / http/1.1\r\n" + H + b"\r\n", 400),
    "space after version": (b"GET / HTTP/1.1 \r\n" + H + b"\r\n", 400),
    "bare line feeds": (b"GET / HTTP/1.1\nHost: localhost\n\n", 400),
    "bare carriage returns": (b"GET / HTTP/1.1\rHost: localhost\r\r", 400),
    "no target": (b"GET  HTTP/1.1\r\n" + H + b"\r\n", 400),
    "two targets": (b"GET /a /b HTTP/1.1\r\n" + H + b"\r\n", 400),
    "relative target": (b"GET a/b HTTP/1.1\r\n" + H + b"\r\n", 400),
    "query for a target": (b"GET ?a=b HTTP/1.1\r\n" + H + b"\r\n", 400),
    "asterisk": (b"GET * HTTP/1.1\r\n" + H + b"\r\n", 400),
    "asterisk with OPTIONS": (b"OPTIONS * HTTP/1.1\r\n" + H + b"\r\n", 400),
    "CONNECT": (b"CONNECT localhost:443 HTTP/1.1\r\n" + H + b"\r\n", 400),
    "another scheme": (b"GET ftp://localhost/x HTTP/1.1\r\n" + H + b"\r\n", 400),
    "port out of range": (b"GET http://localhost:99999/x HTTP/1.1\r\n" + H + b"\r\n", 400),
    "URL without host": (b"GET http:///x HTTP/1.1\r\n" + H + b"\r\n", 400),
    "raw UTF-8 in path": ("GET /é HTTP/1.1\r\n".encode() + H + b"\r\n", 400),
    "raw UTF-8 in query": ("GET /?é HTTP/1.1\r\n".encode() + H + b"\r\n", 400),
    "raw byte in path": (b"GET /\xff HTTP/1.1\r\n" + H + b"\r\n", 400),
    "NUL in path": (b"GET /\x00 HTTP/1.1\r\n" + H + b"\r\n", 400),
    "tab in path": (b"GET /a\tb HTTP/1.1\r\n" + H + b"\r\n", 400),
    "broken escape": (b"GET /%zz HTTP/1.1\r\n" + H + b"\r\n", 400),
    "cut escape": (b"GET /a%2 HTTP/1.1\r\n" + H + b"\r\n", 400),
    "escape that is no UTF-8": (b"GET /%ff HTTP/1.1\r\n" + H + b"\r\n", 400),
    "escaped surrogate": (b"GET /%ed%a0%80 HTTP/1.1\r\n" + H + b"\r\n", 400),
    "no Host": (b"GET / HTTP/1.1\r\n\r\n", 400),
    "two Hosts": (b"GET / HTTP/1.1\r\n" + H + H + b"\r\n", 400),
    "two Hosts with HTTP/1.0": (b"GET / HTTP/1.0\r\n" + H + b"host: other\r\n\r\n", 400),
    "header without colon": (b"GET / HTTP/1.1\r\n" + H + b"abc\r\n\r\n", 400),
    "header without name": (b"GET / HTTP/1.1\r\n" + H + b": abc\r\n\r\n", 400),
    "space before colon": (b"GET / HTTP/1.1\r\n" + H + b"a : b\r\n\r\n", 400),
    "space before first header": (b"GET / HTTP/1.1\r\n " + H + b"\r\n", 400),
    "folded header": (b"GET / HTTP/1.1\r\n" + H + b"a: b\r\n c\r\n\r\n", 400),
    "NUL in header": (b"GET / HTTP/1.1\r\n" + H + b"a: \x00\r\n\r\n", 400),
    "control character in header name": (b"GET / HTTP/1.1\r\n" + H + b"a\x01b: c\r\n\r\n", 400),
    "UTF-8 in header name": (b"GET / HTTP/1.1\r\n" + H + "é: b\r\n\r\n".encode(), 400),
    "bare CR in header": (b"GET / HTTP/1.1\r\n" + H + b"a: b\rc\r\n\r\n", 400),
    "Content-Length and chunked": (POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "chunked and Content-Length": (POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400),
    "two lengths": (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
    "the same length twice": (POST + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400),
    "list of lengths": (POST + b"Content-Length: 1, 1\r\n\r\na", 400),
    "negative length": (POST + b"Content-Length: -1\r\n\r\n", 400),
    "signed length": (POST + b"Content-Length: +1\r\n\r\na", 400),
    "hexadecimal length": (POST + b"Content-Length: 0x1\r\n\r\na", 400),
    "empty length": (POST + b"Content-Length:\r\n\r\n", 400),
    "length beyond 64 bits": (POST + b"Content-Length: 99999999999999999999\r\n\r\n", 400),
    "coding that is not chunked": (POST + b"Transfer-Encoding: gzip\r\n\r\nabc", 400),
    "chunked not last": (POST + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 400),
    "chunk size that is no number": (POST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
    "chunk size beyond 64 bits": (POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 17 + b"\r\n", 400),
    "chunk longer than it says": (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n", 400),
    "negative chunk size": (POST + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n", 400),
}


@pytest.mark.slow
@pytest.mark.parametrize(("raw", "status"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_request_gets_one_refusal_and_the_end(served: Served, raw: bytes, status: int) -> None:
    async def main() -> list[Response]:
        return await asyncio.wait_for(served.talk(raw), PATIENCE_S)

    (answer,) = asyncio.run(main())
    assert answer.status == status
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["connection"] == "close"
    assert answer.headers["x-sim-request-id"].startswith("server-")
    assert answer.json.keys() == {"error", "message"}
    assert answer.json["message"].endswith(".")


# Their explanation needs the beginning of the request in a single packet.
EXPLAINED_WHOLE = ("TLS hello", "CONNECT", "two targets")


@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.slow
def test_a_malformed_request_in_single_bytes_gets_the_same(served: Served, name: str) -> None:
    raw, _ = MALFORMED[name]

    async def main() -> tuple[list[Response], list[Response]]:
        whole = await served.talk(raw)
        async with await served.connect() as client:
            for index in range(len(raw)):
                await client.send(raw[index : index + 1])
                await asyncio.sleep(0)
            return whole, await asyncio.wait_for(client.answers_to_end(), PATIENCE_S)

    whole, pieces = asyncio.run(main())
    assert [one.status for one in pieces] == [one.status for one in whole]
    assert name in EXPLAINED_WHOLE or [one.body for one in pieces] == [one.body for one in whole]


@pytest.mark.parametrize(
    ("raw", "error", "said"),
    [
        (MALFORMED["no Host"][0], "host_missing", "needs a Host header"),
        (MALFORMED["two Hosts"][0], "host_repeated", "this request has 2"),
        (MALFORMED["HTTP/2.0"][0], "unsupported_http_version", "HTTP/2.0"),
        (MALFORMED["asterisk"][0], "malformed_target", "must be a path"),
        (MALFORMED["broken escape"][0], "malformed_target", "two hexadecimal digits"),
        (MALFORMED["escape that is no UTF-8"][0], "malformed_target", "not UTF-8"),
        (MALFORMED["Content-Length and chunked"][0], "malformed_request", "Content-Length"),
    ],
)
def test_a_refusal_says_what_was_wrong(served: Served, raw: bytes, error: str, said: str) -> None:
    (answer,) = asyncio.run(served.talk(raw))
    assert answer.json["error"] == error
    assert said in answer.json["message"]


@pytest.mark.parametrize(
    "raw",
    [
        b"HEAD / HTTP/1.1\r\n\r\n",
        b"HEAD /%zz HTTP/1.1\r\n" + H + b"\r\n",
        "HEAD /é HTTP/1.1\r\n".encode() + H + b"\r\n",
        b"HEAD /a b HTTP/1.1\r\n" + H + b"\r\n",
        b"HEAD / HTTP/1.1\r\n" + H + b"a : b\r\n\r\n",
        b"HEAD / HTTP/1.1\r\n" + H + b"x: y\r\n" * 200,
        b"HEAD / HTTP/1.1\r\n" + H + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"HEAD / HTTP/1.1\r\n"
        + H
        + b"Upgrade: h2c\r\nConnection: Upgrade\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    ],
)
def test_the_refusal_of_a_head_request_ends_with_its_head(served: Served, raw: bytes) -> None:
    async def main() -> tuple[Response, bytes]:
        async with await served.connect() as client:
            await client.send(raw)
            return await client.answer(to_head=True), await client.to_end()

    answer, rest = asyncio.run(main())
    assert (answer.status in (400, 431), rest) == (True, b"")
    assert int(answer.headers["content-length"]) > 0


@pytest.mark.parametrize("bad", [bytes(9), b"FOO / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET /\xff"])
def test_a_refusal_after_a_head_request_has_its_body(served: Served, bad: bytes) -> None:
    async def main() -> Response:
        async with await served.connect() as client:
            await client.send(request("HEAD", "/") + bad)
            await client.answer(to_head=True)
            return await client.answer()

    assert asyncio.run(main()).json["message"].endswith(".")


def test_each_refusal_has_an_id_of_its_own(served: Served) -> None:
    names = ("no Host", "two Hosts", "HTTP/2.0", "no Host")
    seen = [asyncio.run(served.talk(MALFORMED[name][0]))[0].headers["x-sim-request-id"] for name in names]
    assert len(set(seen)) == len(seen)


@pytest.mark.slow
@pytest.mark.parametrize("behind", [b"!", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\nHost: a\r\n\r\n"])
@pytest.mark.parametrize("path", ["/echo", "/slow", "/late-reader"])
def test_a_body_whose_end_comes_with_bytes_that_are_refused_is_answered_first(
    served: Served, path: str, behind: bytes
) -> None:
    head, body = request("POST", path, "Content-Length: 5"), b"hello"
    answer, refusal = asyncio.run(served.talk(head + body[:2], 0.05, body[2:] + behind))
    assert answer.status == 200
    assert refusal.status == 400


def test_a_request_refused_before_its_body_never_reaches_the_application(served: Served) -> None:
    before = len(served.app.seen)
    for name in ("no Host", "two Hosts", "HTTP/2.0", "broken escape", "two lengths", "Content-Length and chunked"):
        asyncio.run(served.talk(MALFORMED[name][0]))
    assert len(served.app.seen) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("raw", "path", "query"),
    [
        (request("GET", "/a%20b?c=%zz"), "/a b", "c=%zz"),
        (request("GET", "/%C3%A9"), "/é", ""),
        (request("GET", "http://localhost:1234/a?b"), "/a", "b"),
        (request("GET", "HTTP://localhost"), "/", ""),
        (request("GET", "http://localhost?b"), "/", "b"),
        (request("GET", "//a//b"), "//a//b", ""),
        (request("GET", "/a?b?c"), "/a", "b?c"),
        (request("GET", "/a#fragment"), "/a", ""),
        (b"\r\n\r\n" + request("GET", "/after-empty-lines"), "/after-empty-lines", ""),
        (b"GET /x HTTP/1.1\r\nHost:\r\n\r\n", "/x", ""),
        (b"GET /x HTTP/1.0\r\n\r\n", "/x", ""),
    ],
)
def test_unusual_but_valid_targets_are_answered(served: Served, raw: bytes, path: str, query: str) -> None:
    async def main() -> Response:
        async with await served.connect() as client:
            await client.send(raw)
            return await client.answer()

    answer = asyncio.run(main())
    assert (answer.status, answer.json["path"], answer.json["query"]) == (200, path, query)
