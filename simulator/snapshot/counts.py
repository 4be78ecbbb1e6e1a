"""What a state counts and remembers beside its records, in a snapshot: counts, spent nonces, request rates, e-mails."""

from collections.abc import Container, Iterator, Mapping
from datetime import datetime
from itertools import takewhile

from simulator.domain.model.nonces import Nonces
from simulator.domain.model.packed.nonce_parts import NonceParts, Row, part_of, rows_in
from simulator.domain.model.part_counts import SIZE as PART
from simulator.domain.state import State
from simulator.snapshot.chunks import numbered, parts_of_log, rows_of, unnumbered
from simulator.snapshot.snapshot import reading_part
from simulator.snapshot.values import Writing, opened

COUNTS, NONCES, NOTIFICATIONS = "counts", "nonces", "notifications"
WINDOWS, BLOCKED = "rates/windows", "rates/blocked"
SIZE = 64

# Members of the state that are written whole, as they are or as dicts.
_VALUES = ("rules_added", "cases_made", "callbacks_made", "catalog_changes", "keys_made")
_DICTS = ("noted", "bills_paid", "callback_counts", "webhook_counts")


def changes(state: State) -> dict[str, object]:
    """What tells which parts of the nonces have changed since somebody asked last, by their names."""
    nonces = state.nonces
    added = nonces.kept()[2]
    return {f"{NONCES}/{part}": count for part, count in nonces.removed.changes(nonces.parts, added).items()}


def written(state: State, unchanged: Container[str] = (), *, has_filters: bool = False) -> Iterator[tuple[str, bytes]]:
    """The parts of all these; of the `unchanged` ones the names alone. With filters, nonces may stay packed."""
    writing = Writing()
    oldest_until, latest, added = state.nonces.kept()
    content = {
        **{name: getattr(state, name) for name in _VALUES},
        **{name: writing.plain(dict(getattr(state, name))) for name in _DICTS},
        "now": writing.plain(state.now),
        "network": writing.plain(dict(state.network.kept)),
        "nonces_until": writing.plain(oldest_until),
        "nonce": writing.plain(latest),
        "nonces_spent": added,
        "notifications_left_out": state.notifications.left_out,
    }
    yield COUNTS, writing.part(content)
    yield from _nonces(state.nonces, unchanged, has_filter=has_filters)
    windows, blocked = state.rates.kept() if state.rates is not None else ([], [])
    yield from unnumbered(WINDOWS, windows)
    yield from unnumbered(BLOCKED, blocked)
    for name, ones in numbered(NOTIFICATIONS, state.notifications, lambda one: one.n, SIZE):
        writing = Writing()
        yield name, writing.part([writing.plain(one) for one in ones])


def _nonces(spent: Nonces, unchanged: Container[str], *, has_filter: bool) -> Iterator[tuple[str, bytes]]:
    known = {part for part in spent.parts if f"{NONCES}/{part}" in unchanged}
    yield from ((f"{NONCES}/{part}", b"") for part in known)
    rows = _changed(spent, known, len(spent.parts) - len(known))
    for name, ones in numbered(NONCES, rows, lambda one: one[1][2], PART):
        yield name, part_of(ones, has_filter=has_filter)


def _changed(spent: Nonces, known: Container[int], count: int) -> list[Row]:
    """Those in `count` parts that are not known. They are the oldest or the newest as a rule; no others are looked at
    then, for which a copy of the process would need memory of its own."""

    def is_changed(one: Row) -> bool:
        return one[1][2] // PART not in known

    newest = list(takewhile(is_changed, spent.newest_first()))[::-1]
    oldest = list(takewhile(is_changed, spent.items())) if len(newest) < len(spent) else []
    if len({one[1][2] // PART for one in (*oldest, *newest)}) == count:
        return oldest + newest
    return list(filter(is_changed, spent.items()))


def restore(state: State, parts: Mapping[str, bytes]) -> None:
    """Have all of it as it was; the state has its scenario already."""
    with opened(parts, COUNTS) as (reading, content):
        for name in _VALUES:
            setattr(state, name, content[name])
        for name in _DICTS:
            getattr(state, name).update(reading.value(content[name]))
        state.now = reading.value(content["now"])
        state.network.restore(reading.value(content["network"]))
        latest = reading.value(content["nonces_until"]), reading.value(content["nonce"]), content["nonces_spent"]
        state.nonces.restore(*_read_nonces(parts), *latest)
        left_out = content["notifications_left_out"]
    if state.rates is not None:
        windows = rows_of(parts, WINDOWS, tuple[str, datetime, int])
        state.rates.restore(windows, rows_of(parts, BLOCKED, tuple[str, datetime]))
    found = []
    for name, _ in parts_of_log(parts, NOTIFICATIONS):
        with opened(parts, name) as (reading, rows):
            found += [reading.value(row) for row in rows]
    state.notifications.restore(found, left_out)


def _read_nonces(parts: Mapping[str, bytes]) -> tuple[NonceParts, list[Row]]:
    """The parts that stay packed, and what is in those that follow, of which the newest is one."""
    found, packed = parts_of_log(parts, NONCES), NonceParts()
    rows: list[Row] = []
    for left, (name, content) in zip(reversed(range(len(found))), found, strict=True):
        with reading_part(name):
            first = int(name.removeprefix(f"{NONCES}/")) * PART
            numbers = range(first, first + PART)
            if not left or rows or not packed.add(content, numbers):
                rows += rows_in(content, numbers)
    return packed, rows
