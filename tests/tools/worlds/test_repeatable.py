"""Equal seeds give equal worlds, byte for byte: within a process, and across processes with other hashes."""

import os
import subprocess
import sys

import pytest

from tools.worlds.runs import live_through
from tools.worlds.steps import draw_steps

STEPS = 300
SEEDS = (1, 2, 3, 5, 8)


@pytest.mark.slow
def test_a_seed_gives_the_same_bytes_again() -> None:
    for seed in SEEDS:
        steps = draw_steps(seed, STEPS)
        first, second = (live_through(seed, steps, keeps_bytes=True).bytes for _ in range(2))
        assert first
        assert first == second


@pytest.mark.slow
def test_a_seed_gives_the_same_bytes_under_another_hash_seed() -> None:
    command = [sys.executable, "-m", "tools.worlds.digests", str(STEPS), *map(str, SEEDS)]
    told = {
        subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("0", "1234")
    }
    here = "".join(f"{seed} {live_through(seed, draw_steps(seed, STEPS)).digest}\n" for seed in SEEDS)
    assert told == {here.encode()}


@pytest.mark.slow
def test_another_seed_gives_other_bytes() -> None:
    assert len({live_through(seed, draw_steps(seed, 50)).digest for seed in SEEDS}) == len(SEEDS)
