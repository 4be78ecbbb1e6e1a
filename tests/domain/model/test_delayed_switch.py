"""A switch that acts late: every change from its own time on, and nothing is kept for ever."""

from datetime import UTC, datetime, timedelta

import pytest

from simulator.domain.model.resellers import DelayedSwitch

START = datetime(2026, 11, 21, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def switched(*changes: tuple[float, bool], delay: float = 5, first: bool = False) -> DelayedSwitch:
    switch = DelayedSwitch(first)
    for minute, on in changes:
        switch = switch.turned(on, at(minute), at(minute + delay))
    return switch


@pytest.mark.parametrize(
    ("switch", "on_at", "off_at"),
    [
        (switched(), (), (0, 9)),
        (switched(first=True), (0, 9), ()),
        (switched((0, True)), (5, 9), (0, 4.99)),
        (switched((0, True), delay=0), (0, 1), ()),
        (switched((0, False), first=True), (0, 4.99), (5, 9)),
        (switched((0, True), (2, False)), (5, 6.99), (4.99, 7)),
        (switched((0, True), (9, False)), (9, 13.99), (14,)),
        (switched((0, True), (1, False), (2, True), (3, False)), (5, 7), (4, 6, 8)),
    ],
)
def test_a_switch_at_a_time(switch: DelayedSwitch, on_at: tuple[float, ...], off_at: tuple[float, ...]) -> None:
    assert all(switch.is_on(at(minute)) for minute in on_at)
    assert not any(switch.is_on(at(minute)) for minute in off_at)


def test_changes_that_no_longer_matter_are_forgotten() -> None:
    switch = switched(*((minute * 10, minute % 2 == 0) for minute in range(100)))
    assert len(switch.changes) == 1


def test_a_change_at_the_same_time_replaces_the_earlier_change() -> None:
    switch = switched((0, True), (0, False), (0, True), (0, False))
    assert len(switch.changes) == 1
    assert not switch.is_on(at(9))
