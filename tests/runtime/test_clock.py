"""A sandbox's clock against a wall that the test holds."""

from datetime import datetime, timedelta

import pytest

from simulator.domain.errors import Unacceptable
from simulator.domain.model.instants import LATEST
from simulator.runtime.clock import Clock, parse_mode
from tests.support.wall import START, Wall


def later(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("mode", "rate", "after_ten"), [("real", 1, 10), ("xN", 60, 600), ("xN", 0.5, 5), ("manual", 1, 0)]
)
def test_each_mode_runs_at_its_rate(mode: str, rate: float, after_ten: float) -> None:
    wall = Wall()
    clock = Clock(wall, mode, rate, None)
    wall.pass_(10)
    assert clock.now() == later(after_ten)
    assert clock.runs is (mode != "manual")


def test_a_start_moves_the_sandbox_not_the_wall() -> None:
    wall = Wall()
    clock = Clock(wall, "real", 1, later(1000))
    wall.pass_(3)
    assert (clock.now(), clock.wall()) == (later(1003), later(3))


def test_moving_goes_forward_only() -> None:
    clock = Clock(Wall(), "manual", 1, None)
    clock.move_to(later(5))
    clock.move_to(later(2))
    assert clock.now() == later(5)


def test_a_running_clock_continues_from_where_it_was_set() -> None:
    wall = Wall()
    clock = Clock(wall, "xN", 10, None)
    wall.pass_(1)
    clock.move_to(later(100))
    wall.pass_(1)
    assert clock.now() == later(110)


@pytest.mark.parametrize(("mode", "rate"), [("real", 1), ("xN", 100_000)])
def test_a_running_clock_stops_at_the_latest_time(mode: str, rate: float) -> None:
    wall = Wall()
    clock = Clock(wall, mode, rate, LATEST - timedelta(seconds=2 * rate))
    wall.pass_(1)
    assert clock.now() == LATEST - timedelta(seconds=rate)
    wall.pass_(365 * 86_400)
    assert clock.now() == LATEST
    assert clock.seconds_between(clock.now(), LATEST + timedelta(seconds=1)) > 86_400


def test_setting_refuses_the_past_and_changes_nothing_then() -> None:
    wall = Wall()
    clock = Clock(wall, "real", 1, None)
    wall.pass_(10)
    with pytest.raises(Unacceptable, match=r"cannot go back: it is .*\+08:00; reset"):
        clock.set(mode="manual", now=later(9))
    assert clock.mode == "real"


def test_changing_the_mode_keeps_the_time() -> None:
    wall = Wall()
    clock = Clock(wall, "real", 1, None)
    wall.pass_(10)
    clock.set(mode="manual")
    wall.pass_(10)
    assert clock.now() == later(10)
    clock.set(mode="xN", rate=60)
    wall.pass_(1)
    assert clock.now() == later(70)


def test_waits_are_shorter_under_a_faster_clock_and_real_under_a_manual_clock() -> None:
    span = timedelta(seconds=30)
    seconds = [
        Clock(Wall(), mode, rate, None).wall_seconds(span) for mode, rate in (("real", 1), ("xN", 60), ("manual", 1))
    ]
    assert seconds == [30, 0.5, 30]
    assert Clock(Wall(), "xN", 60, None).seconds_between(later(0), later(120)) == 2


@pytest.mark.parametrize(
    ("text", "parsed"), [("real", ("real", 1)), ("manual", ("manual", 1)), ("x60", ("xN", 60)), ("x0.5", ("xN", 0.5))]
)
def test_modes_are_read_from_text(text: str, parsed: tuple[str, float]) -> None:
    assert parse_mode(text) == parsed


@pytest.mark.parametrize(
    "text", ["", "x", "x0", "x-1", "xx", "60", "x1e9", "x1000000", "X60", "xinf", "x1.2.3", "fast"]
)
def test_other_modes_are_refused(text: str) -> None:
    with pytest.raises(Unacceptable):
        parse_mode(text)
