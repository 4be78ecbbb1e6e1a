"""The socket, the life of a server, and the garbage collector."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from simulator.server.serve import CannotListen, make_server
from tests.support.client import Response
from tests.support.echo_server import Client, Echo, request, serving, serving_here


def test_the_port_is_known_before_the_server_runs() -> None:
    server = make_server(Echo(), "127.0.0.1", 0)
    try:
        assert server.port > 0
        assert server.url == f"http://127.0.0.1:{server.port}"
    finally:
        server.close()


def test_an_address_is_taken_from_the_moment_the_server_is_made() -> None:
    first = make_server(Echo(), "127.0.0.1", 0)
    try:
        with pytest.raises(CannotListen, match=f"port {first.port} on 127.0.0.1 is taken; choose another with --port"):
            make_server(Echo(), "127.0.0.1", first.port)
    finally:
        first.close()
    make_server(Echo(), "127.0.0.1", first.port).close()


@pytest.mark.parametrize(
    ("host", "port", "said"),
    [
        ("192.0.2.1", 0, "not an address of this machine; choose another with --host"),
        ("no-such-host.invalid", 0, "not an address of this machine; choose another with --host"),
        ("a" * 100 + ".b", 0, "not an address of this machine; choose another with --host"),
    ],
)
def test_an_address_that_cannot_be_listened_on_is_explained(host: str, port: int, said: str) -> None:
    with pytest.raises(CannotListen) as caught:
        make_server(Echo(), host, port)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "url"), [("0.0.0.0", "http://127.0.0.1:"), ("localhost", "http://localhost:"), ("::1", "http://[::1]:")]
)
def test_the_url_is_one_that_a_client_here_can_use(host: str, url: str) -> None:
    if host == "::1" and not socket.has_ipv6:
        host, url = "127.0.0.1", "http://127.0.0.1:"
    server = make_server(Echo(), host, 0)
    server.close()
    assert server.url == f"{url}{server.port}"


@pytest.mark.slow
def test_a_server_says_neither_its_name_nor_its_version() -> None:
    with serving() as served:
        (answer,) = asyncio.run(served.talk(request("GET", "/", "Connection: close")))
    assert "server" not in answer.headers
    assert "date" in answer.headers


@pytest.mark.slow
def test_a_client_does_not_choose_its_address_by_a_header() -> None:
    async def main() -> list[Response]:
        async with serving_here() as served:
            return await served.talk(request("GET", "/client", "X-Forwarded-For: 203.0.113.9", "Connection: close"))

    (answer,) = asyncio.run(main())
    assert answer.json["client"] == "127.0.0.1"


@asynccontextmanager
async def client_of_a_stopped_server(content: bytes, seen: str = "") -> AsyncIterator[tuple[Client, Echo]]:
    """A client that has sent this, and the application, after the server was stopped: once it had read the content and
    had `seen` the path. A server that does not stop within a bound is an error."""
    async with AsyncExitStack() as clients:
        async with serving_here() as served:
            client = await clients.enter_async_context(await served.connect())
            await client.send(content)
            await served.talk(request("GET", "/behind-it", "Connection: close"))  # what came before it has been read
            assert not seen or await served.saw(seen)
        yield client, served.app


@pytest.mark.usefixtures("patient")
def test_a_server_that_is_asked_to_stop_from_elsewhere_does_not_wait_until_it_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("simulator.server.serve._TICK_S", 3600)
    with serving() as served:  # which asks from this thread, and waits for the end of the server's
        assert asyncio.run(served.talk(request("GET", "/", "Connection: close")))[0].status == 200


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping servers wait for an hour, so that none of these tests ends by that alone."""
    monkeypatch.setattr("simulator.server.serve._GRACE_S", 3600)


@pytest.mark.slow
def test_a_request_in_progress_is_finished_when_the_server_stops() -> None:
    async def main() -> list[Response]:
        async with client_of_a_stopped_server(request("GET", "/slow"), "/slow") as (client, _):
            return await client.answers_to_end()

    (answer,) = asyncio.run(main())
    assert answer.body == b"slow"


