"""Compares our records with the service's: payments with the history, the wallet with its statement."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from client import Client
from shop import Order

# The history spells success with two s.
HISTORY_NAMES = {"Succesful": "Successful"}


@dataclass
class Result:
    """What was read and what differs, a sentence each."""

    payments: int
    entries: int
    differences: list[str]


def reconcile(client: Client, orders: Iterable[Order], deposits: Iterable[Decimal], days: str, page: int) -> Result:
    """Compare a day, `yyyy-MM-dd` in GMT+8, or several, `yyyy-MM-dd - yyyy-MM-dd`, read in pages of this length."""
    history, statement = read_history(client, days, page), read_statement(client, days, page)
    ours = {order.refid: order for order in orders if order.status != "refused"}
    found = [line for order in ours.values() for line in compare(order, history.get(order.refid))]
    found += [f"{refid} is in the history, and not in our records" for refid in history if refid not in ours]

    spent = -sum(one["amount"] for one in statement if one["type"] in ("TRANSACTION", "REFUND"))
    prices = sum(Decimal(one["price"]) for one in history.values())
    if spent != prices:
        found.append(f"the statement's payments come to {spent:.2f}, those of the history to {prices:.2f}")
    # Each deposit counts once, so that a second one of the same amount is noticed.
    noted, paid_in = Counter(deposits), Counter(one["amount"] for one in statement if one["type"] == "DEPOSIT")
    found += [f"a deposit of {amount:.2f} is not in the statement" for amount in (noted - paid_in).elements()]
    found += [
        f"a deposit of {amount:.2f} is in the statement, and not in our records"
        for amount in (paid_in - noted).elements()
    ]
    return Result(len(history), len(statement), found)


def compare(order: Order, record: dict[str, Any] | None) -> list[str]:
    """What differs between an order and its record in the history."""
    if record is None:
        return [f"{order.refid} is {order.status} in our records, and not in the history"]
    pairs = {
        "status": (HISTORY_NAMES.get(order.status, order.status), record["status_name"]),
        "product": (order.product, record["product_code"]),
        "account": (order.account, record["account"]),
        "amount": (order.amount, Decimal(record["amount"])),
        "cost": (order.cost, Decimal(record["price"])),
    }
    return [f"{order.refid}: {name} is {a}, in the history {b}" for name, (a, b) in pairs.items() if a != b]


def read_history(client: Client, days: str, page: int) -> dict[str, Any]:
    """All payments by refid: `offset` moves on until a page is not full."""
    records: dict[str, Any] = {}
    offset = 0
    while True:
        query = {"date": days, "limit": str(page), "offset": str(offset)}
        found = client.get("/v2/transactions", query)["data"]
        records |= {one["refid"]: one for one in found}
        if len(found) < page:
            return records
        offset += page


def read_statement(client: Client, days: str, page: int) -> list[Any]:
    """All entries: `page` moves on until the last. By id, since a new entry moves those before it to the next page."""
    entries: dict[int, Any] = {}
    number = 1
    while True:
        answer = client.get("/v2/balance-statement", {"date": days, "limit": str(page), "page": str(number)})
        entries |= {one["id"]: one for one in answer["data"]}
        if number >= answer["meta"]["last_page"]:
            return list(entries.values())
        number += 1
