"""Every bundled scenario is recorded with the same bytes, and replayed, under any hash seed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.persistence.replay.tape_writer import take_tape, tape_lines
from simulator.scenario import library
from tests.support.client import running
from tests.support.good_client import behave
from tests.support.processes import run

pytestmark = pytest.mark.slow

ORDERS = 2  # as many as the limit of each scenario has room for


def record(folder: Path) -> None:
    """Write the tape of a good client under each bundled scenario."""
    for name in library.names():
        with running(name) as client:
            behave(client, ORDERS)
            for exchange in client.live.journal:
                exchange.duration_us = 0  # measured
            (folder / f"{name}.tape").write_bytes(b"".join(tape_lines(take_tape(client.live))))


def recorded(folder: Path, seed: str) -> Path:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    script = f"from pathlib import Path; from {__name__} import record; record(Path({str(folder)!r}))"
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    return folder


@pytest.fixture(scope="module")
def tapes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Folders with the tapes of two runs."""
    one, other = (recorded(tmp_path_factory.mktemp(f"seed-{seed}"), seed) for seed in ("1", "4242"))
    return one, other


@pytest.mark.parametrize("name", library.names())
def test_a_bundled_scenario_is_recorded_with_equal_bytes_and_replayed(name: str, tapes: tuple[Path, Path]) -> None:
    one, other = (folder / f"{name}.tape" for folder in tapes)
    assert one.read_bytes() == other.read_bytes()
    for seed in ("2", "3"):
        done = run("replay", str(one), PYTHONHASHSEED=seed)
        assert (done.status, done.err) == (0, ""), done.out
        assert re.search(r" [1-9][0-9]* requests, .*: all as it was\n$", done.out), done.out
