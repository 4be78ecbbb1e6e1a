"""The clock of a sandbox that was kept, when the machine's clock was set before a restart."""

from datetime import timedelta
from pathlib import Path

import pytest

from simulator.runtime.machine_time import MachineTime
from tests.support.client import Client
from tests.support.data_folders import killed, serving
from tests.support.taped_plays import FIRST
from tests.support.wall import START, Wall

FAST = FIRST | {"clock": {"mode": "xN", "rate": 10}, "schedule": []}
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


def killed_at(client: Client, folder: Path) -> Path:
    folder.mkdir()
    return killed(client, folder)


@pytest.mark.parametrize("restarts", [1, 2, 3])
def test_a_clock_that_is_ahead_returns_to_the_wall_after_several_restarts(tmp_path: Path, restarts: int) -> None:
    wall = Wall()
    wall.pass_(3600)
    with serving(tmp_path / "data", REAL, wall) as client:
        assert client.pay("order-0").status == 200
        folder = killed_at(client, tmp_path / "first")
    wall.at = START
    for number in range(restarts):
        with serving(folder, REAL, wall) as client:
            wall.pass_(600)
            assert client.pay(f"order-{number + 1}").status == 200
            folder = killed_at(client, tmp_path / f"{number}")
    with serving(folder, REAL, wall) as client:
        seen = client.live.clock.now()
        assert seen - wall() == timedelta(seconds=3600 - 300 * restarts)
        wall.pass_(3 * 3600)
        assert client.live.clock.now() == wall()


def test_a_clock_that_was_moved_on_purpose_keeps_its_distance_over_restarts(tmp_path: Path) -> None:
    wall = Wall()
    wall.pass_(3600)
    with serving(tmp_path / "data", REAL, wall) as client:
        assert client.pay("order-0").status == 200
        folder = killed_at(client, tmp_path / "first")
    wall.at = START
    with serving(folder, REAL, wall) as client:
        assert client.sim("POST", "/sandboxes/default/clock/advance", {"seconds": 86_400}).status == 200
        folder = killed_at(client, tmp_path / "second")
    with serving(folder, REAL, wall) as client:
        distance = client.live.clock.now() - wall()
        wall.pass_(6 * 3600)
        assert client.live.clock.now() - wall() == distance


class Machine:
    """A machine whose clock can be set between two servers."""

    def __init__(self) -> None:
        self.wall, self.up_s, self.boot = Wall(), 100.0, "first"

    def time(self) -> MachineTime:
        return MachineTime(self.wall, lambda: self.up_s, lambda: (self.boot, self.up_s))

    def pass_(self, seconds: float) -> None:
        self.wall.pass_(seconds)
        self.up_s += seconds


def restarted(machine: Machine, scenario: object, tmp_path: Path, folder: Path, down_s: float, set_s: float) -> Path:
    """Kill a server that has shown its time, set the machine's clock, and compare the time of the next server."""
    with serving(folder, scenario, machine.time()) as client:
        if not client.live.core.state.transactions:
            assert client.pay("order-1").status == 200
        machine.pass_(50)
        shown = client.live.clock.now()
        folder = killed(client, tmp_path)
    machine.pass_(down_s)
    machine.wall.pass_(set_s)
    with serving(folder, scenario, machine.time()) as client:
        assert client.live.clock.now() - shown == timedelta(seconds=10 * down_s)
    return folder


@pytest.mark.parametrize("set_s", [3600, -3600])
def test_a_fast_clock_takes_no_step_of_the_machines_clock_for_time_that_has_passed(
    tmp_path: Path, set_s: float
) -> None:
    machine = Machine()
    folder = restarted(machine, FAST, tmp_path, tmp_path / "data", 20, set_s)
    (tmp_path / "second").mkdir()
    restarted(machine, FAST, tmp_path / "second", folder, 30, 0)


async def compared(client: Client) -> None:
    assert isinstance(client.app.wall, MachineTime)
    client.app.wall.compare()


def test_a_step_while_the_server_runs_is_none_after_the_restart(tmp_path: Path) -> None:
    machine = Machine()
    with serving(tmp_path / "data", FAST, machine.time()) as client:
        assert client.pay("order-1").status == 200
        machine.wall.pass_(3600)
        client.run(compared(client))
        machine.pass_(5)
        shown = client.live.clock.now()
        folder = killed(client, tmp_path)
    machine.pass_(7)
    with serving(folder, FAST, machine.time()) as client:
        assert client.live.clock.now() - shown == timedelta(seconds=70)


def test_after_a_start_of_the_machine_time_has_passed_by_the_wall(tmp_path: Path) -> None:
    machine = Machine()
    with serving(tmp_path / "data", FAST, machine.time()) as client:
        assert client.pay("order-1").status == 200
        shown = client.live.clock.now()
        folder = killed(client, tmp_path)
    machine.boot = "second"
    machine.wall.pass_(3600)
    with serving(folder, FAST, machine.time()) as client:
        assert client.live.clock.now() - shown == timedelta(hours=10)


def test_a_moved_clock_shows_no_earlier_time_after_the_wall_was_set_back(tmp_path: Path) -> None:
    machine = Machine()
    with serving(tmp_path / "data", REAL, machine.time()) as client:
        assert client.sim("POST", "/sandboxes/default/clock/advance", {"seconds": 86_400}).status == 200
        machine.pass_(50)
        shown = client.live.clock.now()
        folder = killed(client, tmp_path)
    machine.wall.pass_(-3600)
    with serving(folder, REAL, machine.time()) as client:
        assert client.live.clock.now() == shown
        machine.pass_(7200)
        assert client.live.clock.now() - shown == timedelta(seconds=3600)
