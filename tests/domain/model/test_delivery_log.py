"""The delivery log: jobs by id and by the order of their ends, bounded by count and by bytes (SPEC 2.12)."""

from decimal import Decimal

import pytest

from simulator.domain.model.delivery_attempts import Attempt, AttemptEnd, AttemptResult
from simulator.domain.model.webhooks import BalanceAdded, Delivery, DeliveryLog, DeliveryState, Event, Webhook
from tests.support.worlds import START, seconds

EVENT = Event("evt", "balance.added", START, BalanceAdded("R1", Decimal(1), Decimal(1), "bank"))


def filled(log: DeliveryLog, count: int) -> list[Delivery]:
    jobs = [Delivery(f"j{number}", EVENT, "R1", Webhook(), "https://x", 3, START) for number in range(1, count + 1)]
    for job in jobs:
        log.add(job)
    return jobs


def end(log: DeliveryLog, *jobs: Delivery) -> None:
    for job in jobs:
        log.end(job, DeliveryState.SUCCEEDED, "", seconds(5))


def ids(jobs: object) -> list[str]:
    return [job.id for job in jobs]  # type: ignore[attr-defined]


def test_jobs_are_numbered_as_they_come_and_as_they_end() -> None:
    log = DeliveryLog(10, 10**6)
    one, two, three = filled(log, 3)
    log.end(three, DeliveryState.FAILED, "no", seconds(5))
    end(log, one)
    assert [(job.serial, job.n) for job in log] == [(1, 2), (2, 0), (3, 1)]
    assert (three.state, three.error, three.completed) == (DeliveryState.FAILED, "no", seconds(5))
    assert (log.last, len(log), log.find("j2"), log.find("x")) == ((3, 2), 3, two, None)


@pytest.mark.parametrize(("before", "expected"), [(None, ["j3", "j2", "j1"]), (3, ["j2", "j1"]), (1, []), (9, [])])
def test_ended_jobs_are_read_from_the_latest_on(before: int | None, expected: list[str]) -> None:
    log = DeliveryLog(10, 10**6)
    jobs = filled(log, 4)
    end(log, *jobs[:3])
    assert ids(log.ended(before)) == expected


def test_jobs_after_a_number_come_in_order_of_creation() -> None:
    log = DeliveryLog(10, 10**6)
    filled(log, 4)
    assert [ids(log.after(serial)) for serial in (0, 2, 4)] == [["j1", "j2", "j3", "j4"], ["j3", "j4"], []]


def test_the_ended_jobs_are_bounded_by_count_and_the_oldest_goes() -> None:
    log = DeliveryLog(2, 10**6)
    jobs = filled(log, 4)
    end(log, jobs[2], jobs[0])
    assert (ids(log), log.left_out) == (["j1", "j2", "j3", "j4"], 0)
    end(log, jobs[1])
    assert (ids(log), log.left_out) == (["j1", "j2", "j4"], 1)
    assert ids(log.ended()) == ["j2", "j1"]
    assert log.size == sum(job.size for job in jobs[:2])


@pytest.mark.parametrize(("room", "kept"), [(0, ["j1", "j2"]), (-1, ["j2"])])
def test_the_ended_jobs_are_bounded_by_bytes(room: int, kept: list[str]) -> None:
    probe = filled(DeliveryLog(1, 1), 1)[0]
    log = DeliveryLog(10, 2 * probe.size + room)
    end(log, *filled(log, 2))
    assert ids(log) == kept


def test_the_newest_job_stays_however_large_it_is() -> None:
    log = DeliveryLog(10, 1)
    end(log, *filled(log, 1))
    assert ids(log) == ["j1"]


def test_a_job_is_as_large_as_its_texts_and_attempts() -> None:
    (job,) = filled(DeliveryLog(1, 1), 1)
    empty = job.size
    job.attempts += (Attempt(1, START),)
    assert job.size - empty == 500
    job.attempts[0].result = AttemptResult(AttemptEnd.ANSWERED, 200, "x" * 10)
    assert job.size - empty == 540
    longer = Event("evt", "balance.added", START, BalanceAdded("R1", Decimal(1), Decimal(1), "bank transfer"))
    assert Delivery("j", longer, "R1", Webhook(), "", 3, START).size - empty == 4 * len(" transfer")


def test_a_restored_log_continues() -> None:
    log, other = DeliveryLog(2, 10**6), DeliveryLog(2, 10**6)
    jobs = filled(log, 4)
    end(log, *jobs[:3])
    other.restore(log, log.last, log.left_out)
    assert (ids(other), ids(other.ended()), other.size, other.left_out) == (ids(log), ["j3", "j2"], log.size, 1)
    end(other, jobs[3])
    assert (ids(other.ended()), other.last) == (["j4", "j3"], (4, 4))
