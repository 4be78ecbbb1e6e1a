"""How deliveries share connections, wait for their turn, start, are cancelled and end."""

import asyncio
import gc
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, OutgoingRequest
from simulator.http_client.sender import HttpSender
from tests.support.broken_receivers import (
    OK,
    RUNNERS,
    Exchange,
    Receiver,
    Run,
    post,
    proof,
    says,
    sender,
    silent,
    until,
)

each_loop = pytest.mark.parametrize("run", RUNNERS)


@each_loop
def test_a_request_has_exactly_the_given_headers_and_body(run: Run) -> None:
    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as receiver:
            url = f"http://127.0.0.1:{receiver.port}/a%2Fb/%7e//?x=%41+b&&x&refid=%E2%82%AC#part"
            headers = (("X-One", "1"), ("content-type", "application/json"), ("X-One", "2"), ("X-Empty", ""))
            await http.send(OutgoingRequest("POST", url, headers, b'{"a":1}'), 5.0)
            await http.send(OutgoingRequest("GET", f"http://127.0.0.1:{receiver.port}?q", ()), 5.0)
            assert receiver.requests[0].head == [
                "POST /a%2Fb/%7e//?x=%41+b&&x&refid=%E2%82%AC HTTP/1.1",
                f"Host: 127.0.0.1:{receiver.port}",
                "X-Sim-Delivery: 1",
                "X-One: 1",
                "content-type: application/json",
                "X-One: 2",
                "X-Empty: ",
                "Content-Length: 7",
            ]
            assert receiver.requests[0].body == b'{"a":1}'
            assert receiver.requests[1].head == [
                "GET /?q HTTP/1.1",
                f"Host: 127.0.0.1:{receiver.port}",
                "X-Sim-Delivery: 1",
            ]

    run(main())


@each_loop
def test_a_query_may_be_longer_than_an_address_that_is_configured(run: Run) -> None:
    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as receiver:
            query = "message=" + "%F0%9F%98%80" * 10_000
            assert (await http.send(OutgoingRequest("GET", f"{receiver.url}?{query}"), 5.0)).status == 200
            assert query in receiver.requests[0].head[0]

    run(main())


@each_loop
@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("PO ST", ()),
        ("POST\r\nX: y", ()),
        ("POST", (("X-Token", "hunter2\r\nX-Injected: 1"),)),
        ("POST", (("X-Token", "hunter2\x00"),)),
        ("POST", (("X Token", "hunter2"),)),
        ("POST", (("X-Token: a\r\nX", "hunter2"),)),
        ("POST", (("", "hunter2"),)),
    ],
)
def test_a_request_that_http_does_not_allow_is_not_sent(
    run: Run, method: str, headers: tuple[tuple[str, str], ...]
) -> None:
    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as receiver:
            outcome = await http.send(OutgoingRequest(method, receiver.url, headers, b"{}"), 5.0)
            assert outcome.kind is AttemptEnd.BLOCKED
            assert "hunter2" not in outcome.error
            assert not receiver.requests

    run(main())


@each_loop
def test_connections_are_kept_alive(run: Run) -> None:
    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as receiver:
            for _ in range(20):
                assert (await http.send(post(receiver.url), 5.0)).status == 200
            assert (len(receiver.requests), receiver.connections) == (20, 1)

    run(main())


@each_loop
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_request_that_a_kept_connection_took_is_sent_once(run: Run, method: str, how: str) -> None:
    """The receiver reads the second request on a kept connection and drops it without an answer."""

    async def answer(exchange: Exchange) -> None:
        if exchange.number == 2:
            getattr(exchange, how)()
        else:
            exchange.write(OK)

    async def main() -> None:
        async with sender() as http, Receiver(answer) as receiver:
            outcomes = [await http.send(OutgoingRequest(method, receiver.url, (), b"{}"), 5.0) for _ in range(3)]
            assert [outcome.kind for outcome in outcomes] == [
                AttemptEnd.ANSWERED,
                AttemptEnd.CONNECTION,
                AttemptEnd.ANSWERED,
            ]
            assert [exchange.on_connection for exchange in receiver.requests] == [1, 1, 2]

    run(main())


