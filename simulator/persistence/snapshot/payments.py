"""The payments of a sandbox in a snapshot. A payment refers to its first ledger entry, and to tables of shared
values."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec

from simulator.domain.model.bills import BillKey
from simulator.domain.model.catalog import Category
from simulator.domain.model.transactions import Distortion, PaymentResult, Step, Transaction
from simulator.domain.model.wallet import Entry
from simulator.domain.state import State
from simulator.persistence.snapshot.document import plain

NO_EXTRAS: Final[dict[str, object]] = {}
_ENCODER: Final = msgspec.json.Encoder(decimal_format="number", enc_hook=plain)
_DECODER: Final = msgspec.json.Decoder(float_hook=Decimal)


class SharedValues(msgspec.Struct, frozen=True, array_like=True):
    """Values that many payments share."""

    reseller: str
    product: str
    product_name: str
    currency: str
    rule: str
    category: Category | None
    callbacks: Distortion


class PaymentRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A payment. Its trxid and its time are in its first entry; `face` is None if it equals the amount; `extras` are
    JSON, which keeps the digits of numbers; `shared` and `steps` are places in tables."""

    refid: str
    shared: int
    account: str
    amount: Decimal
    cost: Decimal
    remarks: str
    extras: bytes
    sender: str
    face: Decimal | None
    entry_ids: tuple[int, ...]
    results: tuple[PaymentResult, ...]
    requeries: int = 0
    bill: BillKey | None = None
    steps: int | None = None
    ticket: int | None = None


class _Table:
    """Values by place, without duplicates. A key identifies a value that has been added, by identity."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._places: dict[Any, int] = {}

    def find(self, key: Any) -> int | None:
        """Return the place of the value with this key."""
        return self._places.get(key)

    def add(self, key: Any, value: Any) -> int:
        """Return the place of a value with a new key."""
        if value not in self.values:
            self.values.append(value)
        place = self._places[key] = self.values.index(value)
        return place


class PaymentWriter:
    """Makes rows of payments, and the tables that they refer to."""

    def __init__(self) -> None:
        self._shared, self._timelines = _Table(), _Table()

    @property
    def shared(self) -> list[SharedValues]:
        """Return the values that payments share, by their places in the rows."""
        return self._shared.values

    @property
    def timelines(self) -> list[tuple[Step, ...]]:
        """Return the steps of payments that are not settled, by their places in the rows."""
        return self._timelines.values

    def row(self, one: Transaction) -> PaymentRow:
        """Return the row of a payment."""
        key = one.reseller, one.product, one.product_name, one.currency, one.rule, id(one.category), id(one.callbacks)
        shared = self._shared.find(key)
        if shared is None:
            shared = self._shared.add(key, SharedValues(*key[:5], one.category, one.callbacks))
        return PaymentRow(
            one.refid,
            shared,
            one.account,
            one.amount,
            one.cost,
            one.remarks,
            _ENCODER.encode(one.extras) if one.extras else b"",
            one.sender,
            None if one.face is one.amount else one.face,
            one.entry_ids,
            one.results,
            one.requeries,
            one.bill,
            self._timeline(one.steps) if one.steps else None,
            one.ticket,
        )

    def _timeline(self, steps: tuple[Step, ...]) -> int:
        place = self._timelines.find(id(steps))
        return self._timelines.add(id(steps), steps) if place is None else place


def restore_payments(
    state: State, rows: Iterable[PaymentRow], shared: Sequence[SharedValues], timelines: Sequence[tuple[Step, ...]]
) -> None:
    """Add the payments of these rows. Their resellers must have their ledger entries already."""
    texts = _Texts()
    for row in rows:
        values = shared[row.shared]
        reseller = state.resellers[values.reseller]
        steps = () if row.steps is None else timelines[row.steps]
        transaction = _transaction(row, values, steps, reseller.wallet.entry(row.entry_ids[0]), texts)
        state.transactions.add(transaction)
        reseller.refids.add(transaction)
        reseller.history.add(transaction)


class _Texts(dict[str, str]):
    """Texts that many payments share, each stored once."""

    def __missing__(self, text: str) -> str:
        self[text] = text
        return text


def _transaction(
    row: PaymentRow, shared: SharedValues, steps: tuple[Step, ...], first: Entry, texts: _Texts
) -> Transaction:
    amount, cost, remarks = row.amount, row.cost, row.remarks
    results = tuple([_result(one, first, cost, remarks, texts) for one in row.results])
    return Transaction(
        trxid=first.trxid,
        refid=row.refid,
        reseller=shared.reseller,
        product=shared.product,
        product_name=shared.product_name,
        account=row.account,
        amount=amount,
        cost=cost,
        remarks=remarks,
        extras=_DECODER.decode(row.extras) if row.extras else NO_EXTRAS,
        sender=texts[row.sender],
        created=first.at,
        rule=shared.rule,
        callbacks=shared.callbacks,
        category=shared.category,
        currency=shared.currency,
        face=amount if row.face is None else row.face,
        entry_ids=row.entry_ids,
        results=results,
        steps=steps,
        ticket=row.ticket,
        requeries=row.requeries,
        bill=row.bill,
    )


def _result(one: PaymentResult, first: Entry, cost: Decimal, remarks: str, texts: _Texts) -> PaymentResult:
    """Return the same result with the values of its payment and its first entry, so that each is in memory once."""
    return PaymentResult(
        first.at if one.at == first.at else one.at,
        one.status,
        one.code,
        _shared(one.cost, cost),
        _shared(one.balance, first.balance),
        texts[one.cause],
        remarks if one.remarks == remarks else one.remarks,
        one.sn,
        one.pin,
        one.expiry,
        one.note,
        one.voucherlink,
    )


def _shared(value: Decimal, known: Decimal) -> Decimal:
    """Return the known value if it has the same digits."""
    return known if value == known and value.same_quantum(known) else value
