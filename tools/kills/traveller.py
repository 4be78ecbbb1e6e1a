"""A client that pays in its own sandbox, marks, rewinds and forks it, until the server is gone.

The sandbox must have every acknowledged change; a change without an answer is either complete or absent.
"""

import json
import random
from collections.abc import Callable
from typing import Any

from tests.support.contract_check import assert_in_contract
from tools.kills.client_record import ClientRecord
from tools.kills.clients import Key
from tools.kills.connection import Answer, Connection

BOX, ASIDE = "trip", "aside"
SCENARIO = {"scenario": "trip", "extends": "default", "limits": {"requests_per_interval": None}}
Paid = frozenset[str]
"""The refids of the payments of a sandbox."""


class Traveller:
    """A client of marks, rewinds and forks that outlives its servers."""

    def __init__(self, draw: random.Random, told: ClientRecord) -> None:
        self._draw = draw
        self._told = told
        self._paid: Paid | None = None  # None until an answer confirms the sandbox
        self._unanswered: Paid | None = None  # the state if the unanswered request was executed
        self._marks: dict[str, Paid] = {}
        self._made = 0

    async def work(self, connection: Connection, key: Key, is_over: Callable[[], bool]) -> None:
        """Read the state of the sandbox, then change it until the server is gone or the episode ends."""
        if await self._is_there(connection, key):
            while not is_over() and await self._step(connection, key):
                pass

    async def _is_there(self, connection: Connection, key: Key) -> bool:
        answer = await self._control(connection, key, "GET", f"/{BOX}/transactions?limit=1000", (200, 404))
        if answer.status == 404 and self._paid is None:
            body = {"id": BOX, "scenario": SCENARIO}
            answer = await self._control(connection, key, "POST", "", (201,), body)
            self._paid = frozenset() if answer.status else None
            return bool(answer.status)
        if answer.status:
            self._judge(BOX, answer, {self._now, self._now if self._unanswered is None else self._unanswered})
            self._paid, self._unanswered = _paid(answer), None
            return bool((await self._control(connection, key, "DELETE", f"/{ASIDE}", (204, 404))).status)
        return False

    async def _step(self, connection: Connection, key: Key) -> bool:
        dice = self._draw.random()
        if dice < 0.2:
            return await self._mark(connection, key)
        if dice < 0.4 and self._marks:
            return await self._rewind(connection, key, self._draw.choice(list(self._marks)))
        if dice < 0.5:
            return await self._fork(connection, key)
        return await self._pay(connection, key)

    async def _pay(self, connection: Connection, key: Key) -> bool:
        self._made += 1
        refid = f"trip-{self._made}"
        body = {"refid": refid, "product": "RELOAD", "account": "0137654321", "amount": 5}
        path = f"/s/{BOX}/v2/topup"
        answer = await self._asked(connection, "POST", path, key.request("POST", path, body), (200,))
        return self._changed(answer, self._now | {refid})

    async def _mark(self, connection: Connection, key: Key) -> bool:
        self._made += 1
        name = f"m{self._made}"
        answer = await self._control(connection, key, "POST", f"/{BOX}/marks", (201, 409), {"name": name})
        if answer.status == 201:
            self._marks[name] = self._now
        elif answer.status:  # there are too many
            self._marks.clear()
        return bool(answer.status)

    async def _rewind(self, connection: Connection, key: Key, mark: str) -> bool:
        before, names = self._marks[mark], list(self._marks)
        answer = await self._control(connection, key, "POST", f"/{BOX}/rewind", (200,), {"mark": mark})
        for name in names[names.index(mark) + 1 :]:  # if it was not answered they may be gone
            del self._marks[name]
        self._told.counts["rewinds"] += answer.status == 200
        return self._changed(answer, before)

    async def _fork(self, connection: Connection, key: Key) -> bool:
        answer = await self._control(connection, key, "POST", "", (201,), {"id": ASIDE, "fork": {"of": BOX}})
        if not answer.status:
            return False
        self._told.counts["forks"] += 1
        answer = await self._control(connection, key, "GET", f"/{ASIDE}/transactions?limit=1000", (200,))
        if answer.status:
            self._judge(ASIDE, answer, {self._now})
        return bool(answer.status and (await self._control(connection, key, "DELETE", f"/{ASIDE}", (204,))).status)

    @property
    def _now(self) -> Paid:
        return self._paid or frozenset()

    def _changed(self, answer: Answer, then: Paid) -> bool:
        """Record the new state of the sandbox; without an answer, record it as possible."""
        if answer.status:
            self._paid = then
        else:
            self._unanswered = then
        return bool(answer.status)

    def _judge(self, box: str, answer: Answer, possible: set[Paid]) -> None:
        found = _paid(answer)
        if found not in possible:
            nearest = min(possible, key=lambda one: len(one ^ found))
            text = f"{box} lacks {sorted(nearest - found)} and has {sorted(found - nearest)}, which it should not"
            self._told.complaints.append(text)

    async def _control(
        self, connection: Connection, key: Key, method: str, path: str, expected: tuple[int, ...], document: Any = None
    ) -> Answer:
        path = f"/_sim/sandboxes{path}"
        body = b"" if document is None else json.dumps(document).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: {key.host}\r\nContent-Type: application/json\r\n"
        raw = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        return await self._asked(connection, method, path, raw, expected)

    async def _asked(
        self, connection: Connection, method: str, path: str, raw: bytes, expected: tuple[int, ...]
    ) -> Answer:
        """Return an answer with an expected status, or None when the server is gone or about to end."""
        answer = await connection.ask(raw)
        if not answer.status:
            return answer
        assert_in_contract(method, path.partition("?")[0], answer.status, answer.headers, answer.body)
        if answer.status in expected:
            return answer
        if b"server_stopping" not in answer.body:
            self._told.complaints.append(f"{method} {path} was answered {answer.status} {answer.body!r}")
        return Answer(0)


def _paid(answer: Answer) -> Paid:
    return frozenset(one["refid"] for one in json.loads(answer.body)["transactions"])
