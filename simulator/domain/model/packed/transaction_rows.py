"""A transaction as bytes, and back, exact.

Left out is its number, which says where the row is.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import msgspec

from simulator.domain.model.bills import BillKey
from simulator.domain.model.packed.shared_values import SharedValues
from simulator.domain.model.transactions import PROCESSING, Distortion, Result, Transaction
from simulator.domain.model.tree import Category

SETTLED_ROW: Final = 0
OPEN_ROW: Final = 1
PROCESSING_ROW: Final = 2
"""Which kind of transaction a row has; the last one is open, too."""


class Row(msgspec.Struct, array_like=True, gc=False):
    """The members of a transaction; in the place of `callbacks`, `category` and `steps` stand those of the shared
    values. The results in `same_remarks` have the transaction's own remarks, which may be long, and are written
    without. What only an open transaction has comes last."""

    trxid: str
    refid: str
    reseller: str
    kind: int
    product: str
    product_name: str
    account: str
    amount: Decimal
    cost: Decimal
    remarks: str
    extras: dict[str, Any]
    sender: str
    created: datetime
    rule: str
    callbacks: int
    category: int
    currency: str
    face: Decimal
    entry_ids: tuple[int, ...]
    results: tuple[Result, ...]
    requeries: int
    place: int
    bill: BillKey | None
    same_remarks: tuple[int, ...] = ()
    steps: int = -1
    ticket: int | None = None


class _Keys(msgspec.Struct, array_like=True, gc=False):
    """The first members of a row."""

    trxid: str
    refid: str
    reseller: str
    kind: int


_DECIMAL: Final = 1
_LONG: Final = 2
_LONG_BITS: Final = 63
_NOWHERE: Final[tuple[int, ...]] = ()
_NO_EXTRAS: Final[dict[str, object]] = {}
_SETTLED_ENDS: Final[tuple[object, ...]] = ()


def packed(one: Transaction, shared: SharedValues) -> bytes:
    """The row of a transaction. Its texts are without lone surrogates, since they come from JSON."""
    results, same_remarks = one.results, _NOWHERE
    if one.remarks:
        same_remarks = tuple([at for at, each in enumerate(results) if each.remarks == one.remarks])
        results = _with_remarks(results, same_remarks, "")
    kind, ends = SETTLED_ROW, _SETTLED_ENDS
    if one.steps:
        kind = PROCESSING_ROW if results[-1].status is PROCESSING else OPEN_ROW
        ends = shared.place(one.steps), one.ticket
    return _ENCODER.encode(
        (
            one.trxid,
            one.refid,
            one.reseller,
            kind,
            one.product,
            one.product_name,
            one.account,
            one.amount,
            one.cost,
            one.remarks,
            _exact(one.extras) if one.extras else _NO_EXTRAS,
            one.sender,
            one.created,
            one.rule,
            shared.place(one.callbacks),
            shared.place(one.category),
            one.currency,
            one.face,
            one.entry_ids,
            results,
            one.requeries,
            one.place,
            one.bill,
            same_remarks,
            *ends,
        )
    )


def unpacked(row: bytes, number: int, shared: SharedValues) -> Transaction:
    """The transaction with this number, of its row."""
    one = _DECODER.decode(row)
    callbacks, category = shared[one.callbacks], shared[one.category]
    assert isinstance(callbacks, Distortion), "every transaction has one"
    assert category is None or isinstance(category, Category), "there is no other kind"
    steps = () if one.kind == SETTLED_ROW else shared[one.steps]
    assert isinstance(steps, tuple), "only an open one has some"
    return Transaction(
        trxid=one.trxid,
        refid=one.refid,
        reseller=one.reseller,
        product=one.product,
        product_name=one.product_name,
        account=one.account,
        amount=one.amount,
        cost=one.cost,
        remarks=one.remarks,
        extras=one.extras,
        sender=one.sender,
        created=one.created,
        rule=one.rule,
        callbacks=callbacks,
        category=category,
        currency=one.currency,
        face=one.face,
        entry_ids=one.entry_ids,
        results=_with_remarks(one.results, one.same_remarks, one.remarks),
        steps=steps,
        ticket=one.ticket,
        requeries=one.requeries,
        place=one.place,
        number=number,
        bill=one.bill,
    )


def keys_of(row: bytes) -> tuple[str, str, str, int]:
    """The trxid, the refid, the reseller and the kind of a row."""
    one = _KEYS_DECODER.decode(row)
    return one.trxid, one.refid, one.reseller, one.kind


def _with_remarks(results: tuple[Result, ...], places: tuple[int, ...], remarks: str) -> tuple[Result, ...]:
    if not places:
        return results
    changed = list(results)
    for at in places:
        changed[at] = msgspec.structs.replace(results[at], remarks=remarks)
    return tuple(changed)


def _exact(value: Any) -> Any:
    """A value of a request's JSON, with those numbers apart that would come back as something else."""
    match value:
        case Mapping():
            return {key: _exact(one) for key, one in value.items()}
        case list() | tuple():
            return [_exact(one) for one in value]
        case Decimal():
            return msgspec.msgpack.Ext(_DECIMAL, str(value).encode())
        case int() if value.bit_length() > _LONG_BITS:
            return msgspec.msgpack.Ext(_LONG, f"{value:x}".encode())
    return value


def _number(code: int, content: memoryview) -> Decimal | int:
    text = bytes(content).decode()
    return Decimal(text) if code == _DECIMAL else int(text, 16)


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Row, ext_hook=_number)
_KEYS_DECODER: Final = msgspec.msgpack.Decoder(_Keys)
