"""The inboxes of a sandbox in a snapshot: their messages, and the place in the program of their replies."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from simulator.runtime.inbox_budget import Received
from simulator.runtime.inbox_messages import Inbox
from simulator.runtime.inboxes import Inboxes
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.snapshot.chunks import ENCODER, numbered, rows_of
from simulator.snapshot.values import Writing, opened

INBOXES, ORDER, MESSAGES = "inboxes", "inboxes/order", "messages"
SIZE = 64
_MEMBERS = ("name", "last_n", "evicted", "left_out_before", "replied", "program")


def written(live: LiveSandbox) -> Iterator[tuple[str, bytes]]:
    """The parts of all inboxes."""
    inboxes, writing = live.inboxes, Writing()
    in_order = _in_order(inboxes)
    content = [[writing.plain(getattr(one, name)) for name in _MEMBERS] for one in in_order]
    yield INBOXES, writing.part([content, list(inboxes.gone)])
    places = {one: place for place, one in enumerate(in_order)}
    yield ORDER, ENCODER.encode([[], [places[one] for one in inboxes.budget.by_age]])
    for inbox in in_order:
        for name, ones in numbered(f"{MESSAGES}/{inbox.name}", inbox.received, lambda one: one.n, SIZE):
            yield name, ENCODER.encode([msgspec.structs.replace(one, serial=0) for one in ones])


def _in_order(inboxes: Inboxes) -> list[Inbox]:
    """Those with replies of their own by their names, then the others in order of their last use."""
    return [*(one for one in inboxes if one.is_programmed), *inboxes.budget.by_use]


def restore(live: LiveSandbox, parts: Mapping[str, bytes]) -> None:
    """Have the inboxes as they were."""
    with opened(parts, INBOXES, type_=tuple[list[Any], tuple[int, int]]) as (reading, (rows, (last_n, left_out))):
        found = [_inbox(live.inboxes, map(reading.value, row)) for row in rows]
    messages = [list(rows_of(parts, f"{MESSAGES}/{one.name}", Received)) for one in found]
    with opened(parts, ORDER, type_=list[int]) as (_, order):
        counted = Counter(order)
        if any(counted[place] != len(of_one) for place, of_one in enumerate(messages)):
            raise ValueError("it does not fit the messages that there are")
        next_of = [iter(of_one) for of_one in messages]
        in_order = [(found[place], next(next_of[place])) for place in order]
        live.inboxes.restore(found, in_order, (last_n, left_out))


def _inbox(home: Inboxes, values: Iterator[Any]) -> Inbox:
    name, last_n, evicted, left_out_before, replied, program = values
    inbox = Inbox(home, name, last_n, left_out_before)
    inbox.evicted = evicted
    inbox.set_program(program, replied)
    return inbox
