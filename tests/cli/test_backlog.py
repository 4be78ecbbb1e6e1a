"""What waits for its report is bounded by its bytes, not by how many there are."""

from threading import Event

import pytest

from simulator.cli.reports.judge import Backlog


def test_nobody_waits_behind_work_that_takes_long() -> None:
    backlog, release, done = Backlog("test", 1_000), Event(), list[int]()

    def takes_long() -> None:
        assert release.wait(60)

    backlog.add(500, takes_long)
    for number in range(100):
        backlog.add(5, done.append, number)
    assert done == []
    release.set()
    backlog.end()
    assert done == list(range(100))


def test_who_adds_more_than_there_is_room_for_waits_for_the_oldest() -> None:
    backlog, done = Backlog("test", 10), list[str]()
    for name in ("first", "second", "third"):
        backlog.add(8, done.append, name)
    assert done[:2] == ["first", "second"]
    backlog.add(1_000, done.append, "larger than all")
    assert done[:3] == ["first", "second", "third"]
    backlog.end()
    assert done[3:] == ["larger than all"]


def test_an_error_is_raised_where_the_work_is_waited_for() -> None:
    def fails() -> None:
        raise ZeroDivisionError

    backlog = Backlog("test")
    backlog.add(1, fails)
    with pytest.raises(ZeroDivisionError):
        backlog.end()
