"""Reading long lists page by page (SPEC 4.6, 4.14, 4.17, 4.20). A client may read only a part of a list. A finding is a
page that the client requested in vain or skipped while it read the pages in order."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import msgspec

from simulator.audit.clauses import Finding, Occasion
from simulator.audit.client_traffic import BILLERS, HISTORY, Traffic
from simulator.audit.readers import integer, text
from simulator.audit.seen_catalog import decoded
from simulator.wire.traffic import Call

STATEMENT, DELIVERIES = "/v2/balance-statement", "/v2/balance-webhook/deliveries"
STATEMENT_LIMIT, LIMIT_MAX = 100, 1000
WHOLE = 10**18
"""The length of a list without pages; no list is longer."""

IN_ORDER_MIN = 3
"""A client that has read this many pages from the first page on is assumed to read all pages in order."""

OK, SERVER_ERRORS, PASSING = 200, 500, frozenset({0, 408, 429})


class Meta(msgspec.Struct, gc=False):
    """The length of a list, in either shape."""

    transaction_count: Any = None
    total: Any = None


class ListAnswer(msgspec.Struct, gc=False):
    """The fields of a page that the audit reads. `cursor` and `has_more` are only used for deliveries."""

    meta: Meta | None = None
    data: list[msgspec.Raw] = []
    cursor: Any = None
    has_more: Any = msgspec.field(default=None, name="hasMore")


class ListPart(NamedTuple):
    """A requested part of a list, which begins at `start`. Without an answer the client did not read it."""

    call: Call
    start: int
    length: int
    answer: ListAnswer | None

    @property
    def end(self) -> int:
        """Return the least length of the list that the answer shows."""
        if self.answer is None:
            return 0
        meta = self.answer.meta or Meta()
        told = integer({"n": meta.transaction_count if meta.total is None else meta.total}, "n") or 0
        return max(told, self.start + len(self.answer.data) if self.answer.data else 0)


def history_pages_read(traffic: Traffic) -> Iterator[Occasion]:
    """Compare requests whose queries differ only in `offset` and `limit`."""
    yield from _judged(_lists(traffic, HISTORY, "offset", LIMIT_MAX), "the history")


def statement_pages_read(traffic: Traffic) -> Iterator[Occasion]:
    """Compare requests whose queries differ only in `page` and `limit`."""
    yield from _judged(_lists(traffic, STATEMENT, "page", STATEMENT_LIMIT), "the statement")


def biller_pages_read(traffic: Traffic) -> Iterator[Occasion]:
    """Compare requests whose queries differ only in `page` and `limit`. Without a limit the answer is the whole
    list."""
    yield from _judged(_lists(traffic, BILLERS, "page", WHOLE), "the list of billers")


def delivery_pages_read(traffic: Traffic) -> Iterator[Occasion]:
    """Judge each cursor. A client that starts over and reads to the end has read all pages."""
    asked: dict[str, dict[str, list[ListPart]]] = defaultdict(lambda: defaultdict(list))
    ends: dict[str, int] = {}
    for call in traffic.to("GET", DELIVERIES):
        part = _part(call, 0, 0)
        if part is None:
            continue
        if part.answer is not None and part.answer.has_more is False:
            ends[traffic.actor(call)] = call.n
        if cursor := text(traffic.query(call), "cursor"):
            asked[traffic.actor(call)][cursor].append(part)
    for actor, by_cursor in asked.items():
        for parts in by_cursor.values():
            last = parts[-1].call
            if any(part.answer is not None for part in parts) or ends.get(actor, 0) > last.n:
                yield None
            else:
                yield Finding((last.n,), f"request {last.n} asked in vain for the next page of deliveries")


def _lists(traffic: Traffic, path: str, paging: str, limit: int) -> Iterator[list[ListPart]]:
    """Yield the requested parts of each list: all requests of a client with equal filters. `paging` is `offset` or
    `page`; `limit` is the default length of a part."""
    found: dict[tuple[object, ...], list[ListPart]] = defaultdict(list)
    for call in traffic.to("GET", path):
        query = traffic.query(call)
        length = min(integer(query, "limit") or limit, max(limit, LIMIT_MAX))
        start = integer(query, "offset") or 0 if paging == "offset" else ((integer(query, "page") or 1) - 1) * length
        part = _part(call, max(start, 0), max(length, 1))
        if part is not None:
            filters = sorted((name, str(value)) for name, value in query.items() if name not in (paging, "limit"))
            found[traffic.actor(call), *filters].append(part)
    yield from found.values()


def _part(call: Call, start: int, length: int) -> ListPart | None:
    """Return the requested part; None for a refused request, which the client has to change first."""
    if call.status == OK:
        is_json = call.answer.lstrip()[:1] == b"{"  # otherwise compressed or not recorded
        return ListPart(call, start, length, decoded(call.answer, ListAnswer)) if is_json else None
    is_in_vain = call.status in PASSING or call.status >= SERVER_ERRORS
    return ListPart(call, start, length, None) if is_in_vain else None


def _judged(lists: Iterator[list[ListPart]], what: str) -> Iterator[Occasion]:
    for parts in lists:
        read = [part for part in parts if part.answer is not None]
        end = max((page.end for page in read), default=0)
        vain = [part for part in parts if part.answer is None and part.start < end]
        lost = next((page for page in vain if not _is_read(read, page.start)), None)
        if lost is not None:
            words = f"what request {lost.call.n} asked for, {what} from {lost.start + 1} on, was never read"
            yield Finding((lost.call.n,), words)
        elif (skipped := _skipped(read)) is not None:
            words = f"{what} was read up to {skipped.start - skipped.length}, and then from {skipped.start + 1} on"
            yield Finding((skipped.call.n,), f"{words} by request {skipped.call.n}, without what is between them")
        elif vain or len({page.start for page in read}) > 1:
            yield None


def _skipped(read: list[ListPart]) -> ListPart | None:
    """Return the part after a skipped page if the client had read all pages before that page in order."""
    by_length: dict[int, dict[int, ListPart]] = defaultdict(dict)
    for page in read:
        by_length[page.length][page.start] = page
    for length, by_start in by_length.items():
        gap = next(place for place in count(0, length) if place not in by_start)
        if gap >= IN_ORDER_MIN * length and not _is_read(read, gap) and gap + length in by_start:
            return by_start[gap + length]
    return None


def _is_read(read: list[ListPart], place: int) -> bool:
    return any(page.start <= place < page.start + page.length for page in read)
