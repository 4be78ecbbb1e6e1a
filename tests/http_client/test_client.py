"""The client of deliveries opens, keeps and closes its connections under any receivers and callers."""

import asyncio
import gc
import os
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from simulator.domain.model.delivery_attempts import AttemptEnd, OutgoingRequest
from simulator.http_client import client as client_module
from simulator.http_client import dialer
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

pytestmark = pytest.mark.parametrize("run", RUNNERS)

LARGE = b"x" * 20_000_000  # more than the system takes for a receiver that does not read


class Taps:
    """A server that gives each connection as a raw socket to the test."""

    def __init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.listening.setblocking(False)
        self.port = self.listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"

    async def accept(self) -> socket.socket:
        taken, _ = await asyncio.get_running_loop().sock_accept(self.listening)
        taken.setblocking(False)
        return taken


@pytest.fixture
def taps() -> Any:
    made = Taps()
    yield made
    made.listening.close()


@pytest.mark.parametrize("is_tls", [False, True])
def test_many_attempts_in_turn_need_one_connection(run: Run, tmp_path: Path, is_tls: bool) -> None:
    async def main() -> None:
        context = proof(tmp_path) if is_tls else None
        async with sender(ca_file=tmp_path / "receiver.pem") as http, Receiver(says(OK), tls=context) as receiver:
            url = receiver.url.replace("http:", "https:") if is_tls else receiver.url
            for number in range(50):
                method, body = (("POST", b"{}"), ("GET", None))[number % 2]
                assert (await http.send(OutgoingRequest(method, url, (), body), 10)).body == "ok"
            assert (len(receiver.requests), receiver.connections) == (50, 1)

    run(main())


def test_a_receiver_proves_to_be_the_host_that_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = proof(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "receiver.pem"))

    async def main() -> None:
        async with Receiver(says(OK), tls=context) as receiver, sender(lookup=lookup("127.0.0.1")) as http:
            for host in ("localhost", "LOCALHOST", "localhost.", "127.0.0.1"):
                assert (await http.send(post(f"https://{host}:{receiver.port}/"), 10)).body == "ok"
            end = await http.send(post(f"https://other.test:{receiver.port}/"), 10)
            assert end.kind is AttemptEnd.CONNECTION
            assert end.error.startswith(f"TLS with other.test:{receiver.port} failed: Hostname mismatch")
            assert len(receiver.requests) == 4

    run(main())