@each_loop
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_receiver_that_drops_every_connection_gets_each_attempt_once(run: Run, method: str, how: str) -> None:
    async def answer(exchange: Exchange) -> None:
        getattr(exchange, how)()

    async def main() -> None:
        async with sender() as http, Receiver(answer) as receiver:
            for _ in range(3):
                assert (
                    await http.send(OutgoingRequest(method, receiver.url, (), b"{}"), 5.0)
                ).kind is AttemptEnd.CONNECTION
            assert len(receiver.requests) == 3

    run(main())


@each_loop
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("is_noticed", [False, True])
def test_a_kept_connection_that_was_closed_before_is_replaced(run: Run, method: str, is_noticed: bool) -> None:
    """No byte of the request has left by then, even when our event loop does not know of the end yet."""

    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as receiver:
            for number in (1, 2):
                outcome = await http.send(OutgoingRequest(method, receiver.url, (), b"{}"), 5.0)
                assert (outcome.kind, outcome.status, outcome.body) == (AttemptEnd.ANSWERED, 200, "ok")
                receiver.requests[-1].end_at_once()
                if is_noticed:
                    await until(lambda: receiver.open_connections == 0)
                assert len(receiver.requests) == number
            assert [exchange.on_connection for exchange in receiver.requests] == [1, 2]

    run(main())


@each_loop
def test_a_receiver_that_closed_all_its_idle_connections_is_called_on_a_new_one(run: Run) -> None:
    async def answer(exchange: Exchange) -> None:
        if exchange.number <= 5:
            await until(lambda: len(receiver.requests) >= 5)
        exchange.write(OK)

    async def main() -> None:
        async with sender() as http, receiver:
            await asyncio.gather(*(http.send(post(receiver.url), 5.0) for _ in range(5)))
            for exchange in receiver.requests:
                exchange.end_at_once()
            assert (await http.send(post(receiver.url), 5.0)).status == 200
            assert (len(receiver.requests), receiver.connections) == (6, 6)

    receiver = Receiver(answer)
    run(main())


@each_loop
@pytest.mark.parametrize("how", ["close", "reset"])
def test_an_answer_that_breaks_off_on_a_kept_connection_is_a_failure(run: Run, how: str) -> None:
    async def answer(exchange: Exchange) -> None:
        if exchange.number == 1:
            exchange.write(OK)
        else:
            exchange.write(b"HTTP/1.1 2")
            await exchange.arrived()
            getattr(exchange, how)()

    async def main() -> None:
        async with sender() as http, Receiver(answer) as receiver:
            assert (await http.send(post(receiver.url), 5.0)).status == 200
            assert (await http.send(post(receiver.url), 5.0)).kind is AttemptEnd.CONNECTION
            assert len(receiver.requests) == 2

    run(main())


