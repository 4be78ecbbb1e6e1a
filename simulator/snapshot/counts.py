"""What a state counts and remembers beside its records, in a snapshot: counts, spent nonces, request rates, e-mails."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from simulator.domain.model.limits import Spent, SpentAt
from simulator.domain.state import State
from simulator.snapshot.chunks import numbered, parts_of_log, rows_of, unnumbered
from simulator.snapshot.values import Writing, opened

COUNTS, NONCES, NOTIFICATIONS = "counts", "nonces", "notifications"
WINDOWS, BLOCKED = "rates/windows", "rates/blocked"
SIZE = 64

# Members of the state that are written whole, as they are or as dicts.
_VALUES = ("rules_added", "cases_made", "callbacks_made", "catalog_changes", "keys_made")
_DICTS = ("noted", "bills_paid", "callback_counts", "webhook_counts")


def written(state: State) -> Iterator[tuple[str, bytes]]:
    """The parts of all these."""
    writing = Writing()
    spent, oldest_until, latest = state.nonces.kept()
    content = {
        **{name: getattr(state, name) for name in _VALUES},
        **{name: writing.plain(dict(getattr(state, name))) for name in _DICTS},
        "now": writing.plain(state.now),
        "network": writing.plain(dict(state.network.kept)),
        "nonces_until": writing.plain(oldest_until),
        "nonce": writing.plain(latest),
        "notifications_left_out": state.notifications.left_out,
    }
    yield COUNTS, writing.part(content)
    yield from unnumbered(NONCES, spent.items())
    windows, blocked = state.rates.kept() if state.rates is not None else ([], [])
    yield from unnumbered(WINDOWS, windows)
    yield from unnumbered(BLOCKED, blocked)
    for name, ones in numbered(NOTIFICATIONS, state.notifications, lambda one: one.n, SIZE):
        writing = Writing()
        yield name, writing.part([writing.plain(one) for one in ones])


def restore(state: State, parts: Mapping[str, bytes]) -> None:
    """Have all of it as it was; the state has its scenario already."""
    with opened(parts, COUNTS) as (reading, content):
        for name in _VALUES:
            setattr(state, name, content[name])
        for name in _DICTS:
            getattr(state, name).update(reading.value(content[name]))
        state.now = reading.value(content["now"])
        state.network.restore(reading.value(content["network"]))
        spent = rows_of(parts, NONCES, tuple[Spent, SpentAt])
        state.nonces.restore(spent, reading.value(content["nonces_until"]), reading.value(content["nonce"]))
        left_out = content["notifications_left_out"]
    if state.rates is not None:
        windows = rows_of(parts, WINDOWS, tuple[str, datetime, int])
        state.rates.restore(windows, rows_of(parts, BLOCKED, tuple[str, datetime]))
    found = []
    for name, _ in parts_of_log(parts, NOTIFICATIONS):
        with opened(parts, name) as (reading, rows):
            found += [reading.value(row) for row in rows]
    state.notifications.restore(found, left_out)
