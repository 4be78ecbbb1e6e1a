"""Requests without end in many sandboxes: the memory of full rings stays, and the last are answered as the first."""

from itertools import cycle, islice

from bench import load
from bench.scale.memory import resident
from bench.scale.row import Row
from bench.servers import ROOT, SIMULATOR, BenchError, Cores, Server, ask, running
from bench.sign import nonce
from bench.workloads import Client, client_of, topup

REQUESTS, BATCH, SANDBOXES = 1_000_000, 10_000, 50
CONNECTIONS = 16
ROUND_S = 300.0  # a bound; a round ends with its requests
GROWTH_MAX, SLOWER_MAX = 1.02, 1.10
SCENARIO = ROOT / "bench" / "scale" / "soak.yaml"


def many(requests: int = REQUESTS) -> list[Row]:
    """So many requests that leave no transactions, in batches; the first batch is not measured."""
    command = [*SIMULATOR[:-1], str(SCENARIO), "--port", "0", "--json", "--clock", "x60"]
    with running(command, Cores(None, None)) as server:
        client = client_of(server)
        refids = _begun(server)
        sent, cpu_s, half = 0, [], 0
        while sent < requests:
            cpu_s.append(_batch(server, client, refids))
            sent += BATCH
            half = half or (resident(server.process.pid) if sent >= requests / 2 else 0)
        after = resident(server.process.pid)
    return [
        Row(f"memory after {requests:,} requests to that after half of them", after / half, "times", GROWTH_MAX),
        Row(f"processor time of the last {BATCH:,} to the first", cpu_s[-1] / cpu_s[1], "times", SLOWER_MAX),
    ]


def _begun(server: Server) -> dict[str, str]:
    """The sandboxes by their ids, each with the refid that is paid and asked for in it."""
    for number in range(SANDBOXES):
        ask(server, "POST", "/_sim/sandboxes", {"id": f"soak-{number}"})
    return {f"soak-{number}": nonce() for number in range(SANDBOXES)}


def _batch(server: Server, client: Client, refids: dict[str, str]) -> float:
    """The processor time of one batch of requests of several kinds."""
    raw = [one for box, refid in islice(cycle(refids.items()), BATCH // 4) for one in _round(client, box, refid)]
    before = server.cpu_s() or 0.0
    result = load.run(server.host, server.port, raw, connections=CONNECTIONS, seconds=ROUND_S)
    if result.requests != len(raw):
        raise BenchError(f"of {len(raw)} requests {result.requests} were answered")
    return (server.cpu_s() or 0.0) - before


def _round(client: Client, box: str, refid: str) -> list[bytes]:
    asked = [
        topup(client, refid),
        client.request("GET", "/v2/balance"),
        client.request("GET", "/v2/transactions", "date=2026-11-01%20-%202026-11-30"),
        client.request("GET", "/v2/bill-presentment", "product=ELECTRIC&account=210012345648"),
    ]
    return [one.replace(b" /v2", f" /s/{box}/v2".encode(), 1) for one in asked]
