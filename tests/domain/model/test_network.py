"""Network status over time."""

from datetime import timedelta

import pytest

from simulator.domain.commands import SetNetwork
from simulator.domain.errors import Unknown
from simulator.domain.model.schedule import NetworkStatus, NetworkTimeline
from tests.support.worlds import sandbox, seconds

HEALTHY, INTERRUPTION = NetworkStatus.HEALTHY, NetworkStatus.INTERRUPTION


def timeline(*steps: tuple[float, NetworkStatus]) -> NetworkTimeline:
    return tuple((timedelta(seconds=at), status) for at, status in steps)


FLAPPING = timeline((10, INTERRUPTION), (20, HEALTHY), (20, INTERRUPTION), (30, HEALTHY))


@pytest.mark.parametrize(
    ("at", "status"),
    [
        (0, HEALTHY),
        (9.999, HEALTHY),
        (10, INTERRUPTION),
        (19.999, INTERRUPTION),
        (20, INTERRUPTION),
        (30, HEALTHY),
        (1e6, HEALTHY),
    ],
)
def test_a_plan_counts_from_the_start_of_the_sandbox(at: float, status: NetworkStatus) -> None:
    box = sandbox(network={"BILL": FLAPPING})
    assert box.state.network.status("BILL", seconds(at)) is status
    assert box.state.network.status("CARD", seconds(at)) is HEALTHY


def test_a_status_that_was_set_overrides_the_timeline() -> None:
    box = sandbox(network={"BILL": FLAPPING})
    box.apply(SetNetwork("BILL", HEALTHY), seconds(5))
    assert {box.state.network.status("BILL", seconds(at)) for at in (5, 10, 25, 100)} == {HEALTHY}
    box.apply(SetNetwork("BILL", INTERRUPTION), seconds(6))
    assert box.state.network.status("BILL", seconds(6)) is INTERRUPTION


def test_there_must_be_such_a_product() -> None:
    with pytest.raises(Unknown, match="this sandbox has no product 'NONE'"):
        sandbox().apply(SetNetwork("NONE", HEALTHY), seconds(0))
