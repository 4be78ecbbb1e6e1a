"""Outcomes of the sender for given and missing answers of receivers."""

import asyncio
import gzip

import pytest

from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, OutgoingRequest
from tests.support.broken_receivers import (
    OK,
    RUNNERS,
    Answer,
    Exchange,
    Receiver,
    Run,
    post,
    says,
    sender,
)

pytestmark = pytest.mark.parametrize("run", RUNNERS)

BODY_BYTES = 16 * 1024


def deliver(
    run: Run, answer: Answer, *, method: str = "POST", timeout_s: float = 5.0
) -> tuple[AttemptResult, Receiver]:
    """One delivery to a receiver that answers like this."""
    ends: list[tuple[AttemptResult, Receiver]] = []

    async def main() -> None:
        async with sender() as http, Receiver(answer) as receiver:
            outgoing = OutgoingRequest(method, receiver.url, (), b"{}")
            ends.append((await http.send(outgoing, timeout_s), receiver))

    run(main())
    return ends[0]


@pytest.mark.parametrize("status", [200, 201, 204, 301, 302, 304, 307, 400, 404, 408, 410, 429, 500, 503, 599, 999])
def test_any_status_is_an_answer(run: Run, status: int) -> None:
    head = f"HTTP/1.1 {status} Whatever\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"
    outcome, receiver = deliver(run, says(head.encode()))
    assert outcome == AttemptResult(
        AttemptEnd.ANSWERED, status, headers=(("Retry-After", "7"), ("Content-Length", "0"))
    )
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_the_body_of_an_answer_is_kept(run: Run, method: str) -> None:
    body = "grüß".encode()
    outcome, _ = deliver(run, says(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n" + body), method=method)
    assert (outcome.kind, outcome.status, outcome.body) == (AttemptEnd.ANSWERED, 200, "grüß")


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\xff\xfea\xc3", "\ufffd\ufffda\ufffd"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "abc"),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", "until the end"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "x"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nab", "ab"),
    ],
)
def test_bodies_come_in_every_framing(run: Run, answer: bytes, body: str) -> None:
    outcome, _ = deliver(run, says(answer, close=True))
    assert (outcome.kind, outcome.status, outcome.body) == (AttemptEnd.ANSWERED, 200, body)


@pytest.mark.parametrize("status", [204, 304])
def test_a_body_after_a_bodyless_status_is_ignored(run: Run, status: int) -> None:
    """Some receivers write one; the answer is the status all the same, and the connection is not used again."""

    async def main() -> None:
        head = f"HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\n".encode()
        async with sender() as http, Receiver(says(head + b"ok")) as receiver:
            for _ in range(3):
                outcome = await http.send(post(receiver.url), 5)
                assert (outcome.kind, outcome.status, outcome.body) == (AttemptEnd.ANSWERED, status, "")
                assert outcome.error == f"status {status} came with a body, which HTTP forbids; the status counts"

    run(main())


@pytest.mark.parametrize("length", [b"Content-Length: 2\r\n", b"Content-Length: 0\r\n", b""])
def test_a_content_length_without_a_body_is_no_error_of_a_204(run: Run, length: bytes) -> None:
    outcome, _ = deliver(run, says(b"HTTP/1.1 204 No Content\r\n" + length + b"\r\n"))
    assert (outcome.kind, outcome.status, outcome.error) == (AttemptEnd.ANSWERED, 204, "")


def test_cookies_of_an_answer_are_neither_shown_nor_sent_back(run: Run) -> None:
    async def main() -> None:
        answer = b"HTTP/1.1 200 OK\r\nSet-Cookie: session=hunter2\r\nContent-Length: 0\r\n\r\n"
        async with sender() as http, Receiver(says(answer)) as receiver:
            for _ in range(2):
                outcome = await http.send(post(f"http://localhost:{receiver.port}/"), 5.0)
                assert outcome.headers == (("Content-Length", "0"),)
            assert not [line for line in receiver.requests[1].head if line.lower().startswith("cookie")]

    run(main())


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x00\xff" * 500,
        b"\x16\x03\x01\x02\x00\x01",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
        b"HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n",
        b"ICY 200 OK\r\n\r\n",
        b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/0.9 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 2",
        b"HTTP/1.1 200",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 20",
        b"",
    ],
)
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_an_answer_without_a_status_line_is_a_connection_failure(run: Run, answer: bytes, method: str) -> None:
    outcome, receiver = deliver(run, says(answer, close=True), method=method)
    assert (outcome.kind, outcome.status, outcome.body) == (AttemptEnd.CONNECTION, None, "")
    assert outcome.error
    assert len(receiver.requests) == 1


