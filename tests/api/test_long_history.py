"""Hundreds of random steps, voids among them; then history, statement, balance, bills, control API and ledger have to
agree to the cent."""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.domain.model.transactions import Status
from tests.support.client import Client, Response, running

STEPS = 600
OPENING = Decimal("2000.00")
THIS_YEAR = "date=2026-01-01%20-%202027-12-31"
DEPOSITS = "/sandboxes/default/resellers/RS001/deposits"

# By the last digit of the account; every other payment goes the ordinary way.
ENDINGS = {
    "1": [{"status": "Succesful"}],
    "2": [{"status": "Accepted"}, {"after": "3s", "status": "Failed", "statusCode": 48}],
    "3": [{"status": "Processing"}],
    "4": [{"status": "Failed"}],
    "5": [{"status": "Accepted"}, {"requery": 1, "status": "Processing"}, {"requery": 2, "status": "Succesful"}],
    "6": [{"status": "Accepted"}, {"requery": 2, "status": "Failed"}, {"after": "30h", "status": "Succesful"}],
}
# The outcome of a void by the last digit of the account: accepted or not, and the time until its refund, if any.
ORDINARY_VOID = (True, timedelta(seconds=60))
VOIDS: dict[str, tuple[bool, timedelta | None]] = {
    "7": (False, None),
    "8": (True, timedelta(hours=30)),
    "9": (True, None),
}
VOID_RULES = [
    {"when": {"account": {"suffix": "7"}}, "then": {"status": "Failed"}},
    {"when": {"account": {"suffix": "8"}}, "then": {"status": "Success", "refund_after": "30h"}},
    {"when": {"account": {"suffix": "9"}}, "then": {"status": "Success", "refused_after": "2m"}},
]
SCENARIO = {
    "clock": {"mode": "manual", "start": "2026-11-20T12:00:00+08:00"},
    "resellers": [{"code": "RS001", "balance": str(OPENING)}],
    "payments": [{"when": {"account": {"suffix": digit}}, "then": steps} for digit, steps in ENDINGS.items()],
    "voids": VOID_RULES,
    "bills": [{"when": {"product": "ELECTRIC"}, "then": {"bill": {"Outstanding": "1500.00"}}}],
}
PRODUCTS = {"RELOAD": "01234567", "ELECTRIC": "12345678901", "WATER": "123456789"}
BILLED = [(product, f"{PRODUCTS[product]}{digit}") for product in ("ELECTRIC", "WATER") for digit in range(10)]
HISTORY_STATUSES = {
    "Accepted": "PENDING",
    "Processing": "PENDING",
    "Succesful": "SUCCESSFUL",
    "Failed": "FAILED",
    "Refund": "REFUND",
}


