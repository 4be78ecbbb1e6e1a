"""The request rate of an address (SPEC 8): counted in intervals, blocked for a while, forgotten in time."""

from datetime import timedelta

import pytest

from simulator.domain.model import request_limits
from simulator.domain.model.callbacks import RetryPolicy
from simulator.domain.model.request_limits import RequestRates
from simulator.domain.model.scenario import ClockStart, Limits
from tests.support.worlds import seconds

INTERVAL_S, BLOCK_S = 300, 14_400


def rates(requests_max: int = 3) -> RequestRates:
    return RequestRates(requests_max, timedelta(seconds=INTERVAL_S), timedelta(seconds=BLOCK_S))


# (requests: at which second, and whether each is let through)
COURSES: list[tuple[str, list[tuple[float, bool]]]] = [
    ("as many as allowed", [(0, True), (0, True), (299.9, True)]),
    ("one more", [(0, True), (1, True), (2, True), (3, False)]),
    ("one more after the interval", [(0, True), (1, True), (2, True), (300, True), (301, True), (302, True)]),
    ("one more just before its end", [(0, True), (1, True), (2, True), (299.999, False)]),
    ("the interval begins with the first request", [(100, True), (398, True), (399, True), (399.9, False)]),
    ("and the next with the first after it", [(0, True), (599, True), (600, True), (601, True), (602, False)]),
    ("blocked for 240 minutes", [(0, True), (0, True), (0, True), (1, False), (14_400.9, False), (14_401, True)]),
    ("asking does not prolong it", [(0, True), (0, True), (0, True), (1, False), (14_000, False), (14_401, True)]),
    ("then it begins anew", [*[(0, True)] * 3, (1, False), *[(14_401, True)] * 3, (14_401, False)]),
]


@pytest.mark.parametrize(("what", "course"), COURSES, ids=[what for what, _ in COURSES])
def test_an_address_is_counted_and_blocked(what: str, course: list[tuple[float, bool]]) -> None:
    kept = rates()
    assert [kept.allow("192.0.2.1", seconds(at)) for at, _ in course] == [admitted for _, admitted in course]


def test_addresses_are_counted_apart() -> None:
    kept = rates(1)
    assert kept.allow("a", seconds(0))
    assert kept.allow("b", seconds(0))
    assert not kept.allow("a", seconds(1))
    assert kept.blocked_until("a", seconds(1)) == seconds(1 + BLOCK_S)
    assert kept.blocked_until("b", seconds(1)) is None
    assert kept.allow("c", seconds(1))


def test_intervals_and_blocks_that_ended_are_forgotten() -> None:
    kept = rates(1)
    for number in range(100):
        kept.allow(f"quiet {number}", seconds(number / 100))
        kept.allow(f"loud {number}", seconds(number / 100))
        kept.allow(f"loud {number}", seconds(number / 100))
    assert len(kept) == 200
    kept.allow("later", seconds(INTERVAL_S + 1))
    assert len(kept) == 101
    kept.allow("much later", seconds(BLOCK_S + 1))
    assert len(kept) == 1


def test_a_block_is_forgotten_at_its_end() -> None:
    kept = rates(1)
    assert [kept.allow("a", seconds(0)) for _ in range(2)] == [True, False]
    kept.allow("b", seconds(BLOCK_S))
    assert len(kept) == 1


def test_memory_is_bounded_by_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "ADDRESSES_MAX", 10)
    kept = rates(1)
    for number in range(50):
        assert kept.allow(str(number), seconds(number))
        assert not kept.allow(str(number), seconds(number))
        assert kept.allow(f"quiet {number}", seconds(number))
    assert len(kept) <= 20
    assert kept.blocked_until("49", seconds(50)) is not None


def test_an_empty_interval_never_fills() -> None:
    kept = RequestRates(1, timedelta(0), timedelta(0))
    assert all(kept.allow("a", seconds(0)) for _ in range(10))


def test_restored_intervals_and_blocks_continue() -> None:
    old, new = rates(2), rates(2)
    for at, address in ((0, "a"), (1, "a"), (2, "a"), (3, "b"), (4, "b")):
        old.allow(address, seconds(at))
    windows, blocked = old.kept()
    assert windows == [("b", seconds(303), 2)]
    assert blocked == [("a", seconds(2 + BLOCK_S))]
    new.restore(windows, blocked)
    assert [new.allow(address, seconds(5)) for address in ("a", "b", "c")] == [False, False, True]
    assert len(new) == len(old) + 1


def test_an_interval_that_ends_takes_no_other_with_it() -> None:
    limiter = rates(1)
    assert [limiter.allow(address, seconds(at)) for at, address in ((0, "a"), (299, "b"), (300, "c"))] == [True] * 3
    assert len(limiter) == 2
    assert not limiter.allow("b", seconds(300)), "the second of its interval"
    limiter.allow("c", seconds(301))
    limiter.allow("d", seconds(300 + BLOCK_S))
    assert [limiter.blocked_until(one, seconds(300 + BLOCK_S)) for one in "bc"] == [None, seconds(301 + BLOCK_S)]


def test_the_oldest_address_is_evicted_and_the_others_keep_their_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "ADDRESSES_MAX", 2)
    limiter = rates(1)
    assert [limiter.allow(address, seconds(0)) for address in "abcb"] == [True, True, True, False]


def test_the_limits_match_the_specification() -> None:
    default = Limits()
    assert (default.requests_per_interval, default.rate_limit_interval) == (30_000, timedelta(minutes=5))
    assert (default.rate_limit_block, default.integration_timeout) == (timedelta(minutes=240), timedelta(seconds=29))
    assert (default.timestamp_tolerance, default.nonce_window) == (timedelta(minutes=5), timedelta(minutes=10))
    assert (default.callback_timeout, default.callback_retry) == (
        timedelta(seconds=30),
        RetryPolicy(3, timedelta(seconds=60)),
    )
    assert default.settings_delay == timedelta(minutes=5)
    assert (default.token_lifetime, default.refresh_token_lifetime) == (timedelta(hours=1), timedelta(days=30))


def test_the_limits_of_memory_match_the_scenario_reference() -> None:
    default, mebibytes = Limits(), 64 * 2**20
    assert default.callback_timeout_manual == timedelta(seconds=5)
    assert (default.callbacks, default.callbacks_bytes) == (20_000, mebibytes)
    assert (default.deliveries, default.deliveries_bytes) == (10_000, mebibytes)
    assert (default.journal, default.journal_bytes) == (4_000, mebibytes)
    assert (default.tape, default.tape_bytes) == (100_000, 48 * 2**20)
    assert (default.inbox, default.inbox_bytes) == (10_000, mebibytes)
    assert (default.inboxes, default.inboxes_bytes) == (1_000, mebibytes)
    assert (default.nonces, default.notifications, default.rules) == (500_000, 5_000, 2_000)
    assert (default.resellers, default.api_keys) == (1_000, 2_000)
    assert ClockStart().rate == 1
