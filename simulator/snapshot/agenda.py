"""The agenda in a snapshot, by tickets, and the cases that parts of it are about.

There may be a step on it for every payment, so steps are in parts that the agenda packs, and leaves packed at first.
"""

from collections.abc import Container, Iterator, Mapping
from itertools import chain
from operator import itemgetter
from typing import Any

from simulator.domain.model.callbacks import Callback
from simulator.domain.model.cases import Case
from simulator.domain.model.packed.due_parts import Due
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
    removed = agenda.many.removed
    return {f"{STEPS}/{part}": count for part, count in removed.changes(agenda.many.parts(), agenda.added).items()}


def written(state: State, jobs: Others, unchanged: Container[str] = ()) -> Iterator[tuple[str, bytes]]:
    """The parts of the cases and of the agenda, without what was cancelled; of the `unchanged` ones the names alone.
    Jobs that are due are added to `jobs`."""
    cases = sorted(chain.from_iterable(state.cases.values()), key=_number)
    for name, ones in numbered(CASES, cases, _number, SIZE):
        writing = Writing(KEYS)
        yield name, writing.part([writing.members(one) for one in ones])
    steps = state.agenda.many
    for part in steps.parts():
        name = f"{STEPS}/{part}"
        yield name, b"" if name in unchanged else steps.content(part)
    for name, rows in numbered(OTHERS, state.agenda.others().items(), _ticket, SIZE):
        writing = Writing(KEYS)
        plain = writing.plain
        yield name, writing.part([[ticket, plain(due.at), plain(due.item)] for ticket, due in rows])
        jobs.add(due.item for _, due in rows)
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
    others: dict[int, Due[Any]] = {}
    for name, _ in parts_of_log(parts, OTHERS):
        with opened(parts, name, finders) as (reading, rows):
            for ticket, due, item in rows:
                others[ticket] = Due(reading.value(due), reading.value(item))
    for name, content in parts_of_log(parts, STEPS):
        with reading_part(name):
            state.agenda.many.restore(content)
    with opened(parts, AGENDA, type_=int) as (_, added):
        state.agenda.restore(others, added)
