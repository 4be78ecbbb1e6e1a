"""By a fast clock receivers have as much time as a busy machine needs."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from simulator.explore.run_scenario import Base, document, receiver_timeouts
from simulator.explore.runs import text_of
from simulator.scenario.library import load_scenario


@pytest.mark.parametrize(
    ("rate", "limit_s"),
    [(1, 30), (6, 30), (100, 500), (10**6, 5 * 10**6), (10**9, 3660 * 86400)],
)
def test_a_receiver_has_five_seconds_of_the_wall(rate: float, limit_s: int, tmp_path: Path) -> None:
    base = Base("default", sections=receiver_timeouts(load_scenario("default"), rate))
    path = tmp_path / "one.yaml"
    path.write_text(text_of(document(base, ())))
    assert load_scenario(path).limits.callback_timeout == timedelta(seconds=limit_s)


def test_so_has_a_receiver_of_events_that_has_a_limit_of_its_own(tmp_path: Path) -> None:
    usual = load_scenario("default")
    impatient = replace(usual, webhooks=msgspec.structs.replace(usual.webhooks, timeout=timedelta(seconds=3)))
    assert receiver_timeouts(impatient, 10)["webhooks"] == {"timeout": "50s"}
    assert "webhooks" not in receiver_timeouts(impatient, 1)