@each_loop
@pytest.mark.parametrize("copies", [1, 50])
def test_unrequested_bytes_are_not_an_answer(run: Run, copies: int) -> None:
    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as receiver:
            assert (await http.send(post(receiver.url), 5.0)).status == 200
            receiver.requests[0].write_at_once(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n" * copies)
            assert (await http.send(post(receiver.url), 5.0)).status == 200
            assert [exchange.on_connection for exchange in receiver.requests] == [1, 2]

    run(main())


@pytest.mark.slow
@each_loop
def test_dead_receivers_do_not_hold_up_another(run: Run) -> None:
    async def main() -> None:
        async with sender() as http, Receiver(silent) as dead, Receiver(silent) as deaf, Receiver(says(OK)) as good:
            urls = [dead.url] * 100 + [deaf.url] * 50
            lost = [asyncio.ensure_future(http.send(post(url), 4.0)) for url in urls]
            await until(lambda: len(dead.requests) == 64 and len(deaf.requests) == 50)
            answers = await asyncio.gather(*(http.send(post(good.url), 5.0) for _ in range(100)))
            assert {answer.status for answer in answers} == {200}
            assert not any(each.done() for each in lost)
            outcomes = await asyncio.gather(*lost)
            assert {outcome.kind for outcome in outcomes} == {AttemptEnd.TIMEOUT}
            assert len(dead.requests) == 100, "none was given up before it was sent"

    run(main())


@each_loop
def test_a_dead_path_of_one_sandbox_does_not_delay_another_sandbox_at_the_same_receiver(run: Run) -> None:
    async def answer(exchange: Exchange) -> None:
        if "/dead" not in exchange.head[0]:
            exchange.write(OK)

    async def main() -> None:
        async with sender() as http, Receiver(answer) as receiver:
            dead = post(f"http://127.0.0.1:{receiver.port}/dead")
            lost = [asyncio.ensure_future(http.send(dead, 30.0, "one")) for _ in range(100)]
            await until(lambda: len(receiver.requests) == 64)
            assert (await http.send(post(receiver.url), 5.0, "another")).status == 200
            assert len(receiver.requests) == 65
            for attempt in lost:
                attempt.cancel()
            await asyncio.gather(*lost, return_exceptions=True)

    run(main())


@each_loop
def test_one_receiver_has_a_bounded_number_of_connections(run: Run) -> None:
    async def main() -> None:
        most = 0

        async def answer(exchange: Exchange) -> None:
            nonlocal most
            most = max(most, receiver.open_connections)
            await until(lambda: receiver.open_connections >= 5)
            exchange.write(OK)

        async with sender(per_receiver=5) as http, Receiver(answer) as receiver:
            answers = await asyncio.gather(*(http.send(post(receiver.url), 5.0) for _ in range(40)))
            assert {answer.status for answer in answers} == {200}
            assert most <= 5

    run(main())


@each_loop
def test_a_cancelled_delivery_ends_at_once_and_leaves_no_connection(run: Run) -> None:
    async def main() -> None:
        async with sender(per_receiver=1) as http, Receiver(silent) as receiver:
            first, second = (asyncio.ensure_future(http.send(post(receiver.url), 30.0)) for _ in range(2))
            await until(lambda: len(receiver.requests) == 1)
            for each in (first, second):
                each.cancel()
            ends = await asyncio.gather(first, second, return_exceptions=True)
            assert [type(end) for end in ends] == [asyncio.CancelledError] * 2
            await until(lambda: receiver.open_connections == 0)
            assert (await http.send(post(receiver.url), 0.1)).kind is AttemptEnd.TIMEOUT

    run(main())


@each_loop
def test_a_certificate_must_be_of_an_authority_of_the_system_or_of_the_file(run: Run, tmp_path: Path) -> None:
    context = proof(tmp_path)

    async def main() -> None:
        async with Receiver(says(OK), tls=context) as receiver:
            url = receiver.url.replace("http:", "https:")
            async with sender() as http:
                outcome = await http.send(post(url), 5.0)
                assert outcome.kind is AttemptEnd.CONNECTION
                assert outcome.error.startswith(f"TLS with 127.0.0.1:{receiver.port} failed: ")
                assert not receiver.requests
            async with sender(ca_file=tmp_path / "receiver.pem") as http:
                assert (await http.send(post(url), 5.0)).body == "ok"

    run(main())


@each_loop
def test_a_receiver_that_closes_during_the_tls_handshake_is_reported(run: Run) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65536)
        writer.close()

    async def main() -> None:
        async with sender() as http, await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            outcome = await http.send(post(f"https://127.0.0.1:{port}/"), 5.0)
        assert outcome.kind is AttemptEnd.CONNECTION
        assert not outcome.error.endswith(": ")

    run(main())


@each_loop
def test_tls_to_a_receiver_that_speaks_http_is_a_connection_failure(run: Run) -> None:
    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as receiver:
            outcome = await http.send(post(receiver.url.replace("http:", "https:")), 0.2)
            assert outcome.kind in (AttemptEnd.CONNECTION, AttemptEnd.TIMEOUT)
            assert outcome.status is None

    run(main())


