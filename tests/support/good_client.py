"""A client that does what SPEC asks of an integrator, in the time of its sandbox."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from simulator.domain.model.resellers import KeyState
from tests.support.client import Client, Response

NEW_SHAPE = {"X-API-Version": "2026-09-16"}
FINAL = ("Succesful", "Failed", "Refund")
ROUNDS, ATTEMPTS = 10, 8
PAUSE_S, PAUSE_MAX_S = 6.0, 200.0
ORDERS = [
    ("RELOAD", "0123456789", "10", None),
    ("DATA", "0123456789", "10", {"subproduct_code": "D10"}),
    *(("RELOAD", f"012{outcome:07}", "10", None) for outcome in range(18)),
    *(("RELOAD", f"01234567{ending}", "10", None) for ending in (40, 44, 99)),
]


class Blocked(Exception):
    """The service wants nothing more from this address."""


class GoodClient:
    """Signs each retry, backs off, queries again and reads every page, in the time of its sandbox."""

    def __init__(self, client: Client, orders: int = 0) -> None:
        self._client = client
        self._refids = (f"good-{number}" for number in count(orders))

    def read_all(self) -> None:
        """The catalog once, and every page of a product's options."""
        self._send("GET", "/v2/catalog")
        for page in count(1):
            target = f"/v2/options?product_code=DATA&field_id=plan&account_number=0123456789&limit=2&page={page}"
            meta = _members(self._send("GET", target)).get("meta")
            if not isinstance(meta, dict) or meta.get("current_page", 0) >= meta.get("last_page", 0):
                break

    def pay(self, orders: Iterable[tuple[str, str, str, Mapping[str, str] | None]]) -> None:
        """Make payments of (product, account, amount, extras), and ask for each until it is settled or all have been
        asked for often enough; what is never settled is not given up before."""
        pending = []
        for product, account, amount, extras in orders:
            body: dict[str, Any] = {"refid": next(self._refids), "product": product, "account": account}
            pending.append(body | {"amount": amount} | ({"extras": dict(extras)} if extras else {}))
        pending = [body for body in pending if not self._is_settled(body)]
        for pause in _pauses(PAUSE_S, PAUSE_MAX_S, ROUNDS):
            if not pending:
                break
            self._client.advance(pause)
            pending = [body for body in pending if not self._is_settled(body)]

    def _is_settled(self, body: dict[str, Any]) -> bool:
        answer = self._send("POST", "/v2/topup", body, attempts=2)  # with another key; else the round is the pause
        data = _members(answer).get("data")
        if not isinstance(data, dict):
            return False
        return answer.status == 400 or (answer.status == 200 and data.get("status") in FINAL)

    def _send(self, method: str, target: str, body: Any = None, attempts: int = ATTEMPTS) -> Response:
        """Sign and send until an answer requires no retry; after a refused key, with another key."""
        for pause in _pauses(1.0, PAUSE_MAX_S, attempts):
            answer = self._client.call(method, target, body, headers=NEW_SHAPE)
            if answer.status == 403 and _members(answer).get("error") == "ip_blocked":
                raise Blocked
            if answer.status == 401 and self._takes_another_key():
                continue
            if method == "POST" or answer.status not in (0, 429, 500, 502, 503, 504):
                break
            self._client.advance(pause + float(answer.headers.get("retry-after", 0)) * pause)
        return answer

    def _takes_another_key(self) -> bool:
        keys = [key for key in self._client.live.core.state.resellers["RS001"].keys if key.state is KeyState.ACTIVE]
        other = next((key for key in keys if key.key != self._client.key), None)
        if other is not None:
            self._client.key, self._client.secret = other.key, other.secret
        return other is not None


def _pauses(first_s: float, most_s: float, count_: int) -> Iterator[float]:
    """Ever longer ones."""
    pause = first_s
    for _ in range(count_):
        yield pause
        pause = min(pause * 2, most_s)


def _members(answer: Response) -> dict[str, Any]:
    """Return an empty object for an answer that is no JSON object."""
    try:
        found = json.loads(answer.body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def behave(client: Client, orders: int = len(ORDERS)) -> None:
    """Do what a good client does, until it is blocked: read the catalog, then pay so many orders."""
    good = GoodClient(client)
    try:
        good.read_all()
        good.pay(ORDERS[:orders])
    except Blocked:
        return
