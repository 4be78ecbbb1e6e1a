"""The catalog, its options, plans, bills and billers (SPEC 2.1, 2.2, 4.5, 4.6, 4.10, 4.11, 9)."""

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from itertools import count

from simulator.audit.clauses import Finding, Occasion
from simulator.audit.client_traffic import BILL, BILLERS, Fetch, OptionsPage, Traffic
from simulator.audit.readers import header, inner, members, quote, text
from simulator.auth import headers as names
from simulator.domain.model.bills import BillError
from simulator.wire.bill_answers import ERRORS

_OF_A_CODE = re.compile("unknown|option code", re.IGNORECASE)
PLAN_CODE_FAILURE = 44


def denomination_is_paid(traffic: Traffic) -> Iterator[Occasion]:
    """Judge by the options that the client read before it paid."""
    for order in traffic.orders:
        seen_catalog = traffic.catalogs.seen
        if order.code:
            chosen = seen_catalog.offers.before(order.n, (order.product, order.code))
            offers = [] if chosen is None else [chosen]
        else:
            offers = list(seen_catalog.offers_before(order.n, order.product))
        known = [offer for offer in offers if offer.denomination is not None]
        if not known or order.amount is None:
            continue
        is_denomination = any(order.amount == offer.denomination for offer in known)
        if not is_denomination and any(order.amount == offer.price for offer in known):
            yield Finding((order.n,), f"request {order.n} pays {order.amount}, an option's price and no denomination")
        else:
            yield None


def plan_code_sent(traffic: Traffic) -> Iterator[Occasion]:
    """Report a payment without a plan code that was refused with 44. Refusals are excused if the amount identifies the
    plan, or if they are about a code that was not sent."""
    for payment in traffic.payments:
        if not payment.code and payment.status_code == PLAN_CODE_FAILURE and not _OF_A_CODE.match(payment.remarks):
            yield Finding((payment.n,), f"request {payment.n} names no plan of {quote(payment.product)}")
        elif payment.code or next(traffic.catalogs.seen.offers_before(payment.n, payment.product), None) is not None:
            yield None


def plan_code_exact(traffic: Traffic) -> Iterator[Occasion]:
    """Judge by the codes that the client has read at any time."""
    for order in traffic.orders:
        codes = traffic.catalogs.seen.codes.get((order.product, order.code.strip().casefold())) if order.code else None
        if codes is None:
            continue
        if order.code in codes:
            yield None
        else:
            yield Finding((order.n,), f"request {order.n} sends {quote(order.code)} for {quote(min(codes))}")


def coming_option_shape(traffic: Traffic) -> Iterator[Occasion]:
    """Report a payment of a plan that was last listed without its denomination."""
    for order in traffic.orders:
        offer = traffic.catalogs.seen.offers.before(order.n, (order.product, order.code)) if order.code else None
        if offer is None:
            continue
        if offer.denomination is None:
            yield Finding(
                (order.n,), f"request {order.n} pays for {quote(order.code)}, which was read without a denomination"
            )
        else:
            yield None


INVALID_ACCOUNT, _ = ERRORS[BillError.ACCOUNT]


def invalid_account_not_paid(traffic: Traffic) -> Iterator[Occasion]:
    """Judge by the last look-up of the product and account before the payment."""
    looked_up: dict[tuple[str, ...], list[tuple[int, bool]]] = {}
    for call in traffic.to("GET", BILL):
        query = traffic.query(call)
        key = (traffic.actor(call), *(text(query, name) for name in ("product", "account", "biller_code")))
        if message := text(inner(members(call.answer), "data"), "message"):
            looked_up.setdefault(key, []).append((call.n, message == INVALID_ACCOUNT))
    for order in traffic.orders:
        lookups = looked_up.get((order.actor, order.product, order.account, order.biller), ())
        before = [lookup for lookup in lookups if lookup[0] < order.n]
        if not before:
            continue
        n, is_invalid = before[-1]
        finding = Finding((n, order.n), f"request {order.n} pays an account that request {n} showed to be invalid")
        yield finding if is_invalid else None


