"""The prepaid wallet and the ledger whose entries add up to it (SPEC 2.5)."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

import msgspec

from simulator.domain.model.money import ZERO
from simulator.domain.model.packed.log import PackedLog


class EntryType(StrEnum):
    """The four values that the statement's filter accepts (SPEC 4.17)."""

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


_PACK = msgspec.msgpack.Encoder().encode
_UNPACK = msgspec.msgpack.Decoder(Entry).decode


class Wallet:
    """A balance that changes only through entries and that no payment takes below zero.

    `on_low` is called with the entry that takes the balance below `threshold`; a threshold of 0 disables it.
    """

    __slots__ = ("balance", "entries", "on_low", "opening", "threshold")

    def __init__(self, opening: Decimal) -> None:
        self.opening = opening
        self.balance = opening
        self.entries: PackedLog[Entry] = PackedLog(_PACK, _UNPACK)
        self.threshold = ZERO
        self.on_low: Callable[[Entry], None] | None = None

    def post(self, type_: EntryType, amount: Decimal, now: datetime, remarks: str, trxid: str = "") -> Entry:
        """Append a signed entry and return it."""
        assert type_ is TRANSACTION or amount >= ZERO, "only a transaction takes money out"
        before, entries = self.balance, self.entries
        balance = before + amount
        assert balance >= ZERO, "a debit must be covered"
        self.balance = balance
        entry = Entry(
            id=len(entries) + 1, at=now, type=type_, amount=amount, balance=balance, remarks=remarks, trxid=trxid
        )
        entries.append(entry)
        if balance < self.threshold <= before and self.on_low:
            self.on_low(entry)
        return entry

    def restore(self, threshold: Decimal) -> None:
        """Have this threshold, and the balance after the restored entries."""
        self.threshold = threshold
        self.balance = self.entries[-1].balance if self.entries else self.opening

    def entry(self, id_: int) -> Entry:
        """The entry with this id."""
        return self.entries[id_ - 1]
