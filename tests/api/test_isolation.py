"""Sandboxes are isolated, and scenario, seed and inputs determine a sandbox completely."""

import asyncio
import functools
import os
import subprocess
import sys
from typing import Any

import pytest

from simulator.http_client.slots import Slots
from tests.support.client import Client, running
from tests.support.day_tape import SCENARIO, play
from tests.support.receivers import Got, Receiver


async def _made(client: Client, sandbox_id: str, seed: int) -> None:
    wanted = {"id": sandbox_id, "seed": seed, "scenario": SCENARIO, "clock": {"mode": "manual"}}
    made = await client.asim("POST", "/sandboxes", wanted)
    assert made.status == 201, made.body


@pytest.mark.slow
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


def test_a_receiver_that_never_answers_one_sandbox_does_not_hold_up_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.http_client.sender.Slots", functools.partial(Slots, per_receiver=1))
    bill = {"refid": "ref-1", "product": "RELOAD", "account": "0123456789", "amount": "10"}
    idle = {"until": "idle"}

    def judge(got: Got) -> int | None:
        return None if got.target.startswith("/hook/dead") else 200

    with running() as client:

        async def main() -> None:
            arrived = asyncio.Event()

            async def on_request(_: Got) -> None:
                arrived.set()

            receiver = await Receiver(judge=judge, on_request=on_request).start()
            for box, path in (("one", "/dead"), ("another", "/good")):
                await _made(client, box, 1)
                setting = f"/v2/callback-url?url={receiver.url}{path}&method=POST"
                assert (await client.acall("POST", setting, sandbox=box)).status == 200
                assert (await client.acall("POST", "/v2/topup", bill, sandbox=box)).status == 200
            advancing = asyncio.create_task(client.asim("POST", "/sandboxes/one/clock/advance", idle))
            await arrived.wait()
            done = await client.asim("POST", "/sandboxes/another/clock/advance", idle)
            assert [one["answered"] for one in done.json["fired"] if one["kind"] == "callback"] == [200, 200]
            assert sum(judge(got) is None for got in receiver.got) == 1, "the first of its two is still unanswered"
            await client.asim("DELETE", "/sandboxes/one")
            assert (await advancing).json["error"] == "sandbox_gone"
            await receiver.stop()

        client.run(main())
