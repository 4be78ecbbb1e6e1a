"""`Simulator.start`: a process of its own, which ends with its user however that ends."""

import asyncio
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reseller_sim import AsyncSimulator, NotRunning, NotStarted, Simulator, SimulatorError
from tests.support.processes import DEADLINE_S, ROOT, environment

BASE = "extends: default\nseed: 11\n"
DERIVED = "extends: base.yaml\n"


def test_one_is_started_and_ended(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "base.yaml").write_text(BASE)
    file = tmp_path / "mine.yaml"
    file.write_text(DERIVED)
    with Simulator.start(clock="manual", seed=3, scenarios=tmp_path) as simulator:
        assert simulator.health()["status"] == "ok"
        default = simulator.open()
        assert (default.seed, default.ask("GET", "/clock")["mode"]) == (3, "manual")
        with simulator.sandbox(file, start="2027-01-01T00:00:00Z") as sandbox:
            assert (sandbox.seed, sandbox.now.year) == (11, 2027), "the file is read with what it extends"
        assert simulator.output == []
    with pytest.raises(NotRunning):
        simulator.health()
    simulator.close()


def test_arguments_go_to_serve() -> None:
    with Simulator.start(scenarios=None, arguments=["--control-token", "of-this-test"]) as simulator:
        assert simulator.control.token == "of-this-test"
        with simulator.sandbox() as sandbox:
            both = ("RESELLER_SIM_TOKEN", "RESELLER_SIM_CONTROL_TOKEN")
            assert {sandbox.environment[name] for name in both} == {"of-this-test"}
        with pytest.raises(
            SimulatorError, match=r"^a token is missing; give the control API's token as `token`.*_SIM_TOKEN"
        ):
            Simulator(simulator.url).sandbox()


def test_one_that_cannot_start_says_why(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("payment: []\n")
    with pytest.raises(NotStarted, match="there is no key 'payment' here"):
        Simulator.start(file)


def test_an_unknown_flag_is_reported() -> None:
    with pytest.raises(NotStarted, match="No such option '--colour'"):
        Simulator.start(arguments=["--colour"])


def test_the_asynchronous_one_is_started_by_with_and_by_await() -> None:
    async def both() -> list[str]:
        async with AsyncSimulator.start() as simulator:
            found = [(await simulator.health())["status"]]
            sandbox = await simulator.sandbox()
            await sandbox.delete()
        with pytest.raises(NotRunning):
            await simulator.health()
        return found

    assert asyncio.run(both()) == ["ok"]


LEFT = """
import os, sys
from reseller_sim import Simulator
simulator = Simulator.start()
print(simulator._process._process.pid, flush=True)
{}
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise ValueError", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_it_ends_with_its_parent(end: str) -> None:
    """Its stdout is the parent's pipe to us: it has an end when neither holds it."""
    done = subprocess.run(
        [sys.executable, "-c", LEFT.format(end)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert _has_ended(int(done.stdout))


def _has_ended(pid: int) -> bool:
    """Wait for the end of a process that is not our child."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], DEADLINE_S)[0])
    finally:
        os.close(descriptor)


def test_a_fork_of_the_parent_leaves_it_running() -> None:
    forked = """
import os
from reseller_sim import Simulator
simulator = Simulator.start()
child = os.fork()
if child == 0:
    raise SystemExit
os.waitpid(child, 0)
print(simulator.health()["status"])
"""
    done = subprocess.run(
        [sys.executable, "-c", forked], cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("ok\n", 0), done.stderr


def test_variables_for_another_simulator_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong: dict[str, Any] = {"RESELLER_SIM_HOST": "0.0.0.0", "RESELLER_SIM_CLOCK": "x60", "RESELLER_SIM_SEED": "9"}
    for name, value in wrong.items():
        monkeypatch.setenv(name, value)
    with Simulator.start() as simulator:
        assert simulator.open().seed != 9
        assert simulator.open().ask("GET", "/clock")["mode"] == "real"
