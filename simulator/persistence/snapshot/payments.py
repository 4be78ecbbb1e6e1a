"""The payments of a sandbox in a snapshot. A payment refers to its first ledger entry, and to tables of shared
values."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from operator import attrgetter
from typing import Any, Final

import msgspec

from simulator.domain.model.transactions import Transaction
from simulator.domain.state import State
from simulator.persistence.snapshot.document import Rows, plain

NO_EXTRAS: Final[dict[str, object]] = {}
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number", enc_hook=plain)  # keeps the digits of numbers
_DECODER: Final = msgspec.json.Decoder(float_hook=Decimal)

_SHARED: Final = ("reseller", "product", "product_name", "currency", "rule", "callbacks", "category")
OF_FIRST_ENTRY: Final = ("trxid", "created")
OF_PLACES: Final = ("number", "place")
SHARED: Final = Rows(Transaction, [name for name in Transaction.__struct_fields__ if name not in _SHARED])
"""The values that many payments share."""
PAYMENTS: Final = Rows(Transaction, (*_SHARED, *OF_FIRST_ENTRY, *OF_PLACES), shared=int, steps=int | None, extras=bytes)
"""Payments; `shared` and `steps` are places in tables."""


class _Table:
    """Values by place, without duplicates. A key identifies a value that has been added."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._places: dict[Any, int] = {}

    def place(self, key: Any, value: Any) -> int:
        """Return the place of a value."""
        found = self._places.get(key)
        if found is None:
            if value not in self.values:
                self.values.append(value)
            found = self._places[key] = self.values.index(value)
        return found


class PaymentWriter:
    """Makes rows of payments, and the tables that they refer to."""

    def __init__(self) -> None:
        self.shared, self.timelines = _Table(), _Table()
        self._texts = attrgetter(*_SHARED[:-2])

    def row(self, one: Transaction) -> Any:
        """Return the row of a payment."""
        key = *self._texts(one), id(one.category), id(one.callbacks)
        shared = self.shared.place(key, SHARED.row(one))
        steps = self.timelines.place(id(one.steps), one.steps) if one.steps else None
        return PAYMENTS.row(one, shared, steps, _ENCODER.encode(one.extras) if one.extras else b"")


def restore_payments(state: State, rows: Iterable[Any], shared: Sequence[Any], timelines: Sequence[Any]) -> None:
    """Add the payments of these rows. Their resellers must have their ledger entries already."""
    senders: dict[str, str] = {}  # each of them once
    known = [(state.resellers[one.reseller], SHARED.members(one)) for one in shared]
    for row in rows:
        reseller, values = known[row.shared]
        first = reseller.wallet.entry(row.entry_ids[0])
        transaction: Transaction = PAYMENTS.record(
            row,
            **values,
            trxid=first.trxid,
            created=first.at,
            extras=_DECODER.decode(row.extras) if row.extras else NO_EXTRAS,
            steps=() if row.steps is None else timelines[row.steps],
        )
        transaction.sender = senders.setdefault(transaction.sender, transaction.sender)
        state.transactions.add(transaction)
        reseller.refids[transaction.refid] = transaction
        reseller.history.add(transaction)
