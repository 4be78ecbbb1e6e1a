"""Races: many clients want the same thing at the same moment, or it is taken from under them."""

import asyncio
import json
from collections import Counter
from dataclasses import replace
from decimal import Decimal

from bench.sign import nonce
from bench.workloads import topup
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
                before, refid = await trial.balance(), nonce()
                answers = await _together(trial, connections, "POST", "/v2/topup", _topup(refid), outcome)
                paid = before - await trial.balance()
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
                answers = []
                for _ in range(2):
                    raws = [
                        trial.client.request("POST", f"/s/{box}/v2/topup", "", _topup(nonce(), "100"))
                        for _ in connections
                    ]
                    answers += await _at_once(connections, raws, outcome)
                left = await trial.balance(box)
                kinds = Counter(answer.json.get("data", {}).get("status") for answer in answers)
                outcome.expect(0 <= left < 100, f"{left} was left in {box} after {kinds}")
                await trial.ask("DELETE", f"/_sim/sandboxes/{box}")
    return outcome


async def _same_void(rounds: int) -> Outcome:
    outcome = Outcome("race", f"{AT_ONCE} voids of one payment refund it once")
    with subject() as trial:
        async with trial.connections(AT_ONCE) as connections:
            for _ in range(rounds):
                before, refid = await trial.balance(), nonce()
                await connections[0].ask(trial.client.request("POST", "/v2/topup", "", _bill(refid)))
                await trial.ask("POST", f"{SANDBOX}/clock/advance", {"until": "idle"})
                body = json.dumps({"refid": refid, "refund_type": 1}).encode()
                await _together(trial, connections, "POST", "/v2/transactions/void", body, outcome)
                await trial.ask("POST", f"{SANDBOX}/clock/advance", {"until": "idle"})
                after = await trial.balance()
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
                raws = [topup(trial.client, nonce(), f"/s/{box}") for _ in connections]
                end = ("DELETE", f"/_sim/sandboxes/{box}") if number % 2 else ("POST", f"/_sim/sandboxes/{box}/reset")
                answers, _ = await asyncio.gather(_at_once(connections, raws, outcome), trial.ask(*end))
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
                client = replace(trial.client, key=made["api_key"], secret=made["api_secret"])
                await trial.ask("DELETE", f"{keys}/{made['api_key']}")
                raws = [client.request("GET", "/v2/balance") for _ in connections]
                answers = await _at_once(connections, raws, outcome)
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
    """Return the answers to one request that each connection sends."""
    answers = await _at_once(connections, [trial.client.request(method, path, "", body) for _ in connections], outcome)
    bad = [answer.status for answer in answers if not 0 < answer.status < 500]
    outcome.expect(not bad, f"{method} {path} was answered {bad}")
    return answers


async def _at_once(connections: list[Connection], raws: list[bytes], outcome: Outcome) -> list[Answer]:
    outcome.tried += len(raws)
    return await asyncio.gather(*(one.ask(raw) for one, raw in zip(connections, raws, strict=True)))
