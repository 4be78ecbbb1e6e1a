"""Timelines, re-queries and the agenda (SPEC 3.1)."""

from dataclasses import replace
from datetime import datetime, time, timedelta

import pytest

from simulator.domain.agenda import TimelineStep
from simulator.domain.commands import PassTime, RecordTime
from simulator.domain.model.catalog import Catalog
from simulator.domain.model.draw import Spread
from simulator.domain.model.outcomes import DomainOutcome
from simulator.domain.model.rules import Rule
from simulator.domain.model.transactions import TRANSITIONS, PaymentThen, Status, Step, may_follow
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import (
    ACCEPTED,
    BILL,
    START,
    after,
    fire_due,
    order,
    pay,
    rule,
    sandbox,
    scenario,
    seconds,
    text,
)

ORDINARY = [(0, Status.ACCEPTED), (1.999, Status.ACCEPTED), (2, Status.PROCESSING), (4.999, Status.PROCESSING)]


@pytest.mark.parametrize(("at", "status"), [*ORDINARY, (5, Status.SUCCESSFUL), (10**6, Status.SUCCESSFUL)])
def test_an_ordinary_payment_is_where_its_timeline_says(at: float, status: Status) -> None:
    box = sandbox()
    transaction = pay(box).transaction
    fire_due(box, seconds(at))
    assert transaction.result.status is status


@pytest.mark.parametrize(
    ("processing_time", "realistic_times", "rules", "takes_s"),
    [
        ("instant", True, (), 5),
        ("24_hours", True, (), 86_400),
        ("3_days", True, (), 3 * 86_400),
        ("24_hours", True, (rule(ACCEPTED, after(7, Status.FAILED), fallback=True),), 86_400),
        ("24_hours", True, (rule(ACCEPTED, after(7, Status.FAILED)),), 7),
        ("24_hours", False, (), 5),
    ],
)
def test_with_realistic_times_a_payment_takes_as_long_as_its_product_unless_a_rule_says_how_long(
    processing_time: str, realistic_times: bool, rules: tuple[Rule[PaymentThen], ...], takes_s: int
) -> None:
    catalog = Catalog(products={"BILL": replace(BILL, processing_time=processing_time)})
    box = sandbox(*rules, catalog=catalog, realistic_times=realistic_times)
    transaction = pay(box).transaction
    fire_due(box, seconds(10**6))
    assert transaction.result.at == seconds(takes_s)


def test_steps_happen_at_their_due_time_even_when_processed_late() -> None:
    box = sandbox()
    transaction = pay(box).transaction
    fire_due(box, seconds(1000))
    assert [result.at for result in transaction.results] == [seconds(0), seconds(2), seconds(5)]


def test_a_step_with_a_distribution_has_a_time_of_its_own_for_each_payment_in_the_order_of_the_steps() -> None:
    spread = Spread(timedelta(seconds=2), timedelta(seconds=4))
    drawn = after(2, Status.PROCESSING, spread=spread), after(2, Status.SUCCESSFUL, spread=spread)
    box = sandbox(rule(ACCEPTED, *drawn), balance="10000.00")
    paid = [pay(box, order(f"ref-{number}")).transaction for number in range(20)]
    fire_due(box, seconds(60))
    took = [[(result.at - START).total_seconds() for result in one.results[1:]] for one in paid]
    assert len({first for first, _ in took}) == 20
    assert all(0.5 < first <= second < 8 for first, second in took)


def test_time_that_was_seen_is_not_rewritten() -> None:
    box = sandbox()
    transaction = pay(box).transaction
    box.apply(order("ref-2"), seconds(100))  # due items did not fire, as under a manual clock that was set
    fire_due(box, seconds(100))
    assert [result.at for result in transaction.results[1:]] == [seconds(100), seconds(100)]


def at(text: str, status: Status) -> Step:
    return Step(status, at=time.fromisoformat(text))


def happened(*steps: Step, created: str) -> list[str]:
    """When the steps after the first happen to a payment made at `created` of 2027-01-10, in the service's zone."""
    made = datetime.fromisoformat(f"2027-01-10T{created}+08:00")
    box = Sandbox(scenario(rule(ACCEPTED, *steps)), 7, made)
    transaction = pay(box, at=(made - START).total_seconds()).transaction
    fire_due(box, made + timedelta(days=3))
    return [f"{result.at.astimezone(made.tzinfo):%d %H:%M:%S}" for result in transaction.results[1:]]


