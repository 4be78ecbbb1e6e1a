"""`build_app` returns a Starlette application, which any ASGI server and any test client runs."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection

import httpx
import hypercorn.asyncio
import hypercorn.config
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from simulator.app import App, build_app
from simulator.options import Options
from simulator.server.message import HttpRequest
from simulator.server.serve import listen

PATHS = ("/v2/balance", "/s/default/v2/balance", "/s/none/v2/balance", "/_sim/health", "/openapi.json", "/none")
STATUSES = [401, 401, 404, 200, 200, 404]


@pytest.fixture
def app() -> App:
    return build_app(Options(mode="manual"))


def test_it_is_a_starlette_application_with_its_mounts(app: App) -> None:
    assert isinstance(app, Starlette)
    assert [route.path for route in app.routes if isinstance(route, Mount)] == ["/_sim", "/s/{sandbox}", ""]


def test_the_test_client_of_starlette_runs_it(app: App) -> None:
    with TestClient(app, "http://127.0.0.1") as client:
        assert [client.get(path).status_code for path in PATHS] == STATUSES
        assert client.get("/_sim/ready").json()["status"] == "ready"
        assert "text/html" in client.get("/", headers={"accept": "text/html"}).headers["content-type"]


def test_the_transport_of_httpx_runs_it_without_a_lifespan(app: App) -> None:
    async def statuses() -> list[int]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return [(await client.get(path)).status_code for path in PATHS]

    assert asyncio.run(statuses()) == STATUSES


def test_another_application_mounts_it(app: App) -> None:
    with TestClient(Starlette(routes=[Mount("/staging", app)]), "http://127.0.0.1") as client:
        assert [client.get("/staging" + path).status_code for path in PATHS] == STATUSES
        listed = client.get("/staging/_sim/sandboxes").json()["sandboxes"]
        assert [one["id"] for one in listed] == ["default"]
        assert client.get("/v2/balance").status_code == 404


def test_it_answers_through_middleware_that_was_added(app: App) -> None:
    seen: list[str] = []

    class Watching:
        def __init__(self, app: ASGIApp) -> None:
            self.app = app

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            seen.append(scope.get("path", ""))
            await self.app(scope, receive, send)

    app.add_middleware(Watching)
    with TestClient(app, "http://127.0.0.1") as client:
        seen.clear()
        assert [client.get(path).status_code for path in PATHS] == STATUSES
        assert "text/html" in client.get("/", headers={"accept": "text/html"}).headers["content-type"]
    assert seen[: len(PATHS) + 1] == [*PATHS, "/"]


def test_it_stops_after_an_error_of_its_caller_and_starts_no_second_time(app: App) -> None:
    async def fail() -> None:
        async with app.router.lifespan_context(app):
            raise LookupError

    with pytest.raises(LookupError):
        asyncio.run(fail())
    assert app.sandboxes.default.is_closed
    with pytest.raises(RuntimeError, match="call build_app"), TestClient(app, "http://127.0.0.1"):
        pass


def test_below_middleware_our_own_server_leaves_every_request_to_it(app: App) -> None:
    request = HttpRequest("GET", b"/v2/balance", [(b"host", b"here")], {b"host": b"here"})
    pending = app.answer_now(request, "127.0.0.1")
    assert pending is not None
    pending.close()
    app.add_middleware(GZipMiddleware)
    assert app.answer_now(request, "127.0.0.1") is None


def test_uvicorn_runs_it_by_its_own_protocol(app: App) -> None:
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
    with _in_thread(server.serve([listener]), lambda: setattr(server, "should_exit", True)):
        assert _asked(listener.getsockname()[1]) == STATUSES


def test_hypercorn_runs_it(app: App) -> None:
    config = hypercorn.config.Config()
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    config.bind = [f"fd://{listener.detach()}"]
    config.accesslog = config.errorlog = None
    loops: list[asyncio.AbstractEventLoop] = []
    end = asyncio.Event()

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        await hypercorn.asyncio.serve(app, config, shutdown_trigger=end.wait)

    with _in_thread(serve(), lambda: loops[0].call_soon_threadsafe(end.set)):
        assert _asked(port) == STATUSES


@contextmanager
def _in_thread(serving: object, stop: object) -> Iterator[None]:
    thread = threading.Thread(target=asyncio.run, args=(serving,))
    thread.start()
    try:
        yield
    finally:
        stop()  # type: ignore[operator]
        thread.join(20)
    assert not thread.is_alive()


def _asked(port: int) -> list[int]:
    """The statuses of all paths; the socket listens already, so the first one waits for the server's start."""
    statuses = []
    with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        for path in PATHS:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
    return statuses
