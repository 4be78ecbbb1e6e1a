"""The soak: everything but lasting transactions, over and over; the memory ends where it began."""

import asyncio
from itertools import count
from pathlib import Path
from time import perf_counter

from bench.sign import nonce
from bench.workloads import topup
from campaign.outcome import Outcome
from campaign.subject import SANDBOX, Connection, Subject, plain, subject

CONNECTIONS = 8
SOAK_S = 180.0
WARM_UP = 1 / 3  # of the time; then the logs are full
GROWTH_MAX = 0.02
SCENARIO = Path(__file__).parent / "soak.yaml"
_NUMBERS = count()


def soak(scale: float) -> Outcome:
    """Rounds until the time is over."""
    return asyncio.run(_soak(SOAK_S * scale))


async def _soak(seconds: float) -> Outcome:
    outcome = Outcome("soak", f"memory ends within {GROWTH_MAX:.0%} of where it began")
    with subject("--sandbox-ttl", "60", scenario=SCENARIO, clock="x60") as trial:
        async with trial.connections(CONNECTIONS) as connections:
            refid = nonce()
            await connections[0].ask(topup(trial.client, refid))
            await _rounds(trial, connections, refid, outcome, seconds * WARM_UP)
            before, asked = trial.memory_kb(), outcome.tried
            await _rounds(trial, connections, refid, outcome, seconds * (1 - WARM_UP))
            after = trial.memory_kb()
        outcome.broken += await trial.violations()
    growth = after / before - 1
    outcome.expect(growth <= GROWTH_MAX, f"memory grew by {growth:.1%}, from {before} to {after} kB")
    outcome.bounded = {"MB after": after // 1024}
    outcome.figures.append(
        f"{before / 1024:.1f} MB after {asked:,} requests, {after / 1024:.1f} MB after {outcome.tried:,}"
    )
    return outcome


async def _rounds(trial: Subject, connections: list[Connection], refid: str, outcome: Outcome, seconds: float) -> None:
    until = perf_counter() + seconds

    async def work(connection: Connection) -> None:
        while perf_counter() < until:
            tried = await _round(trial, connection, refid, f"soak-{next(_NUMBERS)}", outcome)
            outcome.tried += tried

    await asyncio.gather(*map(work, connections))


async def _round(trial: Subject, connection: Connection, refid: str, box: str, outcome: Outcome) -> int:
    """Ask for everything once; make a sandbox, pay in it, and delete it."""
    client, host = trial.client, trial.server.netloc
    own = f"/_sim/sandboxes/{box}"
    requests = [
        topup(trial.client, refid),
        client.request("GET", "/v2/balance"),
        client.request("GET", "/v2/catalog"),
        client.request("GET", "/v2/transactions", "date=2026-11-01%20-%202026-11-30"),
        client.request("GET", "/v2/bill-presentment", "product=ELECTRIC&account=210012345648"),
        client.request("POST", "/v2/topup", "", b'{"refid": 5}'),
        client.request("GET", "/v2/nowhere"),
        plain("GET", "/v2/balance", b"", host),
        plain("POST", f"/_sim/inbox/default/{box}", b'{"hello": [1, 2, 3]}', host),
        trial.control("GET", f"{SANDBOX}/requests?limit=20"),
        trial.control("GET", f"{SANDBOX}/coverage"),
        trial.control("GET", f"{SANDBOX}/inbox/{box}"),
        trial.control("DELETE", f"{SANDBOX}/inbox/{box}"),
        trial.control("POST", "/_sim/sandboxes", {"id": box}),
        topup(trial.client, nonce(), f"/s/{box}"),
        trial.control("POST", f"{own}/reset"),
        topup(trial.client, nonce(), f"/s/{box}"),
        trial.control("GET", f"{own}/transactions"),
        trial.control("DELETE", own),
    ]
    for raw in requests:
        answer = await connection.ask(raw)
        outcome.expect(0 < answer.status < 500, f"{raw[:80]!r} was answered {answer.status}")
    return len(requests)
