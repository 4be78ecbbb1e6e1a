"""A transaction comes back from its row exactly as it was."""

from datetime import UTC, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model.packed.shared_values import SharedValues
from simulator.domain.model.packed.transaction_rows import SETTLED_ROW, keys_of, packed, unpacked
from simulator.domain.model.transactions import Distortion, Result, Status, Transaction
from simulator.domain.model.tree import Category

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
NUMBERS = st.decimals(allow_nan=False, allow_infinity=False)
TIMES = st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
EXTRAS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**30), 10**30), TEXTS, NUMBERS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)
REMARKS = st.sampled_from(["", "a remark"]) | TEXTS
RESULTS = st.builds(
    Result, TIMES, st.sampled_from(list(Status)), st.integers(-(2**31), 2**31), NUMBERS, NUMBERS, TEXTS, REMARKS, TEXTS,
    TEXTS, st.none() | st.dates(), TEXTS, TEXTS,
)  # fmt: skip
BY_STATUS = MappingProxyType({Status.FAILED: Distortion(drop=True)})
DISTORTIONS = st.builds(Distortion, st.booleans(), st.integers(0, 3), by_status=st.none() | st.just(BY_STATUS))
TRANSACTIONS = st.builds(
    Transaction,
    trxid=TEXTS, refid=TEXTS, reseller=TEXTS, product=TEXTS, product_name=TEXTS, account=TEXTS, amount=NUMBERS,
    cost=NUMBERS, remarks=REMARKS, extras=st.dictionaries(TEXTS, EXTRAS, max_size=3), sender=TEXTS, created=TIMES,
    rule=TEXTS, callbacks=DISTORTIONS, category=st.none() | st.builds(Category, TEXTS, TEXTS, st.tuples(TEXTS)),
    currency=TEXTS, face=NUMBERS, entry_ids=st.lists(st.integers(1, 2**40), max_size=3).map(tuple),
    results=st.lists(RESULTS, min_size=1, max_size=4).map(tuple), requeries=st.integers(0, 2**20),
    place=st.integers(0, 2**31), number=st.integers(0, 2**31), bill=st.none() | st.tuples(TEXTS, TEXTS, TEXTS),
)  # fmt: skip


def told(value: Any) -> Any:
    """A value with its types, since 1 equals 1.0 and True, and 1.0 as a decimal equals 1.00."""
    if isinstance(value, list | tuple):
        return type(value), [told(one) for one in value]
    if isinstance(value, dict):
        return [(told(key), told(one)) for key, one in value.items()]
    if isinstance(value, Result):
        return told(msgspec.structs.astuple(value))
    return type(value), str(value), value


def back(one: Transaction) -> Transaction:
    shared = SharedValues()
    return unpacked(packed(one, shared), one.number, shared)


@pytest.mark.slow
@given(TRANSACTIONS)
def test_every_member_comes_back_as_it_was(one: Transaction) -> None:
    again = back(one)
    for name in Transaction.__struct_fields__:
        assert told(getattr(again, name)) == told(getattr(one, name)), name


@pytest.mark.slow
@given(TRANSACTIONS)
def test_the_same_transaction_is_the_same_bytes_and_its_keys_are_read_alone(one: Transaction) -> None:
    shared = SharedValues()
    row = packed(one, shared)
    assert packed(unpacked(row, one.number, shared), shared) == row
    assert keys_of(row) == (one.trxid, one.refid, one.reseller, SETTLED_ROW)


@pytest.mark.slow
@given(TRANSACTIONS, TEXTS)
def test_extras_that_cannot_change_come_back_as_equal_ones(one: Transaction, name: str) -> None:
    one.extras = MappingProxyType({name: MappingProxyType({"in": (Decimal("1.50"), 10**20)})})
    assert back(one).extras == {name: {"in": [Decimal("1.50"), 10**20]}}
    one.extras = MappingProxyType({})
    assert back(one).extras == {}


def test_remarks_that_all_results_repeat_are_written_once() -> None:
    result = Result(
        datetime(2026, 11, 1, tzinfo=UTC), Status.ACCEPTED, 1, Decimal(1), Decimal(2), "creation", "r" * 5_000
    )
    one = Transaction(
        trxid="", refid="", reseller="", product="", product_name="", account="", amount=Decimal(1), cost=Decimal(1),
        remarks="r" * 5_000, extras={}, sender="", created=result.at, rule="", callbacks=Distortion(), category=None,
        currency="", face=Decimal(1), results=(result,) * 3,
    )  # fmt: skip
    assert len(packed(one, SharedValues())) < 6_000
    assert back(one).results == one.results


def test_values_that_equal_each_other_are_kept_once() -> None:
    shared, many = SharedValues(), [Distortion(duplicates=number % 3) for number in range(30_000)]
    assert [shared.place(one) for one in many] == [number % 3 for number in range(30_000)]
    assert shared.place(None) == 3
    assert list(shared) == [Distortion(), Distortion(duplicates=1), Distortion(duplicates=2), None]
    changed = MappingProxyType({Status.FAILED: Distortion(drop=True)})
    assert shared.place(Distortion(by_status=changed)) == shared.place(Distortion(by_status=dict(changed))) == 4