@pytest.mark.slow
@pytest.mark.usefixtures("patient")
def test_an_idle_connection_does_not_hold_up_a_stopping_server() -> None:
    async def main() -> list[Response]:
        async with client_of_a_stopped_server(request("GET", "/")) as (client, _):
            return await client.answers_to_end()

    (answer,) = asyncio.run(main())
    assert answer.json["path"] == "/"


@pytest.mark.slow
@pytest.mark.usefixtures("patient")
def test_a_stopping_server_ends_its_own_delays_at_once() -> None:
    path = "/drip-for-ever"

    async def main() -> list[str]:
        async with client_of_a_stopped_server(request("GET", path), path) as (_, app):
            return app.seen

    assert asyncio.run(main()) == [path, "/behind-it", f"left {path}"]


@pytest.mark.slow
def test_a_stopping_server_reports_a_disconnect_to_a_request_that_would_not_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # It ends by itself, not by its cancellation.
    monkeypatch.setattr("simulator.server.serve._CANCEL_GRACE_S", 3600)
    path = "/until-disconnect"

    async def main() -> list[str]:
        async with client_of_a_stopped_server(request("GET", path), path) as (_, app):
            return app.seen

    assert asyncio.run(main()) == [path, "/behind-it", f"left {path}"]


@pytest.mark.slow
def test_a_stopping_server_cancels_a_request_that_ignores_its_disconnected_client() -> None:
    async def main() -> tuple[bytes, list[str]]:
        async with client_of_a_stopped_server(request("GET", "/sleep"), "/sleep") as (client, app):
            try:
                return await client.to_end(), app.seen
            except ConnectionResetError:
                return b"", app.seen

    assert asyncio.run(main()) == (b"", ["/sleep", "/behind-it"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begun", "answered"),
    [(b"", []), (b"GET / HTTP/1.1\r\nHo", []), (request("GET", "/") + b"GET", [200])],
    ids=["nothing", "half a head", "half a second head"],
)
@pytest.mark.usefixtures("patient")
def test_a_stopping_server_does_not_wait_for_an_incomplete_head(begun: bytes, answered: list[int]) -> None:
    assert asyncio.run(statuses_of_a_stopped_server(begun)) == answered


@pytest.mark.slow
def test_a_stopping_server_waits_only_for_its_grace_for_an_incomplete_body() -> None:
    begun = b"POST /asgi HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"
    assert asyncio.run(statuses_of_a_stopped_server(begun)) == []


async def statuses_of_a_stopped_server(content: bytes) -> list[int]:
    """Return the bytes that a client reads after it sent `sent`."""
    async with client_of_a_stopped_server(content) as (client, _):
        try:
            return [answer.status for answer in await client.answers_to_end()]
        except ConnectionResetError:
            return []


@pytest.mark.slow
def test_tune_gc_freezes_existing_objects_and_collects_seldom() -> None:
    code = (
        "import gc, json, simulator.server.serve; from simulator.cli.process import tune_gc; tune_gc();"
        "print(json.dumps([gc.get_freeze_count() > 10_000, gc.get_threshold()[0] > 5_000, gc.isenabled()]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert json.loads(done.stdout) == [True, True, True]


@pytest.mark.slow
def test_a_server_whose_application_does_not_start_exits_with_3_and_frees_its_port() -> None:
    code = (
        "import socket\nfrom simulator.server.serve import make_server\n"
        "async def app(scope, receive, send):\n"
        "    await receive()\n"
        "    await send({'type': 'lifespan.startup.failed', 'message': 'no catalog'})\n"
        "server = make_server(app, '127.0.0.1', 0)\n"
        "try:\n    server.run()\n"
        "finally:\n    socket.create_server(('127.0.0.1', server.port)).close()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3, done.stderr
    assert done.stderr.startswith("no catalog")
