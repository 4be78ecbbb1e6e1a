"""Reading the catalog and its options (SPEC 2.1, 4.5)."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from itertools import count

from simulator.audit.reading import header, shown
from simulator.audit.registry import Finding, Occasion, obligation
from simulator.audit.traffic import Fetch, Page, Traffic
from simulator.auth import headers as names
from simulator.traffic.seen import Call

LENGTHS = ("limit", "per_page")
PAGING = {"page", *LENGTHS}
FETCHES_MAX = 30
FETCHES_WITHIN = timedelta(minutes=5)


@obligation(
    "all-pages-read",
    "4.5",
    "error",
    "Options are read until current_page equals last_page.",
    "Ask for the next page, with fresh authentication headers, until meta.current_page is meta.last_page.",
)
def all_pages_read(traffic: Traffic) -> Iterator[Occasion]:
    """By everything in the query but the page and its length: a list that was read whole with one length is read."""
    lists: dict[tuple[object, ...], dict[str, list[Page]]] = defaultdict(lambda: defaultdict(list))
    for page in traffic.pages:
        query = tuple(sorted((name, str(value)) for name, value in page.query.items() if name not in PAGING))
        length = next((str(page.query[name]) for name in LENGTHS if name in page.query), "")
        lists[traffic.actor(page.call), query][length].append(page)
    for by_length in lists.values():
        if any(_missing(pages) is None for pages in by_length.values()):
            yield from (None for pages in by_length.values() if max(page.last for page in pages) > 1)
            continue
        pages = list(by_length.values())[-1]
        call, last = pages[-1].call, max(page.last for page in pages)
        words = f"page {_missing(pages)} of {last} of {shown(pages[-1].answer.product_code)} was not read"
        yield Finding((call.n,), f"{words}; the last one was by request {call.n}")


def _missing(pages: list[Page]) -> int | None:
    """The first page that was not read; None when all were."""
    read = {page.number for page in pages}
    missing = next(number for number in count(1) if number not in read)
    return missing if missing <= max(page.last for page in pages) else None


@obligation(
    "catalog-cached",
    "2.1",
    "warning",
    "The catalog is kept while its last_updated stands, and not fetched again and again.",
    "Keep the catalog, compare last_updated every few minutes, and listen to catalog events.",
)
def catalog_cached(traffic: Traffic) -> Iterator[Occasion]:
    """More than 30 times in five minutes. What came while the service's clock stood still counts once."""
    same: dict[tuple[object, ...], list[Fetch]] = defaultdict(list)
    for fetch in traffic.fetches:
        version = header(fetch.call.headers, names.API_VERSION)
        same[traffic.actor(fetch.call), fetch.call.query, version, fetch.last_updated].append(fetch)
    for fetches in same.values():
        moments = list({one.call.at: one.call for one in fetches}.values())
        many = next((found for found in _windows(moments)), None)
        if many is None:
            yield None
        else:
            first, last = many
            words = f"requests {first} to {last} fetched the same catalog more than {FETCHES_MAX} times"
            yield Finding((first, last), f"{words} in five minutes")


def _windows(calls: list[Call]) -> Iterator[tuple[int, int]]:
    for first, last in zip(calls, calls[FETCHES_MAX:], strict=False):
        if last.at - first.at <= FETCHES_WITHIN:
            yield first.n, last.n
