"""Values come back from a snapshot exactly as they were, and equal ones are the same bytes."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model.catalog import Money, OptionList, Product
from simulator.domain.model.network import NetworkStatus
from simulator.domain.model.transactions import Step, Transaction
from simulator.scenario.library import load_scenario
from simulator.snapshot.chunks import numbered, parts_of_log, rows_of, unnumbered
from simulator.snapshot.values import Reading, Writing, opened

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
ZONES = st.sampled_from([UTC, timezone(timedelta(hours=8)), timezone(-timedelta(hours=3, minutes=30))])
STATUSES = st.sampled_from(list(NetworkStatus))
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), TEXTS, st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(allow_nan=False, allow_infinity=False), st.binary(max_size=12), st.dates(), st.times(),
    st.timedeltas(), st.datetimes(timezones=ZONES), STATUSES,
    st.builds(Money, st.decimals(allow_nan=False, allow_infinity=False), TEXTS),
)  # fmt: skip
HASHABLE = st.one_of(TEXTS, st.tuples(TEXTS, st.integers(0, 9)), STATUSES)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(HASHABLE, inner, max_size=4), st.frozensets(HASHABLE, max_size=4),
    ),
    max_leaves=12,
)  # fmt: skip


def back(value: Any) -> Any:
    """A value that was written and read."""
    writing = Writing()
    parts = {"one": writing.part(writing.plain(value))}
    with opened(parts, "one") as (reading, plain):
        return reading.value(plain)


def told(value: Any) -> Any:
    """A value with its types, since 1 equals 1.0 and True, and 1.0 as a decimal equals 1.00."""
    if isinstance(value, list | tuple):
        return type(value), [told(one) for one in value]
    if isinstance(value, dict):
        return [(told(key), told(one)) for key, one in value.items()]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    return type(value), str(value), value


@pytest.mark.slow
@given(VALUES)
def test_any_value_comes_back_as_it_was(value: Any) -> None:
    assert told(back(value)) == told(value)


def test_all_products_and_timelines_of_a_scenario_come_back() -> None:
    for name in ("default", "bad-day"):
        scenario = load_scenario(name)
        for product in scenario.catalog.products.values():
            again = back(product)
            assert isinstance(again, Product)
            assert again == product
            assert all(isinstance(each, OptionList) for each in again.options.values())
        for timeline in scenario.timelines.values():
            assert back(timeline) == timeline
            assert all(isinstance(step, Step) for step in back(timeline))


def test_a_frozen_value_is_written_once_whether_or_not_it_is_one_object() -> None:
    def written(first: Money, second: Money) -> bytes:
        writing = Writing()
        return writing.part(writing.plain([first, second]))

    one, other = Money(Decimal("1.50")), Money(Decimal("1.50"))
    assert one is not other
    assert written(one, one) == written(one, other)
    assert written(one, Money(Decimal("1.5"))) != written(one, other)


def test_only_known_classes_are_written_and_made() -> None:
    with pytest.raises(TypeError, match="a snapshot has no values of"):
        Writing().plain(object())
    with pytest.raises(TypeError, match="Transaction"):
        Writing().plain(msgspec.structs.replace(_transaction()))
    with pytest.raises(LookupError):
        Reading([]).value({"open": ["/etc/passwd"]})


def _transaction() -> Transaction:
    from tests.support.client import running

    with running() as client:
        client.pay()
        [one] = client.live.core.state.transactions.values()
    return one


def test_a_mapping_that_cannot_change_is_written_as_one_that_can() -> None:
    assert back(MappingProxyType({"a": 1})) == {"a": 1}


@given(st.lists(st.tuples(TEXTS, st.integers(0, 10**6)), max_size=60))
def test_rows_without_numbers_come_back_in_their_order(rows: list[tuple[str, int]]) -> None:
    assert list(rows_of(dict(unnumbered("log", rows)), "log", tuple[str, int])) == rows


def test_most_parts_of_a_log_without_numbers_stay_when_its_oldest_go() -> None:
    rows = [(f"row {number}", number) for number in range(20_000)]
    before, after = ({content for _, content in unnumbered("log", some)} for some in (rows, rows[777:]))
    assert len(before) > 50
    assert len(before & after) > len(after) - 3


def test_numbered_records_are_cut_at_the_same_numbers_whatever_is_before_them() -> None:
    cuts = dict(numbered("log", range(130, 300), lambda one: one, 64))
    assert list(cuts) == ["log/2", "log/3", "log/4"]
    assert cuts["log/3"] == list(range(192, 256))
    encoded = {name: msgspec.json.encode(ones) for name, ones in numbered("log", range(800), lambda one: one, 64)}
    assert [name for name, _ in parts_of_log(encoded, "log")] == [f"log/{place}" for place in range(13)]