def amount_in_range(traffic: Traffic) -> Iterator[Occasion]:
    """Judge by the latest catalog, options and billers that the client read before the payment."""
    for order in traffic.orders:
        allowed = traffic.catalogs.seen.range_before(order.n, order.product, order.biller)
        if order.amount is None or (allowed.low is None and allowed.high is None):
            continue
        if allowed.holds(order.amount):
            yield None
        else:
            yield Finding(
                (order.n,),
                f"request {order.n} pays {order.amount} of {quote(order.product)}, where {allowed} is allowed",
            )


def identity_without_dashes(traffic: Traffic) -> Iterator[Occasion]:
    """Judge every payment that has an identity number."""
    for order in traffic.orders:
        if order.identity:
            finding = Finding((order.n,), f"request {order.n} sends an ic_number with a dash")
            yield finding if "-" in order.identity else None


def billers_without_product_code(traffic: Traffic) -> Iterator[Occasion]:
    """Judge every request for billers."""
    for call in traffic.to("GET", BILLERS):
        has_it = "product_code" in traffic.query(call)
        yield Finding((call.n,), f"request {call.n} sends product_code") if has_it else None


def page_with_limit(traffic: Traffic) -> Iterator[Occasion]:
    """Judge every request for billers that has `page` or `limit`."""
    for call in traffic.to("GET", BILLERS):
        query = traffic.query(call)
        if "page" in query and not text(query, "limit"):
            yield Finding((call.n,), f"request {call.n} sends page without limit")
        elif "limit" in query:
            yield None


LENGTHS = ("limit", "per_page")
PAGING = {"page", *LENGTHS}
FETCHES_MAX = 30
FETCHES_WITHIN = timedelta(minutes=5)


def all_pages_read(traffic: Traffic) -> Iterator[Occasion]:
    """Compare requests whose queries differ only in `page` and `limit`. A list that was read whole with any page length
    is read."""
    lists: dict[tuple[object, ...], dict[str, list[OptionsPage]]] = defaultdict(lambda: defaultdict(list))
    for page in traffic.catalogs.pages:
        query = tuple(sorted((name, str(value)) for name, value in page.query.items() if name not in PAGING))
        length = next((str(page.query[name]) for name in LENGTHS if name in page.query), "")
        lists[traffic.actor(page.call), query][length].append(page)
    for by_length in lists.values():
        if any(_missing(pages) is None for pages in by_length.values()):
            yield from (None for pages in by_length.values() if max(page.last for page in pages) > 1)
            continue
        pages = list(by_length.values())[-1]
        call, last = pages[-1].call, max(page.last for page in pages)
        words = f"page {_missing(pages)} of {last} of {quote(pages[-1].answer.product_code)} was not read"
        yield Finding((call.n,), f"{words}; the last request was {call.n}")


def _missing(pages: list[OptionsPage]) -> int | None:
    """Return the first page that was not read; None when all were read."""
    read = {page.number for page in pages}
    missing = next(number for number in count(1) if number not in read)
    return missing if missing <= max(page.last for page in pages) else None


def catalog_cached(traffic: Traffic) -> Iterator[Occasion]:
    """Report more than 30 requests in five minutes. Requests at the same time of the service's clock count once."""
    same: dict[tuple[object, ...], list[Fetch]] = defaultdict(list)
    for fetch in traffic.catalogs.fetches:
        version = header(fetch.call.headers, names.API_VERSION)
        same[traffic.actor(fetch.call), fetch.call.query, version, fetch.last_updated].append(fetch)
    for fetches in same.values():
        moments = list({entry.call.at: entry.call for entry in fetches}.values())
        pairs = zip(moments, moments[FETCHES_MAX:], strict=False)
        found = next(((first.n, last.n) for first, last in pairs if last.at - first.at <= FETCHES_WITHIN), None)
        words = "requests {} to {} fetched the same catalog more than {} times in five minutes"
        yield Finding(found, words.format(*found, FETCHES_MAX)) if found else None
