"""No request is accepted twice, byte for byte, under any clocks (SPEC 3.6, 5.1)."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.domain.model import request_limits as module
from simulator.domain.model.request_limits import Nonces
from tests.support.worlds import seconds

TEN_MINUTES = timedelta(minutes=10)
TOLERANCE_S = 300.0
WALL_S = 1_795_250_000


def memory(window: timedelta = TEN_MINUTES, tolerance_s: float = TOLERANCE_S, count_max: int = 100) -> Nonces:
    return Nonces(window, tolerance_s, count_max)


def spend(nonces: Nonces, timestamp_s: int, sandbox_s: float, wall_s: float, nonce: bytes = b"n") -> bool:
    return nonces.spend("key", nonce, timestamp_s, seconds(sandbox_s), wall_s)


# The timestamp of the first use and of the second; how far the sandbox and the wall have come by then.
SECOND_USES: list[tuple[str, int, int, float, float, bool]] = [
    ("the same bytes at once", 0, 0, 0, 0, False),
    ("another timestamp at once", 0, 1, 0, 0, False),
    ("another timestamp within the window", 0, 599, 599.999, 599.999, False),
    ("a later timestamp when the window is over", 0, 600, 600, 600, True),
    ("signed ahead, the same bytes at the last moment", 300, 300, 600, 600, False),
    ("signed ahead, a later timestamp", 300, 301, 600, 600, True),
    ("the sandbox is ahead, the same bytes", 0, 0, 600, 0, False),
    ("the sandbox is ahead, an earlier timestamp", 0, -1, 600, 0, False),
    ("the sandbox is ahead, a later timestamp", 0, 1, 600, 1, True),
    ("the sandbox is far ahead, the last moment of the timestamp", 0, 0, 90_000, 300, False),
    ("the sandbox stands still", 0, 10_000, 0, 10_000, False),
]


@pytest.mark.parametrize(
    ("first_s", "second_s", "sandbox_s", "wall_s", "is_accepted"), [row[1:] for row in SECOND_USES],
    ids=[row[0] for row in SECOND_USES],
)  # fmt: skip
def test_a_nonce_is_accepted_again_only_after_its_window(
    first_s: int, second_s: int, sandbox_s: float, wall_s: float, is_accepted: bool
) -> None:
    nonces = memory()
    assert spend(nonces, WALL_S + first_s, 0, WALL_S)
    for other in (b"m", b"o"):  # other clients change nothing
        assert spend(nonces, WALL_S + int(wall_s), sandbox_s, WALL_S + wall_s, other)
    now, again = seconds(sandbox_s), WALL_S + second_s
    assert nonces.is_spent("key", b"n", again, now) is not is_accepted
    assert not nonces.is_spent("key", b"new", again, now)
    assert spend(nonces, again, sandbox_s, WALL_S + wall_s) is is_accepted


def test_a_nonce_that_came_again_is_remembered_from_then_on() -> None:
    nonces = memory()
    assert spend(nonces, WALL_S, 0, WALL_S)
    assert spend(nonces, WALL_S + 1, 600, WALL_S + 1)
    assert not spend(nonces, WALL_S + 2, 1199, WALL_S + 2)
    for timestamp_s in (WALL_S, WALL_S + 1):
        assert not spend(nonces, timestamp_s, 1200, WALL_S + 2), "no use of before comes back with the next window"
    assert spend(nonces, WALL_S + 2, 1200, WALL_S + 2)
    assert [spent.timestamp_s for spent in nonces] == [WALL_S + 2]


def test_nonces_are_forgotten_when_window_and_timestamp_are_both_over() -> None:
    nonces = memory()
    for number in range(10):
        assert spend(nonces, WALL_S + 300, 0, WALL_S, b"%d" % number)
    for sandbox_s, wall_s, known in ((599, 700, 11), (600, 600, 12), (600, 600.001, 3), (5000, 5000, 1)):
        assert spend(nonces, WALL_S + int(wall_s), sandbox_s, WALL_S + wall_s, b"at %f" % wall_s)
        assert len(nonces) == known


@pytest.mark.parametrize(("window_s", "tolerance_s"), [(0, 300), (1, 300), (600, 86_400), (86_400, 1), (0, 0)])
def test_the_memory_keeps_nonces_long_enough_for_every_setting(window_s: int, tolerance_s: int) -> None:
    for ahead_s in (-tolerance_s, 0, tolerance_s):
        nonces = memory(timedelta(seconds=window_s), float(tolerance_s))
        stamp = WALL_S + ahead_s
        assert spend(nonces, stamp, 0, WALL_S)
        assert not spend(nonces, stamp, 10**6, stamp + tolerance_s), "its last moment"


def test_a_reload_that_widens_the_tolerance_keeps_nonces_longer() -> None:
    nonces = memory()
    assert spend(nonces, WALL_S, 0, WALL_S)
    nonces.bound(timedelta(seconds=1), 86_400.0, 100)
    assert spend(nonces, WALL_S + 3600, 3600, WALL_S + 3600, b"m")
    assert not spend(nonces, WALL_S, 3600, WALL_S + 3600)


def test_beyond_the_count_the_oldest_is_forgotten() -> None:
    nonces = memory(count_max=3)
    for number in range(5):
        assert spend(nonces, WALL_S, 0, WALL_S, b"%d" % number)
        assert len(nonces) <= 3
    assert not spend(nonces, WALL_S, 0, WALL_S, b"4")
    assert spend(nonces, WALL_S, 0, WALL_S, b"0")


def test_each_request_removes_some_of_many_that_have_expired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EXPIRED_AT_ONCE", 3)
    nonces = memory()
    for number in range(10):
        assert spend(nonces, WALL_S, 0, WALL_S, b"%d" % number)
    nonces.bound(TEN_MINUTES, TOLERANCE_S, 8)
    assert [(spend(nonces, WALL_S, 0, WALL_S, b"few %d" % number), len(nonces)) for number in range(2)] == [
        (True, 8), (True, 8),
    ]  # fmt: skip
    later = [(spend(nonces, WALL_S + 1000, 1000, WALL_S + 1000, b"%d" % number), len(nonces)) for number in range(6)]
    assert later == [(True, 6), (True, 4), (True, 3), (True, 4), (True, 5), (True, 6)]
    assert not spend(nonces, WALL_S + 1000, 1000, WALL_S + 1000, b"0")


def test_a_nonce_that_is_taken_back_may_be_spent_and_the_nonce_that_it_replaced_stays_spent() -> None:
    nonces = memory()
    assert spend(nonces, WALL_S, 0, WALL_S)
    nonces.take_back("key", b"n")
    assert (len(nonces), spend(nonces, WALL_S, 0, WALL_S)) == (0, True)
    assert spend(nonces, WALL_S + 1, 600, WALL_S + 1)
    nonces.take_back("key", b"n")
    assert [spend(nonces, WALL_S + later, 600, WALL_S + 1) for later in (0, 1)] == [False, True]


SPANS_MS = st.sampled_from([0, 1, 1000, 299_999, 300_000, 599_999, 600_000, 600_001, 3_600_000])
REQUESTS = st.lists(
    st.tuples(
        st.sampled_from([b"a", b"b"]),
        st.integers(-1300, 1300),  # the timestamp, from the wall's present
        SPANS_MS,  # sandbox time that passes before it
        SPANS_MS,  # wall time
    ),
    max_size=25,
)


@given(REQUESTS, st.sampled_from([0, 1, 60, 600, 3600]), st.sampled_from([0, 1, 300, 1000]), st.integers(0, 999))
def test_no_byte_string_is_accepted_twice_and_no_nonce_within_its_window(
    requests: list[tuple[bytes, int, int, int]], window_s: int, tolerance_s: int, fraction_ms: int
) -> None:
    nonces = memory(timedelta(seconds=window_s), float(tolerance_s), 10_000)
    sandbox_ms, wall_ms = 0, WALL_S * 1000 + fraction_ms
    sent: list[tuple[bytes, int]] = []
    uses: dict[bytes, list[tuple[int, int]]] = {}  # of each nonce: timestamp and sandbox time
    for nonce, ahead_s, sandbox_passes_ms, wall_passes_ms in requests:
        sandbox_ms, wall_ms = sandbox_ms + sandbox_passes_ms, wall_ms + wall_passes_ms
        sent.append((nonce, wall_ms // 1000 + ahead_s))
        for name, stamp in sent:  # every sent nonce is sent again
            if abs(wall_ms / 1000 - stamp) > tolerance_s:
                continue
            known = uses.setdefault(name, [])
            is_new = all(stamp > used and sandbox_ms - at_ms >= window_s * 1000 for used, at_ms in known)
            assert spend(nonces, stamp, sandbox_ms / 1000, wall_ms / 1000, name) is is_new
            if is_new:
                known.append((stamp, sandbox_ms))
