"""Durations and times, as tests write them."""

from datetime import timedelta

import pytest

from reseller_sim import Simulator
from reseller_sim.arguments import is_duration, seconds
from reseller_sim.exchange import encoded
from tests.support import durations


@pytest.mark.parametrize(("text", "wanted"), durations.GOOD)
def test_a_duration_is_numbers_each_with_a_unit(text: str, wanted: float) -> None:
    assert is_duration(text)
    assert seconds(text) == wanted


@pytest.mark.parametrize(
    "text", [*durations.BAD, *durations.TOO_LONG, *(text for text, _ in durations.BELOW_ZERO), -1, -0.5, 10**400]
)
def test_anything_else_is_refused_with_what_to_write(text: str | float) -> None:
    assert not is_duration(text)


@pytest.mark.parametrize("value", [90, 90.5, timedelta(seconds=90)])
def test_numbers_are_seconds(value: float | timedelta) -> None:
    assert is_duration(value)
    assert seconds(value) == (90 if isinstance(value, timedelta) else value)


@pytest.mark.slow
@pytest.mark.parametrize("clock", ["x1_0", "x٣", "xabc", "xnan", "xinf", "x", "x-1", "x1e3", "x 1"])
def test_a_clock_of_no_plain_rate_is_refused(server: str, clock: str) -> None:
    with pytest.raises(ValueError, match="clock must be manual, real or a rate such as x60, not "):
        Simulator(server).sandbox(clock=clock)


def test_a_body_never_has_a_number_that_json_has_not() -> None:
    with pytest.raises(ValueError, match="JSON"):
        encoded({"amount": float("nan")})
