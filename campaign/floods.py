"""Floods: what strangers and careless clients can make the server keep, and how long everybody else waits meanwhile."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import perf_counter

from bench.sign import nonce
from campaign.outcome import Outcome
from campaign.subject import SANDBOX, Subject, plain, subject

MB = 1024 * 1024
BODY = 9_900_000
PROBE_EVERY_S = 0.02


@dataclass(slots=True)
class Watch:
    """A neighbour who asks for its balance all the while, and the server's memory at its highest."""

    waits_s: list[float] = field(default_factory=list)
    peak_kb: int = 0
    failed: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def watching(self, trial: Subject) -> AsyncIterator[None]:
        """Watch meanwhile."""
        task = asyncio.create_task(self._ask(trial))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _ask(self, trial: Subject) -> None:
        async with trial.connections(1) as (connection,):
            while True:
                began = perf_counter()
                answer = await connection.ask(trial.client.request("GET", "/v2/balance"))
                self.waits_s.append(perf_counter() - began)
                self.peak_kb = max(self.peak_kb, trial.memory_kb())
                if answer.status != 200:
                    self.failed.append(f"a neighbour was answered {answer.status}")
                await asyncio.sleep(PROBE_EVERY_S)


Flood = Callable[[Subject, float], Awaitable[int]]


def floods(scale: float) -> list[Outcome]:
    """All of them, each on a server of its own."""
    return [asyncio.run(_under(name, flood, scale)) for name, flood in FLOODS.items()]


