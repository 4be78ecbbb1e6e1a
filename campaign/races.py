"""Races: many clients want the same thing at the same moment, or it is taken from under them."""

import asyncio
import json
from collections import Counter
from decimal import Decimal

from bench.sign import nonce
from campaign.outcome import Outcome
from campaign.subject import SANDBOX, Answer, Connection, Subject, subject

AT_ONCE = 50
ROUNDS = 100
COST_MAX = Decimal(10)


def races(scale: float) -> list[Outcome]:
    """All of them, each on a server of its own."""
    rounds = max(1, int(ROUNDS * scale))
    return [
        asyncio.run(race(rounds)) for race in (_same_refid, _last_money, _same_void, _reset_meanwhile, _revoked_key)
    ]


async def _same_refid(rounds: int) -> Outcome:
    outcome = Outcome("race", f"{AT_ONCE} requests with one refid pay once")
    with subject() as trial:
        async with trial.connections(AT_ONCE) as connections:
            for _ in range(rounds):
                before, refid = await _balance(trial), nonce()
                answers = await _together(trial, connections, "POST", "/v2/topup", _topup(refid), outcome)
                paid = before - await _balance(trial)
                ids = {answer.json.get("data", {}).get("refid") for answer in answers}
                outcome.expect(0 < paid <= COST_MAX, f"{refid} cost {paid}")
                outcome.expect(ids == {refid}, f"answers name {ids} instead of {refid}")
        outcome.broken += await trial.violations()
    return outcome


async def _last_money(rounds: int) -> Outcome:
    outcome = Outcome("race", f"{AT_ONCE} payments that a wallet cannot all bear never overdraw it")
    with subject() as trial:
        async with trial.connections(AT_ONCE) as connections:
            for number in range(rounds):
                box = f"race-{number}"
                await trial.ask("POST", "/_sim/sandboxes", {"id": box})
                bodies = [_topup(nonce(), "100") for _ in range(AT_ONCE)] + [
                    _topup(nonce(), "100") for _ in range(AT_ONCE)
                ]
                answers = []
                for half in (bodies[:AT_ONCE], bodies[AT_ONCE:]):
                    raws = [trial.client.request("POST", "/v2/topup", "", body) for body in half]
                    moved = [raw.replace(b"POST /v2", f"POST /s/{box}/v2".encode(), 1) for raw in raws]
                    answers += await asyncio.gather(*(c.ask(raw) for c, raw in zip(connections, moved, strict=True)))
                outcome.tried += len(answers)
                left = await _balance(trial, box)
                kinds = Counter(answer.json.get("data", {}).get("status") for answer in answers)
                outcome.expect(0 <= left < 100, f"{left} was left in {box} after {kinds}")
                await trial.ask("DELETE", f"/_sim/sandboxes/{box}")
    return outcome


async def _same_void(rounds: int) -> Outcome:
    outcome = Outcome("race", f"{AT_ONCE} voids of one payment refund it once")
    with subject() as trial:
        async with trial.connections(AT_ONCE) as connections:
            for _ in range(rounds):
                before, refid = await _balance(trial), nonce()
                await connections[0].ask(trial.client.request("POST", "/v2/topup", "", _bill(refid)))
                await trial.ask("POST", f"{SANDBOX}/clock/advance", {"until": "idle"})
                body = json.dumps({"refid": refid, "refund_type": 1}).encode()
                await _together(trial, connections, "POST", "/v2/transactions/void", body, outcome)
                await trial.ask("POST", f"{SANDBOX}/clock/advance", {"until": "idle"})
                after = await _balance(trial)
                outcome.expect(after == before, f"the balance was {before}, and {after} after one refund")
        outcome.broken += await trial.violations()
    return outcome


async def _reset_meanwhile(rounds: int) -> Outcome:
    outcome = Outcome("race", "a reset or a deletion meanwhile: an answer each, no 5xx")
    allowed = {200, 404, 409}
    with subject() as trial:
        async with trial.connections(AT_ONCE) as connections:
            for number in range(rounds):
                box = f"race-{number}"
                await trial.ask("POST", "/_sim/sandboxes", {"id": box})
                raws = [trial.client.request("POST", "/v2/topup", "", _topup(nonce())) for _ in range(AT_ONCE)]
                moved = [raw.replace(b"POST /v2", f"POST /s/{box}/v2".encode(), 1) for raw in raws]
                end = ("DELETE", f"/_sim/sandboxes/{box}") if number % 2 else ("POST", f"/_sim/sandboxes/{box}/reset")
                asked = asyncio.gather(*(c.ask(raw) for c, raw in zip(connections, moved, strict=True)))
                await trial.ask(*end)
                answers = await asked
                outcome.tried += len(answers)
                seen = {answer.status for answer in answers}
                outcome.expect(seen <= allowed, f"{end[0]} {end[1]} meanwhile: {seen - allowed}")
                await trial.ask("DELETE", f"/_sim/sandboxes/{box}")
    return outcome


async def _revoked_key(rounds: int) -> Outcome:
    outcome = Outcome("race", "a key that was revoked opens nothing any more")
    with subject() as trial:
        keys = f"{SANDBOX}/resellers/{trial.client.code}/api-keys"
        async with trial.connections(AT_ONCE) as connections:
            for _ in range(rounds):
                made = (await trial.ask("POST", keys, {})).json
                client = type(trial.client)(
                    trial.server, trial.client.code, made["api_key"], made["api_secret"], trial.client.host
                )
                await trial.ask("DELETE", f"{keys}/{made['api_key']}")
                raws = [client.request("GET", "/v2/balance") for _ in connections]
                answers = await asyncio.gather(*(c.ask(raw) for c, raw in zip(connections, raws, strict=True)))
                outcome.tried += len(answers)
                seen = {answer.status for answer in answers}
                outcome.expect(seen == {401}, f"a revoked key was answered {seen}")
    return outcome


def _topup(refid: str, amount: str = "10") -> bytes:
    body = {"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": amount}
    return json.dumps(body).encode()


def _bill(refid: str) -> bytes:
    """A payment that can be voided."""
    body = {"refid": refid, "product": "ELECTRIC", "account": "210012345678", "amount": "100"}
    return json.dumps(body).encode()


async def _together(
    trial: Subject, connections: list[Connection], method: str, path: str, body: bytes, outcome: Outcome
) -> list[Answer]:
    raws = [trial.client.request(method, path, "", body) for _ in connections]
    answers = await asyncio.gather(*(c.ask(raw) for c, raw in zip(connections, raws, strict=True)))
    outcome.tried += len(answers)
    bad = [answer.status for answer in answers if not 0 < answer.status < 500]
    outcome.expect(not bad, f"{method} {path} was answered {bad}")
    return answers


async def _balance(trial: Subject, sandbox: str = "default") -> Decimal:
    answer = await trial.ask("GET", f"/_sim/sandboxes/{sandbox}")
    return next(Decimal(str(one["balance"])) for one in answer.json["resellers"] if one["code"] == trial.client.code)
