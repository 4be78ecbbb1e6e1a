"""The agenda in a snapshot, by tickets, and the cases that parts of it are about."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

from simulator.domain.model.callbacks import Callback
from simulator.domain.model.cases import Case
from simulator.domain.model.transactions import Transaction
from simulator.domain.model.webhooks import Delivery
from simulator.domain.state import State
from simulator.snapshot.chunks import ENCODER, numbered, parts_of_log, rows_of
from simulator.snapshot.copies import Copies
from simulator.snapshot.jobs import Jobs, Others
from simulator.snapshot.values import Finders, Keys, Writing, opened

AGENDA, HEAP, TICKETS, CASES = "agenda", "agenda/heap", "agenda/tickets", "cases"
SIZE, HEAP_SIZE = 128, 1024

KEYS: Keys = {
    Transaction: lambda one: one.number,
    Callback: lambda one: one.id,
    Delivery: lambda one: one.id,
    Case: lambda one: one.id,
}
"""How others refer to these."""


def written(state: State, others: Others) -> Iterator[tuple[str, bytes]]:
    """The parts of the cases and of the agenda, with the tickets of what was cancelled; jobs that are due are added to
    `others`."""
    cases = sorted(chain.from_iterable(state.cases.values()), key=_number)
    for name, ones in numbered(CASES, cases, _number, SIZE):
        writing = Writing(KEYS)
        yield name, writing.part([writing.members(one) for one in ones])
    heap, items = state.agenda.kept()
    for place in range(0, len(heap), HEAP_SIZE):
        yield f"{HEAP}/{place // HEAP_SIZE}", ENCODER.encode(heap[place : place + HEAP_SIZE])
    for name, rows in numbered(TICKETS, items.items(), lambda one: one[0], SIZE):
        writing = Writing(KEYS)
        yield name, writing.part([[ticket, writing.plain(item)] for ticket, item in rows])
        others.add(item for _, item in rows)
    yield AGENDA, Writing().part(state.agenda.added)


def _number(case: Case) -> int:
    return int(case.id.rpartition("-")[2])


def finders_of(transactions: Copies, jobs: Jobs, cases: Mapping[str, Case]) -> Finders:
    """What finds again what is referred to."""
    return {
        "Transaction": transactions.__getitem__,
        "Callback": jobs.__getitem__,
        "Delivery": jobs.__getitem__,
        "Case": cases.__getitem__,
    }


def restore(state: State, parts: Mapping[str, bytes], transactions: Copies, jobs: Jobs) -> None:
    """Have the cases and the agenda as they were."""
    cases: dict[str, Case] = {}
    finders = finders_of(transactions, jobs, cases)
    for name, _ in parts_of_log(parts, CASES):
        with opened(parts, name, finders) as (reading, rows):
            for case in map(reading.value, rows):
                cases[case.id] = case
                state.cases.setdefault(case.transaction.trxid, []).append(case)
    items: dict[int, Any] = {}
    for name, _ in parts_of_log(parts, TICKETS):
        with opened(parts, name, finders) as (reading, rows):
            for ticket, item in rows:
                items[ticket] = reading.value(item)
    heap = list(rows_of(parts, HEAP, tuple[datetime, int]))
    with opened(parts, AGENDA, type_=int) as (_, added):
        state.agenda.restore(heap, items, added)
