"""When there is a snapshot, and that it is the same bytes in every process."""

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest

from simulator.persistence.snapshot.capture import parts_of
from simulator.persistence.snapshot.document import HEAD, NotNow
from tests.support.client import running
from tests.support.snapshots import take
from tests.support.taped_plays import FIRST, set_callback

SLOW = {"faults": [{"when": {"path": "/v2/topup"}, "then": {"delay": "30ms"}}]}
PAYMENT = {"refid": "r1", "product": "RELOAD", "account": "0123456789", "amount": 10}


def test_no_snapshot_exists_while_a_request_waits() -> None:
    with running(SLOW) as client:

        async def taken_meanwhile() -> None:
            waits = asyncio.ensure_future(client.acall("POST", "/v2/topup", PAYMENT))
            for _ in range(3):
                await asyncio.sleep(0)
            assert len(client.live.tape)
            with pytest.raises(NotNow, match="waits"):
                take(client.live, 1)
            await waits

        client.run(taken_meanwhile())
        assert take(client.live, len(client.live.tape)).n == len(client.live.tape)


def test_no_snapshot_exists_while_an_advance_runs() -> None:
    with running(FIRST) as client:
        set_callback(client)
        client.pay()

        async def taken_meanwhile() -> None:
            advances = asyncio.ensure_future(client.live.driver.advance(None))
            await asyncio.sleep(0)
            assert client.live.driver.advancing is not None
            with pytest.raises(NotNow, match="advanced"):
                take(client.live, 1)
            await advances

        client.run(taken_meanwhile())
        take(client.live, 1)


def test_no_snapshot_exists_of_a_deleted_sandbox() -> None:
    with running(FIRST) as client:
        client.live.stop()
        with pytest.raises(NotNow, match="deleted"):
            take(client.live, 0)


def test_parts_are_refused_when_something_happens_between_two_of_them() -> None:
    with running(FIRST) as client:
        parts = parts_of(client.live)
        next(parts)
        client.pay()
        with pytest.raises(NotNow, match="happened"):
            list(parts)


def test_taking_a_snapshot_leaves_the_sandbox_unchanged() -> None:
    with running(FIRST) as client:
        set_callback(client)
        client.pay()
        client.advance(5)
        first = take(client.live, 9)
        assert take(client.live, 9) == first
        assert first.now == client.live.clock.now()


SCRIPT = """
import hashlib
from tests.support.client import running
from tests.support.snapshots import take
from tests.support.taped_plays import FIRST, conditions, drawn_outcomes, set_callback

with running(FIRST) as client:
    set_callback(client)
    conditions(client)
    drawn_outcomes(client)
    for one in client.live.journal:
        one.duration_us = 0  # measured
    for name, content in take(client.live, len(client.live.tape)).parts.items():
        print(name, hashlib.sha256(content).hexdigest())
"""


@pytest.mark.slow
def test_a_snapshot_has_equal_bytes_under_any_hash_seed() -> None:
    def of(seed: str) -> list[str]:
        environment: dict[str, Any] = {**os.environ, "PYTHONHASHSEED": seed}
        environment.pop("RESELLER_SIM_TEST_REPLAYS", None)
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().splitlines()

    first = of("1")
    assert len(first) > 8
    assert any(line.startswith(HEAD) for line in first)
    assert of("2") == of("3") == first
