"""The traffic of a client, indexed once for all obligations. Data is decoded when an obligation needs it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

from simulator.audit.readers import (
    PATH,
    DeliveryAttempts,
    PaymentOutcome,
    PaymentRequest,
    bearer,
    callback_outcome,
    grouped,
    header,
    is_accepted,
    is_clients_own,
    members,
    payment_of,
    text,
)
from simulator.audit.seen_catalog import CatalogAnswer, Decoder, OptionsAnswer, SeenCatalog
from simulator.auth import headers as names
from simulator.contract.query import decode_query
from simulator.wire.traffic import Call, Notification

CATALOG, OPTIONS, BILLERS = "/v2/catalog", "/v2/options", "/v1/interbank/billers"
SUBPRODUCTS, BILL, HISTORY = "/v2/subproducts", "/v2/bill-presentment", "/v2/transactions"
OK = 200
OPEN_NAMES = frozenset({"ACCEPTED", "PROCESSING", "PENDING"})


class Rate(NamedTuple):
    """The maximum number of requests from an address in an interval (SPEC 8)."""

    requests: int = 30_000
    interval: timedelta = timedelta(minutes=5)


SPEC_RATE = Rate()


class OptionsPage(NamedTuple):
    """A page of options that the client read. `query` has no page number."""

    call: Call
    query: Mapping[str, Any]
    answer: OptionsAnswer

    @property
    def number(self) -> int:
        """Return the page number from 1; 0 if the answer does not say it."""
        return _whole(self.answer.meta and self.answer.meta.current_page)

    @property
    def last(self) -> int:
        """Return the number of pages; 0 if the answer does not say it."""
        return _whole(self.answer.meta and self.answer.meta.last_page)


class Fetch(NamedTuple):
    """A catalog that the client read."""

    call: Call
    last_updated: str


class ReadCatalogs(NamedTuple):
    """The products and options that the client has read, each catalog, and each page of options."""

    seen: SeenCatalog
    fetches: list[Fetch]
    pages: list[OptionsPage]


class Traffic:
    """Calls and notifications, sorted by number. `until` is the time of the audit on the clock of the calls, by default
    that of the last message. `rate` is the limit of requests, None for no limit. Without `sees_callbacks`, the audit
    does not know what the client learned from callbacks, and judges no obligation that a callback may have met."""

    def __init__(
        self,
        calls: Iterable[Call],
        notifications: Iterable[Notification],
        *,
        until: datetime | None = None,
        rate: Rate | None = SPEC_RATE,
        sees_callbacks: bool = True,
    ) -> None:
        self.sees_callbacks = sees_callbacks
        self.calls: Sequence[Call] = sorted(calls, key=lambda call: call.n)
        self.notifications: Sequence[Notification] = sorted(notifications, key=lambda notification: notification.n)
        self.rate = rate
        times = [*(call.at for call in self.calls), *(notification.at for notification in self.notifications)]
        self.until = max(times) if until is None and times else until
        self._decoder = Decoder()

    def actor(self, call: Call) -> str:
        """Return the reseller of a request; if no request with the same credentials was recognised, return the
        credentials. A service that is down checks no credentials."""
        sent = _credentials(call)
        return call.reseller or self._owners.get(sent) or sent.decode("latin-1")

    @cached_property
    def _owners(self) -> Mapping[bytes, str]:
        """Return the resellers by credentials, from requests whose credentials were recognised."""
        return {_credentials(call): call.reseller for call in self.calls if call.reseller}

    def to(self, method: str, path: str) -> Sequence[Call]:
        """Return the requests to an endpoint."""
        return self._by_endpoint.get((method, path), ())

    @cached_property
    def _by_endpoint(self) -> Mapping[tuple[str, str], list[Call]]:
        return grouped(self.calls, lambda call: (call.method, call.path))

    @staticmethod
    def query(call: Call) -> Mapping[str, Any]:
        """Return the parameters of a request."""
        return decode_query(call.query)[0]

    # Payments

    @cached_property
    def payments(self) -> Sequence[PaymentRequest]:
        """Return every request to create or to re-query a payment."""
        requests = (payment_of(call, self.actor(call)) for call in self.to("POST", PATH))
        return [request for request in requests if request is not None]

    @cached_property
    def by_refid(self) -> Mapping[tuple[str, str], list[PaymentRequest]]:
        """Return the payments by reseller and refid."""
        return grouped(self.payments, lambda payment: payment.key)

    @cached_property
    def orders(self) -> Sequence[PaymentRequest]:
        """Return the first request of each order. A re-query has the same order."""
        return list({(payment.key, payment.order): payment for payment in reversed(self.payments)}.values())[::-1]

    @cached_property
    def by_refid_alone(self) -> Mapping[str, list[PaymentRequest]]:
        """Return the payments by refid alone, since a callback does not name its reseller."""
        return grouped(self.payments, lambda payment: payment.refid)

    @cached_property
    def final_outcomes(self) -> Mapping[str, dict[PaymentOutcome, datetime]]:
        """Return the final statuses by refid from accepted callbacks and the history, each with the time when the
        client first read it."""
        found: dict[str, dict[PaymentOutcome, datetime]] = defaultdict(dict)
        for callback in self.callbacks:
            outcome = callback_outcome(callback)
            if is_accepted(callback) and outcome.is_final:
                found[callback.refid].setdefault(outcome, callback.at)
        for call in self.to("GET", HISTORY):
            for record in _records(call):
                if (name := text(record, "status_name").upper()) and name not in OPEN_NAMES:
                    outcome = PaymentOutcome.PAID if name.startswith("SUCC") else PaymentOutcome.FAILED
                    of_refid = found[text(record, "refid")]
                    of_refid[outcome] = min(call.at, of_refid.get(outcome, call.at))
        return found

    def knows_outcome(self, refid: str, by: datetime | None = None) -> bool:
        """Return whether the client knew a final status of the payment, at the latest at `by`."""
        return any(by is None or at <= by for at in self.final_outcomes.get(refid, {}).values())

    # Notifications

    @cached_property
    def genuine(self) -> Sequence[Notification]:
        """Return the notifications of the service, without probes."""
        return [notification for notification in self.notifications if not notification.probe]

    @cached_property
    def callbacks(self) -> Sequence[Notification]:
        """Return the transaction callbacks of the service."""
        return [notification for notification in self.genuine if notification.kind == "callback"]

    @cached_property
    def deliveries(self) -> Sequence[DeliveryAttempts]:
        """Return the attempts by delivery: all attempts of a callback or event have the same content."""
        by_content = grouped(self.genuine, lambda attempt: (attempt.kind, attempt.url, attempt.body))
        return [*map(DeliveryAttempts, by_content.values())]

    @cached_property
    def received(self) -> Sequence[DeliveryAttempts]:
        """Return the deliveries to the client's own receivers, without inboxes."""
        return [delivery for delivery in self.deliveries if is_clients_own(delivery.last)]

    # Catalog and options

    @cached_property
    def catalogs(self) -> ReadCatalogs:
        """Return what the client has read about products and options."""
        seen_catalog, fetches, pages = SeenCatalog(), list[Fetch](), list[OptionsPage]()
        for call in self.calls:
            if call.method != "GET" or call.status != OK:
                continue
            if call.path == CATALOG and (catalog := self._decoder.read(call.answer, CatalogAnswer)):
                seen_catalog.add_catalog(call, catalog.products)
                if isinstance(catalog.last_updated, str):
                    fetches.append(Fetch(call, catalog.last_updated))
            elif call.path in (OPTIONS, BILLERS) and (page := self._decoder.read(call.answer, OptionsAnswer)):
                if call.path == BILLERS:
                    seen_catalog.add_billers(call, page.data)
                else:
                    seen_catalog.add_options(call, page.product_code, page.items)
                    pages.append(OptionsPage(call, self.query(call), page))
        return ReadCatalogs(seen_catalog, fetches, pages)


def _credentials(call: Call) -> bytes:
    return header(call.headers, names.API_KEY) or bearer(call)


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _records(call: Call) -> list[Mapping[str, Any]]:
    data = members(call.answer).get("data") if call.status == OK else None
    return [record for record in data if isinstance(record, dict)] if isinstance(data, list) else []
