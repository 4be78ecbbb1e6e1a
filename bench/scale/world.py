"""The whole application in this process, paid over its pipeline: what a server does, but for the sockets."""

import asyncio
import json
from collections.abc import Awaitable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from bench.servers import BenchError
from bench.sign import nonce, signed
from simulator.app import App, build_app
from simulator.domain.commands import Credit
from simulator.domain.model.money import parse_amount
from simulator.domain.model.scenario import Scenario
from simulator.options import Options
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import DEFAULT
from simulator.scenario.library import scenario_from_object
from simulator.server.message import HttpRequest

T = TypeVar("T")
HOST = "127.0.0.1:8080"
START = datetime(2026, 11, 1, tzinfo=UTC)
BATCH = 50
BATCH_S = 10.0  # within which all that belongs to a payment has happened
UNLIMITED: Mapping[str, Any] = {
    "scenario": "scale",
    "extends": "default",
    "clock": {"mode": "manual", "start": START.isoformat()},
    "limits": {"requests_per_interval": None},
}
WALLET = parse_amount("90000000000")


class World:
    """An application whose wall clock is moved by hand, and the first reseller of its scenario."""

    def __init__(self, scenario: Scenario | Mapping[str, Any] = UNLIMITED) -> None:
        loaded = scenario if isinstance(scenario, Scenario) else scenario_from_object(dict(scenario))
        self.wall = START
        self.runner = asyncio.Runner()
        self.app: App = build_app(Options(), lambda: self.wall, scenario=loaded)
        reseller = self.app.scenario.resellers[0]
        self._key = reseller.keys[0]
        assert WALLET is not None
        self.run(self._begin())
        self.live.apply(Credit(reseller.code, WALLET))

    async def _begin(self) -> None:
        self.live.start()

    def close(self) -> None:
        """End its loop, which has no more work."""
        self.runner.close()

    @property
    def live(self) -> LiveSandbox:
        """The default sandbox."""
        return self.app.sandboxes.get(DEFAULT)

    def run(self, awaitable: Awaitable[T]) -> T:
        """Run something in the loop of the application."""

        async def main() -> T:
            return await awaitable

        return self.runner.run(main())

    def request(self, method: str, path: str, query: str = "", body: bytes = b"") -> HttpRequest:
        """A signed request as the server has read it."""
        at_s = self.wall.timestamp()
        raw = signed(method, path, query, body, self._key.key, self._key.secret, HOST, at_s=at_s)
        head, _, content = raw.partition(b"\r\n\r\n")
        _, *lines = head.split(b"\r\n")
        headers = [(name.lower(), value) for name, _, value in (line.partition(b": ") for line in lines)]
        target = f"{path}?{query}" if query else path
        return HttpRequest(method, target.encode(), headers, dict(headers), is_whole=True, body=content)

    def topup(self, account: str = "0123456789", product: str = "RELOAD") -> HttpRequest:
        """A payment with a refid of its own."""
        body = {"refid": nonce(), "product": product, "account": account, "amount": "10"}
        return self.request("POST", "/v2/topup", body=json.dumps(body, separators=(",", ":")).encode())

    async def answer(self, request: HttpRequest) -> bytes:
        """Answer one request. Raises `BenchError` when it is refused."""
        pending = self.app.answer_now(request, "127.0.0.1")
        assert pending is not None, "it is one of the reseller API"
        status, _, body, _ = await pending
        if status != 200:
            raise BenchError(f"{request.target!r} was answered {status}: {body[:300]!r}")
        return body

    def pay(self, count: int) -> None:
        """Make so many payments, each with all that follows it, callbacks included."""
        for done in range(0, count, BATCH):
            self.run(self._pay(min(BATCH, count - done)))

    async def _pay(self, count: int) -> None:
        for _ in range(count):
            await self.answer(self.topup())
        self.wall += timedelta(seconds=BATCH_S)
        await self.live.driver.advance(self.live.clock.now() + timedelta(seconds=BATCH_S))
