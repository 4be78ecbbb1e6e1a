"""Servers under load are killed, paused and cut off, and so is PostgreSQL: nothing is lost, and nothing paid twice."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.chaos import CHAOS_LEASE_S, chaos
from tests.support.postgres import Postgres, postgres
from tests.support.processes import ROOT, free_port
from tests.support.sharing import await_true, control, pay
from tests.support.watchdog import WATCHDOG

pytestmark = [pytest.mark.needs("initdb"), pytest.mark.slow]
NAMES = ("a", "b", "c")
KILLS, PAUSES, DATABASE_KILLS, PARTITIONS = 100, 20, 20, 5


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    """A PostgreSQL that a test may kill."""
    WATCHDOG.leave()  # each wait has its own limit
    with postgres() as running:
        yield running


def wait(seconds: float) -> None:
    time.sleep(seconds)  # sleep: the moment of the harm


def test_a_hundred_killed_servers_lose_nothing(own_server: Postgres, tmp_path: Path) -> None:
    draw = random.Random(1)  # noqa: S311 - a seed
    with chaos(own_server.database()) as servers:
        servers.begin(*NAMES)
        for _ in range(KILLS):
            name = draw.choice(NAMES)
            wait(draw.uniform(0, 0.5))
            servers.running[name].process.kill()
            servers.running[name].process.wait()
            if draw.random() < 0.3:
                servers.await_payments(3)  # at the others, after its lease
            servers.start(name)
        servers.judge(tmp_path)


def test_twenty_paused_servers_change_nothing_when_they_wake(own_server: Postgres, tmp_path: Path) -> None:
    draw = random.Random(2)  # noqa: S311 - a seed
    with chaos(own_server.database()) as servers:
        servers.begin(*NAMES)
        for _ in range(PAUSES):
            process = servers.running[draw.choice(NAMES)].process
            process.send_signal(signal.SIGSTOP)
            wait(CHAOS_LEASE_S * draw.uniform(1.2, 3))
            process.send_signal(signal.SIGCONT)
            servers.await_payments(3)
        servers.judge(tmp_path)


def test_twenty_kills_of_postgresql_lose_nothing(own_server: Postgres, tmp_path: Path) -> None:
    draw = random.Random(3)  # noqa: S311 - a seed
    with chaos(own_server.database()) as servers:
        servers.begin(*NAMES)
        for _ in range(DATABASE_KILLS):
            wait(draw.uniform(0, 1))
            own_server.kill()
            wait(draw.uniform(0, 2))
            own_server.start()
            servers.await_payments(3)
        servers.judge(tmp_path)


def test_a_server_that_is_cut_off_from_postgresql_is_fenced(own_server: Postgres, tmp_path: Path) -> None:
    database = own_server.database()
    with passing(own_server.port) as (port, process), chaos(database) as servers:
        servers.addresses["a"] = database.replace(f":{own_server.port}/", f":{port}/")
        assert urlsplit(servers.addresses["a"]).port == port
        servers.begin(*NAMES)
        for _ in range(PARTITIONS):
            process.send_signal(signal.SIGSTOP)
            wait(3 * CHAOS_LEASE_S)
            servers.await_payments(3)
            process.send_signal(signal.SIGCONT)
            servers.await_payments(3)
        servers.judge(tmp_path)


@contextmanager
def passing(port: int) -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    """Pass connections to a port on, in a process that can be stopped."""
    listens = free_port()
    command = [sys.executable, "-m", "tests.support.tcp_proxy", str(listens), str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"ready\n"
        yield listens, process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_lost_machine_is_taken_over_within_ten_seconds_of_its_lease(own_server: Postgres) -> None:
    with chaos(own_server.database()) as servers:
        servers.begin("a", "b")
        servers.await_payments(10)
        lost = servers.running["a"].process
        lost.kill()
        lost.wait()
        began_s = time.monotonic()  # clock: the promise is a time
        del servers.ports["a"]
        servers.await_payments(20)
        assert time.monotonic() - began_s < CHAOS_LEASE_S + 10
        servers.load.stop()


def test_callbacks_of_a_lost_machine_are_sent_though_nobody_asks(own_server: Postgres) -> None:
    with chaos(own_server.database()) as servers:
        servers.start("a")
        servers.start("b")
        created = {"id": "shop", "clock": {"mode": "real"}}
        assert control(servers.running["a"], "POST", "/sandboxes", created).status == 201
        assert pay(servers.running["a"], "asleep", "shop").status == 200
        servers.running["a"].process.kill()
        await_true(lambda: servers.receiver.received["asleep", "Succesful"] == 1)