BROKEN = [  # what follows a status line, and how much of a body can be read in it
    (b"no colon\r\n\r\n", ""),
    (b"Content-Length: -5\r\n\r\n", ""),
    (b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", ""),
    (b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello", ""),
    (b"X: " + b"y" * 1_000_000 + b"\r\n\r\n", ""),
    (b"X: y\r\n" * 10_000 + b"\r\n", ""),
    (b"", ""),
    (b"Content-Le", ""),
    (b"Content-Length: 9\r\n\r\nhalf", "half"),
    (b"Transfer-Encoding: chunked\r\n\r\n5\r\nha", "ha"),
]


@pytest.mark.parametrize(("rest", "body"), BROKEN)
@pytest.mark.parametrize("status", [200, 404, 503])
@pytest.mark.parametrize("interim", [b"", b"\r\n", b"HTTP/1.1 100 Continue\r\n\r\n" * 3])
def test_the_status_line_decides_even_when_the_rest_fails(
    run: Run, interim: bytes, status: int, rest: bytes, body: str
) -> None:
    outcome, receiver = deliver(run, says(b"%sHTTP/1.1 %d X\r\n%s" % (interim, status, rest), close=True))
    assert (outcome.kind, outcome.status, outcome.body) == (AttemptEnd.ANSWERED, status, body)
    assert outcome.error.startswith(f"status {status} came, ")
    assert "yyy" not in outcome.error
    assert len(receiver.requests) == 1


@pytest.mark.parametrize(("rest", "body"), BROKEN)
def test_the_status_line_decides_for_an_answer_in_any_pieces(run: Run, rest: bytes, body: str) -> None:
    """Piece by piece up to where the reading ends, which the receiver sees as a closed connection."""

    async def answer(exchange: Exchange) -> None:
        whole = b"HTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 404 X\r\n" + rest[:64]
        for place in range(len(whole)):
            exchange.write(whole[place : place + 1])
            await exchange.writer.drain()
            await asyncio.sleep(0)
        exchange.write(rest[64:])
        exchange.close()

    outcome, _ = deliver(run, answer)
    assert (outcome.kind, outcome.status, outcome.body) == (AttemptEnd.ANSWERED, 404, body)


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_reset_without_a_status_line_is_a_connection_failure(run: Run, method: str) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.reset()

    outcome, receiver = deliver(run, answer, method=method)
    assert (outcome.kind, outcome.status) == (AttemptEnd.CONNECTION, None)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_reset_after_a_status_line_leaves_the_status(run: Run, method: str) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.write(b"HTTP/1.1 404 X\r\nContent-Length: 9\r\n\r\nhalf")
        await exchange.arrived()  # a reset would discard it
        exchange.reset()

    outcome, receiver = deliver(run, answer, method=method)
    assert (outcome.kind, outcome.status, outcome.body) == (AttemptEnd.ANSWERED, 404, "half")
    assert outcome.error == "status 404 came, then the answer broke off"
    assert len(receiver.requests) == 1


def test_a_closed_port_is_a_connection_failure(run: Run) -> None:
    async def main() -> None:
        async with Receiver(says(OK)) as receiver:
            url = receiver.url
        async with sender() as http:
            outcome = await http.send(post(url), 5.0)
            assert outcome.kind is AttemptEnd.CONNECTION
            assert outcome.error == f"no connection to 127.0.0.1:{receiver.port}: Connection refused"

    run(main())


def test_silence_lasts_until_the_timeout(run: Run) -> None:
    """Not shorter, by the loop's own timers; not longer, as one that waits for more is still waiting."""

    async def main() -> None:
        given_up = asyncio.Event()
        nearly = asyncio.Event()

        async def answer(exchange: Exchange) -> None:
            await given_up.wait()
            exchange.write(OK)

        async with sender() as http, Receiver(answer) as receiver:
            patient = asyncio.ensure_future(http.send(post(receiver.url), 30.0))
            asyncio.get_running_loop().call_later(0.2, nearly.set)
            outcome = await http.send(post(receiver.url), 0.25)
            assert outcome == AttemptResult(AttemptEnd.TIMEOUT, error="connected, but no answer within 0.25 s")
            assert nearly.is_set()
            assert not patient.done()
            given_up.set()
            assert (await patient).kind is AttemptEnd.ANSWERED

    run(main())


@pytest.mark.parametrize("status", [200, 404])
def test_a_slow_body_is_read_until_the_timeout_and_the_status_counts(run: Run, status: int) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.write(b"HTTP/1.1 %d X\r\nContent-Length: 1000\r\n\r\nslow" % status)

    outcome, _ = deliver(run, answer, timeout_s=0.25)
    error = f"status {status} came, but not its whole answer within 0.25 s"
    assert outcome == AttemptResult(AttemptEnd.ANSWERED, status, "slow", error, (("Content-Length", "1000"),))


def test_a_head_that_does_not_end_leaves_the_status(run: Run) -> None:
    outcome, _ = deliver(run, says(b"HTTP/1.1 404 X\r\nX: "), timeout_s=0.25)
    error = "status 404 came, but not its whole answer within 0.25 s"
    assert outcome == AttemptResult(AttemptEnd.ANSWERED, 404, "", error)


@pytest.mark.parametrize(
    ("start", "rest"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", b"x" * 65536),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 5000),
    ],
)
def test_the_start_of_an_endless_body_is_the_answer(run: Run, start: bytes, rest: bytes) -> None:
    written = 0

    async def answer(exchange: Exchange) -> None:
        nonlocal written
        exchange.write(start)
        while True:
            exchange.write(rest)
            await exchange.writer.drain()
            written += len(rest)

    outcome, _ = deliver(run, answer)
    assert (outcome.kind, outcome.status, outcome.body) == (AttemptEnd.ANSWERED, 200, "x" * BODY_BYTES)
    assert written < 50_000_000


@pytest.mark.parametrize(
    ("endless", "status"),
    [(b"HTTP/1.1 100 Continue\r\n\r\n", None), (b"HTTP/1.1 200 OK\r\nX: y\r\nX: ", 200), (b"X" * 1000, None)],
)
def test_an_endless_head_is_given_up(run: Run, endless: bytes, status: int | None) -> None:
    async def answer(exchange: Exchange) -> None:
        while True:
            exchange.write(endless * 100)
            await exchange.writer.drain()

    outcome, _ = deliver(run, answer)
    assert (outcome.kind, outcome.status) == (AttemptEnd.ANSWERED if status else AttemptEnd.CONNECTION, status)
    assert "the answer " in outcome.error


def test_a_compressed_body_is_not_expanded(run: Run) -> None:
    bomb = gzip.compress(bytes(50_000_000), compresslevel=1)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n"
    outcome, _ = deliver(run, says(head.encode() + bomb))
    assert (outcome.kind, outcome.status) == (AttemptEnd.ANSWERED, 200)
    assert len(outcome.body) <= BODY_BYTES


def test_many_headers_are_kept_to_a_bound(run: Run) -> None:
    headers = b"".join(b"X-%d: %s\r\n" % (number, b"y" * 1000) for number in range(50))
    outcome, _ = deliver(run, says(b"HTTP/1.1 200 OK\r\n" + headers + b"Content-Length: 0\r\n\r\n"))
    assert outcome.status == 200
    assert [name for name, _ in outcome.headers] == [f"X-{number}" for number in range(8)]


def test_redirects_are_not_followed(run: Run) -> None:
    async def main() -> None:
        async with Receiver(says(OK)) as second:
            location = f"HTTP/1.1 307 Go\r\nLocation: {second.url}\r\nContent-Length: 0\r\n\r\n"
            async with sender() as http, Receiver(says(location.encode())) as first:
                outcome = await http.send(post(first.url), 5.0)
                assert (outcome.kind, outcome.status) == (AttemptEnd.ANSWERED, 307)
                assert ("Location", second.url) in outcome.headers
            assert second.connections == 0

    run(main())
