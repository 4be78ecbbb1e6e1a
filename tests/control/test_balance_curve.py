"""The balance curve: every entry while they are few, and few points with the extremes when they are many."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from simulator.control.result_endpoints import POINTS_MAX, balance_curve
from simulator.domain.model.wallet import EntryType, Wallet

AT = datetime(2026, 11, 1, tzinfo=UTC)


def posted(*amounts: int) -> Wallet:
    wallet = Wallet(Decimal(20_000))
    for amount in amounts:
        wallet.post(EntryType.TRANSACTION, Decimal(amount), AT, "")
    return wallet


def points_of(wallet: Wallet) -> list[Decimal]:
    return [entry.balance for entry in balance_curve(wallet.entries)]


@pytest.mark.parametrize("count", [0, 1, 299, 300])
def test_up_to_300_entries_are_all_points(count: int) -> None:
    assert points_of(posted(*[1] * count)) == list(range(20_001, 20_001 + count))


@pytest.mark.parametrize("count", [301, 1_000, 2_001, 5_000, 40_000])
def test_more_entries_have_at_most_300_points_in_their_order_with_the_extremes(count: int) -> None:
    amounts = [3 if number % 2 else -2 for number in range(count)]
    amounts[count // 3] = 5_000
    amounts[count // 3 + 1] = -9_000
    wallet = posted(*amounts)
    points = points_of(wallet)
    balances = [entry.balance for entry in wallet.entries]
    ids = [entry.id for entry in balance_curve(wallet.entries)]
    assert 74 <= len(points) <= POINTS_MAX
    assert ids == sorted(ids)
    assert (points[0], points[-1]) == (balances[0], balances[-1])
    assert (min(points), max(points)) == (min(balances), max(balances))


def test_each_span_has_as_many_entries_as_every_other() -> None:
    wallet = posted(*[1] * 600)  # eight for each of 75 spans
    assert points_of(wallet) == [one for begin in range(0, 600, 8) for one in (20_001 + begin, 20_008 + begin)]
