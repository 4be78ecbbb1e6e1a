"""A command is bounded in time and in stored output, and its processes end with it."""

import os
import select
import sys
from pathlib import Path

import pytest

from simulator.explore.command import OUTPUT_BYTES_MAX, ClientCommand

LEAVES_A_CHILD = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdout=subprocess.DEVNULL)
open(sys.argv[1], "w").write(str(child.pid))
"""

ENDED_WHILE_STARTING = """
import os, signal, subprocess, sys
from simulator.explore import command

class Popen(subprocess.Popen):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        open(sys.argv[1], "w").write(str(self.pid))
        os.kill(os.getpid(), signal.SIGTERM)

signal.signal(signal.SIGTERM, lambda number, frame: command.end_process(128 + number))
subprocess.Popen = Popen
command.ClientCommand((sys.executable, "-c", "import time; time.sleep(600)"), dict(os.environ))
"""


def started(program: str, *arguments: str) -> ClientCommand:
    return ClientCommand((sys.executable, "-c", program, *arguments), dict(os.environ))


def test_it_reports_the_exit_code_and_the_last_output() -> None:
    command = started("import sys; print('first', 'x' * 100_000, 'last'); sys.exit(7)")
    assert command.wait(60) == 7
    assert command.output.endswith("last\n")
    assert "first" not in command.output
    assert len(command.output) <= OUTPUT_BYTES_MAX


def test_one_that_a_signal_ended_has_128_and_its_number() -> None:
    assert started("import os; os.kill(os.getpid(), 15)").wait(60) == 128 + 15


@pytest.mark.slow
def test_one_that_takes_too_long_is_ended() -> None:
    command = started("import time; time.sleep(600)")
    assert command.wait(0.2) is None
    assert command.duration_s < 60


def test_processes_that_it_started_end_with_it(tmp_path: Path) -> None:
    number = tmp_path / "pid"
    assert started(LEAVES_A_CHILD, str(number)).wait(60) == 0
    assert _has_ended(int(number.read_text()))


def test_one_that_is_being_started_ends_with_this_process(tmp_path: Path) -> None:
    number = tmp_path / "pid"
    assert started(ENDED_WHILE_STARTING, str(number)).wait(60) == 128 + 15
    assert _has_ended(int(number.read_text()))


ENDED_WHILE_WAITING = """
import signal, sys
from simulator.explore import command
waited = command.ClientCommand((sys.executable, "-c", "import time; time.sleep(600)"), {})
open(sys.argv[1], "w").write(str(waited.pid))
signal.signal(signal.SIGTERM, lambda number, frame: command.end_process(128 + number))
with waited._process._waitpid_lock:  # as the wait that the signal interrupts
    signal.raise_signal(signal.SIGTERM)
"""


def test_one_that_is_waited_for_ends_with_this_process(tmp_path: Path) -> None:
    number = tmp_path / "pid"
    assert started(ENDED_WHILE_WAITING, str(number)).wait(20) == 128 + 15
    assert _has_ended(int(number.read_text()))


def _has_ended(pid: int, within_s: int = 60) -> bool:
    """True when a process is gone or ends soon."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return process in select.select([process], [], [], within_s)[0]
    finally:
        os.close(process)
