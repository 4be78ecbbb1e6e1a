"""Sandboxes do not touch each other, and a sandbox is nothing but its scenario, seed and inputs."""

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.support.client import Client, running
from tests.support.day_tape import SCENARIO, play

pytestmark = pytest.mark.slow


async def _made(client: Client, sandbox_id: str, seed: int) -> None:
    wanted = {"id": sandbox_id, "seed": seed, "scenario": SCENARIO, "clock": {"mode": "manual"}}
    made = await client.asim("POST", "/sandboxes", wanted)
    assert made.status == 201, made.body


def test_a_hundred_sandboxes_driven_at_once_give_each_the_bytes_that_it_gives_alone() -> None:
    with running() as client:

        async def together() -> list[Any]:
            for number in range(100):
                await _made(client, f"box-{number}", number)
            return await asyncio.gather(*(play(client, f"box-{number}") for number in range(100)))

        async def alone(number: int) -> Any:
            await client.asim("DELETE", f"/sandboxes/box-{number}")
            await _made(client, f"box-{number}", number)
            return await play(client, f"box-{number}")

        crowded = client.run(together())
        assert len(set(map(str, crowded))) == 100, "each has a seed of its own"
        for number in (0, 1, 42, 99):
            assert client.run(alone(number)) == crowded[number]


def test_two_processes_with_different_hash_seeds_give_the_same_bytes() -> None:
    def printed(hash_seed: str) -> bytes:
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-m", "tests.support.day_tape"]
        return subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60).stdout

    first, second = printed("1"), printed("4242")
    assert len(first) > 5000
    assert first == second