class Day:
    """A client that does something at random, and a notebook of what has to come of it."""

    def __init__(self, client: Client, random: Random) -> None:
        self.client, self.random = client, random
        self.costs: dict[str, Decimal] = {}
        self.credits: Counter[str] = Counter()
        self.credited = Decimal(0)
        self.thresholds: list[tuple[int, Decimal]] = []  # how many entries there were, and the threshold from then on
        self.reseller = client.live.core.state.resellers["RS001"]
        self.wallet = self.reseller.wallet
        self.requested: set[tuple[str, str]] = set()  # cases: their path and the refid
        self.refunds: dict[str, datetime] = {}  # when each void that will be refunded is, by refid
        self.bills = {bill: self.outstanding(*bill) for bill in BILLED}

    def step(self) -> None:
        acts: list[tuple[Callable[[], None], int]] = [
            (self.pay, 50),
            (self.requery, 12),
            (self.advance, 20),
            (self.credit, 6),
            (self.set_threshold, 4),
            (self.read, 8),
            (self.void, 30),
            (self.dispute, 3),
            (self.look_up, 5),
        ]
        self.random.choices([act for act, _ in acts], [weight for _, weight in acts])[0]()

    def pay(self) -> None:
        product, account = self.random.choice(list(PRODUCTS.items()))
        cents = self.random.randint(100, 15_000)
        amount = str(self.random.choice([5, 10, 100])) if product == "RELOAD" else f"{cents / 100:.2f}"
        account += f"{self.random.randint(0, 99):02d}"[-(2 if product == "RELOAD" else 1) :]
        refid = f"ref-{len(self.costs)}"
        before = self.wallet.balance
        answer = self.client.pay(refid, amount, product, account=account)
        if answer.status == 200:
            self.costs[refid] = before - self.wallet.balance
        else:
            assert answer.data["remarks"] == "Insufficient_Balance"

    def requery(self) -> None:
        if self.costs:
            refid = self.random.choice(list(self.costs))
            one = self.reseller.refids[refid]
            payment = self.client.pay(refid, str(one.amount), one.product, account=one.account).data
            assert (payment["refid"], exact(payment["amount"])) == (refid, one.amount)

    def advance(self) -> None:
        self.client.advance(self.random.choice([0, 0.5, 1, 3, 5, 60, 3_600, 40_000]))

    def credit(self) -> None:
        amount = Decimal(self.random.randint(1, 60_000)) / 100
        type_ = self.random.choice(["DEPOSIT", "COMMISSION"])
        assert self.client.sim("POST", DEPOSITS, {"amount": str(amount), "type": type_}).status == 201
        self.credited += amount
        self.credits[type_] += 1

    def set_threshold(self) -> None:
        amount = self.random.randint(1, 2_500)
        assert self.client.call("POST", f"/v2/low-balance-threshold?amount={amount}").status == 200
        self.thresholds.append((len(self.wallet.entries), Decimal(amount)))

    def read(self) -> None:
        """Any page of any search: its figures must match the whole list."""
        page = f"limit={self.random.randint(1, 50)}&offset={self.random.randint(0, 50)}&status=PENDING"
        pending = self.get(f"/v2/transactions?{THIS_YEAR}&{page}").json["meta"]["pending_count"]
        rows = self.client.live.core.state.transactions.values()
        assert int(pending) == sum(not one.is_settled for one in rows)
        limit = self.random.randint(1, 50)
        summary = self.get(f"/v2/balance-statement?{THIS_YEAR}&limit={limit}").json["summary"]
        assert summary["total_transactions"]["count"] == len(rows)

    def void(self) -> None:
        """Void any payment: accepted when it succeeded, can be voided, has no earlier void, and the biller agrees."""
        if not self.costs:
            return
        refid = self.random.choice(list(self.costs))
        one = self.reseller.refids[refid]
        can_be = one.product != "RELOAD" and self.has_no_case(refid, "void")
        is_accepted, after = VOIDS.get(one.account[-1], ORDINARY_VOID)
        body = {"refund_type": self.random.randint(1, 3), "refund_reason": "a mistake"}
        answer = self.open_case("void", refid, body)
        assert answer == ("Success" if can_be and is_accepted else "Failed")
        if can_be:
            self.requested.add(("void", refid))
            if after:
                self.refunds[refid] = self.now() + after

    def dispute(self) -> None:
        if self.costs:
            refid = self.random.choice(list(self.costs))
            can_be = self.has_no_case(refid, "check")
            assert self.open_case("check", refid, {}) == ("Success" if can_be else "Failed")
            if can_be:
                self.requested.add(("check", refid))

    def has_no_case(self, refid: str, path: str) -> bool:
        """True for a payment that stands as successful and was not asked for in this way before."""
        is_successful = self.reseller.refids[refid].result.status is Status.SUCCESSFUL
        return is_successful and (path, refid) not in self.requested

    def open_case(self, path: str, refid: str, body: dict[str, Any]) -> str:
        """Name the payment by refid, by trxid or by both; `trxid` wins over an unknown refid."""
        trxid = self.reseller.refids[refid].trxid
        names = self.random.choice([{"refid": refid}, {"trxid": trxid}, {"refid": "nothing", "trxid": trxid}])
        data = self.client.call("POST", f"/v2/transactions/{path}", body | names).data
        assert data["refid"] == refid
        return str(data["status"])

    def look_up(self) -> None:
        """The outstanding amount is the bill less the payments of the history."""
        product, account = bill = self.random.choice(BILLED)
        paid = self.get(f"/v2/transactions?{THIS_YEAR}&limit=1&status=SUCCESSFUL&product={product}&account={account}")
        left = self.bills[bill] - exact(paid.json["meta"]["total_amount"])
        assert self.outstanding(*bill) == max(Decimal(0), left)

    def outstanding(self, product: str, account: str) -> Decimal:
        answer = self.get(f"/v2/bill-presentment?product={product}&account={account}")
        return exact(answer.data["Outstanding"])

    def now(self) -> datetime:
        return datetime.fromisoformat(self.client.sim("GET", "/sandboxes/default/clock").json["now"])

    def get(self, target: str) -> Response:
        answer = self.client.call("GET", target)
        assert answer.status == 200, answer.body
        return answer

    def balance(self) -> Decimal:
        return exact(self.get("/v2/balance").data["balance"])

    def transactions(self) -> list[Any]:
        """All of the control API's, newest first."""
        rows, cursor = [], "0"
        while cursor:
            page = self.client.sim("GET", f"/sandboxes/default/transactions?limit=200&cursor={cursor}").json
            rows += page["transactions"]
            cursor = page["cursor"]
        return rows

    def history(self, query: str = THIS_YEAR, limit: int = 37) -> tuple[list[Any], Any]:
        """All records of a search, page by page, and its meta."""
        records: list[Any] = []
        while True:
            page = self.get(f"/v2/transactions?{query}&limit={limit}&offset={len(records)}").json
            records += page["data"]
            if len(page["data"]) < limit:
                return records, page["meta"]

    def statement(self) -> tuple[list[Any], Any]:
        """All entries, oldest first, by following the links; and the summary."""
        entries: list[Any] = []
        target = f"/v2/balance-statement?{THIS_YEAR}&limit=41"
        while target:
            page = self.get(target).json
            entries += page["data"]
            target = page["links"]["next"]
        return entries[::-1], page["summary"]


