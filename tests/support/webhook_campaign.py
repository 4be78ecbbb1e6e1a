"""Many deliveries to a receiver that fails 30 in 100: each is delivered or has exactly its attempts, on schedule."""

import random
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from simulator.domain.commands import Credit
from simulator.domain.model.webhooks import Delivery, DeliveryState
from tests.support.client import Client
from tests.support.receivers import Answer
from tests.support.webhooks import hooked

WAITS = [timedelta(seconds=seconds) for seconds in (10, 60, 300)]
FAILURES: list[Answer] = [500, 503, 429, 404, 302, b"garbage\r\n\r\n"]
FAILING = 0.3


def campaign(count: int, seed: int = 1) -> dict[str, int]:
    """Deposit `count` times over some minutes, let time pass until idle, and hold every delivery against what the
    receiver saw. Returns how many ended how."""
    draw = random.Random(seed)  # noqa: S311  # a test's own dice
    answers: list[Answer] = [draw.choice(FAILURES) if draw.random() < FAILING else 200 for _ in range(count * 2 + 1000)]
    limits = {"deliveries": count, "deliveries_bytes": 2**34}
    with hooked(*answers, limits=limits) as (client, receiver, _):
        _deposit(client, count)
        client.advance()
        while not client.advance()["idle"]:
            pass
        seen: dict[str, list[bool]] = {}
        for got, answer in zip(receiver.got, answers, strict=False):
            seen.setdefault(got.headers["webhook-id"], []).append(answer == 200)
        deliveries = list(client.live.core.state.deliveries)
        assert len(deliveries) == len(seen) == count, "none is lost, none is made up"
        for delivery in deliveries:
            _check(delivery, seen[delivery.event.id])
        assert not client.live.core.violations()
        return {state.value: sum(one.state is state for one in deliveries) for state in DeliveryState}


def _deposit(client: Client, count: int) -> None:
    """A hundred at a time, 7 s of sandbox time apart, so that retries fall between first attempts."""
    live = client.live
    for number in range(count):
        live.apply_and_record(Credit("RS001", Decimal(1)))
        if number % 100 == 99:
            client.advance(7)


def _check(delivery: Delivery, taken: list[bool]) -> None:
    """The receiver saw exactly these attempts, and each came when it was due."""
    is_delivered = taken[-1]
    assert delivery.state is (DeliveryState.SUCCEEDED if is_delivered else DeliveryState.FAILED)
    assert not any(taken[:-1])
    assert len(taken) == len(delivery.attempts)
    assert is_delivered or len(taken) == 4
    times: list[Any] = [attempt.at for attempt in delivery.attempts]
    assert times[0] == delivery.created
    assert [after - before for before, after in pairwise(times)] == WAITS[: len(times) - 1]
