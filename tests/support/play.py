"""Common steps of the library's tests: pay, wait, and check the result."""

import itertools
from typing import Any

from tests.support.client import Client, Response

ACCOUNTS = {"RELOAD": "0123456789", "ELECTRIC": "210012345678", "WATER": "1234567890", "GIFTCARD": "0123456789"}
AMOUNTS = {"RELOAD": "10", "ELECTRIC": "100.00", "WATER": "50.00", "GIFTCARD": "25"}
_refids = itertools.count(1)


def buy(client: Client, product: str = "RELOAD", ending: str = "", **more: Any) -> tuple[str, Response]:
    """Pay with a new refid to an account with this ending. Return the refid and the answer."""
    account = ACCOUNTS[product]
    account = account[: len(account) - len(ending)] + ending
    refid = more.pop("refid", None) or f"play-{next(_refids)}"
    return refid, client.pay(refid, more.pop("amount", AMOUNTS[product]), product, account=account, **more)


def status(client: Client, refid: str) -> str:
    """Where a payment stands, seen without asking the service, which would count as a re-query."""
    found = client.sim("GET", f"/sandboxes/default/transactions?refid={refid}").json["transactions"]
    return str(found[0]["status"]) if found else ""


def callback_statuses(client: Client, refid: str) -> list[str]:
    """The statuses that arrived as callbacks of a payment, in their order."""
    items = [item["json"]["data"] for item in client.inbox()]
    return [data["status"] for data in items if data["refid"] == refid]


def balance(client: Client) -> Any:
    return client.call("GET", "/v2/balance").data["balance"]


def settle(client: Client) -> None:
    """Let everything happen; the books are right then."""
    client.advance()
    assert client.live.core.violations() == []
