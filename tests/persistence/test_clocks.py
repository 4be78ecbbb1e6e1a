"""The clock of a sandbox that was kept, when the wall is earlier at a restart than it was before."""

from pathlib import Path

from tests.support.data_folders import killed, serving
from tests.support.taped_plays import FIRST
from tests.support.wall import START, Wall

REAL = FIRST | {"clock": {"mode": "real"}, "schedule": []}


def test_a_clock_that_was_ahead_at_one_start_returns_to_the_wall_and_never_goes_back(tmp_path: Path) -> None:
    wall = Wall()
    wall.pass_(3600)
    with serving(tmp_path / "data", REAL, wall) as client:
        assert client.pay("order-1").status == 200
        ahead = client.live.clock.now()
        folder = killed(client, tmp_path)
    wall.at = START
    with serving(folder, REAL, wall) as client:
        clock = client.live.clock
        seen = [clock.now()]
        assert seen[0] == ahead
        for _ in range(3 * 60):
            wall.pass_(60)
            seen.append(clock.now())
        assert seen == sorted(seen)
        assert clock.now() == wall()
