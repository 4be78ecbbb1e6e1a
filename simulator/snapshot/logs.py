"""The journal of a sandbox, its events, what its attempts sent, and their traces, in a snapshot."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from simulator.domain.model.effects import Outgoing
from simulator.domain.model.happenings import Posted, StatusChanged
from simulator.domain.model.notifications import Notification
from simulator.domain.model.resellers import Reseller
from simulator.replay.sharing import Shared
from simulator.runtime.event_items import Item
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.traces import Traced
from simulator.snapshot.chunks import ENCODER, numbered, parts_of_log, rows_of, unnumbered
from simulator.snapshot.values import Reading, Writing, opened

JOURNAL, EXCHANGES, EVENTS, HAPPENED, SENT = "journal", "journal/requests", "events", "events/items", "sent"
TRACES = "traces"
EXCHANGES_SIZE, EVENTS_SIZE = 64, 256


def written(live: LiveSandbox) -> Iterator[tuple[str, bytes]]:
    """The parts of these logs."""
    journal, events = live.journal, live.events
    yield JOURNAL, ENCODER.encode([[], [journal.last_n, journal.left_out]])
    for name, ones in numbered(EXCHANGES, journal, lambda one: one.n, EXCHANGES_SIZE):
        yield name, ENCODER.encode(ones)
    kept = list(events.kept())
    rows = list(enumerate(kept, events.count - len(kept) + 1))
    yield EVENTS, ENCODER.encode([[], events.count])
    for name, found in numbered(HAPPENED, rows, lambda one: one[0], EVENTS_SIZE):
        writing = Writing()
        yield name, writing.part([[writing.plain(wall), _item(writing, item)] for _, (item, wall) in found])
    yield from unnumbered(SENT, live.courier.sent)
    yield from unnumbered(TRACES, live.courier.traces)


def _item(writing: Writing, item: Item) -> Any:
    match item:
        case StatusChanged(number, place):
            return ["status", number, place]
        case Posted(reseller, entry):
            return ["posted", reseller, entry.id]
        case Notification():
            return ["notification", item.n, writing.plain(item)]
        case _:
            return writing.plain(item)


def restore(live: LiveSandbox, parts: Mapping[str, bytes], shared: Shared) -> None:
    """Have these logs as they were, with the very records that are `shared`; the state is there already."""
    with opened(parts, JOURNAL, type_=tuple[int, int]) as (_, (last_n, left_out)):
        live.journal.restore(map(shared.request, rows_of(parts, EXCHANGES, Exchange)), last_n, left_out)
    with opened(parts, EVENTS, type_=int) as (_, total):
        live.events.restore(_events(live, parts), total)
    sent = rows_of(parts, SENT, tuple[str, int, Outgoing])
    live.courier.traces.restore(rows_of(parts, TRACES, Traced))
    live.courier.sent.restore((job, attempt, shared.outgoing(job, attempt, one)) for job, attempt, one in sent)


def _events(live: LiveSandbox, parts: Mapping[str, bytes]) -> Iterator[Any]:
    state = live.core.state
    emails = {one.n: one for one in state.notifications}
    for name, _ in parts_of_log(parts, HAPPENED):
        with opened(parts, name) as (reading, rows):
            for wall, plain in rows:
                yield _happened(reading, plain, state.resellers, emails), reading.value(wall)


def _happened(
    reading: Reading,
    plain: Any,
    resellers: Mapping[str, Reseller],
    emails: Mapping[int, Notification],
) -> Any:
    match plain:
        case ["status", number, place]:
            return StatusChanged(number, place)
        case ["posted", code, id_]:
            return Posted(code, resellers[code].wallet.entry(id_))
        case ["notification", n, written_out]:
            return emails.get(n) or reading.value(written_out)
        case _:
            return reading.value(plain)


assert issubclass(Exchange, msgspec.Struct), "its own encoding is that of its parts"
