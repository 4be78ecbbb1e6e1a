"""The machine's clock is set while a server runs: no sandbox stops or leaps, and a real one returns to the wall."""

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from simulator.runtime.clock import Clock, MachineTime
from tests.support.client import Client, running
from tests.support.wall import START, Wall


class Machine:
    """A machine whose clock can be set; `pass_` lets both of its clocks run."""

    def __init__(self) -> None:
        self.wall = Wall()
        self.monotonic_s = 100.0
        self.time = MachineTime(self.wall, lambda: self.monotonic_s)

    def pass_(self, seconds: float) -> None:
        self.wall.pass_(seconds)
        self.monotonic_s += seconds

    def set(self, seconds: float) -> None:
        self.wall.pass_(seconds)


@pytest.fixture
def machine() -> Machine:
    return Machine()


def clock(machine: Machine, mode: str = "real", rate: float = 1.0) -> Clock:
    made = Clock(machine.time, mode, rate, None)
    machine.time.on_step = made.wall_was_set
    return made


def passed(made: Clock) -> float:
    return (made.now() - START).total_seconds()


@pytest.mark.parametrize("step", [-3600.0, 3600.0])
@pytest.mark.parametrize(("mode", "rate"), [("real", 1.0), ("xN", 10.0), ("manual", 0.0)])
def test_no_clock_leaps_or_stops_when_the_machines_is_set(
    machine: Machine, mode: str, rate: float, step: float
) -> None:
    made = clock(machine, mode, rate)
    machine.pass_(30)
    machine.set(step)
    machine.pass_(30)
    assert passed(made) == 60 * rate
    machine.time.compare()
    assert passed(made) == 60 * rate
    machine.pass_(10)
    pace = {-3600.0: 0.5, 3600.0: 2.0}[step] if mode == "real" else 1.0
    assert passed(made) == (60 + 10 * pace) * rate


@pytest.mark.parametrize("moved_s", [0.0, 86_400.0])
@pytest.mark.parametrize("step", [-100.0, 100.0])
def test_a_real_clock_returns_to_its_distance_from_the_wall_and_never_goes_back(
    machine: Machine, step: float, moved_s: float
) -> None:
    made = clock(machine)
    made.move_to(START + timedelta(seconds=moved_s))
    machine.set(step)
    machine.time.compare()
    seen = [made.now()]
    for _ in range(300):
        machine.pass_(1)
        seen.append(made.now())
    assert seen == sorted(seen)
    assert seen[-1] - machine.wall() == timedelta(seconds=moved_s)


def test_a_clock_that_is_set_twice_continues_from_where_it_was(machine: Machine) -> None:
    made = clock(machine)
    machine.set(100)
    machine.time.compare()
    machine.pass_(20)
    assert passed(made) == 40
    machine.set(-100)
    machine.time.compare()
    assert passed(made) == 40
    machine.pass_(100)
    assert made.now() == machine.wall()


def test_a_difference_of_a_few_seconds_changes_nothing(machine: Machine) -> None:
    steps: list[timedelta] = []
    machine.time.on_step = steps.append
    for seconds in (4.9, -4.9, -4.9):
        machine.set(seconds)
        machine.time.compare()
    assert steps == []
    machine.set(-0.2)
    machine.time.compare()
    assert steps == [timedelta(seconds=-5.1)]
    assert machine.time() == machine.wall()


@pytest.fixture
def client(machine: Machine) -> Iterator[Client]:
    with running({"clock": {"mode": "real"}}, machine.time, is_repeatable=False) as found:
        yield found


def test_pending_items_continue_and_the_server_says_so(
    client: Client, machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert client.pay("order-1").status == 200
    machine.set(-3600)

    async def compare() -> None:
        machine.time.compare()

    client.run(compare())
    machine.pass_(600)
    answer = client.call("GET", "/v2/balance", timestamp=int(machine.wall().timestamp()))
    assert answer.status == 200, "the client signs by the wall"
    (payment,) = client.sim("GET", "/sandboxes/default/transactions").json["transactions"]
    assert payment["status"] == "Succesful"
    shown = datetime.fromisoformat(client.sim("GET", "/sandboxes/default/clock").json["now"])
    assert START < shown == START + timedelta(seconds=300)
    assert "the machine's clock was set by -3600.0 s" in capsys.readouterr().err
    assert "reseller_sim_wall_steps_total 1" in client.sim("GET", "/metrics").body.decode()
    events = client.sim("GET", "/sandboxes/default/events?after=0&timeout=0").body.decode()
    assert '"action":"wall_set"' in events


def test_inputs_of_a_millisecond_have_the_same_time(machine: Machine) -> None:
    first = machine.time()
    machine.pass_(0.0006)
    assert machine.time() is first
    machine.pass_(0.0006)
    assert machine.time() - first == timedelta(milliseconds=1)


def test_time_does_not_go_back_when_the_machines_clock_is_set_within_a_millisecond(machine: Machine) -> None:
    made = clock(machine)
    machine.pass_(0.0004)
    before = made.now()
    machine.set(-3600)
    machine.time.compare()
    assert made.now() == before


@pytest.mark.parametrize("step", [-3600, 3600])
def test_a_client_that_signs_by_the_new_time_is_not_refused_for_a_minute(
    client: Client, machine: Machine, step: float
) -> None:
    machine.set(step)
    answer = client.call("GET", "/v2/balance", timestamp=int(machine.wall().timestamp()))
    assert answer.status == 200, answer.body


def test_the_wall_is_compared_at_the_start_and_every_minute(machine: Machine) -> None:
    steps: list[timedelta] = []
    machine.time.on_step = steps.append
    machine.set(10)

    async def start() -> float:
        machine.time.start()
        timer = machine.time._timer
        assert timer is not None
        due = timer.when() - asyncio.get_running_loop().time()
        machine.time.close()
        assert timer.cancelled()
        return due

    assert 59 < asyncio.run(start()) <= 60
    assert steps == [timedelta(seconds=10)]