@each_loop
def test_a_sender_that_was_not_warmed_opens_itself_once(run: Run) -> None:
    async def main() -> None:
        http = HttpSender()
        async with Receiver(says(OK)) as receiver:
            outcomes = await asyncio.gather(*(http.send(post(receiver.url), 5.0) for _ in range(10)))
            assert {outcome.status for outcome in outcomes} == {200}
        await http.close()

    run(main())
    gc.collect()


@each_loop
def test_a_closed_sender_sends_nothing(run: Run) -> None:
    async def main() -> None:
        never_opened = HttpSender()
        await never_opened.close()
        async with sender() as opened:
            await opened.close()
        for http in (never_opened, opened):
            with pytest.raises(RuntimeError, match="closed"):
                await http.send(post("http://127.0.0.1:1/"), 5.0)

    run(main())


@each_loop
@pytest.mark.parametrize("earlier", [0, 1])
def test_closing_ends_the_deliveries_that_are_under_way(run: Run, earlier: int) -> None:
    async def answer(exchange: Exchange) -> None:
        if exchange.number <= earlier:
            exchange.write(OK)

    async def main() -> None:
        async with Receiver(answer) as receiver:
            async with sender() as http:
                for _ in range(earlier):
                    await http.send(post(receiver.url), 5.0)
                under_way = asyncio.ensure_future(http.send(post(receiver.url), 30.0))
                await until(lambda: len(receiver.requests) == earlier + 1)
            outcome: AttemptResult = await asyncio.wait_for(under_way, 60)
            assert outcome.kind is AttemptEnd.CONNECTION

    run(main())


def python(program: str) -> str:
    """Run a program in a fresh interpreter that is strict about warnings; what it printed, errors included."""
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(program)]
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=30
    ).stdout


def test_importing_the_sender_does_not_import_the_client() -> None:
    program = """
        import sys, simulator.http_client.sender, simulator.http_client.targets
        simulator.http_client.targets.parse_target("http://example.com:80/callback")
        print(sorted({"httptools", "simulator.http_client.client"} & set(sys.modules)))
    """
    assert python(program) == "[]\n"


@pytest.mark.slow
def test_no_connection_stays_open_or_silent_at_the_end() -> None:
    program = """
        import asyncio
        from simulator.http_client.sender import HttpSender
        from simulator.domain.model.delivery_attempts import OutgoingRequest

        def lookup(host):
            raise OSError("no such name")

        async def main():
            asyncio.get_running_loop().slow_callback_duration = 60  # a busy machine leaves nothing open

            async def serve(reader, writer):
                while await reader.read(65536):
                    writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
                writer.close()

            async def ignore(reader, writer):
                await reader.read()
                writer.close()

            good = await asyncio.start_server(serve, "127.0.0.1", 0)
            dead = await asyncio.start_server(ignore, "127.0.0.1", 0)
            ports = [server.sockets[0].getsockname()[1] for server in (good, dead)]
            urls = [f"http://127.0.0.1:{port}/" for port in (*ports, 1)] + ["http://nothing.invalid/"]
            http = HttpSender(lookup=lookup)
            waits_s = (30, 0.5, 30, 30)
            sent = (http.send(OutgoingRequest("POST", url, (), b"{}"), wait_s) for url, wait_s in zip(urls, waits_s))
            outcomes = await asyncio.gather(*sent)
            cancelled = asyncio.ensure_future(http.send(OutgoingRequest("POST", urls[1]), 30))
            await asyncio.sleep(0.05)
            cancelled.cancel()
            await asyncio.gather(cancelled, return_exceptions=True)
            await http.close()
            for server in (good, dead):
                server.close()
                await server.wait_closed()
            await asyncio.sleep(0.05)
            print(*(outcome.kind for outcome in outcomes))

        asyncio.run(main())
    """
    assert python(program) == "answered timeout connection dns\n"
