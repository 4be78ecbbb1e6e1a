"""The clock of a sandbox that was kept, when the machine's clock was set before a restart."""

from datetime import timedelta
from pathlib import Path

from simulator.domain.model.instants import LATEST
from simulator.persistence.maintenance import check
from tests.support.client import Client
from tests.support.data_folders import DEFAULT, killed, serving
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


def test_a_fast_clock_has_run_on_for_the_time_that_has_passed(tmp_path: Path) -> None:
    wall = Wall()
    with serving(tmp_path / "data", FAST, wall) as client:
        assert client.pay("order-1").status == 200
        shown = client.live.clock.now()
        folder = killed(client, tmp_path)
    wall.pass_(3600)
    with serving(folder, FAST, wall) as client:
        assert client.live.clock.now() - shown == timedelta(hours=10)


def test_a_moved_clock_shows_no_time_before_its_last_input_after_the_wall_was_set_back(tmp_path: Path) -> None:
    wall = Wall()
    with serving(tmp_path / "data", REAL, wall) as client:
        assert client.sim("POST", "/sandboxes/default/clock/advance", {"seconds": 86_400}).status == 200
        shown = client.live.clock.now()
        folder = killed(client, tmp_path)
    wall.pass_(-3600)
    with serving(folder, REAL, wall) as client:
        assert client.live.clock.now() == shown
        wall.pass_(7200)
        assert client.live.clock.now() - shown == timedelta(seconds=3600)


def test_a_fast_clock_that_has_reached_the_latest_time_is_restored(tmp_path: Path) -> None:
    wall = Wall()
    fastest = FIRST | {"clock": {"mode": "xN", "rate": 100_000}, "schedule": []}
    with serving(tmp_path / "data", fastest, wall) as client:
        wall.pass_(16 * 3600)
        assert client.pay("order-1").status == 200
        assert client.live.clock.now() == LATEST
        folder = killed(client, tmp_path)
    assert check(folder).problems == []
    wall.pass_(365 * 86_400)
    with serving(folder, fastest, wall) as client:
        assert client.live.clock.now() == LATEST
        assert client.pay("order-2").status == 200
        now = client.sim("GET", f"{DEFAULT}/clock").json["now"]
        assert client.sim("POST", f"{DEFAULT}/clock/advance", {"to": now}).status == 200
        assert client.sim("PUT", f"{DEFAULT}/clock", {"now": now}).status == 200
        assert client.sim("POST", f"{DEFAULT}/rewind", {"to": now}).status == 200
        assert client.sim("POST", "/sandboxes", {"fork": {"of": "default", "to": now}}).status == 201
        assert client.sim("POST", "/sandboxes/default/rewind", {"n": 1}).status == 200


def test_an_advance_to_idle_ends_at_the_latest_time(tmp_path: Path) -> None:
    last = FIRST | {"clock": {"mode": "manual", "start": (LATEST - timedelta(seconds=1)).isoformat()}, "schedule": []}
    with serving(tmp_path / "data", last, Wall()) as client:
        assert client.pay("order-1").status == 200
        report = client.sim("POST", "/sandboxes/default/clock/advance", {"until": "idle"}).json
        assert not report["idle"]
        assert "and clocks end at 2200-01-01" in report["reason"]
        folder = killed(client, tmp_path)
    with serving(folder, last, Wall()) as client:
        assert client.live.clock.now() < LATEST
