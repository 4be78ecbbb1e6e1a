"""The prepaid wallet with its ledger and its statement (SPEC 2.5, 4.17)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import overload

import msgspec

from simulator.domain.model.history import DatedRecords, Total
from simulator.domain.model.money import ZERO
from simulator.domain.model.transactions import FAILED
from simulator.domain.model.transactions import Transaction as Payment


class EntryType(StrEnum):
    """The values of the statement's type filter (SPEC 4.17)."""

    DEPOSIT = "DEPOSIT"
    TRANSACTION = "TRANSACTION"
    REFUND = "REFUND"
    COMMISSION = "COMMISSION"

    __hash__ = str.__hash__  # the enum's own is slow Python code, and every entry's type is hashed


DEPOSIT, TRANSACTION, REFUND = EntryType.DEPOSIT, EntryType.TRANSACTION, EntryType.REFUND


class Entry(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One change of a wallet. `amount` is signed, `balance` is the wallet's afterwards; `trxid` is empty for credits
    without a transaction."""

    id: int
    at: datetime
    type: EntryType
    amount: Decimal
    balance: Decimal
    remarks: str
    trxid: str = ""


def _entry(record: Entry | Payment) -> Entry:
    if type(record) is Entry:
        return record
    assert type(record) is Payment
    first, cost = record.results[0], record.cost
    balance = first.balance - cost if first.status is FAILED else first.balance  # which was refunded at once
    remarks = debit_remarks(record.kind.product_name, record.account)
    return Entry(record.debit, record.created, TRANSACTION, -cost, balance, remarks, record.trxid)


def debit_remarks(product_name: str, account: str) -> str:
    """Return the remarks of the ledger entry of a payment."""
    return f"{product_name} {account}"


def _type_of(record: Entry | Payment) -> EntryType:
    return record.type if type(record) is Entry else TRANSACTION


class Ledger(Sequence[Entry]):
    """The entries of a wallet, oldest first. To save memory, a payment is kept as the record of its debit, whose entry
    is made when it is read."""

    __slots__ = ("records",)

    def __init__(self, records: list[Entry | Payment]) -> None:
        self.records = records

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Entry]:
        return map(_entry, self.records)

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> list[Entry]: ...
    def __getitem__(self, place: int | slice) -> Entry | list[Entry]:
        if isinstance(place, slice):
            return list(map(_entry, self.records[place]))
        return _entry(self.records[place])


class Wallet:
    """A balance that changes only through entries and that no payment takes below zero. Falling below `threshold` is an
    alert; a threshold of 0 disables it."""

    __slots__ = ("_by_day", "balance", "entries", "opening", "threshold")

    def __init__(self, opening: Decimal) -> None:
        self.opening = opening
        self.balance = opening
        self._by_day: DatedRecords[Entry | Payment, EntryType] = DatedRecords(_type_of)
        self.entries = Ledger(self._by_day.records)
        self.threshold = ZERO

    def post(self, type_: EntryType, amount: Decimal, now: datetime, remarks: str, trxid: str = "") -> Entry:
        """Append a signed entry and return it. See `replace_debit` for that of a payment."""
        assert type_ is TRANSACTION or amount >= ZERO, "only a transaction takes money out"
        balance, entries = self.balance + amount, self.entries
        assert balance >= ZERO, "a debit must be covered"
        self.balance = balance
        entry = Entry(len(entries) + 1, now, type_, amount, balance, remarks, trxid)
        total = self._by_day.append(entry, now, type_)
        total.count += 1
        total.amount += amount
        return entry

    def replace_debit(self, payment: Payment) -> None:
        """Keep a payment, which has its first result, as the record of its debit."""
        self.entries.records[payment.debit - 1] = payment

    def restore(self, entries: list[Entry], threshold: Decimal) -> None:
        """Replace the entries and the threshold; the balance is that after the last entry."""
        for entry in entries:
            self._by_day.append(entry, entry.at, entry.type).add(1, entry.amount)
        self.threshold = threshold
        self.balance = entries[-1].balance if entries else self.opening

    def entry(self, id_: int) -> Entry:
        return self.entries[id_ - 1]

    def find(
        self,
        first: date,
        last: date,
        types: frozenset[EntryType],
        offset: int,
        limit: int,
        *,
        newest_first: bool = True,
    ) -> tuple[list[Entry], Mapping[EntryType, Total]]:
        """Return `limit` entries of these days and types after the first `offset`, and the totals of the whole search
        by type."""
        page, totals = self._by_day.find(first, last, types.__contains__, offset, limit, newest_first=newest_first)
        return list(map(_entry, page)), {type_: totals[type_] for type_ in EntryType}

    def newest_first(self, type_: EntryType | None, count: int) -> Iterator[Entry]:
        """Yield the entries among the first `count` that have this type, or all of them, latest first."""
        in_order = map(self.entries.records.__getitem__, range(count - 1, -1, -1))
        return (_entry(record) for record in in_order if type_ in (None, _type_of(record)))
