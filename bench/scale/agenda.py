"""Moving time over many agenda entries, beside a bare heap that does the same pushes and pops."""

import gc
import heapq
import random
import time
from datetime import datetime, timedelta

from bench.scale.row import Row
from bench.scale.world import START, UNLIMITED, WALLET, World
from bench.servers import BenchError
from simulator.domain.commands import CreatePayment
from simulator.domain.due import Agenda
from simulator.domain.model.answers import PaymentAnswer

ENTRIES = 1_000_000
RATIO_MAX = 4.0
RESELLER = "RS900"  # nobody is called back
SPAN = timedelta(hours=1)


def moves(count: int = ENTRIES) -> list[Row]:
    """The agenda alone, and a whole `advance` over payments of two later statuses each."""
    gc.disable()
    drawn = random.Random(1)  # noqa: S311 - no secret
    times = [START + SPAN * drawn.random() for _ in range(count)]
    heap_s, agenda_s = _heap_s(times), _agenda_s(times)
    advance_s = _advance_s(count // 2)
    gc.enable()
    us = 1e6 / count
    return [
        Row("a bare heap, per entry", heap_s * us, "µs"),
        Row(f"an agenda of {count:,} entries", agenda_s / heap_s, "heaps", RATIO_MAX),
        Row("an advance over payments, per status", advance_s * us, "µs"),
        Row(f"an advance over {count:,} statuses of payments", advance_s / heap_s, "heaps", RATIO_MAX),
    ]


def _heap_s(times: list[datetime]) -> float:
    began = time.process_time()
    heap: list[tuple[datetime, int]] = []
    for number, due in enumerate(times):
        heapq.heappush(heap, (due, number))
    while heap:
        heapq.heappop(heap)
    return time.process_time() - began


def _agenda_s(times: list[datetime]) -> float:
    began = time.process_time()
    agenda: Agenda[None] = Agenda()
    for due in times:
        agenda.add(due, None)
    while agenda.pop_due(START + SPAN) is not None:
        pass
    return time.process_time() - began


def _advance_s(payments: int) -> float:
    """Payments at times of their own, of which the advance makes two statuses each."""
    then = [{"status": "Accepted"}, {"after": "1h", "status": "Processing"}, {"after": "2h", "status": "Succesful"}]
    reseller = {"code": RESELLER, "email": "r@example.com", "balance": str(WALLET)}
    world = World({**UNLIMITED, "resellers": [reseller], "payments": [{"then": then}]})
    for number in range(payments):
        order = CreatePayment(RESELLER, f"r-{number}", "RELOAD", "0123456789", "10")
        if not isinstance(answer := world.live.apply(order, START + SPAN / payments * number), PaymentAnswer):
            raise BenchError(f"payment {number} was refused: {answer.reason}")
    began = time.process_time()
    world.run(_advance(world))
    took_s = time.process_time() - began
    world.close()
    return took_s


async def _advance(world: World) -> None:
    while (await world.live.driver.advance(START + 4 * SPAN)).stopped:  # after so many events
        pass