PROCESSING, SUCCESSFUL = after(2, Status.PROCESSING), at("12:10", Status.SUCCESSFUL)


@pytest.mark.parametrize(
    ("steps", "created", "expected"),
    [
        ([SUCCESSFUL], "12:00:00", ["10 12:10:00"]),
        ([SUCCESSFUL], "12:09:59", ["10 12:10:00"]),
        ([SUCCESSFUL], "12:10:00", ["11 12:10:00"]),
        ([SUCCESSFUL], "23:00:00", ["11 12:10:00"]),
        ([at("00:00:30", Status.FAILED)], "00:00:00", ["10 00:00:30"]),
        ([PROCESSING, SUCCESSFUL], "12:09:00", ["10 12:09:02", "10 12:10:00"]),
        ([PROCESSING, SUCCESSFUL], "12:09:59", ["10 12:10:01", "11 12:10:00"]),
        ([at("12:10", Status.PROCESSING), at("12:10", Status.FAILED)], "12:00:00", ["10 12:10:00", "11 12:10:00"]),
        ([at("12:10", Status.PROCESSING), after(3600, Status.FAILED)], "12:00:00", ["10 12:10:00", "10 13:00:00"]),
        ([at("12:10", Status.PROCESSING), after(5, Status.FAILED)], "12:00:00", ["10 12:10:00", "10 12:10:00"]),
        ([Step(Status.PROCESSING, requery=1), SUCCESSFUL], "12:00:00", ["10 12:10:00"]),
    ],
)
def test_a_step_at_a_time_of_day_is_the_first_after_the_dated_step_above(
    steps: list[Step], created: str, expected: list[str]
) -> None:
    assert happened(*steps, created=created) == expected


def test_a_late_clock_does_not_move_a_time_of_day_to_the_next_day() -> None:
    made = datetime.fromisoformat("2027-01-10T12:09:00+08:00")
    box = Sandbox(scenario(rule(ACCEPTED, PROCESSING, SUCCESSFUL)), 7, made)
    transaction = pay(box, at=(made - START).total_seconds()).transaction
    late = made + timedelta(minutes=5)
    box.apply(order("ref-2"), late)  # the time is seen, and nothing was fired
    fire_due(box, late)
    assert [result.at for result in transaction.results[1:]] == [late, late]


def test_a_requery_may_come_before_a_time_of_day() -> None:
    box = sandbox(rule(ACCEPTED, Step(Status.FAILED, requery=1), SUCCESSFUL), url="")
    transaction = pay(box).transaction
    assert box.state.agenda.next_due is not None
    pay(box, at=1)
    assert box.state.agenda.next_due is None, "the step at a time of day was taken off the agenda"
    assert transaction.result.status is Status.FAILED


def test_the_third_requery_releases_a_step_that_waits_for_it() -> None:
    box = sandbox(rule(ACCEPTED, Step(Status.PROCESSING, requery=1), Step(Status.SUCCESSFUL, requery=3)))
    transaction = pay(box).transaction
    seen = [pay(box, at=at).result.status for at in range(1, 5)]
    assert seen == [Status.PROCESSING, Status.PROCESSING, Status.SUCCESSFUL, Status.SUCCESSFUL]
    assert [result.kind.cause for result in transaction.results] == ["creation", "requery", "requery"]


def test_a_step_after_a_final_status_never_happens() -> None:
    box = sandbox(rule(ACCEPTED, Step(Status.FAILED, requery=1), after(5, Status.SUCCESSFUL)), url="")
    transaction = pay(box).transaction
    pay(box, at=1)
    assert box.state.agenda.next_due is None, "the dated step was taken off the agenda"
    fire_due(box, seconds(10))
    assert transaction.result.status is Status.FAILED


