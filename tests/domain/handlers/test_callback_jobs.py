"""Transaction callbacks: which are sent, and how an outcome determines the next attempt (SPEC 6.1)."""

from datetime import timedelta
from decimal import Decimal

import pytest

from simulator.domain.commands import SendCallback, SetCallback
from simulator.domain.errors import Conflict, Unknown
from simulator.domain.model.callbacks import (
    Callback,
    CallbackLog,
    CallbackState,
    RetryPolicy,
    is_retried,
)
from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, JobCounts, Send
from simulator.domain.model.domain_events import AttemptOutcome, DomainEvent
from simulator.domain.model.draw import Spread
from simulator.domain.model.outcomes import DomainOutcome
from simulator.domain.model.scenario import Limits
from simulator.domain.model.transactions import Distortion, Status, Step
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import (
    ACCEPTED,
    START,
    after,
    delivered,
    fire_due,
    order,
    pay,
    rule,
    sandbox,
    seconds,
)

OK = AttemptResult(AttemptEnd.ANSWERED, 200)
STEPS = (ACCEPTED, after(2, Status.PROCESSING), after(5, Status.SUCCESSFUL))


def sends(box: Sandbox, until: float) -> list[Send]:
    return [fired.send for fired in fire_due(box, seconds(until)) if fired.send]


def callback_of(send: Send) -> Callback:
    assert isinstance(send.job, Callback)
    return send.job


def statuses_sent(all_: list[Send]) -> list[Status]:
    return [callback_of(send).result.status for send in all_]


def test_each_status_after_the_creating_answer_causes_one_callback() -> None:
    box = sandbox(rule(*STEPS))
    pay(box)
    assert statuses_sent(sends(box, 60)) == [Status.PROCESSING, Status.SUCCESSFUL]


def test_the_current_status_is_sent_again_on_request() -> None:
    box = sandbox(rule(*STEPS))
    trxid = pay(box).transaction.trxid
    assert statuses_sent(sends(box, 3)) == [Status.PROCESSING]
    repeat = box.apply(SendCallback(trxid), seconds(3))
    assert (repeat.copy, repeat.is_repeat) == (1, True)
    assert box.apply(SendCallback(trxid), seconds(3)).copy == 2
    assert statuses_sent(sends(box, 3)) == [Status.PROCESSING] * 2
    assert statuses_sent(sends(box, 60)) == [Status.SUCCESSFUL]


def test_a_callback_that_a_rule_suppresses_is_sent_when_it_is_asked_for() -> None:
    box = sandbox(rule(*STEPS, callbacks=Distortion(drop=True)))
    trxid = pay(box).transaction.trxid
    assert sends(box, 60) == []
    box.apply(SendCallback(trxid), seconds(60))
    assert statuses_sent(sends(box, 60)) == [Status.SUCCESSFUL]


def test_no_callback_is_sent_before_there_is_a_status_and_a_receiver() -> None:
    box = sandbox(rule(*STEPS))
    trxid = pay(box).transaction.trxid
    for command, error, code in (
        (SendCallback("0"), Unknown, "unknown_transaction"),
        (SendCallback(trxid), Conflict, "no_later_status"),
    ):
        with pytest.raises(error) as refused:
            box.apply(command, seconds(1))
        assert refused.value.code == code
    box.apply(SetCallback("R1", "", "POST"), seconds(1))
    with pytest.raises(Conflict) as without_url:
        box.apply(SendCallback(trxid), seconds(9))
    assert without_url.value.code == "no_callback_url"
    assert len(box.state.callbacks) == 0


def test_a_status_that_a_requery_brought_causes_a_callback_too() -> None:
    box = sandbox(rule(ACCEPTED, Step(Status.SUCCESSFUL, requery=1)))
    pay(box)
    assert sends(box, 1) == []
    pay(box, at=2)
    assert statuses_sent(sends(box, 2)) == [Status.SUCCESSFUL]


def test_the_creating_answer_has_no_callback_even_when_it_is_final() -> None:
    box = sandbox(rule(Step(Status.SUCCESSFUL)))
    pay(box)
    assert sends(box, 1000) == []


def test_no_callback_is_sent_without_a_callback_url() -> None:
    box = sandbox(rule(*STEPS), url="")
    pay(box)
    assert sends(box, 1000) == []


