"""Compare what clients read at the end with what they were answered: every acknowledged payment is in the history,
and balance, statement and history agree."""

from collections import Counter
from decimal import Decimal
from typing import Any

import msgspec

from tools.worlds.clients import Asked
from tools.worlds.memory import Account, Life
from tools.worlds.scenarios import RESELLERS, SCHEDULED_DEPOSIT, key_of
from tools.worlds.world import World

EVER = "date=2026-11-01+-+2031-12-31&limit=1000"
HELD = ("SUCCESSFUL", "PENDING")
LIMIT = 1000


def books(made: World) -> list[str]:
    """Return the inconsistencies of each reseller whose key still works. This is a proof of a run."""
    found: list[str] = []
    for box, life in made.lives.items():
        if made.find(box) is not life.live:
            continue
        for code in RESELLERS:
            account = life.accounts.get(code)
            if account is not None and key_of(code) not in life.revoked:
                found += [f"{box}: {code}: {text}" for text in _of_one(made, life, code, account)]
    return found


def _of_one(made: World, life: Life, code: str, account: Account) -> list[str]:
    asked = (f"/v2/transactions?{EVER}", f"/v2/balance-statement?{EVER}", "/v2/balance")
    read = [_read(made, life, code, target) for target in asked]
    if any(one is None for one in read):
        return []  # a fault that is left damages it
    history, statement, balance = read
    return list(_compared(account, history, statement["data"], Decimal(str(balance["data"]["balance"]))))


def _read(made: World, life: Life, code: str, target: str) -> Any:
    """Return the body of an answer, or None when it is damaged or rate-limited."""
    asked = Asked(life.live.id, code, "GET", target)
    answered = made.wait_for(made.clients.send(asked))
    exchange = life.journal.find(life.journal.last_n)
    is_damaged = exchange is None or exchange.fault or not answered.is_whole
    return None if is_damaged or answered.status != 200 else msgspec.json.decode(answered.body)


def _compared(account: Account, history: Any, statement: list[Any], balance: Decimal) -> list[str]:
    found, records = [], {one["refid"]: one for one in history["data"]}
    if len(statement) < LIMIT:
        sums: Counter[str] = Counter()
        for entry in statement:
            sums[entry["type"]] += Decimal(str(entry["amount"]))  # type: ignore[assignment]  # money is counted here
        total = account.opening + sum(sums.values(), Decimal(0))
        if total != balance:
            found.append(f"the balance is {balance}, the statement adds up to {total}")
        held = sum((Decimal(one["price"]) for one in records.values() if _status(one) in HELD), Decimal(0))
        if sums["TRANSACTION"] + sums["REFUND"] != -held:
            found.append(f"the statement has {sums}, the payments that were not returned cost {held}")
        scheduled = sum(Decimal(str(one["amount"])) == Decimal(SCHEDULED_DEPOSIT) for one in statement)
        if sums["DEPOSIT"] - scheduled * Decimal(SCHEDULED_DEPOSIT) < account.deposited:
            found.append(f"{account.deposited} was acknowledged as deposited, the statement has {sums['DEPOSIT']}")
    for refid, payment in account.acknowledged.items():
        one = records.get(refid)
        if one is None:
            found.append(f"the acknowledged payment {refid!r} is not in the history")
        elif (one["product_code"], one["account"], Decimal(one["amount"])) != (
            payment.product, payment.account, payment.amount
        ):  # fmt: skip
            found.append(f"{refid!r} is {one} in the history, and was acknowledged as {payment}")
    counted = Counter(map(_status, records.values()))
    named = {"SUCCESSFUL": "successful", "FAILED": "failed", "PENDING": "pending", "REFUND": "refund"}
    told = {status: int(history["meta"][f"{name}_count"]) for status, name in named.items()}
    if told != {status: counted[status] for status in named}:
        found.append(f"the history counts {told}, and has {counted}")
    return found


def _status(one: Any) -> str:
    """Return the status of a record as the history's filter spells it."""
    by_name = {"Successful": "SUCCESSFUL", "Failed": "FAILED", "Refund": "REFUND"}
    return by_name.get(one["status_name"], "PENDING")