def test_a_self_signed_certificate_comes_with_the_ways_to_accept_it(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with Receiver(says(OK), tls=proof(tmp_path)) as receiver, sender() as http:
            end = await http.send(post(f"https://127.0.0.1:{receiver.port}/"), 10)
            assert end.error == (
                f"TLS with 127.0.0.1:{receiver.port} failed: self-signed certificate; start the server with "
                "--callbacks-ca FILE or SSL_CERT_FILE=FILE, the certificate of the receiver or of its authority, write "
                "`accept_any_certificate: true` into the scenario, or use an http:// URL"
            )
            outgoing = post(f"https://127.0.0.1:{receiver.port}/")
            assert (await http.send(replace(outgoing, verifies=False), 10)).body == "ok"
            assert (await http.send(outgoing, 10)).kind is AttemptEnd.CONNECTION

    run(main())


def test_a_wrong_scheme_is_named(run: Run, tmp_path: Path) -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def main() -> None:
        async with await asyncio.start_server(refuse, "127.0.0.1") as plain, sender() as http:
            place = f"127.0.0.1:{plain.sockets[0].getsockname()[1]}"
            end = await http.send(post(f"https://{place}/"), 10)
            why = "the server speaks plain HTTP; use http:// instead of https:// in its URL"
            assert end.error == f"TLS with {place} failed: {why}"
        async with Receiver(says(OK), tls=proof(tmp_path)) as receiver, sender() as http:
            end = await http.send(post(f"http://127.0.0.1:{receiver.port}/"), 10)
            assert "use https:// in" in end.error

    run(main())


def test_as_many_connections_are_kept_as_were_needed_at_once(run: Run) -> None:
    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as receiver:
            for _ in range(5):
                await asyncio.gather(*(http.send(post(receiver.url), 10) for _ in range(8)))
            assert (len(receiver.requests), receiver.connections) == (40, 8)

    run(main())


def test_connections_are_kept_for_each_host_and_port_alone(run: Run) -> None:
    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as one, Receiver(says(OK)) as two:
            for _ in range(3):
                for port in (one.port, two.port):
                    await http.send(post(f"http://127.0.0.1:{port}/"), 10)
                    await http.send(post(f"http://localhost:{port}/"), 10)
            assert (one.connections, two.connections) == (2, 2)

    run(main())


def test_an_idle_connection_is_dropped_after_a_while(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "KEEP_ALIVE_S", 0.1)

    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as receiver:
            await http.send(post(receiver.url), 10)
            await until(lambda: receiver.open_connections == 0)
            await http.send(post(receiver.url), 10)
            assert receiver.connections == 2

    run(main())


def test_a_large_request_is_read_as_slowly_as_the_receiver_likes(run: Run, taps: Taps) -> None:
    """And no more of it is handed over than the receiver takes."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with sender() as http:
            sending = asyncio.ensure_future(http.send(OutgoingRequest("POST", taps.url, (), LARGE), 60))
            with await taps.accept() as taken:
                got = 0
                head = await loop.sock_recv(taken, 100_000)
                start = head.index(b"\r\n\r\n") + 4
                got = len(head) - start
                while got < len(LARGE):
                    got += len(await loop.sock_recv(taken, 1_000_000))
                assert got == len(LARGE)
                await loop.sock_sendall(taken, OK)
                assert (await sending).body == "ok"
                again = asyncio.ensure_future(http.send(post(taps.url), 10))
                assert (await loop.sock_recv(taken, 100_000)).startswith(b"POST / HTTP/1.1\r\n"), "it was kept"
                await loop.sock_sendall(taken, OK)
                await again

    run(main())


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_large_request_arrives_whole(run: Run, tmp_path: Path, scheme: str) -> None:
    async def main() -> None:
        context = proof(tmp_path) if scheme == "https" else None
        async with sender(ca_file=tmp_path / "receiver.pem") as http, Receiver(says(OK), tls=context) as receiver:
            for _ in range(2):
                body = bytes(range(256)) * 12_000
                end = await http.send(OutgoingRequest("POST", receiver.url.replace("http", scheme), (), body), 30)
                assert end.body == "ok"
                assert receiver.requests[-1].body == body
            assert receiver.connections == 1

    run(main())


@pytest.mark.parametrize("ends", [False, True])
def test_an_answer_may_come_before_the_whole_request_was_read(run: Run, taps: Taps, ends: bool) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with sender() as http:
            sending = asyncio.ensure_future(http.send(OutgoingRequest("POST", taps.url, (), LARGE), 30))
            with await taps.accept() as taken:
                await loop.sock_recv(taken, 1000)
                await loop.sock_sendall(taken, b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
                if ends:
                    taken.shutdown(socket.SHUT_WR)
                end = await sending
                assert (end.kind, end.status, end.body, end.error) == (AttemptEnd.ANSWERED, 413, "no", "")
                again = asyncio.ensure_future(http.send(post(taps.url), 10))
                with await taps.accept() as other:  # neither the rest nor another request after it is sent
                    assert (await loop.sock_recv(other, 1000)).startswith(b"POST / HTTP/1.1\r\n")
                    await loop.sock_sendall(other, OK)
                    assert (await again).status == 200

    run(main())


def test_a_receiver_that_does_not_read_is_waited_for_until_the_timeout(run: Run, taps: Taps) -> None:
    async def main() -> None:
        async with sender() as http:
            sending = asyncio.ensure_future(http.send(OutgoingRequest("POST", taps.url, (), LARGE), 0.3))
            with await taps.accept() as taken:
                end = await sending
                assert (end.kind, end.error) == (AttemptEnd.TIMEOUT, "connected, but no answer within 0.3 s")
                await until(lambda: _is_closed(taken))

    run(main())


def _is_closed(taken: socket.socket) -> bool:
    """Reads what has come; true when that was all."""
    try:
        while data := taken.recv(1_000_000):
            assert data
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True
    return True


@pytest.mark.slow
@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("is_tls", [False, True])
def test_an_attempt_may_be_cancelled_in_any_turn(run: Run, tmp_path: Path, is_tls: bool, is_kept: bool) -> None:
    async def main() -> None:
        context = proof(tmp_path) if is_tls else None
        async with Receiver(says(OK), tls=context) as receiver:
            url = f"{'https' if is_tls else 'http'}://localhost:{receiver.port}/"
            for turns in range(25):
                async with sender(ca_file=tmp_path / "receiver.pem", per_receiver=1) as http:
                    if is_kept:
                        await http.send(post(url), 10)
                    attempt = asyncio.ensure_future(http.send(post(url), 10))
                    for _ in range(turns if turns < 15 else turns**2):
                        await asyncio.sleep(0)
                    attempt.cancel()
                    await asyncio.gather(attempt, return_exceptions=True)
                    assert (await http.send(post(url), 10)).body == "ok", "its slot is free again"
            await until(lambda: receiver.open_connections == 0)

    run(main())
    gc.collect()  # a socket that was left open would warn, which is an error


def test_a_cancelled_attempt_closes_its_connection_while_others_continue(run: Run) -> None:
    async def main() -> None:
        async with sender() as http, Receiver(silent) as receiver:
            attempts = [asyncio.ensure_future(http.send(post(receiver.url), 30)) for _ in range(3)]
            await until(lambda: len(receiver.requests) == 3)
            attempts[0].cancel()
            await until(lambda: receiver.open_connections == 2)
            assert [attempt.done() for attempt in attempts[1:]] == [False, False]
            for attempt in attempts[1:]:
                attempt.cancel()
            await asyncio.gather(*attempts, return_exceptions=True)

    run(main())


def lookup(*addresses: str) -> Any:
    def found(_: str) -> Sequence[str]:
        return addresses

    return found


@pytest.fixture
def black_holes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Addresses of 127.9.0.0/16 neither answer nor refuse; what was dialled."""
    real, dialled = dialer._dial, []

    async def dial(origin: Any, context: Any, opened: Any, address: str) -> Any:
        dialled.append(address)
        if address.startswith("127.9."):
            await asyncio.Event().wait()
        return await real(origin, context, opened, address)

    monkeypatch.setattr(dialer, "_dial", dial)
    return dialled


def test_addresses_that_do_not_answer_leave_it_to_the_next_ones(
    run: Run, black_holes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialer, "ADDRESS_TIMEOUT_S", 0.05)

    async def main() -> None:
        addresses = lookup("127.9.0.1", "127.9.0.2", "127.0.0.1", "127.9.0.3")
        async with sender(lookup=addresses) as http, Receiver(says(OK)) as receiver:
            assert (await http.send(post(f"http://many.test:{receiver.port}/"), 10)).body == "ok"
            assert black_holes == ["127.9.0.1", "127.9.0.2", "127.0.0.1"]
            assert receiver.connections == 1

    run(main())


def test_addresses_that_never_answer_end_with_the_timeout(
    run: Run, black_holes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialer, "ADDRESS_TIMEOUT_S", 0.05)

    async def main() -> None:
        async with sender(lookup=lookup("127.9.0.1", "127.9.0.2")) as http:
            end = await http.send(post("http://many.test/"), 0.4)
            assert (end.kind, end.error) == (AttemptEnd.TIMEOUT, "no connection within 0.4 s")
            assert black_holes == ["127.9.0.1", "127.9.0.2"]

    run(main())


def test_a_name_with_thousands_of_addresses_has_the_first_ones_tried(run: Run, black_holes: list[str]) -> None:
    async def main() -> None:
        addresses = [f"127.0.{number // 250}.{number % 250 + 2}" for number in range(4000)]
        async with sender(lookup=lookup(*addresses)) as http, Receiver(says(OK)) as receiver:
            end = await http.send(post(f"http://many.test:{receiver.port}/"), 10)
            assert end.error == f"no connection to many.test:{receiver.port}: Connection refused"
            assert black_holes == addresses[: dialer.ADDRESSES_MAX]

    run(main())


def test_an_address_that_refuses_does_not_hold_up_the_next_one(run: Run) -> None:
    async def main() -> None:
        async with sender(lookup=lookup("127.0.0.2", "127.0.0.3", "127.0.0.1")) as http:
            async with Receiver(says(OK)) as receiver:
                end = await http.send(post(f"http://many.test:{receiver.port}/"), 10)
                assert end.body == "ok"
            end = await http.send(post(f"http://many.test:{receiver.port}/"), 10)
            assert end.error == f"no connection to many.test:{receiver.port}: Connection refused"

    run(main())


def test_an_address_without_tls_leaves_it_to_the_next_one(run: Run, tmp_path: Path) -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async def main() -> None:
        async with Receiver(says(OK), tls=proof(tmp_path)) as receiver:
            port = receiver.port
            async with (
                await asyncio.start_server(hang_up, "127.0.0.2", port),
                sender(ca_file=tmp_path / "receiver.pem", lookup=lookup("127.0.0.2", "127.0.0.1")) as http,
            ):
                assert (await http.send(post(f"https://localhost:{port}/"), 10)).body == "ok"

    run(main())


def test_a_receiver_that_does_not_part_from_tls_is_left_after_a_while(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialer, "CLOSE_NOTIFY_S", 0.2)
    context = proof(tmp_path)
    complaints: list[Any] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))
        listening = socket.create_server(("127.0.0.1", 0))
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()

        def receive() -> None:
            taken, _ = listening.accept()
            with context.wrap_socket(taken, server_side=True) as secure:
                secure.recv(65536)
                secure.sendall(OK.replace(b"Content", b"Connection: close\r\nContent"))
                with socket.socket(fileno=secure.detach()) as raw:  # it reads no more TLS
                    while raw.recv(65536):
                        pass
            loop.call_soon_threadsafe(ended.set)

        serving = asyncio.ensure_future(asyncio.to_thread(receive))
        async with sender(ca_file=tmp_path / "receiver.pem") as http:
            url = f"https://127.0.0.1:{listening.getsockname()[1]}/"
            assert (await http.send(post(url), 10)).body == "ok"
            async with asyncio.timeout(60):
                await ended.wait()
        await serving
        listening.close()

    run(main())
    assert complaints == []


