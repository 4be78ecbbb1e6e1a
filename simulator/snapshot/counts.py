"""What a state counts and remembers beside its records, in a snapshot: counts, spent nonces, request rates, e-mails."""

from collections.abc import Container, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain, takewhile
from typing import Final

import msgspec

from simulator.domain.model.nonces import Nonces, Spent, SpentAt
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


_ENCODER: Final = msgspec.msgpack.Encoder()
_NONCES: Final = msgspec.msgpack.Decoder(tuple[list[str], list[int], list[bytes], list[datetime], list[int], list[int]])
"""The columns of a part of the nonces: scopes, the place of the scope of each nonce there, nonces, times, timestamps,
numbers."""


def changes(state: State) -> dict[str, object]:
    """What tells which parts of the nonces have changed since somebody asked last, by their names."""
    nonces = state.nonces
    added = nonces.kept()[2]
    return {f"{NONCES}/{part}": count for part, count in nonces.removed.changes(nonces.parts, added).items()}


def written(state: State, unchanged: Container[str] = ()) -> Iterator[tuple[str, bytes]]:
    """The parts of all these; of the `unchanged` ones the names alone."""
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
    yield from _nonces(state.nonces, unchanged)
    windows, blocked = state.rates.kept() if state.rates is not None else ([], [])
    yield from unnumbered(WINDOWS, windows)
    yield from unnumbered(BLOCKED, blocked)
    for name, ones in numbered(NOTIFICATIONS, state.notifications, lambda one: one.n, SIZE):
        writing = Writing()
        yield name, writing.part([writing.plain(one) for one in ones])


def _nonces(spent: Nonces, unchanged: Container[str]) -> Iterator[tuple[str, bytes]]:
    known = {part for part in spent.parts if f"{NONCES}/{part}" in unchanged}
    yield from ((f"{NONCES}/{part}", b"") for part in known)
    rows = _changed(spent, known, len(spent.parts) - len(known))
    for name, ones in numbered(NONCES, rows, lambda one: one[1][2], PART):
        keys, values = zip(*ones, strict=True)
        scopes, nonces = zip(*keys, strict=True)
        codes = list(dict.fromkeys(scopes))
        places = {code: place for place, code in enumerate(codes)}
        yield name, _ENCODER.encode((codes, [places[one] for one in scopes], nonces, *zip(*values, strict=True)))


def _changed(spent: Nonces, known: Container[int], count: int) -> list[tuple[Spent, SpentAt]]:
    """Those in `count` parts that are not known. They are the oldest or the newest as a rule; no others are looked at
    then, for which a copy of the process would need memory of its own."""

    def is_changed(one: tuple[Spent, SpentAt]) -> bool:
        return one[1][2] // PART not in known

    newest = list(takewhile(is_changed, spent.newest_first()))[::-1]
    oldest = list(takewhile(is_changed, spent.items())) if len(newest) < len(spent) else []
    if len({one[1][2] // PART for one in (*oldest, *newest)}) == count:
        return oldest + newest
    return list(filter(is_changed, spent.items()))


def _spent(parts: Mapping[str, bytes]) -> Iterator[Iterable[tuple[Spent, SpentAt]]]:
    for name, content in parts_of_log(parts, NONCES):
        with reading_part(name):
            codes, places, nonces, *values = _NONCES.decode(content)
            yield zip(
                zip([codes[place] for place in places], nonces, strict=True), zip(*values, strict=True), strict=True
            )


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
        state.nonces.restore(chain.from_iterable(_spent(parts)), *latest)
        left_out = content["notifications_left_out"]
    if state.rates is not None:
        windows = rows_of(parts, WINDOWS, tuple[str, datetime, int])
        state.rates.restore(windows, rows_of(parts, BLOCKED, tuple[str, datetime]))
    found = []
    for name, _ in parts_of_log(parts, NOTIFICATIONS):
        with opened(parts, name) as (reading, rows):
            found += [reading.value(row) for row in rows]
    state.notifications.restore(found, left_out)
