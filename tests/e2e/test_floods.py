"""The memory of a real server process under floods of large bodies. The margins are wide: they distinguish hundreds of
megabytes.
"""

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.support.connections import connected
from tests.support.on_the_wire import PATIENCE_S, WiredSandbox, sandbox_with
from tests.support.processes import serving

pytestmark = pytest.mark.slow

MB = 1_000_000
CLIENTS = 40
BODY = b"x" * (9_900 * 1000)


def resident(pid: int) -> int:
    """The bytes of memory that a process occupies."""
    (line,) = (line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


async def flood(sandbox: WiredSandbox, pid: int) -> tuple[int, int]:
    """Forty clients send all of their bodies but the end, and wait: how many are refused, and the memory then."""
    head = sandbox.request("POST", "/v2/topup").replace(b"Content-Length: 0", b"Content-Length: 9999999")
    refused = 0
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(connected(sandbox.port)) for _ in range(CLIENTS)]
        for reader, writer in clients:
            writer.write(head + BODY)
            answer = asyncio.create_task(reader.readline())
            sending = asyncio.create_task(writer.drain())
            await asyncio.wait({answer, sending}, timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED)
            done, _ = await asyncio.wait({answer}, timeout=0.3)
            refused += bool(done) and answer.result().startswith(b"HTTP/1.1 503")
            for task in (answer, sending):
                task.cancel()
            await asyncio.gather(answer, sending, return_exceptions=True)
        return refused, resident(pid)


if sys.platform == "linux":  # elsewhere neither the file of the system nor the function of its C library exists

    def test_stalled_bodies_hold_no_more_than_their_budget_in_flood_after_flood() -> None:
        with serving("--port", "0", "--json", "--clock", "manual") as server:
            sandbox, pid = sandbox_with(server), server.process.pid
            before = resident(pid)
            for _ in range(3):  # what one flood occupied serves the next
                refused, during = asyncio.run(flood(sandbox, pid))
                assert refused > CLIENTS // 2
                assert during - before < 250 * MB, "without a budget it would be 400"