async def _under(name: str, flood: Flood, scale: float) -> Outcome:
    outcome = Outcome("floods", f"{name}: memory is bounded, neighbours are served")
    with subject() as trial:
        await trial.ask("GET", f"{SANDBOX}/requests?limit=1")  # what the first requests import is there
        before, watch = trial.memory_kb(), Watch()
        async with watch.watching(trial):
            outcome.tried = await flood(trial, scale)
        await trial.ask("GET", "/_sim/health")
        await asyncio.sleep(0.5)  # the server gives memory back when a flood is over
        after = trial.memory_kb()
        outcome.broken += watch.failed + await trial.violations()
    outcome.bounded = {"MB at most": watch.peak_kb // 1024, "MB after": after // 1024}
    outcome.figures.append(f"{before // 1024} MB before, at most {watch.peak_kb // 1024}, {after // 1024} after")
    outcome.figures.append(f"a neighbour waited {max(watch.waits_s) * 1e3:.0f} ms at most")
    return outcome


async def _inbox_names(trial: Subject, scale: float) -> int:
    """Strangers post 1 MB to many names."""
    count = max(20, int(400 * scale))
    body = b"x" * (MB - 100)
    async with trial.connections(8) as connections:

        async def post(place: int) -> None:
            for number in range(place, count, len(connections)):
                path = f"/_sim/inbox/default/name-{number}"
                await connections[place].ask(plain("POST", path, body, trial.server.netloc))

        await asyncio.gather(*map(post, range(len(connections))))
    return count


async def _nested_posts(trial: Subject, scale: float) -> int:
    """Strangers post nested JSON to an inbox whose owner reads it."""
    count = max(5, int(20 * scale))
    body = b'{"a":' * 20_000 + b"[" + b"1," * 400_000 + b"1]" + b"}" * 20_000
    async with trial.connections(1) as (connection,):
        for _ in range(count):
            await connection.ask(plain("POST", "/_sim/inbox/default/callbacks", body, trial.server.netloc))
            await connection.ask(trial.control("GET", f"{SANDBOX}/inbox/callbacks"))
    return 2 * count


@asynccontextmanager
async def _opened(trial: Subject, sent: Iterable[bytes]) -> AsyncIterator[None]:
    """Open a connection for each of these beginnings of a request, and abandon them all in the end."""
    writers = []
    for raw in sent:
        with suppress(OSError, TimeoutError):
            _, writer = await asyncio.open_connection(trial.server.host, trial.server.port)
            writers.append(writer)
            writer.write(raw)
            await asyncio.wait_for(writer.drain(), 2)
    yield
    for writer in writers:
        writer.transport.abort()


async def _stalled_bodies(trial: Subject, scale: float) -> int:
    """Anonymous connections send nearly all of a large body, and then nothing."""
    count = max(10, int(60 * scale))
    head = plain("POST", "/v2/topup", b"", trial.server.netloc, f"Content-Length: {BODY}")
    async with _opened(trial, [head + b"x" * (BODY - 100_000)] * count):
        await asyncio.sleep(1)
    return count


async def _large_extras(trial: Subject, scale: float) -> int:
    """A client of ours pays with a member of 9 MB, again and again."""
    count = max(5, int(40 * scale))
    async with trial.connections(1) as (connection,):
        for _ in range(count):
            body = {"refid": nonce(), "product": "RELOAD", "account": "0123456789", "amount": "10"}
            large = json.dumps(body | {"extras": {"unknown": "x" * 9_000_000}, "other": "x" * 800_000}).encode()
            await connection.ask(trial.client.request("POST", "/v2/topup", "", large))
    return count


async def _hostile_bodies(trial: Subject, scale: float) -> int:
    """Signed bodies that are expensive to decode."""
    count = max(5, int(30 * scale))
    kinds = (
        b"[" * (BODY // 2) + b"]" * (BODY // 2),
        b'{"a":' * (BODY // 6) + b"1" + b"}" * (BODY // 6),
        b"[" + b"1.5e300," * (BODY // 8) + b"1]",
        b"[" + b"[]," * (BODY // 3) + b"1]",
        b'{"refid":"' + b"\\u00e9" * (BODY // 6) + b'"}',
        b'{"amount":' + b"9" * BODY + b"}",
        b"{" + b",".join(b'"k%d":0' % number for number in range(BODY // 12)) + b"}",
    )
    async with trial.connections(1) as (connection,):
        for number in range(count):
            await connection.ask(trial.client.request("POST", "/v2/topup", "", kinds[number % len(kinds)]))
    return count


async def _rules(trial: Subject, scale: float) -> int:
    """More rules than a sandbox takes."""
    count = max(50, int(5_000 * scale))
    async with trial.connections(1) as (connection,):
        for number in range(count):
            rule = {
                "name": f"rule-{number}",
                "when": {"account": {"suffix": f"{number:06d}"}},
                "then": [{"status": "Failed"}],
            }
            await connection.ask(trial.control("POST", f"{SANDBOX}/rules", {"section": "payments", "rule": rule}))
    return count


async def _waiters(trial: Subject, scale: float) -> int:
    """Many long polls on the journal while requests are made."""
    polls, count = max(10, int(100 * scale)), max(100, int(5_000 * scale))
    poll = trial.control("GET", f"{SANDBOX}/requests?path=/v2/topup&wait_for=1000000&timeout=300")
    async with _opened(trial, [poll] * polls), trial.connections(1) as (connection,):
        for _ in range(count):
            await connection.ask(trial.client.request("GET", "/v2/balance"))
    return count


async def _idle_connections(trial: Subject, scale: float) -> int:
    """Connections that send half a head, or nothing."""
    count = max(50, int(2_000 * scale))
    half = b"GET /v2/balance HTTP/1.1\r\nX-Fill: " + b"x" * 8000
    async with _opened(trial, [half if number % 2 else b"" for number in range(count)]):
        await asyncio.sleep(0.5)
    return count


FLOODS: dict[str, Flood] = {
    "inbox names of strangers": _inbox_names,
    "nested posts to an inbox that is read": _nested_posts,
    "bodies that stall": _stalled_bodies,
    "unknown members": _large_extras,
    "bodies that are expensive to decode": _hostile_bodies,
    "rules without end": _rules,
    "long polls": _waiters,
    "idle connections": _idle_connections,
}