def test_a_callback_keeps_the_target_it_was_decided_for() -> None:
    box = sandbox(rule(*STEPS))
    pay(box)
    first = sends(box, 2)
    box.apply(SetCallback("R1", "https://other.example/", "GET"), seconds(3))
    assert [send.job.url for send in first + sends(box, 5)] == [
        "https://receiver.example/cb",
        "https://other.example/",
    ]


MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (Distortion(drop=True), []),
        (
            Distortion(duplicates=1),
            [(2, "processing"), (2, "processing"), (5, "successful"), (5, "successful")],
        ),
        (Distortion(delay=timedelta(seconds=10)), [(12, "processing"), (15, "successful")]),
        (Distortion(reverse=True), [(5, "successful"), (5, "processing")]),
        (Distortion(reverse=True, duplicates=1), [(5, "successful")] * 2 + [(5, "processing")] * 2),
        (
            Distortion(again_after=MINUTE),
            [(2, "processing"), (5, "successful"), (62, "processing"), (65, "successful")],
        ),
        (
            Distortion(again_after=MINUTE, delay=timedelta(seconds=10), duplicates=1),
            [(12, "processing")] * 2 + [(15, "successful")] * 2 + [(72, "processing"), (75, "successful")],
        ),
        (
            Distortion(again_after=MINUTE, reverse=True),
            [(5, "successful"), (5, "processing"), (65, "successful"), (65, "processing")],
        ),
        (Distortion(by_status={Status.SUCCESSFUL: Distortion(drop=True)}), [(2, "processing")]),
        (Distortion(drop=True, by_status={Status.SUCCESSFUL: Distortion()}), [(5, "successful")]),
        (
            Distortion(
                by_status={
                    Status.SUCCESSFUL: Distortion(drop=True),
                    Status.PROCESSING: Distortion(again_after=MINUTE),
                }
            ),
            [(2, "processing"), (62, "processing")],
        ),
        (Distortion(drop=True, again_after=MINUTE), []),
    ],
)
def test_a_rule_distorts_callbacks(plan: Distortion, expected: list[tuple[int, str]]) -> None:
    box = sandbox(rule(*STEPS, callbacks=plan))
    pay(box)
    got = [
        ((fired.at - START).total_seconds(), callback_of(fired.send).result.status.value)
        for fired in fire_due(box, seconds(100))
        if fired.send
    ]
    assert got == expected


def test_a_repetition_has_the_drawn_delay_of_its_original_and_a_copy_has_its_own() -> None:
    spread = Spread(timedelta(seconds=2), timedelta(seconds=4))
    box = sandbox(rule(ACCEPTED, after(2, Status.FAILED), callbacks=Distortion(delay=spread, again_after=MINUTE)))
    pay(box)
    original, repetition = (fired.at for fired in fire_due(box, seconds(100)) if fired.send)
    assert original != seconds(4), "the delay was drawn"
    assert repetition - original == MINUTE
    box = sandbox(rule(ACCEPTED, after(2, Status.FAILED), callbacks=Distortion(delay=spread, duplicates=1)))
    pay(box)
    assert len({fired.at for fired in fire_due(box, seconds(100)) if fired.send}) == 2


def test_a_repeated_callback_repeats_the_first_and_comes_after_the_final_callback() -> None:
    box = sandbox(rule(*STEPS, callbacks=Distortion(by_status={Status.PROCESSING: Distortion(again_after=MINUTE)})))
    pay(box)
    first, final, stale = sends(box, 100)
    assert callback_of(stale).result is callback_of(first).result
    assert callback_of(final).result.status is Status.SUCCESSFUL
    assert [(one.copy, one.is_repeat) for one in box.state.callbacks] == [(0, False), (1, True), (0, False)]
    assert not box.violations()


def test_a_dropped_callback_is_recorded_as_such() -> None:
    box = sandbox(rule(*STEPS, callbacks=Distortion(drop=True)))
    pay(box)
    fire_due(box, seconds(10))
    assert [callback.state for callback in box.state.callbacks] == [CallbackState.DROPPED, CallbackState.DROPPED]