def test_a_receiver_that_requires_a_client_certificate_is_reported(run: Run, tmp_path: Path) -> None:
    """It says so after the handshake, when the request may have been sent."""
    context = proof(tmp_path)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(tmp_path / "receiver.pem")

    def refuse(listening: socket.socket) -> None:
        with listening.accept()[0] as taken:
            same = socket.socket(fileno=os.dup(taken.fileno()))
            with pytest.raises(ssl.SSLError):
                context.wrap_socket(taken, server_side=True)
            with same:  # a reset could be faster than what was said
                same.shutdown(socket.SHUT_WR)
                while same.recv(65536):
                    pass

    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            serving = asyncio.ensure_future(asyncio.to_thread(refuse, listening))
            async with sender(ca_file=tmp_path / "receiver.pem") as http:
                end = await http.send(post(f"https://127.0.0.1:{listening.getsockname()[1]}/"), 10)
            await serving
        assert end.kind is AttemptEnd.CONNECTION
        assert end.error == "TLS failed (TLSV13_ALERT_CERTIFICATE_REQUIRED) before an answer came"

    run(main())


def test_closing_while_a_connection_is_opened_sends_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    may_open = asyncio.Event()
    real = dialer._dial

    async def dial(*given: Any) -> Any:
        opened = await real(*given)
        await may_open.wait()
        return opened

    monkeypatch.setattr(dialer, "_dial", dial)

    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as receiver:
            sending = asyncio.ensure_future(http.send(post(receiver.url), 10))
            await until(lambda: receiver.connections == 1)
            await http.close()
            may_open.set()
            end = await sending
            assert (end.kind, end.error) == (
                AttemptEnd.CONNECTION,
                "the connection was closed before an answer came; if the receiver speaks TLS, use https:// in its URL",
            )
            assert receiver.requests == []

    run(main())


