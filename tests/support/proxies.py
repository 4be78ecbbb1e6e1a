"""A proxy on a loopback socket between a raw client and an upstream of raw bytes, all in the test's own loop."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from simulator.audit.clauses import as_json
from simulator.audit.client_traffic import Traffic
from simulator.audit.obligations import audited
from simulator.contract.openapi import PROXY
from simulator.control.access import Guard
from simulator.server.message import HttpLimits
from simulator.server.serve import make_server
from simulator.staging.proxy.proxy_app import Proxy, wall_clock
from simulator.staging.proxy.secrets import SeenSecrets, Signatures
from simulator.staging.proxy.watcher import Watcher
from simulator.staging.signed_requests import parse_address, secret_bytes
from simulator.wire.traffic import Call, Notification
from tests.support.broken_receivers import Answer, Receiver, silent
from tests.support.connections import connected
from tests.support.contract_responses import response_problems

PATIENCE_S = 30.0


def audit(calls: Iterable[Call], notifications: Iterable[Notification]) -> dict[str, Any]:
    """The audit as the verb makes it."""
    return as_json(audited(Traffic(calls, notifications, sees_callbacks=bool(list(notifications)))))


@dataclass(frozen=True)
class Proxied:
    """The proxy, its port, its upstream and the receiver of its callbacks."""

    proxy: Proxy
    port: int
    upstream: Receiver
    receiver: Receiver

    async def raw(self, request: bytes) -> bytes:
        """All that the proxy answers until it closes the connection."""
        async with asyncio.timeout(PATIENCE_S), connected(self.port) as (reader, writer):
            writer.write(request)
            return await reader.read()

    async def get(self, target: str, *lines: str, method: str = "GET", body: bytes = b"") -> bytes:
        """The answer to a plain request."""
        length = [f"Content-Length: {len(body)}"] if body else []
        head = [f"{method} {target} HTTP/1.1", "Host: proxy.local", *lines, *length, "Connection: close"]
        return await self.raw("\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body)

    async def sim(self, path: str, *lines: str) -> Any:
        """Return an answer of the proxy's control API after a check against its contract. `path` follows the sandbox's
        path."""
        target = f"/_sim/sandboxes/default{path}"
        head = f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        answer = await self.raw(head.encode())
        status, _, body = parts(answer)
        plain = target.partition("?")[0]
        problems = response_problems(PROXY, "GET", plain, status, "application/json", body)
        assert not problems, f"{target} answered {status} outside the contract: {'; '.join(problems)}"
        return json.loads(body)


def parts(answer: bytes) -> tuple[int, list[bytes], bytes]:
    """The status, the lines of the head, and the rest of an answer."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    return int(lines[0].split(b" ")[1]), lines, body


@asynccontextmanager
async def proxied(
    answer: Answer,
    callbacks: Answer = silent,
    *,
    timeout_s: float = 60.0,
    key: str | None = None,
    secret: str | None = None,
    upstream: str = "",
    wall: Callable[[], datetime] = wall_clock,
    limits: HttpLimits = HttpLimits(),  # noqa: B008 - frozen
    has_callbacks: bool = True,
    callbacks_path: str = "",
    token: str | None = None,
) -> AsyncIterator[Proxied]:
    """A proxy whose upstream answers as `answer` does, and whose receiver as `callbacks`. `upstream` replaces the
    address."""
    async with Receiver(answer) as service, Receiver(callbacks) as receiver:
        secrets = SeenSecrets([secret] if secret else [], [key] if key else [])
        watcher = Watcher(Signatures(key, secret_bytes(secret) if secret else None), secrets, receiver.url)
        address = parse_address(upstream or f"http://127.0.0.1:{service.port}")
        hook = f"http://127.0.0.1:{receiver.port}{callbacks_path}" if callbacks_path else receiver.url
        target = parse_address(hook) if has_callbacks else None
        proxy = Proxy(address, target, watcher, Guard(token, ()), audit, timeout_s, wall=wall)
        started = asyncio.Event()
        server = make_server(proxy, "127.0.0.1", 0, limits=limits, on_ready=started.set, on_stop=proxy.end_waits)
        running = asyncio.create_task(server.serve())
        await started.wait()
        try:
            yield Proxied(proxy, server.port, service, receiver)
        finally:
            server.should_exit = True
            await running
