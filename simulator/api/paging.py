"""Pages of lists: their size, the days that they cover, and a cache of encoded pages."""

import threading
from collections.abc import Hashable, Iterable
from datetime import UTC, date

from simulator.api.call import ApiCall
from simulator.api.notes import note
from simulator.contract.query import whole
from simulator.domain.model.money import SERVICE_ZONE
from simulator.wire.formats import day_range

LIMIT_DEFAULT = 100
PAGE_MAX = 1000
EMPTY_DAY = date(1970, 1, 1)  # before any sandbox's clock


def days_of(call: ApiCall) -> tuple[tuple[date, date], dict[str, list[str]]]:
    """Return the first and the last day that a request asks for, and the errors of these parameters."""
    try:
        first, last = day_range(call.fields["date"])
    except ValueError as bad:
        return (date.min, date.max), {"date": [str(bad)]}
    if first <= last:
        return (first, last), {}
    if call.sandbox.core.state.assumes("reversed-ranges", "empty"):
        note(call, f"date ends before it begins: no day lies between {first} to {last}")
        return (EMPTY_DAY, EMPTY_DAY), {}
    return (first, last), {"date": ["must not end before it begins"]}


def note_empty(call: ApiCall, days: tuple[date, date], total: int, offset: int, what: str) -> None:
    """Note why a page is empty although records exist: its days exclude today, or it begins after the end."""
    if total:
        if offset >= total:
            note(call, f"this page begins after the end: there are {total} {what}")
        return
    first, last = days
    today, in_utc = call.now.astimezone(SERVICE_ZONE).date(), call.now.astimezone(UTC).date()
    if first <= today <= last or days == (EMPTY_DAY, EMPTY_DAY):
        return
    asked = first if first == last else f"{first} to {last}"
    utc = f" ({in_utc} in UTC)" if in_utc != today else ""
    note(call, f"no {what} of {asked}: days are in GMT+8, where it is {today}{utc}")


def note_filters(call: ApiCall, names: Iterable[str], every: int, what: str) -> None:
    """Note that the filters of these names leave none of `every` records."""
    used = [name for name in names if call.fields.get(name)]
    if used and every:
        note(call, f"no {what} matches {' and '.join(used)}; without a filter there are {every}")


def note_page_behind(call: ApiCall, number: int, last: int, total: int, what: str) -> None:
    """Note that a page is empty because it comes after the last page."""
    if number > last:
        note(call, f"page {number} begins after the end: there are {total} {what}, page {last} is the last")


def page_size(call: ApiCall, parameter: str, maximum: int, assumption: str) -> tuple[int, dict[str, list[str]]]:
    """Return the size of a page, at most `maximum`, and the errors of the parameter. Too large a size is reduced and
    noted, or is an error when `assumption` of the register says `reject`."""
    size = whole(call.fields, parameter, LIMIT_DEFAULT)
    if size <= maximum:
        return size, {}
    if call.sandbox.core.state.assumes(assumption, "reject"):
        return maximum, {parameter: [f"must be at most {maximum}"]}
    note(call, f"a {parameter} of {size} was reduced to {maximum}, the maximum of a page")
    return maximum, {}


class BodyCache:
    """Bodies by key. When the next would exceed the limits, all others are dropped.

    A key may contain ids of objects: pass these objects as `anchors`, which are stored with the body so that their ids
    cannot be reused. Thread-safe: other threads rebuild sandboxes.
    """

    def __init__(self, entries_max: int = 256, bytes_max: int = 32 * 1024 * 1024) -> None:
        self._bodies: dict[Hashable, tuple[object, bytes]] = {}
        self._entries_max, self._bytes_max = entries_max, bytes_max
        self._bytes = 0
        self._changing = threading.Lock()

    def get(self, key: Hashable) -> bytes | None:
        """Return the cached body, or None."""
        found = self._bodies.get(key)
        return None if found is None else found[1]

    def put(self, key: Hashable, anchors: object, body: bytes) -> None:
        """Cache a body that `get` did not find."""
        with self._changing:
            if self._bytes + len(body) > self._bytes_max or len(self._bodies) >= self._entries_max:
                self._bodies, self._bytes = {}, 0
            if len(body) <= self._bytes_max and key not in self._bodies:  # another thread may have put it meanwhile
                self._bodies[key] = (anchors, body)
                self._bytes += len(body)