EARLY = {  # what a receiver says as soon as it is called, and how the attempt ends
    "an answer": (OK, 200, "ok", ""),
    "a part of one": (OK[:20], 200, "", "status 200 came, then the answer broke off"),
    "a banner": (b"220 mail.test ready\r\n", None, "", "the answer is not HTTP: bad status line"),
    "more than one read": (OK + b"x" * 1_000_000, 200, "ok",
        "status 200 came with more bytes than the answer has; the status counts"),
}  # fmt: skip


@pytest.mark.parametrize(("says_first", "status", "body", "error"), EARLY.values(), ids=EARLY)
@pytest.mark.parametrize("is_tls", [False, True])
def test_a_receiver_may_answer_without_waiting_for_the_request(
    run: Run, tmp_path: Path, early: Any, is_tls: bool, says_first: bytes, status: int, body: str, error: str
) -> None:
    """A server that prints equal bytes to every caller; the outcome must not depend on timing."""
    requests: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(says_first)
        early.set()
        requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.close()

    async def main() -> None:
        context = proof(tmp_path) if is_tls else None
        async with (
            sender(ca_file=tmp_path / "receiver.pem") as http,
            await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server,
        ):
            port = server.sockets[0].getsockname()[1]
            end = await http.send(post(f"{'https' if is_tls else 'http'}://127.0.0.1:{port}/"), 10)
            assert (end.status, end.body, end.error) == (status, body, error)
            await until(lambda: len(requests) == 1)

    run(main())


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set when a receiver has sent something; connections are used a while after that."""
    said, real = asyncio.Event(), dialer._dial

    async def dial(*given: Any) -> Any:
        opened = await real(*given)
        await said.wait()
        for _ in range(50):
            await asyncio.sleep(0)
        return opened

    monkeypatch.setattr(dialer, "_dial", dial)
    return said


def test_unrequested_bytes_end_an_idle_connection(run: Run) -> None:
    async def main() -> None:
        async with sender() as http, Receiver(says(OK)) as receiver:
            await http.send(post(receiver.url), 10)
            receiver.requests[0].write_at_once(b"x")
            await until(lambda: receiver.open_connections == 0)

    run(main())


def test_an_exchange_creates_no_reference_cycles(run: Run) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.write(OK if exchange.number % 2 else b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n")

    async def main() -> None:
        async with sender(lookup=lookup("127.0.0.2", "127.0.0.1")) as http, Receiver(answer) as receiver:
            url = f"http://two.test:{receiver.port}/"
            await http.send(post(url), 10)
            for _ in range(3):  # leftovers of earlier tests, some are freed in two steps
                gc.collect()
            gc.garbage.clear()
            gc.set_debug(gc.DEBUG_SAVEALL)
            for _ in range(10):
                assert (await http.send(post(url), 10)).status == 200
            gc.collect()
            left = {f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.garbage}
            assert not {name for name in left if name.startswith(("simulator.", "httptools."))}

    try:
        run(main())
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.garbage.clear()
