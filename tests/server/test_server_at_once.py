"""Requests that are answered at once, at the end of their turn, and requests that have to wait."""

import asyncio
from collections.abc import Iterator

import pytest
import uvicorn
from uvicorn.server import ServerState

from simulator.server.message import HttpLimits, HttpRequest, RequestMemoryBudget
from simulator.server.protocol import HttpProtocol
from simulator.server.timing import ResponseBatcher
from tests.support.echo_at_once import EchoAtOnce
from tests.support.echo_server import LETTERS, Served, request, serving
from tests.support.fed_connections import fed_server, turns


@pytest.fixture(scope="module")
def at_once() -> Iterator[Served]:
    """A server whose application answers at once."""
    with serving(app=EchoAtOnce()) as server:
        yield server


CLOSING = "Connection: close"


def test_a_request_that_comes_whole_is_answered_at_once(at_once: Served) -> None:
    raw = request("POST", "/here?a=1&b", body=b"text") + request("GET", "/there", CLOSING)
    here, there = asyncio.run(at_once.talk(raw))
    assert (here.json["at_once"], here.json["body"], here.json["query"]) == (True, "text", "a=1&b")
    assert there.json["path"] == "/there"


@pytest.mark.parametrize(
    "raw",
    [
        request("GET", "/asgi"),
        request("GET", "/escaped%20path"),
        request("GET", "/late", "Upgrade: websocket", "Connection: Upgrade"),
        b"GET /old HTTP/1.0\r\n\r\n",
        request("GET", "/closing", CLOSING),
    ],
)
def test_an_unusual_request_is_handled_by_asgi(at_once: Served, raw: bytes) -> None:
    closing = b"" if b"1.0" in raw or CLOSING.encode() in raw else request("GET", "/end", CLOSING)
    first = asyncio.run(at_once.talk(raw + closing))[0]
    assert (first.status, "at_once" in first.json) == (200, False)


def test_a_body_in_pieces_is_read_by_the_application(at_once: Served) -> None:
    raw = request("POST", "/pieces", CLOSING, body=b"abcdef")
    (answer,) = asyncio.run(at_once.talk(raw[:-3], 0.05, raw[-3:]))
    assert answer.json["body"] == "abcdef"


@pytest.mark.slow
def test_a_request_that_has_to_wait_continues_in_a_task_and_keeps_its_place(at_once: Served) -> None:
    raw = request("POST", "/slow", body=b"x") + request("GET", "/next") + request("GET", "/last", CLOSING)
    slow, following, last = asyncio.run(at_once.talk(raw))
    assert (slow.body, following.json["path"], last.json["path"]) == (b"slow", "/next", "/last")


@pytest.mark.slow
def test_others_are_served_while_one_waits(at_once: Served) -> None:
    async def main() -> list[str]:
        order = []

        async def one(path: str) -> None:
            async with await at_once.connect() as client:
                await client.send(request("GET", path))
                await client.answer()
                order.append(path)

        await asyncio.gather(one("/slow"), one("/quick"))
        return order

    assert asyncio.run(main()) == ["/quick", "/slow"]


def test_a_head_request_gets_no_body(at_once: Served) -> None:
    async def main() -> tuple[int, bytes]:
        async with await at_once.connect() as client:
            await client.send(request("HEAD", "/here", CLOSING))
            answer = await client.answer(to_head=True)
            return answer.status, await client.to_end()

    assert asyncio.run(main()) == (200, b"")


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/error", "/slow-error"])
def test_an_error_of_the_application_is_logged_and_answered_500(path: str, caplog: pytest.LogCaptureFixture) -> None:
    with serving(app=EchoAtOnce()) as server:
        (answer,) = asyncio.run(server.talk(request("GET", path), 0.3, request("GET", "/end", CLOSING)))[:1]
    assert answer.status == 500
    assert "on purpose" in caplog.text
    caplog.clear()


def test_an_error_before_the_first_step_is_answered_500(caplog: pytest.LogCaptureFixture) -> None:
    class Mistaken(EchoAtOnce):
        def answer_now(self, request: HttpRequest, client: str) -> None:
            raise RuntimeError("on purpose")

    async def main() -> None:
        async with fed_server(Mistaken()) as server:
            _, client = server.connect(request("GET", "/x"))
            await turns()
            assert client.written.startswith(b"HTTP/1.1 500")

    asyncio.run(main())
    assert "on purpose" in caplog.text
    caplog.clear()


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/abort", "/slow-abort"])
def test_an_aborted_answer_has_no_bytes(at_once: Served, path: str) -> None:
    async def main() -> bytes:
        async with await at_once.connect() as client:
            await client.send(request("GET", path))
            return await client.to_end()

    assert asyncio.run(main()) == b""


