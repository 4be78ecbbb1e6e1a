"""The prepaid wallet with its ledger and its statement (SPEC 2.5, 4.17)."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from operator import attrgetter

import msgspec

from simulator.domain.model.history import DatedRecords, Total
from simulator.domain.model.money import ZERO


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


class Wallet:
    """A balance that changes only through entries and that no payment takes below zero. Falling below `threshold` is an
    alert; a threshold of 0 disables it."""

    __slots__ = ("_by_day", "balance", "entries", "opening", "threshold")

    def __init__(self, opening: Decimal) -> None:
        self.opening = opening
        self.balance = opening
        self._by_day: DatedRecords[Entry, EntryType] = DatedRecords(attrgetter("type"))
        self.entries = self._by_day.records
        self.threshold = ZERO

    def post(self, type_: EntryType, amount: Decimal, now: datetime, remarks: str, trxid: str = "") -> Entry:
        """Append a signed entry and return it."""
        assert type_ is TRANSACTION or amount >= ZERO, "only a transaction takes money out"
        balance, entries = self.balance + amount, self.entries
        assert balance >= ZERO, "a debit must be covered"
        self.balance = balance
        entry = Entry(len(entries) + 1, now, type_, amount, balance, remarks, trxid)
        total = self._by_day.append(entry, now, type_)
        total.count += 1
        total.amount += amount
        return entry

    def restore(self, entries: list[Entry], threshold: Decimal) -> None:
        """Replace the entries and the threshold; the balance is that after the last entry."""
        for entry in entries:
            self._by_day.append(entry, entry.at, entry.type).add(1, entry.amount)
        self.threshold = threshold
        self.balance = entries[-1].balance if entries else self.opening

    def entry(self, id_: int) -> Entry:
        """Return the entry with this id."""
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
        return page, {type_: totals[type_] for type_ in EntryType}

    def newest_first(self, type_: EntryType | None, count: int) -> Iterator[Entry]:
        """Yield the entries among the first `count` that have this type, or all of them, latest first."""
        in_order = map(self.entries.__getitem__, range(count - 1, -1, -1))
        return in_order if type_ is None else (entry for entry in in_order if entry.type is type_)
