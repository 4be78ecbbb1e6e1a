"""The agenda in a snapshot, by tickets, and the cases that parts of it are about.

There may be a step on it for every payment, so steps are written in columns, which are read without looking at each.
"""

from collections.abc import Container, Iterator, Mapping
from itertools import chain
from operator import itemgetter
from typing import Any, Final

import msgspec

from simulator.domain.due import StepDue
from simulator.domain.model.agenda import Due
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
_STEPS_DECODER: Final = msgspec.msgpack.Decoder(tuple[list[int], list[Due[StepDue]]])

KEYS: Keys = {
    Transaction: lambda one: one.number,
    Callback: lambda one: one.id,
    Delivery: lambda one: one.id,
    Case: lambda one: one.id,
}
"""How others refer to these."""


def changes(state: State) -> dict[str, object]:
    """What tells which parts of the steps have changed since somebody asked last, by their names."""
    agenda = state.agenda
    return {f"{STEPS}/{part}": count for part, count in agenda.removed.changes(agenda.parts, agenda.added).items()}


def written(state: State, jobs: Others, unchanged: Container[str] = ()) -> Iterator[tuple[str, bytes]]:
    """The parts of the cases and of the agenda, without what was cancelled; of the `unchanged` ones the names alone.
    Jobs that are due are added to `jobs`."""
    cases = sorted(chain.from_iterable(state.cases.values()), key=_number)
    for name, ones in numbered(CASES, cases, _number, SIZE):
        writing = Writing(KEYS)
        yield name, writing.part([writing.members(one) for one in ones])
    steps, rest = state.agenda.kept()
    yield from _steps(steps, state.agenda.parts, unchanged)
    for name, rows in numbered(OTHERS, rest.items(), _ticket, SIZE):
        writing = Writing(KEYS)
        plain = writing.plain
        yield name, writing.part([[ticket, plain(due.at), plain(due.item)] for ticket, due in rows])
        jobs.add(due.item for _, due in rows)
    yield AGENDA, Writing().part(state.agenda.added)


def _steps(steps: dict[int, Due[Any]], parts: range, unchanged: Container[str]) -> Iterator[tuple[str, bytes]]:
    """Those of the unchanged parts are not looked at: a copy of the process would need memory of its own for each."""
    for part in parts:
        name = f"{STEPS}/{part}"
        if name in unchanged:
            yield name, b""
        elif tickets := [ticket for ticket in range(part * PART, (part + 1) * PART) if ticket in steps]:
            yield name, _STEPS_ENCODER.encode((tickets, [steps[ticket] for ticket in tickets]))


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
    many: dict[int, Due[Any]] = {}
    for name, content in parts_of_log(parts, STEPS):
        with reading_part(name):
            tickets, steps = _STEPS_DECODER.decode(content)
            many.update(zip(tickets, steps, strict=True))
    others: dict[int, Due[Any]] = {}
    for name, _ in parts_of_log(parts, OTHERS):
        with opened(parts, name, finders) as (reading, rows):
            for ticket, due, item in rows:
                others[ticket] = Due(reading.value(due), reading.value(item))
    with opened(parts, AGENDA, type_=int) as (_, added):
        state.agenda.restore(many, others, added)
