"""Low-balance alerts (SPEC 2.9, 4.16): one e-mail whenever a balance falls below the threshold."""

from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.commands import Credit, SetThreshold
from simulator.domain.errors import Unacceptable
from simulator.domain.model.domain_events import DomainEvent, NotificationKind
from simulator.domain.model.scenario import ResellerStart
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import START, order, pay, sandbox, seconds


def threshold(box: Sandbox, amount: str, at: float = 0) -> None:
    box.apply(SetThreshold("R1", Decimal(amount)), seconds(at))


def alerts(box: Sandbox) -> list[str]:
    return [one.text for one in box.state.notifications]


@pytest.mark.parametrize("amount", ["1", "1.00", "0.01E2", "12.34", "999999999999999"])
def test_a_threshold_is_at_least_one_ringgit(amount: str) -> None:
    box = sandbox()
    threshold(box, amount)
    assert box.state.resellers["R1"].wallet.threshold == Decimal(amount)


@pytest.mark.parametrize("amount", ["0.99", "0", "-1", "1.001", "NaN", "1E15"])
def test_a_threshold_below_one_or_with_fractions_of_a_sen_is_refused(amount: str) -> None:
    box = sandbox()
    with pytest.raises(Unacceptable) as refusal:
        threshold(box, amount)
    assert (refusal.value.code, refusal.value.path) == ("invalid_amount", "amount")
    assert box.state.resellers["R1"].wallet.threshold == 0


# The balance is 1000.00 and each payment of 100 costs 97.00.
@pytest.mark.parametrize(
    ("limit", "payments", "count"),
    [
        ("903", 1, 0),  # exactly the threshold
        ("903.01", 1, 1),
        ("903.01", 2, 1),  # it was below already
        ("1000", 1, 1),  # it began at the threshold
        ("1000.01", 1, 0),  # it began below
    ],
)
def test_a_balance_that_falls_below_the_threshold_is_one_alert(limit: str, payments: int, count: int) -> None:
    box = sandbox()
    threshold(box, limit)
    for number in range(payments):
        pay(box, order(f"r{number}"))
    assert len(alerts(box)) == count


def test_an_alert_names_the_balance_and_the_threshold_and_goes_to_the_account() -> None:
    box, told = sandbox(), list[DomainEvent]()
    threshold(box, "950.5")
    box.watch(told.append)
    pay(box, at=5)
    (alert,) = box.state.notifications
    assert (alert.n, alert.at, alert.kind) == (1, seconds(5), NotificationKind.LOW_BALANCE)
    assert (alert.reseller, alert.to, alert.subject) == ("R1", ("R1@example.com",), "Low balance")
    assert alert.text == "The balance of R1 is RM 903.00, below the threshold of RM 950.50."
    assert alert in told


def test_the_next_alert_needs_a_balance_that_was_at_the_threshold_again() -> None:
    box = sandbox()
    threshold(box, "950")
    pay(box, order("r1"))
    box.apply(Credit("R1", Decimal(47)), START)
    pay(box, order("r2"))
    assert len(alerts(box)) == 2


@pytest.mark.parametrize(
    ("assume", "limit", "count"),
    [
        ({}, "2000", 0),
        ({"low-balance-at-setting": "alert"}, "2000", 1),
        ({"low-balance-at-setting": "alert"}, "1000", 0),
    ],
)
def test_a_balance_below_a_new_threshold_alerts_only_when_the_scenario_says_so(
    assume: Any, limit: str, count: int
) -> None:
    box = sandbox(assume=assume)
    threshold(box, limit)
    assert len(alerts(box)) == count


def test_a_scenario_may_start_with_a_threshold() -> None:
    starts = [ResellerStart("R1", "r@example.com", Decimal(100), low_balance_threshold=Decimal(50))]
    box = sandbox(resellers=tuple(starts))
    pay(box)
    assert alerts(box) == ["The balance of R1 is RM 3.00, below the threshold of RM 50.00."]
