"""The bounds on the size of a request's head, each just kept and just broken."""

import asyncio

import pytest

from tests.support.echo_server import Served, request


def head_of(size: int, extra: bytes = b"") -> bytes:
    """Return a head of so many bytes."""
    start = b"GET /big HTTP/1.1\r\nHost: localhost\r\n" + extra
    return start + b"x-fill: " + b"f" * (size - len(start) - len(b"x-fill: \r\n\r\n")) + b"\r\n\r\n"


def in_pieces(raw: bytes, size: int) -> list[bytes | float]:
    """Cut bytes into packets; the pauses keep the kernel from joining them."""
    cut: list[bytes | float] = []
    for start in range(0, len(raw), size):
        cut += [raw[start : start + size], 0.005]
    return cut


CLOSE = b"connection: close\r\n"


@pytest.mark.slow
def test_100_headers_are_taken(served: Served) -> None:
    headers = [f"x-{number}: {number}" for number in range(98)]
    (answer,) = asyncio.run(served.talk(request("GET", "/", "Connection: close", *headers)))
    assert (answer.status, answer.json["headers"]) == (200, 100)


@pytest.mark.parametrize("count", [101, 5000])
def test_more_than_100_headers_are_refused(served: Served, count: int) -> None:
    headers = [f"x-{number}: {number}" for number in range(count - 1)]
    (answer,) = asyncio.run(served.talk(request("GET", "/", *headers)))
    assert (answer.status, answer.json["error"]) == (431, "too_many_headers")
    assert "100" in answer.json["message"]


def test_too_many_headers_are_refused_before_they_end(served: Served) -> None:
    headers = b"".join(b"x: %d\r\n" % number for number in range(200))
    (answer,) = asyncio.run(served.talk(b"GET / HTTP/1.1\r\n" + headers))
    assert (answer.status, answer.json["error"]) == (431, "too_many_headers")


@pytest.mark.slow
@pytest.mark.parametrize("packet", [100_000, 30_000, 4_000])
@pytest.mark.parametrize(("size", "status"), [(65536, 200), (65537, 431)])
def test_a_head_of_64_kib_is_taken_and_one_byte_more_is_refused(
    served: Served, size: int, status: int, packet: int
) -> None:
    raw = head_of(size, CLOSE)
    assert len(raw) == size
    (answer,) = asyncio.run(served.talk(*in_pieces(raw, packet)))
    assert answer.status == status
    if status == 431:
        assert answer.json["error"] == "head_too_large"
        assert "65536" in answer.json["message"]


def test_a_body_does_not_count_as_head(served: Served) -> None:
    raw = request("POST", "/", "Connection: close", "x-fill: " + "f" * 60_000, body=b"b" * 200_000)
    (answer,) = asyncio.run(served.talk(raw))
    assert (answer.status, len(answer.json["body"])) == (200, 200_000)


@pytest.mark.parametrize("packet", [100_000, 30_000])
@pytest.mark.parametrize(("size", "status"), [(65400, 200), (65536, 414), (90_000, 414)])
def test_a_target_over_the_bound_is_refused(served: Served, size: int, status: int, packet: int) -> None:
    raw = request("GET", "/" + "a" * (size - 1), "Connection: close")
    (answer,) = asyncio.run(served.talk(*in_pieces(raw, packet)))
    assert answer.status == status
    if status == 414:
        assert answer.json["error"] == "target_too_long"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "endless", "status"),
    [
        (b"GET /", b"a" * 8192, 414),
        (b"GET / HTTP/1.1\r\nx: ", b"a" * 8192, 431),
        (b"GET / HTTP/1.1\r\n", b"a" * 8192, 431),
        (b"GET / HTTP/1.1\r\n", b"a: b\r\n" * 1000, 431),
        (b"GET / HTTP/1.1\r\nx:", b" " * 8192, 431),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;", b"a" * 8192, 431),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nt: ", b"a" * 8192, 431),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n" * 1000, 431),
    ],
)
def test_an_endless_part_is_refused_while_it_arrives(served: Served, start: bytes, endless: bytes, status: int) -> None:
    async def main() -> int:
        async with await served.connect() as client:
            await client.send(start)
            for _ in range(400_000 // len(endless)):  # it has not ended yet
                await client.send(endless)
            return (await client.answer()).status

    assert asyncio.run(main()) == status


@pytest.mark.slow
def test_a_client_that_is_still_sending_receives_its_refusal(served: Served) -> None:
    """Closing at once would reset the connection under the client's writes, and lose the answer."""

    async def main() -> int:
        async with await served.connect() as client:
            await client.send(head_of(70_000)[:-4])
            for _ in range(50):
                await client.send(b"more" * 2000)
                # sleep: a client that sends at a pace, so that the answer can arrive in between
                await asyncio.sleep(0.002)
            return (await client.answer()).status

    assert asyncio.run(main()) == 431
