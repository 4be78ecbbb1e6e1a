"""Clients that pay, ask again, void and look at their balance, until their server is gone."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bench.sign import signed
from tests.support.contract_check import assert_in_contract
from tools.kills.client_record import ClientRecord
from tools.kills.connection import Answer, Connection

RESELLER = "/_sim/sandboxes/default/resellers/RS001"


@dataclass(frozen=True, slots=True)
class Key:
    """The credentials and the server for signed requests."""

    key: str
    secret: str
    host: str

    def request(self, method: str, path: str, document: Any = None) -> bytes:
        """A whole request, signed now."""
        body = b"" if document is None else json.dumps(document).encode()
        return signed(method, path, "", body, self.key, self.secret, self.host)


class Client:
    """A client that outlives its servers. It repeats each unanswered request, and replays an answered one, which
    must be rejected for its used nonce."""

    def __init__(self, name: str, draw: random.Random, told: ClientRecord) -> None:
        self._name = name
        self._draw = draw
        self._told = told
        self._unanswered: str | None = None
        self._answered: bytes | None = None  # the latest signed request that was
        self._made = 0

    async def work(self, connection: Connection, key: Key, is_over: Callable[[], bool]) -> None:
        """Send requests until the server is gone or the episode ends."""
        if self._answered is not None and not await self._repeat(connection, self._answered):
            return
        while not is_over() and await self._step(connection, key):
            pass

    async def _repeat(self, connection: Connection, raw: bytes) -> bool:
        method, path, _ = raw.decode("latin-1").split(" ", 2)
        answer = await self._asked(connection, method, path, raw)
        if answer.status not in (0, 401):
            self._told.complaints.append(f"{method} {path} was sent again with its nonce, and answered {answer.status}")
        self._told.counts["nonces"] += answer.status == 401
        return bool(answer.status)

    async def _step(self, connection: Connection, key: Key) -> bool:
        dice = self._draw.random()
        if self._unanswered is not None:
            return await self._pay(connection, key, self._unanswered)
        if dice < 0.1:
            return await self._look(connection, key)
        if dice < 0.15:
            return await self._deposit(connection, key)
        if dice < 0.3 and (finals := self._told.finals()[-20:]):
            return await self._void(connection, key, self._draw.choice(finals))
        if dice < 0.5 and self._told.payments:
            return await self._pay(connection, key, self._draw.choice(list(self._told.payments)[-40:]))
        return await self._pay(connection, key, self._order())

    def _order(self) -> str:
        self._made += 1
        refid = f"{self._name}-{self._made}"
        if self._draw.random() < 0.4:
            order = {"product": "ELECTRIC", "account": f"2100{self._draw.randrange(10**8):08d}", "amount": 45.5}
        else:  # every tenth fails, and gives the money back
            account = "0120000001" if self._draw.random() < 0.1 else f"013{self._draw.randrange(10**7):07d}"
            order = {"product": "RELOAD", "account": account, "amount": self._draw.choice([5, 10, 20])}
        self._told.orders[refid] = {"refid": refid, **order}
        return refid

    async def _pay(self, connection: Connection, key: Key, refid: str) -> bool:
        is_first = refid not in self._told.payments and refid != self._unanswered
        self._unanswered = refid
        answer = await self._signed(connection, key, "POST", "/v2/topup", self._told.orders[refid])
        if answer.status:
            self._unanswered = None
            self._told.counts["payments answered"] += refid not in self._told.payments
            self._told.pay(refid, json.loads(answer.body)["data"], is_first=is_first)
        return bool(answer.status)

    async def _void(self, connection: Connection, key: Key, refid: str) -> bool:
        body = {"refid": refid, "refund_type": 1}
        answer = await self._signed(connection, key, "POST", "/v2/transactions/void", body)
        if answer.status and json.loads(answer.body)["data"]["status"] == "Success":
            self._told.voids.add(refid)
        return bool(answer.status)

    async def _look(self, connection: Connection, key: Key) -> bool:
        answer = await self._signed(connection, key, "GET", "/v2/balance")
        if answer.status:
            self._told.balances.append(Decimal(str(json.loads(answer.body)["data"]["balance"])))
        return bool(answer.status)

    async def _deposit(self, connection: Connection, key: Key) -> bool:
        body = b'{"amount":"1.50"}'
        head = f"POST {RESELLER}/deposits HTTP/1.1\r\nHost: {key.host}\r\nContent-Type: application/json\r\n"
        raw = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        answer = await self._asked(connection, "POST", f"{RESELLER}/deposits", raw)
        if answer.status:
            entry = json.loads(answer.body)
            amounts = Decimal(str(entry["amount"])), Decimal(str(entry["balance"]))
            self._told.deposits[entry["id"]] = amounts
        return bool(answer.status)

    async def _signed(self, connection: Connection, key: Key, method: str, path: str, document: Any = None) -> Answer:
        raw = key.request(method, path, document)
        answer = await self._asked(connection, method, path, raw)
        if answer.status:
            self._answered = raw
        if answer.status not in (0, 200):
            self._told.complaints.append(f"{method} {path} of {document} was answered {answer.status} {answer.body!r}")
            return Answer(0)
        return answer

    async def _asked(self, connection: Connection, method: str, path: str, raw: bytes) -> Answer:
        answer = await connection.ask(raw)
        if not answer.status:
            self._told.counts["left without an answer"] += 1
            if answer.body:
                self._told.counts["answers cut short"] += 1
        else:
            self._told.counts["answers"] += 1
            assert_in_contract(method, path, answer.status, answer.headers, answer.body)
        return answer
