"""Webhook events and the jobs that deliver them (SPEC 3.2, 6.3)."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.commands import ChangeProduct, Credit, EnableWebhook, RemoveWebhook, ReplayDelivery, SetWebhook
from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, JobCounts, Send
from simulator.domain.model.domain_events import AttemptOutcome, DomainEvent
from simulator.domain.model.outcomes import DomainOutcome
from simulator.domain.model.wallet import EntryType
from simulator.domain.model.webhooks import (
    RESPONSE_CHARS_MAX,
    BalanceAdded,
    Delivery,
    DeliveryState,
    ReplayRefused,
    WebhookPolicy,
    WebhookStart,
)
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import START, delivered, fire_due, sandbox, seconds

OK = AttemptResult(AttemptEnd.ANSWERED, 200)
BROKEN = AttemptResult(AttemptEnd.ANSWERED, 500)


def hooked(**more: Any) -> Sandbox:
    box = sandbox(**more)
    box.apply(SetWebhook("R1", "https://hook.example"), START)
    return box


def credit(box: Sandbox, amount: str = "5", type_: EntryType = EntryType.DEPOSIT, at: float = 0) -> None:
    box.apply(Credit("R1", Decimal(amount), "bank", type_), seconds(at))


def jobs(box: Sandbox) -> list[Delivery]:
    return list(box.state.deliveries)


def sends(box: Sandbox, at: float) -> list[Send]:
    return [fired.send for fired in fire_due(box, seconds(at)) if fired.send]


def attempt_all(box: Sandbox, result: AttemptResult) -> list[float]:
    """Answer each attempt at once and return the times of all attempts in seconds."""
    times = []
    while box.state.agenda.next_due is not None:
        at = (box.state.agenda.next_due - START).total_seconds()
        for send in sends(box, at):
            times.append(at)
            delivered(box, send, result, seconds(at))
    return times


def replay(box: Sandbox, job: str, reseller: str | None = "R1", at: float = 1000) -> Delivery | ReplayRefused:
    result: Delivery | ReplayRefused = box.apply(ReplayDelivery(reseller, job), seconds(at))
    return result


def test_a_deposit_is_one_event_and_one_job_that_is_due_at_once() -> None:
    box = hooked()
    credit(box, at=3)
    (job,) = jobs(box)
    assert (job.event.type, job.event.data) == (
        "balance.added",
        BalanceAdded("R1", Decimal("5.00"), Decimal(1005), "bank"),
    )
    assert (job.reseller, job.url, job.retry_limit, job.created, job.original) == (
        "R1",
        "https://hook.example",
        3,
        seconds(3),
        None,
    )
    assert job.event.id.startswith("evt_")
    assert len(job.event.id) == 28
    assert (job.serial, job.n, job.state) == (1, 0, DeliveryState.UNDER_WAY)
    assert box.state.agenda.next_due == seconds(3)


@pytest.mark.parametrize(
    ("type_", "assume", "published"),
    [
        (EntryType.DEPOSIT, {}, True),
        (EntryType.COMMISSION, {}, False),
        (EntryType.COMMISSION, {"webhook-credits": "deposits_and_commissions"}, True),
        (EntryType.REFUND, {"webhook-credits": "deposits_and_commissions"}, False),
    ],
)
def test_eligible_credits_are_published(type_: EntryType, assume: dict[str, str], published: bool) -> None:
    box = hooked(assume=assume)
    credit(box, type_=type_)
    assert len(jobs(box)) == published


def test_only_an_enabled_webhook_of_the_reseller_gets_events() -> None:
    box = hooked()
    box.apply(Credit("R2", Decimal(5)), START)
    box.apply(EnableWebhook("R1", False), START)
    credit(box)
    assert jobs(box) == []


def test_two_events_have_different_ids_which_are_equal_in_every_run() -> None:
    runs = []
    for _ in range(2):
        box = hooked()
        credit(box)
        credit(box)
        runs.append([(job.event.id, job.id) for job in jobs(box)])
    assert runs[0] == runs[1]
    assert len({name for pair in runs[0] for name in pair}) == 4


@pytest.mark.parametrize(
    ("result", "times", "state", "error"),
    [
        (OK, [0], DeliveryState.SUCCEEDED, ""),
        (AttemptResult(AttemptEnd.ANSWERED, 299), [0], DeliveryState.SUCCEEDED, ""),
        (AttemptResult(AttemptEnd.ANSWERED, 300), [0, 10, 70, 370], DeliveryState.FAILED, "the receiver answered 300"),
        (AttemptResult(AttemptEnd.ANSWERED, 199), [0, 10, 70, 370], DeliveryState.FAILED, "the receiver answered 199"),
        (BROKEN, [0, 10, 70, 370], DeliveryState.FAILED, "the receiver answered 500"),
        (AttemptResult(AttemptEnd.TIMEOUT, error="slow"), [0, 10, 70, 370], DeliveryState.FAILED, "slow"),
        (AttemptResult(AttemptEnd.BLOCKED, error="no"), [0, 10, 70, 370], DeliveryState.FAILED, "no"),
    ],
)
def test_all_but_2xx_is_retried_after_10_60_and_300_seconds(
    result: AttemptResult, times: list[float], state: DeliveryState, error: str
) -> None:
    box = hooked()
    credit(box)
    assert attempt_all(box, result) == times
    (job,) = jobs(box)
    assert (job.state, job.error, job.completed, len(job.attempts)) == (state, error, seconds(times[-1]), len(times))
    assert [attempt.state for attempt in job.attempts] == [DeliveryState.UNDER_WAY] * (len(times) - 1) + [state]
    assert [attempt.number for attempt in job.attempts] == [1, 2, 3, 4][: len(times)]


@pytest.mark.parametrize(
    ("limit", "waits", "times"), [(0, (5,), [0]), (1, (5,), [0, 5]), (4, (5, 7), [0, 5, 12, 19, 26])]
)
def test_the_retries_are_the_scenarios_and_the_last_wait_repeats(
    limit: int, waits: tuple[int, ...], times: list[float]
) -> None:
    policy = WebhookPolicy(retry_limit=limit, retry_after=tuple(timedelta(seconds=one) for one in waits))
    box = hooked(webhooks=policy)
    credit(box)
    assert attempt_all(box, BROKEN) == times


def test_each_copy_of_an_event_is_a_job_of_its_own_that_is_due_at_the_same_time() -> None:
    box = hooked(webhooks=WebhookPolicy(duplicate=2))
    credit(box)
    found = sends(box, 0)
    assert len({send.job.id for send in found}) == len({send.job.lane for send in found}) == 3
    assert len({send.job.event.id for send in found if isinstance(send.job, Delivery)}) == 1


def test_a_retry_counts_from_the_end_of_the_attempt() -> None:
    box = hooked()
    credit(box)
    (send,) = sends(box, 0)
    delivered(box, send, BROKEN, seconds(30))
    assert box.state.agenda.next_due == seconds(40)


def test_each_attempt_says_when_the_next_is_due() -> None:
    box, told = hooked(), list[DomainEvent]()
    credit(box)
    box.watch(told.append)
    attempt_all(box, BROKEN)
    (job,) = jobs(box)
    assert told == [
        AttemptOutcome(job.id, number, seconds(at), None if due is None else seconds(due))
        for number, at, due in [(1, 0, 10), (2, 10, 70), (3, 70, 370), (4, 370, None)]
    ]


def test_the_receivers_answer_is_kept_in_part_and_its_headers_are_not() -> None:
    box = hooked()
    credit(box)
    (send,) = sends(box, 0)
    answer = AttemptResult(AttemptEnd.ANSWERED, 200, "x" * (RESPONSE_CHARS_MAX + 1), headers=(("a", "b"),))
    delivered(box, send, answer, START)
    result = jobs(box)[0].attempts[0].result
    assert result is not None
    assert (result.body, result.headers) == ("x" * 4096, ())


@pytest.mark.parametrize("command", [EnableWebhook("R1", False), RemoveWebhook("R1")])
def test_a_disabled_or_removed_webhook_ends_its_jobs(command: Any) -> None:
    box = hooked()
    credit(box)
    (send,) = sends(box, 0)
    delivered(box, send, BROKEN, START)
    box.apply(command, seconds(5))
    assert sends(box, 10) == []
    (job,) = jobs(box)
    assert (job.state, len(job.attempts), job.completed) == (DeliveryState.FAILED, 1, seconds(10))
    assert job.error == "the webhook was disabled or removed before this attempt"
    assert box.state.noted[DomainOutcome.WEBHOOK_FAILED] == 1
    assert box.state.webhook_counts["R1"] == JobCounts(begun=1, attempts=1, failed=1)


def test_jobs_and_outcomes_are_counted() -> None:
    box = hooked()
    credit(box)
    attempt_all(box, BROKEN)
    credit(box, at=400)
    attempt_all(box, OK)
    credit(box, at=500)
    counts = box.state.webhook_counts["R1"]
    assert (counts, counts.pending) == (JobCounts(begun=3, attempts=5, delivered=1, failed=1), 1)
    noted = (DomainOutcome.WEBHOOK_DELIVERED, DomainOutcome.WEBHOOK_RETRIED, DomainOutcome.WEBHOOK_FAILED)
    assert [box.state.noted[one] for one in noted] == [1, 3, 1]


def failed(box: Sandbox) -> Delivery:
    credit(box)
    attempt_all(box, BROKEN)
    return jobs(box)[-1]


def test_a_replay_is_a_new_job_of_the_same_event_to_the_present_url() -> None:
    box = hooked()
    job = failed(box)
    box.apply(SetWebhook("R1", "https://other.example"), seconds(500))
    again = replay(box, job.id)
    assert isinstance(again, Delivery)
    assert (again.event, again.original, again.url) == (job.event, job.id, "https://other.example")
    assert again.id != job.id
    assert (again.event.replays, again.created, box.state.agenda.next_due) == (1, seconds(1000), seconds(1000))
    assert box.state.noted[DomainOutcome.WEBHOOK_REPLAYED] == 1


def test_an_event_is_replayed_at_most_three_times_whichever_job_is_named() -> None:
    box = hooked()
    job = failed(box)
    for _ in range(3):
        again = replay(box, job.id)
        assert isinstance(again, Delivery)
        attempt_all(box, BROKEN)
        job = again
    assert replay(box, job.id, at=5000) is ReplayRefused.LIMIT
    assert len({one.id for one in jobs(box)}) == 4
    assert box.state.noted[DomainOutcome.REPLAY_REFUSED] == 1


def test_only_a_failed_job_of_the_reseller_is_replayed() -> None:
    box = hooked()
    job = failed(box)
    assert replay(box, "x") is ReplayRefused.UNKNOWN
    assert replay(box, job.id, "R2") is ReplayRefused.UNKNOWN
    assert isinstance(replay(box, job.id, None), Delivery), "of any reseller"
    assert replay(box, jobs(box)[-1].id) is ReplayRefused.UNDER_WAY
    attempt_all(box, OK)
    assert replay(box, jobs(box)[-1].id, at=2000) is ReplayRefused.SUCCEEDED
    assert job.event.replays == 1


@pytest.mark.parametrize(
    ("command", "refusal"),
    [(EnableWebhook("R1", False), ReplayRefused.DISABLED), (RemoveWebhook("R1"), ReplayRefused.NO_WEBHOOK)],
)
def test_a_replay_needs_an_enabled_webhook(command: Any, refusal: ReplayRefused) -> None:
    box = hooked()
    job = failed(box)
    box.apply(command, seconds(500))
    assert replay(box, job.id) is refusal
    assert job.event.replays == 0


def test_a_job_of_the_catalog_is_replayed_to_the_catalogs_target() -> None:
    box = sandbox(webhooks=WebhookPolicy(retry_limit=0, catalog=WebhookStart("https://catalog.example")))
    box.apply(ChangeProduct("BILL", {"name": "New"}), START)
    attempt_all(box, BROKEN)
    (job,) = jobs(box)
    again = replay(box, job.id, None)
    assert isinstance(again, Delivery)
    assert (again.url, again.reseller) == ("https://catalog.example", "")
