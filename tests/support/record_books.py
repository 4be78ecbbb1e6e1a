"""A reseller's records with all their transactions, to compare searches with scans of everything."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from simulator.domain.model.history import HISTORY_STATUSES, Figures, History, HistoryQuery, HistoryStatus
from simulator.domain.model.money import ZERO
from simulator.domain.model.transactions import Distortion, PaymentKind, PaymentResult, ResultKind, Status, Transaction
from simulator.domain.model.wallet import EntryType, Wallet

START = datetime(2026, 11, 1, tzinfo=UTC)
FIRST, LAST = date(2026, 11, 1), date(2026, 12, 31)
PLAN = Distortion()
PRICE = Decimal("9.70")
UNIT_PRICE = Decimal("0.045")


class Books:
    """Records with their transactions."""

    def __init__(self) -> None:
        self.wallet = Wallet(Decimal(10**9))
        self.history = History()
        self.all: list[Transaction] = []

    def pay(self, at: datetime, status: Status, product: str = "P0", account: str = "A0", amount: int = 10) -> None:
        number = len(self.all)
        one = Transaction(
            trxid=f"T{number}",
            refid=f"ref-{number}",
            kind=PaymentKind("R1", product, "", "", PLAN, None, "MYR"),
            account=account,
            amount=Decimal(amount),
            cost=PRICE,
            remarks="",
            extras={},
            sender="",
            created=at,
            face=Decimal(amount) * UNIT_PRICE,
        )
        self.all.append(one)
        self.set(one, at, status)
        self.wallet.post(EntryType.TRANSACTION, -PRICE, at, "", one.trxid)
        self.history.add(one)

    def set(self, one: Transaction, at: datetime, status: Status) -> None:
        one.results += (PaymentResult(at, ResultKind(status, 0, one.cost, "step"), Decimal(0)),)
        if len(one.results) > 1:
            self.history.change_status(one)


def assert_same(books: Books, wanted: HistoryQuery, offset: int, limit: int) -> None:
    matching = [one for one in books.all if matches(one, wanted)]
    for newest_first in (True, False):
        page, figures = books.history.find(wanted, offset, limit, newest_first=newest_first)
        in_order = matching[::-1] if newest_first else matching
        assert [one.trxid for one in page] == [one.trxid for one in in_order[offset : offset + limit]]
        assert figures == scanned(matching)


def scanned(transactions: list[Transaction]) -> Figures:
    """The totals as a reader would add them up."""
    statuses = [HISTORY_STATUSES[one.result.status] for one in transactions]
    successful = [one for one in transactions if one.result.status is Status.SUCCESSFUL]
    counts = {status: statuses.count(status) for status in HistoryStatus}
    return Figures(counts, sum((one.face for one in successful), ZERO), sum((one.cost for one in successful), ZERO))


def matches(one: Transaction, wanted: HistoryQuery) -> bool:
    day = (one.created + timedelta(hours=8)).date()
    return (
        wanted.first <= day <= wanted.last
        and HISTORY_STATUSES[one.result.status] in wanted.statuses
        and wanted.product in ("", one.product)
        and wanted.account in ("", one.account)
    )