def test_an_answer_can_be_cut_in_the_middle(at_once: Served) -> None:
    async def main() -> bytes:
        async with await at_once.connect() as client:
            await client.send(request("GET", "/half"))
            return await client.to_end()

    head, _, body = asyncio.run(main()).partition(b"\r\n\r\n")
    assert b"content-length: %d" % len(LETTERS) in head
    assert body == LETTERS[: len(LETTERS) // 2]


def test_a_client_that_leaves_while_its_request_waits_affects_no_other(at_once: Served) -> None:
    async def main() -> bool:
        async with await at_once.connect() as client:
            await client.send(request("GET", "/slow-abort"))
        return await at_once.saw("left /slow-abort")

    assert asyncio.run(main())
    assert asyncio.run(at_once.talk(request("GET", "/fine", CLOSING)))[0].status == 200


@pytest.mark.slow
@pytest.mark.parametrize("first", [request("POST", "/asgi", body=b"one"), request("PUT", "/slow", body=b"one")])
def test_a_request_that_waits_for_the_end_of_the_turn_keeps_its_method(at_once: Served, first: bytes) -> None:
    raw = first + request("DELETE", "/asgi") + request("GET", "/asgi", CLOSING)
    answers = asyncio.run(at_once.talk(raw))
    assert [answer.json["method"] for answer in answers[1:]] == ["DELETE", "GET"]
    assert answers[0].body == b"slow" or answers[0].json["method"] == "POST"


@pytest.mark.parametrize(
    ("raw", "paths"),
    [
        (request("POST", "/here", body=b"x"), ["/here"]),
        (request("POST", "/here", CLOSING, body=b"x"), ["/here"]),
        (request("POST", "/asgi", body=b"x"), ["/asgi"]),
        (request("POST", "/asgi", CLOSING, body=b"x"), ["/asgi"]),
        (request("GET", "/asgi") + request("GET", "/here") + request("GET", "/asgi"), ["/asgi", "/here", "/asgi"]),
    ],
    ids=["at once", "at once, the last", "in a task", "in a task, the last", "several"],
)
def test_a_client_that_closes_its_side_at_once_is_answered_all_the_same(
    at_once: Served, raw: bytes, paths: list[str]
) -> None:
    async def main() -> bytes:
        async with await at_once.connect() as client:
            client.writer.write(raw)
            client.writer.write_eof()
            return await client.to_end()

    received = asyncio.run(main())
    assert [received.count(b'"path": "%b"' % path.encode()) for path in dict.fromkeys(paths)] == [
        paths.count(path) for path in dict.fromkeys(paths)
    ]


def test_a_client_that_closes_its_side_within_a_body_is_disconnected(at_once: Served) -> None:
    async def main() -> bytes:
        async with await at_once.connect() as client:
            client.writer.write(request("POST", "/asgi", body=b"1234")[:-2])
            client.writer.write_eof()
            return await client.to_end()

    assert asyncio.run(main()) == b""


def test_a_request_counts_although_its_client_is_gone_at_once(at_once: Served) -> None:
    async def main() -> bool:
        async with await at_once.connect() as client:
            client.writer.write(request("POST", "/left-at-once", body=b"x"))
        return await at_once.saw("left /left-at-once")

    assert asyncio.run(main())


@pytest.mark.parametrize("character", [chr(code) for code in range(0x21, 0x7F) if chr(code) not in "%#?"])
def test_every_character_of_a_path_is_answered(at_once: Served, character: str) -> None:
    for path in (f"/a{character}b", "/asgi"):
        answers = asyncio.run(at_once.talk(request("GET", path, CLOSING)))
        assert answers[0].status in (200, 400)
    whole = request("GET", f"/{character}{character}a") + request("GET", "/end", CLOSING)
    assert asyncio.run(at_once.talk(whole))[0].status in (200, 400)


@pytest.mark.slow
def test_a_request_counts_although_the_system_no_longer_knows_where_it_came_from() -> None:
    class Gone(asyncio.Transport):
        def is_closing(self) -> bool:
            return True

    async def main() -> list[str]:
        app = EchoAtOnce()
        config = uvicorn.Config(app, interface="asgi3", log_config=None)
        budget = RequestMemoryBudget(HttpLimits())
        protocol = HttpProtocol(app, budget, ResponseBatcher(), config=config, server_state=ServerState())
        protocol.connection_made(Gone())
        protocol.data_received(request("GET", "/gone"))
        protocol.connection_lost(None)
        return app.seen

    assert asyncio.run(main()) == ["/gone", "left /gone"]
