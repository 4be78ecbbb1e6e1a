"""`/_sim/sandboxes/{id}/ledger`: the entries of all wallets, newest first.

Entries of equal times are ordered by reseller and number, so a place in the list consists of these three. Places are
stable while entries are posted, and bisection finds them in each wallet: a page costs the same for any number of
entries.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from heapq import merge
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from simulator.control import render
from simulator.control.filters import query_of, refuse_unknown_reseller
from simulator.control.http import PageRequest, page, reply, sandbox_of
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.wallet import Entry, EntryType
from simulator.domain.state import State, payment_with

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class LedgerPlace(NamedTuple):
    """The place of an entry in the list: its time, the number of its reseller and its `id`."""

    at: datetime
    reseller: int
    id: int

    def __str__(self) -> str:
        return f"{(self.at - EPOCH) // MICROSECOND}.{self.reseller}.{self.id}"


class LedgerLine(NamedTuple):
    """An entry with its owner and its place."""

    place: LedgerPlace
    reseller: Reseller
    entry: Entry


class LedgerQuery(NamedTuple):
    """A query for entries before a place, of this reseller, type and refid; None for any."""

    before: LedgerPlace | None
    reseller: str | None
    type: EntryType | None
    refid: str | None


async def list_all(request: Request) -> Response:
    """List entries, newest first; `reseller`, `type` and `refid` are filters."""
    live = sandbox_of(request)
    query = query_of(request, "ledger-query")
    refuse_unknown_reseller(live, query)
    state = live.core.state
    before = _place(query["cursor"]) if "cursor" in query else None
    type_ = EntryType(query["type"]) if "type" in query else None
    wanted = LedgerQuery(before, query.get("reseller"), type_, query.get("refid"))
    asked = PageRequest(query["limit"], 0)
    answer = await page("entries", asked, _lines(state, wanted), lambda one: _row(state, one), lambda one: one.place)
    return reply(answer)


def _place(cursor: str) -> LedgerPlace:
    microseconds, reseller, id_ = map(int, cursor.split("."))
    return LedgerPlace(EPOCH + microseconds * MICROSECOND, reseller, id_)


def _lines(state: State, wanted: LedgerQuery) -> Iterator[LedgerLine]:
    lists = [
        _of_reseller(state, number, one, wanted)
        for number, one in enumerate(state.resellers.values())
        if wanted.reseller in (None, one.code)
    ]
    return merge(*lists, key=lambda line: line.place, reverse=True)


def _of_reseller(state: State, number: int, one: Reseller, wanted: LedgerQuery) -> Iterator[LedgerLine]:
    """Yield the matching entries of a reseller, newest first."""
    count = _count_before(one.wallet.entries, number, wanted.before)
    if wanted.refid is None:
        entries = one.wallet.newest_first(wanted.type, count)
    else:
        paid = payment_with(state, one, wanted.refid)
        ids = [id_ for id_ in reversed(paid.entry_ids if paid else ()) if id_ <= count]
        entries = (entry for entry in map(one.wallet.entry, ids) if wanted.type in (None, entry.type))
    for entry in entries:
        yield LedgerLine(LedgerPlace(entry.at, number, entry.id), one, entry)


def _count_before(entries: Sequence[Entry], number: int, before: LedgerPlace | None) -> int:
    """Return how many entries of the reseller with this number come after a place in the list, which has the newest
    first."""
    if before is None:
        return len(entries)
    if number == before.reseller:
        return max(0, min(before.id - 1, len(entries)))
    bisect = bisect_right if number < before.reseller else bisect_left
    return bisect(entries, before.at, key=lambda entry: entry.at)


def _row(state: State, line: LedgerLine) -> dict[str, Any]:
    paid = state.transactions.get(line.entry.trxid)
    return render.entry(line.entry) | {"refid": paid.refid if paid else "", "reseller": line.reseller.code}
