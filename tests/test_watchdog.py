"""The watchdog of hanging tests: its timer is set, and it fires."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support import watchdog
from tests.support.processes import DEADLINE_S, ROOT
from tests.support.watchdog import LIMIT_S, WATCHDOG, Watchdog

HANGING = """
import threading
from tests.support import watchdog
watchdog.LIMIT_S = 0.1
one = watchdog.Watchdog()
one.begin()
threading.Event().wait()
"""


class Timer:
    """In place of `faulthandler`: when it was set and cancelled."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def dump_traceback_later(self, timeout_s: float, file: int, exit: bool) -> None:  # as it is called there
        assert (timeout_s, exit) == (LIMIT_S, True)
        self.calls.append("set")

    def cancel_dump_traceback_later(self) -> None:
        self.calls.append("cancelled")


@pytest.fixture
def timer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Timer]:
    made = Timer()
    with monkeypatch.context() as changed:
        changed.setattr(watchdog, "faulthandler", made)
        yield made


@pytest.mark.slow
def test_a_test_that_hangs_ends_the_run_and_is_shown() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGING], cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert done.returncode == 1
    assert "Timeout" in done.stderr
    assert 'File "<string>", line 7' in done.stderr


def test_many_short_tests_share_a_timer_that_each_look_extends(timer: Timer) -> None:
    one = Watchdog()
    for _ in range(3):
        for _ in range(100):
            one.begin()
            one.end()
        one.begin()
        one.look()
    assert timer.calls == ["set"] * 4


def test_a_long_test_keeps_its_timer(timer: Timer) -> None:
    one = Watchdog()
    one.begin()
    one.look()
    one.look()
    assert timer.calls == ["set"]


def test_no_timer_runs_between_tests_and_the_next_test_sets_it(timer: Timer) -> None:
    one = Watchdog()
    one.begin()
    one.end()
    one.look()
    assert timer.calls == ["set", "cancelled"]
    one.begin()
    assert timer.calls == ["set", "cancelled", "set"]
    one.stop()
    assert timer.calls[-1] == "cancelled"


def test_a_test_that_is_left_alone_has_no_timer_and_the_next_one_has(timer: Timer) -> None:
    one = Watchdog()
    one.begin()
    one.leave()
    one.look()
    assert timer.calls == ["set", "cancelled"]
    one.end()
    one.begin()
    one.look()
    assert timer.calls == ["set", "cancelled", "set"]


def test_this_run_is_watched() -> None:
    assert WATCHDOG._is_running
    assert WATCHDOG._is_set
