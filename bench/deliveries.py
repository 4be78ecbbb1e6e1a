"""Callbacks a second: the simulator's sender beside aiohttp's client alone, to a receiver in another process."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable

import aiohttp
import uvloop

from bench import load
from bench.rounds import Cell, Plan, Side
from bench.servers import SINK, BenchError, Cores, pinned, running
from simulator.domain.model.effects import Outgoing
from simulator.http_client.sender import HttpSender

IN_FLIGHT = (16, 64)
WARM_UP_S = 0.3
TIMEOUT_S = 30.0

BODY = json.dumps(
    {
        "data": {
            "statusCode": 0,
            "status": "Succesful",
            "account": "0123456789",
            "product": "RELOAD",
            "productName": "Mobile reload",
            "amount": 10,
            "sn": "SN-4f1d9c2a",
            "pin": "",
            "expiry": "",
            "cost": 9.7,
            "balance": 4990.3,
            "remarks": "",
            "refid": "order-000001",
            "timestamp": "2026-01-01 12:00:00",
            "note": "",
            "voucherlink": "",
        }
    }
).encode()
HEADERS = (("Content-Type", "application/json"),)

Post = Callable[[], Awaitable[int | None]]


def measure_deliveries(plan: Plan, cores: Cores) -> list[Cell]:
    """One cell for each number of callbacks in flight."""
    with running(SINK, cores) as sink, pinned(cores.load):
        return uvloop.run(_measure(f"{sink.url}/callback", plan))


async def _measure(url: str, plan: Plan) -> list[Cell]:
    sender = HttpSender()
    outgoing = Outgoing("POST", url, HEADERS, BODY)
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    async with aiohttp.ClientSession(timeout=timeout) as session:

        async def alone() -> int | None:
            async with session.post(url, data=BODY, headers=HEADERS) as response:
                await response.read()
                return response.status

        async def ours() -> int | None:
            return (await sender.send(outgoing, TIMEOUT_S)).status

        try:
            return [await _cell(alone, ours, in_flight, plan) for in_flight in IN_FLIGHT]
        finally:
            await sender.close()


async def _cell(alone: Post, ours: Post, in_flight: int, plan: Plan) -> Cell:
    for post in (alone, ours):
        await _round(post, in_flight, WARM_UP_S)
    pairs = []
    for _ in range(plan.rounds):
        yardstick = await _round(alone, in_flight, plan.seconds)
        pairs.append((yardstick, await _round(ours, in_flight, plan.seconds)))
    return Cell("deliveries", "callbacks sent, against aiohttp alone", in_flight, tuple(pairs))


async def _round(post: Post, in_flight: int, seconds: float) -> Side:
    """`in_flight` workers, each posting again as soon as it was answered."""
    latencies: list[float] = []
    refused: list[str] = []
    cpu, begun = time.process_time(), time.perf_counter()
    until = begun + seconds

    async def work() -> None:
        while time.perf_counter() < until and not refused:
            sent = time.perf_counter()
            status = await post()
            latencies.append(time.perf_counter() - sent)
            if status != 200:
                refused.append(f"a callback ended with status {status}")

    await asyncio.gather(*(work() for _ in range(in_flight)))
    wall_s, cpu_s = time.perf_counter() - begun, time.process_time() - cpu
    if refused or not latencies:
        raise BenchError(refused[0] if refused else "no callback was sent")
    p50, p99, _ = load.percentiles_ms(latencies)
    return Side(load.Load(len(latencies), 0, wall_s, cpu_s, p50, p99), cpu_s)
