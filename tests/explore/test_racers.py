"""The proof for races, by real programs: each is found within two minutes, seen again, and gone when it is mended."""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.processes import PROGRAM, ROOT, environment, run

pytestmark = pytest.mark.slow

FOUND_WITHIN_S = 120
RACERS = ROOT / "tests" / "support" / "racers"
RESTART = ("--restart", "sh -c 'kill -HUP $RESELLER_COMMAND_PID'")
MISTAKES = [
    ("inserts_after_answer.py", r"the first callback of the payment of .* during its request: exit 1"),
    ("updates_without_a_row.mjs", r"the first callback of the payment of .* during its request: exit 1"),
    ("moves_backwards.py", r"answer to the payment of .* late, after both of its callbacks: exit 1"),
    ("credits_twice.mjs", r"callback Succesful of the payment of .* sent twice at the same time: exit 1"),
    ("loses_an_update.py", r"callbacks? .*of the payment of .* at the same time: exit 1"),
    ("takes_a_timeout_for_failure.mjs", r"answer to the payment of .* late, after its first callback: exit 1"),
    ("credits_a_deposit_twice.py", r"webhook balance.added sent twice at the same time: exit 1"),
    ("forgets_at_restart.py", r"callback Processing of the payment of .* while the client restarts: exit 1"),
]


def command(racer: str) -> list[str]:
    if racer.endswith(".mjs"):
        return [shutil.which("node") or "node", str(RACERS / racer)]
    return [sys.executable, "-m", f"tests.support.racers.{racer.removesuffix('.py')}"]


@pytest.mark.parametrize(("racer", "sentence"), MISTAKES)
def test_a_race_is_found_and_is_gone_when_it_is_mended(racer: str, sentence: str, tmp_path: Path) -> None:
    restart = RESTART if racer == "forgets_at_restart.py" else ()
    flags = ["--clock", "real", "--minutes", "2", "--first", "--workers", "2", "--out", str(tmp_path / "out")]
    words = [*PROGRAM, "explore", *flags, *restart, "--", *command(racer)]
    # clock: a race is to be found within two minutes
    began = time.monotonic()
    done = subprocess.run(words, capture_output=True, env=environment(), check=False, text=True, timeout=280)
    took_s = time.monotonic() - began
    print(f"{racer}: found in {took_s:.0f} s")
    assert done.returncode == 1, done
    assert took_s < FOUND_WITHIN_S
    [found] = re.findall(r"^FOUND (.+)$", done.stdout, re.MULTILINE)
    assert re.search(sentence, found), found
    [path] = (tmp_path / "out").glob("*.yaml")
    red = run("prove", str(path), "--times", "2", *restart, "--", *command(racer))
    assert (red.status, red.out.splitlines()[-1]) == (1, "red: 2 of 2 failed, exit 1"), red
    green = run("prove", str(path), "--times", "2", *restart, "--", *command(racer), "mended")
    assert (green.status, green.out.splitlines()[-1]) == (0, "green: 0 of 2 failed"), green