def test_a_step_that_cannot_follow_is_passed_over() -> None:
    box = sandbox(
        rule(ACCEPTED, Step(Status.PROCESSING, requery=1), after(5, Status.PROCESSING), after(9, Status.FAILED))
    )
    transaction = pay(box).transaction
    pay(box, at=1)
    fired = fire_due(box, seconds(9))
    assert [one.item.step.status for one in fired if isinstance(one.item, TimelineStep)] == [Status.FAILED]
    assert [result.status for result in transaction.results] == [Status.ACCEPTED, Status.PROCESSING, Status.FAILED]


def test_a_requery_at_the_very_instant_of_a_step_sees_it() -> None:
    box = sandbox()
    pay(box)
    fire_due(box, seconds(5))
    assert pay(box, at=5).result.status is Status.SUCCESSFUL


def test_a_rule_writes_the_fields_of_a_result() -> None:
    step = after(1, Status.SUCCESSFUL, texts={"sn": text("SN-{refid}"), "remarks": text("done")})
    box = sandbox(rule(ACCEPTED, step))
    transaction = pay(box).transaction
    fire_due(box, seconds(1))
    assert (transaction.result.texts.sn, transaction.result.texts.remarks) == ("SN-ref-1", "done")


def test_no_step_leaves_failure_or_refund_and_only_a_void_leaves_success() -> None:
    assert TRANSITIONS[Status.FAILED] == TRANSITIONS[Status.REFUNDED] == frozenset()
    assert TRANSITIONS[Status.SUCCESSFUL] == {Status.REFUNDED}
    assert not may_follow(Status.PROCESSING, Status.ACCEPTED)


@pytest.mark.parametrize(
    ("steps", "requeries", "noted"),
    [
        ((ACCEPTED,), 0, {DomainOutcome.STUCK: 1}),
        ((ACCEPTED,), 2, {DomainOutcome.STUCK: 1, DomainOutcome.REQUERIED: 1}),
        ((ACCEPTED, Step(Status.SUCCESSFUL, requery=2)), 1, {DomainOutcome.REQUERIED: 1}),
        ((ACCEPTED, Step(Status.PROCESSING, requery=1)), 0, {}),
        ((ACCEPTED, Step(Status.PROCESSING, requery=1)), 3, {DomainOutcome.STUCK: 1, DomainOutcome.REQUERIED: 1}),
        ((ACCEPTED, after(1, Status.PROCESSING)), 0, {DomainOutcome.STUCK: 1}),
        ((after(0, Status.SUCCESSFUL),), 1, {DomainOutcome.SUCCESSFUL_AT_ONCE: 1}),
        ((after(0, Status.FAILED),), 0, {DomainOutcome.FAILED_AT_ONCE: 1}),
        ((ACCEPTED, after(1, Status.FAILED)), 0, {DomainOutcome.FAILED_AFTER_ACCEPTED: 1}),
        (
            (ACCEPTED, after(1, Status.PROCESSING), after(2, Status.FAILED)),
            0,
            {DomainOutcome.FAILED_AFTER_PROCESSING: 1},
        ),
        (
            (ACCEPTED, after(1, Status.PROCESSING), after(2, Status.SUCCESSFUL)),
            0,
            {DomainOutcome.SUCCESSFUL_AFTER_PROCESSING: 1},
        ),
    ],
)
def test_the_course_of_a_payment_is_noted(
    steps: tuple[Step, ...], requeries: int, noted: dict[DomainOutcome, int]
) -> None:
    box = sandbox(rule(*steps), url="")
    pay(box)
    for _ in range(requeries):
        pay(box)
    fire_due(box, seconds(9))
    assert box.state.noted == noted


def test_so_many_events_happen_at_once_and_the_time_waits_for_the_others() -> None:
    box = sandbox(url="")
    pay(box)
    assert box.apply(PassTime(0), seconds(9)) == []
    (fired,) = box.apply(PassTime(1), seconds(9))
    assert (fired.at, box.state.now, box.state.agenda.next_due) == (seconds(2), seconds(2), seconds(5))
    (fired,) = box.apply(PassTime(2), seconds(9))
    assert (fired.at, box.state.now) == (seconds(5), seconds(9))


def test_a_time_that_was_recorded_is_when_overdue_steps_happen() -> None:
    box = sandbox(url="")
    pay(box)
    box.apply(RecordTime(), seconds(7))
    assert [fired.at for fired in fire_due(box, seconds(9))] == [seconds(7), seconds(7)]
