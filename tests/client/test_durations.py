"""Durations and times, as tests write them."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from reseller_sim import Simulator
from reseller_sim.durations import moment, seconds
from reseller_sim.exchange import encoded
from tests.support import durations


@pytest.mark.parametrize(("text", "wanted"), durations.GOOD)
def test_a_duration_is_numbers_each_with_a_unit(text: str, wanted: float) -> None:
    assert seconds(text) == wanted


@pytest.mark.parametrize("text", [*durations.BAD, *(text for text, _ in durations.BELOW_ZERO)])
def test_anything_else_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no duration such as '90s', '1h30m', '1\.5d' or '500ms'"):
        seconds(text)


@pytest.mark.parametrize("text", durations.TOO_LONG)
def test_a_duration_is_bounded(text: str) -> None:
    with pytest.raises(ValueError, match="is longer than 3660 days"):
        seconds(text)


@pytest.mark.parametrize("value", [90, 90.5, timedelta(seconds=90)])
def test_numbers_are_seconds(value: float | timedelta) -> None:
    assert seconds(value) == (90 if isinstance(value, timedelta) else value)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        moment(datetime(2027, 1, 2))  # noqa: DTZ001  # what is refused


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -1,
        -0.5,
        True,
        None,
        [],
        timedelta(days=99999),
        timedelta(seconds=-1),
        10**30,
        10**400,
    ],
)
def test_what_is_no_number_of_seconds_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"is no duration|is longer than 3660 days|is below 0"):
        seconds(value)


@pytest.mark.slow
@pytest.mark.parametrize("clock", ["x1_0", "x٣", "xabc", "xnan", "xinf", "x", "x-1", "x1e3", "x 1"])
def test_a_clock_of_no_plain_rate_is_refused(server: str, clock: str) -> None:
    with pytest.raises(ValueError, match="clock must be manual, real or a rate such as x60, not "):
        Simulator(server).sandbox(clock=clock)


def test_a_body_never_has_a_number_that_json_has_not() -> None:
    with pytest.raises(ValueError, match="JSON"):
        encoded({"amount": float("nan")})
