"""Timelines, re-queries and the agenda (SPEC 3.1)."""

import pytest

from simulator.domain.due import StepDue
from simulator.domain.model.transactions import TRANSITIONS, Status, Step, may_follow
from tests.support.worlds import (
    ACCEPTED,
    after,
    fire_due,
    order,
    pay,
    rule,
    sandbox,
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


def test_steps_happen_at_their_due_time_even_when_processed_late() -> None:
    box = sandbox()
    transaction = pay(box).transaction
    fire_due(box, seconds(1000))
    assert [result.at for result in transaction.results] == [seconds(0), seconds(2), seconds(5)]


def test_time_that_was_seen_is_not_rewritten() -> None:
    box = sandbox()
    transaction = pay(box).transaction
    box.apply(order("ref-2"), seconds(100))  # nobody fired what was due, as under a manual clock that was set
    fire_due(box, seconds(100))
    assert [result.at for result in transaction.results[1:]] == [seconds(100), seconds(100)]


def test_the_third_requery_releases_a_step_that_waits_for_it() -> None:
    box = sandbox(rule(ACCEPTED, Step(Status.PROCESSING, requery=1), Step(Status.SUCCESSFUL, requery=3)))
    transaction = pay(box).transaction
    seen = [pay(box, at=at).result.status for at in range(1, 5)]
    assert seen == [Status.PROCESSING, Status.PROCESSING, Status.SUCCESSFUL, Status.SUCCESSFUL]
    assert [result.cause for result in transaction.results] == ["creation", "requery", "requery"]


def test_a_step_after_a_final_status_never_happens() -> None:
    box = sandbox(rule(ACCEPTED, Step(Status.FAILED, requery=1), after(5, Status.SUCCESSFUL)), url="")
    transaction = pay(box).transaction
    pay(box, at=1)
    assert box.next_due is None, "the dated step was taken off the agenda"
    fire_due(box, seconds(10))
    assert transaction.result.status is Status.FAILED


def test_a_step_that_cannot_follow_is_passed_over() -> None:
    box = sandbox(
        rule(ACCEPTED, Step(Status.PROCESSING, requery=1), after(5, Status.PROCESSING), after(9, Status.FAILED))
    )
    transaction = pay(box).transaction
    pay(box, at=1)
    fired = fire_due(box, seconds(9))
    assert [one.item.step.status for one in fired if isinstance(one.item, StepDue)] == [Status.FAILED]
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
    assert (transaction.result.sn, transaction.result.remarks) == ("SN-ref-1", "done")


def test_nothing_leads_out_of_failure_and_refund_and_only_a_void_out_of_success() -> None:
    assert TRANSITIONS[Status.FAILED] == TRANSITIONS[Status.REFUNDED] == frozenset()
    assert TRANSITIONS[Status.SUCCESSFUL] == {Status.REFUNDED}
    assert not may_follow(Status.PROCESSING, Status.ACCEPTED)