RETRIED = [
    (AttemptResult(AttemptEnd.ANSWERED, 500), True),
    (AttemptResult(AttemptEnd.ANSWERED, 503), True),
    (AttemptResult(AttemptEnd.ANSWERED, 599), True),
    (AttemptResult(AttemptEnd.ANSWERED, 408), True),
    (AttemptResult(AttemptEnd.ANSWERED, 429), True),
    (AttemptResult(AttemptEnd.TIMEOUT), True),
    (AttemptResult(AttemptEnd.CONNECTION), True),
    (AttemptResult(AttemptEnd.DNS), True),
    (AttemptResult(AttemptEnd.BLOCKED), False),
    (AttemptResult(AttemptEnd.ANSWERED, 400), False),
    (AttemptResult(AttemptEnd.ANSWERED, 404), False),
    (AttemptResult(AttemptEnd.ANSWERED, 410), False),
    (AttemptResult(AttemptEnd.ANSWERED, 302), False),
    (AttemptResult(AttemptEnd.ANSWERED, 600), False),
    (AttemptResult(AttemptEnd.ANSWERED, 999), False),
]


@pytest.mark.parametrize(("outcome", "retried"), RETRIED)
def test_temporary_failures_get_four_attempts_and_permanent_ones_one(outcome: AttemptResult, retried: bool) -> None:
    box = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL)))
    pay(box)
    at, times = 1.0, []
    while box.state.agenda.next_due is not None:
        at = (box.state.agenda.next_due - START).total_seconds()
        for send in sends(box, at):
            times.append(at)
            delivered(box, send, outcome, seconds(at))
    assert times == ([1, 61, 121, 181] if retried else [1])
    assert [callback.state for callback in box.state.callbacks] == [CallbackState.FAILED]


def test_a_retry_counts_from_the_end_of_the_attempt_before() -> None:
    box = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL)))
    pay(box)
    (send,) = sends(box, 1)
    delivered(box, send, AttemptResult(AttemptEnd.TIMEOUT), seconds(31))
    assert box.state.agenda.next_due == seconds(91)


def test_success_ends_the_attempts() -> None:
    box = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL)))
    pay(box)
    (send,) = sends(box, 1)
    delivered(box, send, OK, seconds(1))
    assert box.state.agenda.next_due is None
    assert callback_of(send).state is CallbackState.DELIVERED


def test_redirects_are_retried_when_the_scenario_assumes_so() -> None:
    box = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL)), assume={"callback-redirect": "retry"})
    pay(box)
    (send,) = sends(box, 1)
    delivered(box, send, AttemptResult(AttemptEnd.ANSWERED, 302), seconds(1))
    assert box.state.agenda.next_due == seconds(61)


def test_the_retry_policy_is_the_scenarios() -> None:
    limits = Limits(callback_retry=RetryPolicy(1, timedelta(seconds=5)))
    box = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL)), limits=limits)
    pay(box)
    for at in (1, 6):
        (send,) = sends(box, at)
        delivered(box, send, AttemptResult(AttemptEnd.DNS), seconds(at))
    assert box.state.agenda.next_due is None


def test_the_log_lets_go_of_the_oldest() -> None:
    box = sandbox(rule(*STEPS), limits=Limits(callbacks=3))
    for number in range(4):
        pay(box, order(f"ref-{number}", amount=1))
    fire_due(box, seconds(10))
    log = box.state.callbacks
    assert isinstance(log, CallbackLog)
    assert (len(log), log.left_out) == (3, 5)
    trxid = box.state.resellers["R1"].refids["ref-0"].trxid
    assert log.of(trxid) == []


BUSY = AttemptResult(AttemptEnd.ANSWERED, 503, "x" * 16_000, headers=(("x", "y" * 8_000),))


def test_the_log_is_bounded_by_bytes_too() -> None:
    box = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL)), limits=Limits(callbacks_bytes=200_000))
    log = box.state.callbacks
    for number in range(20):
        pay(box, order(f"ref-{number}", amount=1), at=number)
        for send in sends(box, number + 1):
            delivered(box, send, BUSY, seconds(number + 1))
        assert log.size == sum(one.size for one in log) <= 200_000
    assert len(log) + log.left_out == 20
    assert [one.transaction.refid for one in log] == ["ref-17", "ref-18", "ref-19"]


def test_the_newest_callback_stays_however_large_it_is() -> None:
    box = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL)), limits=Limits(callbacks_bytes=1024))
    pay(box)
    (send,) = sends(box, 1)
    delivered(box, send, BUSY, seconds(1))
    assert list(box.state.callbacks) == [send.job]


