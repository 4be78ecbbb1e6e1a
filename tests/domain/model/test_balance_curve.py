"""The balance curve: every entry while they are few, and few points with the extremes when they are many."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from simulator.domain.model.wallet import BalanceCurve, EntryType, Wallet

AT = datetime(2026, 11, 1, tzinfo=UTC)


def posted(wallet: Wallet, *amounts: int) -> None:
    for amount in amounts:
        wallet.post(EntryType.TRANSACTION, Decimal(amount), AT, "")


def points_of(curve: BalanceCurve) -> list[Decimal]:
    for _ in curve.catch_up():
        pass
    return [entry.balance for entry in curve.points()]


@pytest.mark.parametrize("count", [0, 1, 299, 300])
def test_up_to_300_entries_are_all_points(count: int) -> None:
    wallet = Wallet(Decimal(20_000))
    posted(wallet, *[1] * count)
    assert points_of(BalanceCurve(wallet)) == list(range(20_001, 20_001 + count))


@pytest.mark.parametrize("count", [301, 1_000, 2_000, 2_001, 5_000])
def test_more_entries_have_at_most_300_points_in_their_order_with_the_extremes(count: int) -> None:
    wallet = Wallet(Decimal(20_000))
    amounts = [3 if number % 2 else -2 for number in range(count)]
    amounts[count // 3] = 5_000
    amounts[count // 3 + 1] = -9_000
    posted(wallet, *amounts)
    curve = BalanceCurve(wallet)
    points = points_of(curve)
    balances = [entry.balance for entry in wallet.entries]
    assert 74 <= len(points) <= 300
    assert [entry.id for entry in curve.points()] == sorted(entry.id for entry in curve.points())
    assert (points[0], points[-1]) == (balances[0], balances[-1])
    assert (min(points), max(points)) == (min(balances), max(balances))


def test_the_points_do_not_depend_on_when_somebody_asked() -> None:
    wallet, at_once = Wallet(Decimal(20_000)), Wallet(Decimal(20_000))
    curve = BalanceCurve(wallet)
    amounts = [number * 7 % 23 - 11 for number in range(1_500)]
    for begin in range(0, 1_500, 70):
        posted(wallet, *amounts[begin : begin + 70])
        points = points_of(curve)
    posted(at_once, *amounts)
    assert points == points_of(BalanceCurve(at_once))


def test_a_long_curve_is_read_in_slices_of_2000_entries() -> None:
    wallet = Wallet(Decimal(20_000))
    posted(wallet, *[1] * 4_001)
    curve = BalanceCurve(wallet)
    assert len(list(curve.catch_up())) == 3
    assert not list(curve.catch_up()), "nothing is read twice"


def test_each_span_has_as_many_entries_as_every_other() -> None:
    wallet = Wallet(Decimal(20_000))
    posted(wallet, *[1] * 592)  # eight for each of 74 spans
    assert points_of(BalanceCurve(wallet)) == [
        one for begin in range(0, 592, 8) for one in (20_001 + begin, 20_008 + begin)
    ]
