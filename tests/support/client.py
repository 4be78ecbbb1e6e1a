"""The whole application in this process, driven like a client would; every answer is held against the contract."""

import asyncio
import base64
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any, TypeVar

from simulator.app import App, build_app
from simulator.domain.model.scenario import Scenario
from simulator.options import Options
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import SandboxSpec
from simulator.runtime.sandboxes import DEFAULT
from simulator.scenario.library import scenario_from_object
from tests.support.contract_check import assert_in_contract
from tests.support.replaying import assert_replays
from tests.support.signing import sign
from tests.support.wall import Wall

T = TypeVar("T")
HOST = "127.0.0.1:8080"
REPLAYS = bool(os.environ.get("RESELLER_SIM_TEST_REPLAYS"))
_nonces = count(1)
_compiled: dict[str, Scenario] = {}


@dataclass(frozen=True)
class Response:
    """An answer; `status` 0 means that the connection was closed without one."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        return self.json["data"]


class Client:
    """Signs, sends and checks. `sandbox` and credentials can be changed for each request."""

    def __init__(self, app: App, wall: Callable[[], datetime], runner: asyncio.Runner) -> None:
        self.app = app
        self.wall = wall
        self._runner = runner
        reseller = app.scenario.resellers[0] if app.scenario.resellers else None
        key = reseller.keys[0] if reseller and reseller.keys else None
        self.key, self.secret = (key.key, key.secret) if key else ("", "")

    def run(self, awaitable: Awaitable[T]) -> T:
        """Run an awaitable in the application's loop. The runner would set a signal handler for each call, which takes
        longer than many requests."""

        async def main() -> T:
            return await awaitable

        return self._runner.get_loop().run_until_complete(main())

    def pass_time(self, seconds: float) -> None:
        """Move the wall, where the test holds it."""
        assert isinstance(self.wall, Wall)
        self.wall.pass_(seconds)

    @property
    def live(self) -> LiveSandbox:
        """The default sandbox itself."""
        return self.app.sandboxes.get(DEFAULT)

    # The reseller API

    def call(self, method: str, target: str, body: Any = None, **more: Any) -> Response:
        """Send a signed request."""
        return self.run(self.acall(method, target, body, **more))

    async def acall(
        self,
        method: str,
        target: str,
        body: Any = None,
        *,
        sandbox: str | None = None,
        key: str | None = None,
        secret: str | None = None,
        nonce: str | None = None,
        timestamp: int | None = None,
        headers: dict[str, str] | None = None,
        before_body: Callable[[], Awaitable[Any]] | None = None,
    ) -> Response:
        content = self.encoded(body)
        path, _, query = target.partition("?")
        signed = self.signature(method, query, content, key=key, secret=secret, nonce=nonce, timestamp=timestamp)
        prefix = f"/s/{sandbox}" if sandbox else ""
        return await self.asend(method, prefix + path, query, content, signed | (headers or {}), before_body)

    @staticmethod
    def encoded(body: Any) -> bytes:
        """Return a body for sending: bytes unchanged, nothing for None, JSON for all other values."""
        return body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()

    def signature(
        self,
        method: str,
        query: str,
        content: bytes,
        *,
        key: str | None = None,
        secret: str | None = None,
        nonce: str | None = None,
        timestamp: int | None = None,
    ) -> dict[str, str]:
        """The four headers of a signed request."""
        nonce = nonce or f"nonce-{next(_nonces):012d}"
        stamp = str(int(self.wall().timestamp()) if timestamp is None else timestamp)
        secret_bytes = base64.b64decode(self.secret if secret is None else secret)
        return {
            "X-Api-Key": self.key if key is None else key,
            "X-Timestamp": stamp,
            "X-Nonce": nonce,
            "X-Signature": sign(method, query, content, timestamp=stamp, nonce=nonce, secret=secret_bytes),
        }

    def pay(self, refid: str = "ref-1", amount: Any = "10", product: str = "RELOAD", **more: Any) -> Response:
        """`POST /v2/topup`."""
        account = more.pop("account", "0123456789")
        extra: dict[str, Any] = {name: more.pop(name) for name in ("remarks", "extras") if name in more}
        body = {"refid": refid, "product": product, "account": account, "amount": amount, **extra}
        return self.call("POST", "/v2/topup", body, **more)

    # The control API

    def sim(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        """Send a control request; `path` comes after `/_sim`."""
        return self.run(self.asim(method, path, body, **headers))

    async def asim(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        content = b"" if body is None else json.dumps(body).encode()
        path, _, query = path.partition("?")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.asend(method, f"/_sim{path}", query, content, named)

    def advance(self, seconds: float | None = None, **wanted: Any) -> Any:
        """Advance the default sandbox's clock; returns the answer's body."""
        body: dict[str, Any] = {"seconds": seconds} if seconds is not None else wanted or {"until": "idle"}
        response = self.sim("POST", "/sandboxes/default/clock/advance", body)
        assert response.status == 200, response.body
        return response.json

    def inbox(self, name: str = "callbacks") -> list[Any]:
        """Return the messages of an inbox of the default sandbox, from all pages."""
        items: list[Any] = []
        cursor: str | None = "0"
        while cursor is not None:
            page = self.sim("GET", f"/sandboxes/default/inbox/{name}?limit=1000&cursor={cursor}").json
            items += page["items"]
            cursor = page["cursor"]
        return items

    def sandbox(self, scenario: dict[str, Any], sandbox_id: str, **more: Any) -> LiveSandbox:
        """One more sandbox, made without HTTP."""

        async def make() -> LiveSandbox:
            made = self.app.sandboxes.create(SandboxSpec(scenario_from_object(scenario), sandbox_id, **more))
            made.start()
            return made

        return self.run(make())

    # Bytes

    def send(self, method: str, path: str, query: str = "", body: bytes = b"", headers: Any = None) -> Response:
        """Send a request unchanged."""
        return self.run(self.asend(method, path, query, body, headers or {}))

    async def asend(
        self,
        method: str,
        path: str,
        query: str,
        body: bytes,
        headers: dict[str, str],
        before_body: Callable[[], Awaitable[Any]] | None = None,
    ) -> Response:
        """Send a request; `before_body` happens between its head and its body."""
        pairs = [(b"host", HOST.encode())] if "host" not in headers else []
        if body:
            pairs.append((b"content-length", str(len(body)).encode()))
        pairs += [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode("latin-1"),
            "headers": pairs,
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8080),
            "root_path": "",
            "extensions": {},
        }
        response = await exchange(self.app, scope, body, before_body)
        assert_in_contract(method, path, response.status, response.headers, response.body)
        return response


async def exchange(
    app: Any, scope: dict[str, Any], body: bytes, before_body: Callable[[], Awaitable[Any]] | None = None
) -> Response:
    """One request through an ASGI application."""
    incoming = iter([{"type": "http.request", "body": body, "more_body": False}])
    sent: list[dict[str, Any]] = []
    disconnected = asyncio.Event()

    async def receive() -> dict[str, Any]:
        for message in incoming:
            if before_body is not None:
                await before_body()
            return message
        await disconnected.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await asyncio.create_task(app(scope, receive, send))  # whose steps are the simulator's own (`longest_turn`)
    if not sent:
        return Response(0, {}, b"")
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in sent[0].get("headers", [])}
    return Response(sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:]))


@contextmanager
def running(
    scenario: Any = "default",
    wall: Callable[[], datetime] | None = None,
    prepare: Callable[[App], None] = lambda app: None,
    *,
    is_repeatable: bool = True,
    **options: Any,
) -> Iterator[Client]:
    """A client of an application that was started, once it is prepared, and will be stopped.

    `scenario` is a bundled name, a path, or an object, which extends the default scenario unless it says otherwise.
    The clock is manual unless the options or an object scenario name another. A test that changes a sandbox otherwise
    than by its inputs says that its tape is not `is_repeatable`.
    """
    wall = wall or Wall()
    if isinstance(scenario, str):
        app = build_app(Options(scenario, **({"mode": "manual"} | options)), wall)
    else:
        whole = {"scenario": "test", "extends": "default", "clock": {"mode": "manual"}} | scenario
        made = compiled({name: value for name, value in whole.items() if value is not None})
        app = build_app(Options(**options), wall, scenario=made)
    prepare(app)
    with asyncio.Runner() as runner:
        lifespan = Lifespan(app)
        runner.run(lifespan.start())
        try:
            yield Client(app, wall, runner)
        finally:
            runner.run(lifespan.stop())
        if REPLAYS and is_repeatable:
            assert_replays(app)


def compiled(scenario: dict[str, Any]) -> Scenario:
    """The scenario of an object; tests that give equal ones share it, as sandboxes do."""
    written = repr(scenario)
    if written not in _compiled:
        _compiled[written] = scenario_from_object(scenario)
    return _compiled[written]


class Lifespan:
    """Start and stop of an ASGI application."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def start(self) -> None:
        self._task = asyncio.create_task(self._app({"type": "lifespan"}, self._messages.get, self._answers.put))
        await self._messages.put({"type": "lifespan.startup"})
        assert (await self._answers.get())["type"] == "lifespan.startup.complete"

    async def stop(self) -> None:
        await self._messages.put({"type": "lifespan.shutdown"})
        await self._task
