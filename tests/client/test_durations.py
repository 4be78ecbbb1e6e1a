"""Durations and times, as tests write them."""

from datetime import timedelta

import pytest

from reseller_sim import Simulator, SimulatorError
from reseller_sim.exchange import encoded
from reseller_sim.formats import seconds
from tests.support import durations


@pytest.mark.parametrize(("text", "wanted"), durations.GOOD)
def test_a_duration_is_numbers_each_with_a_unit(text: str, wanted: float) -> None:
    assert seconds(text) == wanted


@pytest.mark.parametrize("text", [*durations.BAD, *durations.TOO_LONG])
def test_anything_else_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"must be a duration such as|is longer than 3660 days"):
        seconds(text)


def test_the_simulator_refuses_what_is_not_in_the_future(simulator: Simulator) -> None:
    with simulator.sandbox() as sandbox:
        for span in (durations.BELOW_ZERO[0][0], -1, timedelta(seconds=-1), 10**400):
            with pytest.raises(SimulatorError, match="at seconds"):
                sandbox.advance(span)


@pytest.mark.parametrize("value", [90, 90.5, timedelta(seconds=90)])
def test_numbers_are_seconds(value: float | timedelta) -> None:
    assert seconds(value) == (90 if isinstance(value, timedelta) else value)


@pytest.mark.parametrize("clock", ["x1_0", "x٣", "xabc", "xnan", "xinf", "x", "x-1", "x1e3", "x 1"])
def test_a_clock_of_no_plain_rate_is_refused(clock: str) -> None:
    with pytest.raises(ValueError, match="clock must be manual, real or a rate"):
        Simulator("http://127.0.0.1:1").sandbox(clock=clock)


def test_a_body_never_has_a_number_that_json_has_not() -> None:
    with pytest.raises(ValueError, match="JSON"):
        encoded({"amount": float("nan")})
