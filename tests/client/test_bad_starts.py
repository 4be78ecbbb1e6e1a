"""`Simulator.start` with a command that is no simulator: the error says what happened, and no process remains."""

import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reseller_sim import NotStarted, Simulator, launcher, simulator
from tests.support.processes import DEADLINE_S, ROOT, environment

SAYS = "import os, sys, time, signal; print('it is broken', file=sys.stderr, flush=True); "
READY = 'print(\'{"url": "http://127.0.0.1:1", "control_token": null}\', flush=True); '
FOREVER = "time.sleep(600)"


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that is run instead of the simulator; it records its process id beside itself."""
    monkeypatch.setattr(launcher, "__file__", str(tmp_path / "child.py"))
    monkeypatch.setattr(simulator, "START_TIMEOUT_S", 2.0)
    monkeypatch.setattr(simulator, "STOP_TIMEOUT_S", 0.5)
    return tmp_path / "child.py"


def written(child: Path, code: str) -> None:
    noted = f"import os; open({str(child.parent)!r} + f'/{{os.getpid()}}.pid', 'w').close(); "
    child.write_text(noted + SAYS + code)


def left(child: Path) -> list[int]:
    """The processes that still run; there was one at least."""
    pids = [int(path.stem) for path in child.parent.glob("*.pid")]
    assert pids
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("sys.exit(7)", "it ended with exit code 7\n  it is broken"),
        ("os.kill(os.getpid(), 9)", "it ended with exit code -9\n  it is broken"),
        (FOREVER, "it ended with exit code -9\n  it is broken"),
        ("[print(n, file=sys.stderr) for n in range(5000)]; sys.exit(1)", "exit code 1\n  4980\n  4981\n"),
    ],
)  # fmt: skip
def test_a_command_that_is_no_simulator_says_what_it_did(child: Path, code: str, said: str) -> None:
    written(child, code)
    with pytest.raises(NotStarted) as raised:
        Simulator.start()
    assert said in str(raised.value)
    assert len(str(raised.value)) < 5000
    assert left(child) == []


def test_one_that_ignores_its_end_is_killed(child: Path) -> None:
    written(child, "signal.signal(15, signal.SIG_IGN); " + READY + FOREVER)
    simulator = Simulator.start()
    assert len(left(child)) == 1
    simulator.close()
    simulator.close()
    assert left(child) == []


def test_two_that_start_at_a_time_end_each_by_itself() -> None:
    started: list[Simulator] = []
    threads = [threading.Thread(target=lambda: started.append(Simulator.start())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_S)
    first, second = started
    with second:
        with first:
            assert first.url != second.url
        assert second.health()["status"] == "ok"


def test_a_parent_that_is_killed_leaves_nothing() -> None:
    """Its stdin ends with the parent, during any action of the child."""
    wait = "import time; time.sleep(600)"
    code = f"from reseller_sim import Simulator\nSimulator.start()\nprint('ready', flush=True)\n{wait}"
    parent = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        (child,) = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
        descriptor = os.pidfd_open(int(child))
        parent.send_signal(signal.SIGKILL)
    try:
        assert select.select([descriptor], [], [], DEADLINE_S)[0], "it has ended"
    finally:
        os.close(descriptor)