def test_a_receivers_headers_are_not_stored() -> None:
    box = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL)))
    pay(box)
    (send,) = sends(box, 1)
    delivered(box, send, BUSY, seconds(1))
    assert send.attempt.result == AttemptResult(AttemptEnd.ANSWERED, 503, BUSY.body)


def test_a_callback_that_was_evicted_is_sent_and_retried_and_keeps_no_answers() -> None:
    box = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL)), limits=Limits(callbacks=1))
    pay(box)
    (first,) = sends(box, 1)
    delivered(box, first, BUSY, seconds(1))
    pay(box, order("ref-2"), at=1)
    (other,) = sends(box, 2)
    delivered(box, other, OK, seconds(2))
    job = callback_of(first)
    assert list(box.state.callbacks) == [other.job]
    for retry in (1, 2):
        (send,) = sends(box, 1 + 60 * retry)
        assert send.job is job
        delivered(box, send, BUSY, seconds(1 + 60 * retry))
    (last,) = sends(box, 181)
    delivered(box, last, OK, seconds(181))
    assert (job.state, len(job.attempts)) == (CallbackState.DELIVERED, 4)
    assert {one.result.body for one in job.attempts if one.result} == {""}
    assert box.violations() == []


FAILURE = AttemptResult(AttemptEnd.ANSWERED, 500)


def test_each_attempt_is_counted_and_says_when_the_next_is_due() -> None:
    box, told = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL))), list[DomainEvent]()
    pay(box)
    box.watch(told.append)
    for at, outcome in ((1, FAILURE), (61, OK)):
        (send,) = sends(box, at)
        delivered(box, send, outcome, seconds(at))
    attempts = [one for one in told if isinstance(one, AttemptOutcome)]
    assert attempts == [
        AttemptOutcome("cb-1", 1, seconds(1), seconds(61)),
        AttemptOutcome("cb-1", 2, seconds(61), None),
    ]
    assert box.state.callback_counts["R1"] == JobCounts(begun=1, attempts=2, delivered=1, failed=0)
    (callback,) = box.state.callbacks
    assert [attempt.state for attempt in callback.attempts] == [CallbackState.PENDING, CallbackState.DELIVERED]


@pytest.mark.parametrize(
    ("distortion", "outcomes", "noted"),
    [
        (Distortion(), [OK], {DomainOutcome.CALLBACK_DELIVERED: 1}),
        (
            Distortion(),
            [FAILURE, OK],
            {
                DomainOutcome.CALLBACK_DELIVERED: 1,
                DomainOutcome.CALLBACK_DELIVERED_LATE: 1,
                DomainOutcome.CALLBACK_RETRIED: 1,
            },
        ),
        (Distortion(), [FAILURE] * 4, {DomainOutcome.CALLBACK_RETRIED: 3, DomainOutcome.CALLBACK_FAILED: 1}),
        (
            Distortion(duplicates=2),
            [OK] * 3,
            {DomainOutcome.CALLBACK_DELIVERED: 3, DomainOutcome.CALLBACK_DUPLICATED: 2},
        ),
        (Distortion(drop=True, duplicates=1), [], {DomainOutcome.CALLBACK_DROPPED: 2}),
        (Distortion(reverse=True), [OK], {DomainOutcome.CALLBACKS_REVERSED: 1, DomainOutcome.CALLBACK_DELIVERED: 1}),
        (
            Distortion(again_after=timedelta(seconds=3)),
            [OK] * 2,
            {DomainOutcome.CALLBACK_DELIVERED: 2, DomainOutcome.CALLBACK_DUPLICATED: 1},
        ),
    ],
)
def test_outcomes_of_callbacks_are_noted(
    distortion: Distortion, outcomes: list[AttemptResult], noted: dict[DomainOutcome, int]
) -> None:
    box = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL), callbacks=distortion))
    pay(box)
    left = iter(outcomes)
    while box.state.agenda.next_due is not None:
        at = (box.state.agenda.next_due - START).total_seconds()
        for send in sends(box, at):
            delivered(box, send, next(left), seconds(at))
    assert next(left, None) is None
    assert {name: count for name, count in box.state.noted.items() if name.startswith("callback")} == noted
    begun = box.state.callback_counts["R1"].begun
    assert begun == (0 if distortion.drop else len(list(box.state.callbacks))), "a dropped one is not begun"


