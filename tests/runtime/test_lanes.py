"""Deliveries of an advance are side by side, begin in order, and their results are in order."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

from simulator.runtime.lanes import SIDE_BY_SIDE_MAX, Lanes, results_in_order


def send(number: int, lane: str = "", url: str = "http://127.0.0.1/") -> Any:
    return SimpleNamespace(number=number, job=SimpleNamespace(lane=lane or f"lane {number}", url=url))


class Receiver:
    """Answers in the reverse order when as many as there can be are in the air."""

    def __init__(self, together: int) -> None:
        self.begun: list[int] = []
        self.most = 0
        self._together = together
        self._waiting: list[asyncio.Future[None]] = []

    async def deliver(self, one: Any) -> Any:
        self.begun.append(one.number)
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(answered)
        self.most = max(self.most, len(self._waiting))
        if len(self._waiting) == self._together:
            for each in reversed(self._waiting):
                each.set_result(None)
            self._waiting.clear()
        await answered
        return one.number


def test_one_receiver_gets_many_at_a_time_and_no_more_than_there_may_be() -> None:
    receiver = Receiver(SIDE_BY_SIDE_MAX)
    sends = [send(number) for number in range(2 * SIDE_BY_SIDE_MAX)]
    results: list[Any] = asyncio.run(results_in_order(sends, receiver.deliver))
    assert results == list(range(2 * SIDE_BY_SIDE_MAX))
    assert receiver.begun == list(range(2 * SIDE_BY_SIDE_MAX))
    assert receiver.most == SIDE_BY_SIDE_MAX


def test_deliveries_of_a_transaction_and_to_an_inbox_wait_for_each_other() -> None:
    for same in ([send(0, "one"), send(1, "one")], [send(0, url="inbox:a"), send(1, url="inbox:a")]):
        receiver = Receiver(1)
        results: list[Any] = asyncio.run(results_in_order(same, receiver.deliver))
        assert results == [0, 1]
        assert receiver.most == 1


def test_transactions_with_two_callbacks_at_one_instant_are_side_by_side() -> None:
    receiver = Receiver(20)
    sends = [send(number, f"transaction {number // 2}") for number in range(40)]
    results: list[Any] = asyncio.run(results_in_order(sends, receiver.deliver))
    assert results == list(range(40))
    assert receiver.begun == [*range(0, 40, 2), *range(1, 40, 2)]
    assert receiver.most == 20


def test_a_lane_whose_url_changes_takes_the_turn_of_each_receiver_in_order() -> None:
    happened: list[str] = []

    @asynccontextmanager
    async def turn(url: str) -> AsyncIterator[Callable[[], bool]]:
        happened.append(f"turn at {url}")
        yield lambda: False

    async def deliver(lane: list[Any]) -> None:
        happened.extend(f"send to {one.job.url}" for one in lane)

    async def main() -> None:
        lanes = Lanes(turn, deliver, lambda one: False, deliver)  # type: ignore[arg-type]
        lanes.collect([send(0, "one", "inbox:a"), send(1, "one"), send(2, "one")])
        await lanes.finish()

    asyncio.run(main())
    there = "http://127.0.0.1/"
    assert happened == ["turn at inbox:a", "send to inbox:a", f"turn at {there}", *[f"send to {there}"] * 2]