def exact(value: Any) -> Decimal:
    return Decimal(str(value))


def total(values: Iterable[Any]) -> Decimal:
    return sum(map(exact, values), Decimal(0))


@pytest.mark.slow
@given(st.integers(0, 2**32))
@settings(max_examples=3)
def test_after_a_long_day_all_books_agree_to_the_cent(seed: int) -> None:
    with running(SCENARIO) as client:
        day = Day(client, Random(seed))  # noqa: S311  # a test's dice
        for _ in range(STEPS):
            day.step()
        check_history(day)
        check_statement(day)
        check_bills(day)
        assert client.sim("GET", "/sandboxes/default/invariants").json == {"ok": True, "violations": []}


def check_history(day: Day) -> None:
    records, meta = day.history()
    rows = day.transactions()
    refunded = {refid for refid, due in day.refunds.items() if due <= day.now()}
    assert {record["refid"] for record in records if record["status_code"] == "53"} == refunded
    assert [record["trxid"] for record in records] == [row["trxid"] for row in rows]
    assert {record["refid"] for record in records} == set(day.costs)
    for record, row in zip(records, rows, strict=True):
        assert record["status_name"].upper() == HISTORY_STATUSES[row["status"]]
        price = Decimal(0) if row["status"] in ("Failed", "Refund") else day.costs[record["refid"]]
        assert (exact(record["price"]), exact(record["amount"])) == (price, exact(row["amount"]))
    spent = total(record["price"] for record in records)
    assert day.balance() == OPENING + day.credited - spent
    assert meta == figures(records)
    days = sorted({record["date"][:10] for record in records})
    accounts = sorted({record["account"] for record in records})[:5]
    searches = [
        *(("date", day_, f"date={day_}") for day_ in days),
        *(("product_code", code, f"{THIS_YEAR}&product={code}") for code in PRODUCTS),
        *(("account", text, f"{THIS_YEAR}&account={text}") for text in accounts),
        *(("status_name", name.capitalize(), f"{THIS_YEAR}&status={name}") for name in HISTORY_STATUSES.values()),
    ]
    for field, value, query in searches:
        wanted = [record for record in records if record[field].startswith(value)]
        assert day.history(query) == (wanted, figures(wanted)), query


def figures(records: list[Any]) -> dict[str, str]:
    counts = Counter(record["status_name"] for record in records)
    paid = [record for record in records if record["status_name"] == "Successful"]
    amount, price = total(one["amount"] for one in paid), total(one["price"] for one in paid)
    return {
        "transaction_count": str(len(records)),
        "total_amount": f"{amount:.2f}",
        "total_price": f"{price:.2f}",
        "profit": f"{amount - price:.2f}",
        "successful_count": str(counts["Successful"]),
        "failed_count": str(counts["Failed"]),
        "pending_count": str(counts["Pending"]),
        "refund_count": str(counts["Refund"]),
    }


def check_statement(day: Day) -> None:
    entries, summary = day.statement()
    assert [entry["id"] for entry in entries] == list(range(1, len(entries) + 1))
    running_balance, below = OPENING, 0
    thresholds = dict(day.thresholds)
    threshold = thresholds.get(0, Decimal(0))
    for entry in entries:
        before, running_balance = running_balance, running_balance + exact(entry["amount"])
        assert exact(entry["balance"]) == running_balance
        below += running_balance < threshold <= before
        threshold = thresholds.get(entry["id"], threshold)
    assert running_balance == day.balance()
    by_type = Counter(entry["type"] for entry in entries)
    assert {type_: by_type[type_] for type_ in day.credits} == day.credits
    for name, type_ in (
        ("total_transactions", "TRANSACTION"),
        ("total_deposit", "DEPOSIT"),
        ("total_refund", "REFUND"),
    ):
        amount = total(entry["amount"] for entry in entries if entry["type"] == type_)
        assert (exact(summary[name]["amount"]), summary[name]["count"]) == (amount, by_type[type_])
    meta = day.history()[1]
    assert by_type["REFUND"] == int(meta["failed_count"]) + int(meta["refund_count"])
    voided = [entry for entry in entries if entry["type"] == "REFUND" and entry["remarks"].startswith("void of ")]
    assert total(entry["amount"] for entry in voided) == total(
        day.costs[refid] for refid, due in day.refunds.items() if due <= day.now()
    )
    alerts = day.client.sim("GET", "/sandboxes/default/notifications?kind=low_balance&limit=1000").json
    assert len(alerts["notifications"]) + alerts["left_out"] == below


def check_bills(day: Day) -> None:
    records, _ = day.history()
    for (product, account), whole in day.bills.items():
        paid = total(
            one["amount"]
            for one in records
            if (one["product_code"], one["account"], one["status_name"]) == (product, account, "Successful")
        )
        assert day.outstanding(product, account) == max(Decimal(0), whole - paid)