def test_a_stale_callback_that_is_not_repeated_has_failed() -> None:
    steps = rule(ACCEPTED, after(1, Status.PROCESSING), after(30, Status.SUCCESSFUL))
    box = sandbox(steps, assume={"callback-order": "skip_stale"})
    pay(box)
    for at, outcome in ((1, FAILURE), (30, OK)):
        (send,) = sends(box, at)
        delivered(box, send, outcome, seconds(at))
    assert sends(box, 1000) == []
    assert [one.state for one in box.state.callbacks] == [CallbackState.FAILED, CallbackState.DELIVERED]
    assert box.state.noted[DomainOutcome.CALLBACK_FAILED] == 1
    assert box.state.callback_counts["R1"] == JobCounts(begun=2, attempts=2, delivered=1, failed=1)


def test_an_earlier_status_that_is_sent_again_is_stale() -> None:
    again = Distortion(by_status={Status.PROCESSING: Distortion(again_after=timedelta(seconds=9))})
    box = sandbox(rule(*STEPS, callbacks=again))
    pay(box)
    assert statuses_sent(sends(box, 60)) == [Status.PROCESSING, Status.SUCCESSFUL, Status.PROCESSING]
    assert box.state.noted[DomainOutcome.CALLBACK_STALE] == 1


def test_a_callback_reports_the_balance_at_its_sending_when_the_scenario_says_so() -> None:
    for choice, expected in (("at_sending", "806.00"), ("at_change", "903.00")):
        box = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL)), assume={"callback-balance": choice})
        pay(box)
        pay(box, order("ref-2", reseller="R1"))
        first = sends(box, 1)[0]
        assert callback_of(first).result.balance == Decimal(expected)


def test_a_callback_is_as_large_as_its_url_and_its_answers() -> None:
    box = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL)), url="https://receiver.example/" + "x" * 100)
    pay(box)
    (send,) = sends(box, 1)
    callback = callback_of(send)
    before = callback.size
    assert before - 1000 == len(callback.url)
    delivered(box, send, AttemptResult(AttemptEnd.ANSWERED, 500, "x" * 10, "no"), seconds(1))
    assert callback.size - before == 500 + 4 * 12
    assert box.state.callbacks.size == callback.size
    assert (callback.serial, callback.lane) == (1, callback.transaction.trxid)


@pytest.mark.parametrize(
    ("status", "redirects", "retried"),
    [
        (299, True, False),
        (300, True, True),
        (300, False, False),
        (399, True, True),
        (400, True, False),
        (407, True, False),
        (408, False, True),
        (428, False, False),
        (429, False, True),
        (499, True, False),
        (500, False, True),
        (599, False, True),
        (600, True, False),
    ],
)
def test_a_status_is_retried_by_the_table_of_the_specification(status: int, redirects: bool, retried: bool) -> None:
    assert is_retried(AttemptResult(AttemptEnd.ANSWERED, status), redirects=redirects) is retried


def test_a_restored_log_continues_the_old_log() -> None:
    box = sandbox(rule(*STEPS), limits=Limits(callbacks=3))
    for number in range(2):
        pay(box, order(f"r{number}"))
    fire_due(box, seconds(9))
    old, new = box.state.callbacks, CallbackLog(3, 10**6)
    new.restore(old, old.left_out)
    assert [one.id for one in new] == ["cb-2", "cb-3", "cb-4"]
    assert (new.size, new.left_out, new.find("cb-1")) == (old.size, 1, None)
    assert [new.of(one.transaction.trxid) for one in new] == [old.of(one.transaction.trxid) for one in old]
    found = [new.find(id_) for id_ in ("cb-2", "cb-4", "cb-5", "cb-0", "cb-two", "2", "01ARZ3NDEK")]
    assert found == [new[0], new[2], None, None, None, None, None], "only the id of a callback names one"


@pytest.mark.parametrize(("spare", "left_out"), [(0, 0), (-1, 1)])
def test_a_log_keeps_what_fills_its_bytes_exactly(spare: int, left_out: int) -> None:
    box = sandbox(rule(*STEPS))
    pay(box, order("r1"))
    fire_due(box, seconds(9))
    callbacks = list(box.state.callbacks)
    log = CallbackLog(9, sum(callback.size for callback in callbacks) + spare)
    for callback in callbacks:
        log.add(callback)
    assert len(callbacks) > 1
    assert (list(log), log.left_out) == (callbacks[left_out:], left_out)
