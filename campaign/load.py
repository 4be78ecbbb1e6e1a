"""Load: mixed requests of every kind."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence

from bench.sign import nonce
from campaign.outcome import Outcome
from campaign.subject import Subject, subject

CONNECTIONS = 16
MIXED = 100_000
TODAY = "2026-11-22"

Request = tuple[str, str, str, bytes]  # method, path, query, body


def mixed(scale: float) -> Outcome:
    """Every kind of request from 16 connections."""
    outcome = Outcome("load", "no 5xx, the books balance", int(MIXED * scale))
    with subject() as trial:
        statuses = asyncio.run(_send(trial, outcome.tried, outcome))
        outcome.figures.append(_shown(statuses))
        outcome.broken += asyncio.run(trial.violations())
    return outcome


async def _send(trial: Subject, total: int, outcome: Outcome) -> Counter[int]:
    statuses: Counter[int] = Counter()
    refids: list[str] = []
    numbers = iter(range(total))
    async with trial.connections(CONNECTIONS) as connections:

        async def work(place: int) -> None:
            draw = random.Random(place)  # noqa: S311 - dice, not secrets
            for number in numbers:
                raw = trial.client.request(*_request(draw, refids))
                answer = await connections[place].ask(raw)
                statuses[answer.status] += 1
                is_kept = 0 < answer.status < 500
                outcome.expect(
                    is_kept, f"request {number} was answered {answer.status}: {raw[:300]!r} {answer.body[:200]!r}"
                )

        await asyncio.gather(*map(work, range(CONNECTIONS)))
    return statuses


def _shown(statuses: Counter[int]) -> str:
    return ", ".join(f"{count:,} of {status}" for status, count in sorted(statuses.items()))


def _request(draw: random.Random, refids: list[str]) -> Request:
    """One of the requests of a busy day."""
    dice = draw.random()
    if dice < 0.4 or not refids:
        refids.append(nonce())
        return _topup(refids[-1], draw)
    refid = draw.choice(refids)
    if dice < 0.6:
        return _topup(refid, draw)
    kinds: Sequence[Request] = (
        ("GET", "/v2/balance", "", b""),
        ("GET", "/v2/catalog", "", b""),
        ("GET", "/v2/transactions", f"date={TODAY}%20-%20{TODAY}&limit=20", b""),
        ("GET", "/v2/balance-statement", f"date={TODAY}%20-%20{TODAY}&limit=20", b""),
        ("GET", "/v2/bill-presentment", f"product=ELECTRIC&account={draw.randrange(10**12):012d}", b""),
        ("GET", "/v2/networkstatus", "product=RELOAD", b""),
        ("GET", "/v2/callback-url", "", b""),
        ("GET", "/v2/product-list", "", b""),
        ("POST", "/v2/transactions/check", "", json.dumps({"refid": refid}).encode()),
        ("POST", "/v2/transactions/void", "", json.dumps({"refid": refid, "refund_type": 1}).encode()),
    )
    return draw.choice(kinds)


def _topup(refid: str, draw: random.Random) -> Request:
    if draw.random() < 0.7:
        order = {"product": "RELOAD", "account": f"01{draw.randrange(10**8):08d}", "amount": "10"}
    else:
        order = {"product": "ELECTRIC", "account": f"2100{draw.randrange(10**8):08d}", "amount": "45.50"}
    body = {"refid": refid, **order}
    return "POST", "/v2/topup", "", json.dumps(body).encode()
