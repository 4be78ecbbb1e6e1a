"""A service that takes money and denies it, with its own wallet, between `conform` and the simulator."""

import json
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from simulator.staging.service import Answer, NoAnswer, Request
from tests.support.conforming import Sender
from tests.support.damages import BALANCE, CATALOG, TOPUP

START = Decimal(5000)
HONEST: Any = object()


@dataclass
class Liar:
    """A service that lies about money.

    `pays` says which POSTs take money: "first" of a refid, "every" POST, or "later", from the third of a refid on.
    `cost` and `status` override the answers. The balance is honest or frozen; after `deaf_from` readings since the
    first POST it is answered with 500. The POSTs whose numbers are in `lost` take money without an answer. `taken` is
    the true amount.
    """

    pays: str = "every"
    cost: Any = HONEST
    status: str = ""
    is_frozen: bool = False
    deaf_from: int = 10_000
    lost: frozenset[int] = frozenset()
    price: str = ""
    factor: str = ""
    echo: str = ""
    refuses: bool = False
    taken: Decimal = Decimal(0)
    posts: list[str] = field(default_factory=list)
    _since: int = 0

    def __call__(self, send: Sender, request: Request) -> Answer:
        answer = send(request)
        if request.path == CATALOG and answer.status == 200:
            return self._catalog(answer)
        if request.path == BALANCE and answer.status == 200:
            return self._balance(answer)
        return self._payment(request, answer) if request.path == TOPUP and answer.status in (200, 400) else answer

    def _catalog(self, answer: Answer) -> Answer:
        value = json.loads(answer.body)
        for product in value.get("products", {}).values():
            if self.price:
                product["denomination_unit_price"] = self.price
            if self.factor:
                product["pricing"]["unit_price"] = self.factor
        return replace(answer, body=json.dumps(value).encode())

    def _balance(self, answer: Answer) -> Answer:
        self._since += bool(self.posts)
        if self._since > self.deaf_from:
            return replace(answer, status=500, body=b"{}")
        shown = START if self.is_frozen else START - self.taken
        return replace(answer, body=b'{"data":{"balance":%s,"currency":"MYR"}}' % str(shown).encode())

    def _payment(self, request: Request, answer: Answer) -> Answer:
        body = json.loads(request.body)
        refid = str(body.get("refid", ""))
        self.posts.append(refid)
        count = self.posts.count(refid)
        if answer.status == 200 and (count == 1 or self.pays == "every" or (self.pays == "later" and count > 2)):
            self.taken += Decimal(str(body["amount"]))
        if len(self.posts) in self.lost:
            raise NoAnswer("the connection was closed")
        if self.refuses:
            return replace(answer, status=400)
        value = json.loads(answer.body)
        data = value.get("data")
        if answer.status != 200 or not isinstance(data, dict):
            return answer
        data["cost"] = float(str(body["amount"])) if self.cost is HONEST else self.cost
        if self.cost is ...:
            del data["cost"]
        if self.status:
            data["status"] = self.status
        if self.echo:
            data["refid"] = self.echo
        return replace(answer, body=json.dumps(value).encode())
