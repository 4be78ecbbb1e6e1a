"""The agenda in a snapshot, by tickets, and the cases that parts of it are about.

There may be a step on it for every payment, so steps are written in columns, which are read without looking at each.
"""

from collections.abc import Container, Iterator, Mapping
from datetime import datetime
from itertools import chain
from operator import itemgetter
from typing import Any, Final

import msgspec

from simulator.domain.due import StepDue
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.cases import Case
from simulator.domain.model.part_counts import SIZE as PART
from simulator.domain.model.transactions import Transaction
from simulator.domain.model.webhooks import Delivery
from simulator.domain.state import State
from simulator.snapshot.chunks import numbered, parts_of_log
from simulator.snapshot.copies import Copies
from simulator.snapshot.jobs import Jobs, Others
from simulator.snapshot.snapshot import reading_part
from simulator.snapshot.values import Finders, Keys, Writing, opened

AGENDA, STEPS, OTHERS, CASES = "agenda", "agenda/steps", "agenda/others", "cases"
SIZE = 128

_STEPS_ENCODER: Final = msgspec.msgpack.Encoder()
_STEPS_DECODER: Final = msgspec.msgpack.Decoder(tuple[list[int], list[datetime], list[StepDue]])

KEYS: Keys = {
    Transaction: lambda one: one.number,
    Callback: lambda one: one.id,
    Delivery: lambda one: one.id,
    Case: lambda one: one.id,
}
"""How others refer to these."""


def changes(state: State) -> dict[str, object]:
    """What tells which parts of the steps have changed since somebody asked last, by their names."""
    items, agenda = state.agenda.kept()[1], state.agenda
    bounds = (next(iter(items)), next(reversed(items))) if items else ()
    return {f"{STEPS}/{part}": count for part, count in agenda.removed.changes(bounds, agenda.added).items()}


def written(state: State, others: Others, unchanged: Container[str] = ()) -> Iterator[tuple[str, bytes]]:
    """The parts of the cases and of the agenda, without what was cancelled; of the `unchanged` ones the names alone.
    Jobs that are due are added to `others`."""
    cases = sorted(chain.from_iterable(state.cases.values()), key=_number)
    for name, ones in numbered(CASES, cases, _number, SIZE):
        writing = Writing(KEYS)
        yield name, writing.part([writing.members(one) for one in ones])
    heap, items = state.agenda.kept()
    others_at = {ticket for ticket, item in items.items() if type(item) is not StepDue}
    known = {part for part in range(state.agenda.added // PART + 1) if f"{STEPS}/{part}" in unchanged}
    yield from ((f"{STEPS}/{part}", b"") for part in known)
    due = {
        ticket: at for at, ticket in heap if ticket in items and (ticket // PART not in known or ticket in others_at)
    }
    steps = (ticket for ticket in sorted(due) if ticket not in others_at)
    for name, tickets in numbered(STEPS, steps, int, PART):
        columns = tickets, [due[ticket] for ticket in tickets], [items[ticket] for ticket in tickets]
        yield name, _STEPS_ENCODER.encode(columns)
    rest = ((ticket, items[ticket]) for ticket in sorted(others_at))
    for name, rows in numbered(OTHERS, rest, _ticket, SIZE):
        writing = Writing(KEYS)
        yield name, writing.part([[ticket, writing.plain(due[ticket]), writing.plain(item)] for ticket, item in rows])
        others.add(item for _, item in rows)
    yield AGENDA, Writing().part(state.agenda.added)


_ticket = itemgetter(0)


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
    heap: list[tuple[datetime, int]] = []
    items: dict[int, Any] = {}
    for name, content in parts_of_log(parts, STEPS):
        with reading_part(name):
            tickets, due, steps = _STEPS_DECODER.decode(content)
            heap.extend(zip(due, tickets, strict=True))
            items.update(zip(tickets, steps, strict=True))
    count = len(items)
    for name, _ in parts_of_log(parts, OTHERS):
        with opened(parts, name, finders) as (reading, rows):
            for ticket, at, item in rows:
                heap.append((reading.value(at), ticket))
                items[ticket] = reading.value(item)
    if 0 < count < len(items):
        items = dict(sorted(items.items(), key=_ticket))
    with opened(parts, AGENDA, type_=int) as (_, added):
        state.agenda.restore(heap, items, added)
