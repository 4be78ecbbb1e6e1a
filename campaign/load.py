"""Load: mixed requests of every kind, and requests that were mutated before they were signed."""

import asyncio
import json
import random
import string
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count as counting

from bench.sign import nonce
from bench.workloads import Client
from campaign.outcome import Outcome
from campaign.subject import Subject, subject

CONNECTIONS = 16
MIXED = 100_000
MUTATED = 60_000
TODAY = "2026-11-22"

Request = tuple[str, str, str, bytes]  # method, path, query, body


def mixed(scale: float) -> Outcome:
    """Every kind of request from 16 connections."""
    outcome = Outcome("load", "no 5xx, the books balance", int(MIXED * scale))
    with subject() as trial:
        statuses = asyncio.run(_send(trial, outcome.tried, _valid, outcome))
        outcome.figures.append(_shown(statuses))
        outcome.broken += asyncio.run(trial.violations())
    return outcome


def mutated(scale: float) -> Outcome:
    """The same with bytes, members, types and headers changed at random; most are signed after the change."""
    outcome = Outcome("fuzz", "no 5xx, each request has an answer, the books balance", int(MUTATED * scale))
    with subject() as trial:
        statuses = asyncio.run(_send(trial, outcome.tried, _mutant, outcome))
        outcome.figures.append(_shown(statuses))
        outcome.broken += asyncio.run(trial.violations())
    return outcome


async def _send(
    trial: Subject, total: int, make: Callable[[Client, random.Random, list[str]], bytes], outcome: Outcome
) -> Counter[int]:
    statuses: Counter[int] = Counter()
    refids: list[str] = []
    numbers = iter(range(total))
    async with trial.connections(CONNECTIONS) as connections:

        async def work(place: int) -> None:
            draw = random.Random(place)  # noqa: S311 - dice, not secrets
            for number in numbers:
                raw = make(trial.client, draw, refids)
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


def _valid(client: Client, draw: random.Random, refids: list[str]) -> bytes:
    method, path, query, body = _request(draw, refids)
    return client.request(method, path, query, body)


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


# What a hostile or confused client makes of a request.

ODD_VALUES = (
    "null",
    "[]",
    "{}",
    "1e999",
    "-0",
    '"\\ud800"',
    "true",
    '"' + "x" * 5000 + '"',
    "[" * 500,
    "0.1",
    '""',
    "1e-9",
)
ODD_TEXT = string.printable + "éß漢\x00\x7f\u202e"


def _mutant(client: Client, draw: random.Random, refids: list[str]) -> bytes:
    method, path, query, body = _request(draw, refids)
    for mutate in draw.choices((_bytes, _value, _query, _path, _method), k=draw.randint(1, 3)):
        method, path, query, body = mutate((method, path, query, body), draw)
    raw = client.request(method, path, query, body)
    return _header(raw, draw) if draw.random() < 0.2 else raw


def _bytes(request: Request, draw: random.Random) -> Request:
    method, path, query, body = request
    changed = bytearray(body or b"{}")
    for _ in range(draw.randint(1, 4)):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return method, path, query, bytes(changed)


def _value(request: Request, draw: random.Random) -> Request:
    method, path, query, body = request
    text = body.decode("latin-1")
    places = [place for place, character in zip(counting(), text, strict=False) if character == ":"]
    if not places:
        return method, path, query, draw.choice(ODD_VALUES).encode()
    place = draw.choice(places) + 1
    end = min((found for mark in ",}" if (found := text.find(mark, place)) > 0), default=len(text))
    return method, path, query, (text[:place] + draw.choice(ODD_VALUES) + text[end:]).encode()


def _query(request: Request, draw: random.Random) -> Request:
    method, path, query, body = request
    characters = "".join(_encoded(draw.choices(ODD_TEXT, k=draw.randint(1, 12))))
    name = draw.choice(("date", "limit", "offset", "product", "account", "status", characters))
    return method, path, f"{query}&{name}={characters}" if query else f"{name}={characters}", body


def _encoded(characters: Sequence[str]) -> Iterator[str]:
    return ("".join(f"%{byte:02X}" for byte in character.encode()) for character in characters)


def _path(request: Request, draw: random.Random) -> Request:
    method, path, query, body = request
    other = draw.choice(
        ("/v2/balance", "/v2/token", "/v2/options", "/v1/interbank/billers", "/v2/balance-webhook", path)
    )
    return method, other + draw.choice(("", "", "", "/", "//", "/..", "/%00", "%2f")), query, body


def _method(request: Request, draw: random.Random) -> Request:
    return (draw.choice(("GET", "POST", "PUT", "DELETE", "PATCH", "BREW")), *request[1:])


def _header(raw: bytes, draw: random.Random) -> bytes:
    """One header line twice, or with other bytes that are allowed in a value."""
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    place = draw.randrange(1, len(lines))
    if lines[place].lower().startswith((b"content-length", b"host")):
        return raw
    name = lines[place].partition(b":")[0]
    value = bytes(draw.choice(b" !abcXYZ019=+/~\xe9") for _ in range(draw.randint(0, 30)))
    lines[place : place + draw.randint(0, 1)] = [name + b": " + value]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
