"""A closed-loop load generator: N keep-alive connections, each sends its next request when the last is answered.

It has to be far cheaper than the server it measures, so a connection is a bare protocol that looks at three things of
a response: its status, its Content-Length and, of one in `SAMPLE_EVERY`, the body. Requests come ready-made as bytes;
what is done with the sampled bodies happens after the clock has stopped.
"""

import asyncio
import contextlib
import gc
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from statistics import quantiles
from typing import cast

import uvloop

SAMPLE_EVERY = 64
GRACE_S = 10.0  # how long answers may be late after the round has ended before they count as errors

Check = Callable[[bytes], bool]


@dataclass(slots=True)
class Load:
    """What a round measured. Latencies are in milliseconds, CPU and wall time in seconds."""

    requests: int
    errors: int
    wall_s: float
    cpu_s: float  # of the load generator
    p50_ms: float
    p99_ms: float
    complaints: list[str] = field(default_factory=list)  # the first few errors, in words
    gap_s: float = 0.0  # the longest time in which no connection was answered
    p999_ms: float = 0.0
    max_ms: float = 0.0

    @property
    def per_second(self) -> float:
        return self.requests / self.wall_s if self.wall_s else 0.0


class _Round:
    """What the connections of one round share."""

    def __init__(self, requests: Iterable[bytes], status: bytes, connections: int) -> None:
        self.requests: Iterator[bytes] = iter(requests)
        self.status = status
        self.latencies: list[float] = []
        self.samples: list[bytes] = []
        self.errors = 0
        self.complaints: list[str] = []
        self.open = connections
        self.over = False
        self.last_answer = 0.0
        self.gap_s = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def complain(self, text: str) -> None:
        self.errors += 1
        if len(self.complaints) < 3:
            self.complaints.append(text)

    def stop(self) -> None:
        self.over = True

    def closed(self) -> None:
        self.open -= 1
        if not self.open and not self.done.done():
            self.done.set_result(None)


class _Connection(asyncio.Protocol):
    """One keep-alive connection. `missing` bytes of the current body are still to come; -1 while in the head."""

    def __init__(self, shared: _Round) -> None:
        self.round = shared
        self.missing = -1
        self.buffer = b""
        self.sampled = False
        self.waiting = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def start(self) -> None:
        if self.transport.is_closing():
            self.round.complain("the server closed the connection before the first request")
            return
        self.sent = time.perf_counter()
        self.send_next()

    def send_next(self) -> None:
        request = None if self.round.over else next(self.round.requests, None)
        if request is None:
            self.transport.close()
            return
        self.waiting = True
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        if self.missing < 0:
            data = self.buffer + data if self.buffer else data
            end = data.find(b"\r\n\r\n")
            if end < 0:
                self.buffer = data
                return
            length = content_length(data, end)
            if length < 0:
                self.abandon(f"no Content-Length in {data[:200]!r}")
                return
            if data[9:12] != self.round.status:
                self.round.complain(data[:400].decode("latin-1"))
            self.sampled = len(self.round.latencies) % SAMPLE_EVERY == 0
            self.buffer = b""
            data = data[end + 4 :]
            self.missing = length
        self.missing -= len(data)
        if self.sampled:
            self.buffer += data
        if not self.missing:
            self.answered()
        elif self.missing < 0:
            self.abandon("more bytes than Content-Length announced")

    def answered(self) -> None:
        now = time.perf_counter()
        shared = self.round
        shared.latencies.append(now - self.sent)
        if self.sampled:
            shared.samples.append(self.buffer)
            self.buffer = b""
        if now - shared.last_answer > shared.gap_s and shared.last_answer:
            shared.gap_s = now - shared.last_answer
        shared.last_answer = now
        self.sent = now
        self.missing = -1
        self.waiting = False
        self.send_next()

    def abandon(self, reason: str) -> None:
        self.waiting = False
        self.round.complain(reason)
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.waiting:
            self.round.complain(f"connection lost before the answer: {exc or 'closed by the server'}")
        self.round.closed()


def content_length(data: bytes, end: int) -> int:
    """The Content-Length in the head that ends at `end`, or -1."""
    value = data[:end].lower().partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0].strip()
    return int(value) if value.isdigit() else -1


def run(
    host: str,
    port: int,
    requests: Iterable[bytes],
    *,
    connections: int,
    seconds: float,
    check: Check | None = None,
    status: int = 200,
) -> Load:
    """Send `requests` over `connections` connections until they are used up or `seconds` have passed.

    A wrong status, a lost connection and a sampled body that `check` refuses are errors.
    """
    shared, begun, cpu_s = uvloop.run(_sent(host, port, requests, connections, seconds, status))
    return _summary(shared, begun, cpu_s, check)


async def _sent(
    host: str, port: int, requests: Iterable[bytes], connections: int, seconds: float, status: int
) -> tuple[_Round, float, float]:
    """Return the round, when it began, and the CPU time that it took."""
    loop = asyncio.get_running_loop()
    shared = _Round(requests, str(status).encode(), connections)
    protocols = [(await loop.create_connection(lambda: _Connection(shared), host, port))[1] for _ in range(connections)]
    gc.collect()
    gc.disable()  # its own collections would show up as the server's latency
    try:
        cpu, begun = time.process_time(), time.perf_counter()
        loop.call_later(seconds, shared.stop)
        for protocol in protocols:
            protocol.start()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(shared.done, seconds + GRACE_S)
        cpu = time.process_time() - cpu
    finally:
        gc.enable()
    for protocol in protocols:
        if protocol.waiting:
            protocol.abandon(f"no answer within {GRACE_S:g} s of the round's end")
        protocol.transport.abort()
    await asyncio.sleep(0)
    return shared, begun, cpu


def _summary(shared: _Round, begun: float, cpu_s: float, check: Check | None) -> Load:
    for body in shared.samples if check else ():
        if check and not check(body):
            shared.complain(f"unexpected body: {body[:300]!r}")
    wall_s = max(shared.last_answer - begun, 0.0)
    p50, p99, p999 = percentiles_ms(shared.latencies)
    return Load(
        len(shared.latencies),
        shared.errors,
        wall_s,
        cpu_s,
        p50,
        p99,
        shared.complaints,
        shared.gap_s,
        p999,
        max(shared.latencies, default=0.0) * 1e3,
    )


def percentiles_ms(latencies_s: list[float]) -> tuple[float, float, float]:
    """The median, the 99th and the 99.9th percentile in milliseconds; zeros when there is nothing to rank."""
    if len(latencies_s) < 2:
        only = latencies_s[0] * 1e3 if latencies_s else 0.0
        return only, only, only
    ranks = quantiles(latencies_s, n=1000, method="inclusive")
    return ranks[499] * 1e3, ranks[989] * 1e3, ranks[998] * 1e3
