"""Faults: receivers that fail, and responses that are lost, cut or late while the client retries."""

import asyncio
import json
import random
from collections import Counter
from decimal import Decimal
from typing import Any

from bench.sign import nonce
from bench.workloads import topup
from campaign.outcome import Outcome
from campaign.subject import SANDBOX, Connection, Subject, subject
from tests.support.webhook_campaign import campaign

CALLBACKS = 3_000
WEBHOOKS = 10_000
RETRIED = 2_000
FAILING = 0.3
ATTEMPTS = 4
CONNECTIONS = 16
FAILURES = (
    b"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n",
    b"garbage\r\n\r\n",
    b"",
)
FAULTS: tuple[dict[str, Any], ...] = (
    {"after_commit": True, "disconnect": True},
    {"after_commit": True, "status": 502},
    {"disconnect": "body"},
    {"malformed": True},
    {"status": 503},
    {"disconnect": True},
)


def webhooks(scale: float) -> Outcome:
    """Signed events to a receiver that fails 30 in 100."""
    outcome = Outcome(
        "faults", "each webhook is delivered or has all its attempts, on time", max(100, int(WEBHOOKS * scale))
    )
    try:
        ended = campaign(outcome.tried)
        outcome.figures.append(", ".join(f"{count:,} {state}" for state, count in ended.items()))
    except AssertionError as error:
        outcome.broken.append(str(error) or "a delivery differs from what the receiver saw")
    return outcome


def callbacks(scale: float) -> Outcome:
    """Transaction callbacks to a receiver that fails 30 in 100."""
    return asyncio.run(_callbacks(max(50, int(CALLBACKS * scale))))


async def _callbacks(total: int) -> Outcome:
    outcome = Outcome("faults", "each callback is delivered or has all its attempts", total)
    draw = random.Random(1)  # noqa: S311 - dice, not secrets
    taken: Counter[str] = Counter()

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or b"0")
                data = json.loads(await reader.readexactly(length))["data"]
                if draw.random() < FAILING:
                    writer.write(draw.choice(FAILURES))
                    break
                taken[f"{data['refid']} {data['status']}"] += 1
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    receiver = await asyncio.start_server(receive, "127.0.0.1", 0)
    port = receiver.sockets[0].getsockname()[1]
    with subject() as trial:
        async with trial.connections(CONNECTIONS) as connections:
            setting = trial.client.request("POST", "/v2/callback-url", f"url=http://127.0.0.1:{port}/&method=POST")
            answer = await connections[0].ask(setting)
            outcome.expect(answer.status == 200, f"the callback URL was answered {answer.status}")
            for number in range(total // 2):  # two callbacks each
                await connections[number % CONNECTIONS].ask(topup(trial.client, nonce()))
        while not (await trial.ask("POST", f"{SANDBOX}/clock/advance", {"until": "idle"})).json.get("idle"):
            pass
        await _check_callbacks(trial, taken, outcome)
        outcome.broken += await trial.violations()
    receiver.close()
    return outcome


async def _check_callbacks(trial: Subject, taken: Counter[str], outcome: Outcome) -> None:
    attempts: dict[str, list[Any]] = {}
    cursor: str | None = "0"
    while cursor is not None:
        page = (await trial.ask("GET", f"{SANDBOX}/callbacks?limit=1000&cursor={cursor}")).json
        for row in page["callbacks"]:
            attempts.setdefault(row["callback"], []).append(row)
        cursor = page["cursor"]
    for rows in attempts.values():
        name, state = f"{rows[0]['refid']} {rows[0]['payment_status']}", rows[-1]["state"]
        is_kept = taken[name] == 1 if state == "delivered" else len(rows) == ATTEMPTS and not taken[name]
        outcome.expect(is_kept, f"{name} is {state} after {len(rows)} attempts; received {taken[name]} times")
    outcome.expect(len(attempts) == outcome.tried, f"{len(attempts)} of {outcome.tried} callbacks are known")
    states = Counter(rows[-1]["state"] for rows in attempts.values())
    outcome.figures.append(", ".join(f"{count:,} {state}" for state, count in states.items()))


def retried(scale: float) -> Outcome:
    """Payments by a client that retries until it is answered, under faults of every kind."""
    return asyncio.run(_retried(max(20, int(RETRIED * scale))))


async def _retried(total: int) -> Outcome:
    outcome = Outcome("faults", "a client that retries each refid until it is answered pays it once", total)
    with subject() as trial:
        for number, then in enumerate(FAULTS):
            rule = {"name": f"fault-{number}", "when": {"path": "/v2/topup"}, "chance": 0.1, "then": then}
            made = await trial.ask("POST", f"{SANDBOX}/rules", {"section": "faults", "rule": rule})
            outcome.expect(made.status == 201, f"the fault {then} was refused: {made.body[:300]!r}")
        before = await trial.balance()
        refids, asked = [nonce() for _ in range(total)], Counter[int]()
        waiting = iter(refids)

        async def work(connection: Connection) -> None:
            for refid in waiting:
                for attempt in range(1, 100):
                    answer = await connection.ask(topup(trial.client, refid))
                    if answer.status == 200 and answer.json.get("data", {}).get("refid") == refid:
                        asked[attempt] += 1
                        break
                else:
                    outcome.broken.append(f"{refid} had no answer in 99 attempts")

        async with trial.connections(CONNECTIONS) as connections:
            await asyncio.gather(*map(work, connections))
        cost = (before - await trial.balance()) / total
        outcome.expect(cost == cost.quantize(Decimal("0.001")) and 0 < cost <= 10, f"a payment cost {cost} on average")
        more = sum(count for attempt, count in asked.items() if attempt > 1)
        outcome.figures.append(f"{more:,} of them needed more than one request")
        outcome.broken += await trial.violations()
    return outcome
