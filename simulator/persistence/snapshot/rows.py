"""The rows of payments and jobs in a snapshot: callbacks, deliveries, cases and due items.

A payment refers to its first ledger entry, and to tables of shared values.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import Any, Final

import msgspec

from simulator.domain.agenda import AgendaItem, CaseDue, Due, StepDue
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.cases import Case
from simulator.domain.model.catalog import Category, Group, Option, Product
from simulator.domain.model.money import shared_amount
from simulator.domain.model.schedule import ScheduledChange
from simulator.domain.model.transactions import (
    PaymentKind,
    PaymentResult,
    ResultTexts,
    Status,
    Transaction,
    result_kind,
    result_texts,
)
from simulator.domain.model.wallet import Entry, EntryType
from simulator.domain.model.webhooks import BalanceAdded, CatalogEntry, Delivery, Event, Webhook
from simulator.domain.state import State
from simulator.persistence.replay.differences import RESULT_ROW
from simulator.persistence.snapshot.document import JSON_DECODER, JSON_ENCODER, Rows, Typed, typed, untyped
from simulator.runtime.live_sandbox import LiveSandbox

NO_EXTRAS: Final[dict[str, object]] = {}
OF_FIRST_ENTRY: Final = ("trxid", "created")
ResultRow: Any = tuple[datetime, Status, int, str, str, str, str, str, str, date | None, str, str]
"""A result, as `RESULT_ROW` makes it. Amounts are read as texts, so that equal amounts are one object in memory."""
PAYMENTS: Final = Rows(
    Transaction,
    ("kind", *OF_FIRST_ENTRY, "number", "refund"),
    {"amount": str, "cost": str, "face": str, "debit": tuple[int, ...], "results": tuple[ResultRow, ...]},
    shared=int,
    steps=int | None,
    extras=bytes,
)
"""Payments; `shared`, the kind, and `steps` are places in tables, `debit` has the ids of all ledger entries."""
EntryRow: Any = tuple[int, datetime, EntryType, str, Decimal, str, str]
"""A ledger entry; its amount is read as text, too."""
same_text = lru_cache(maxsize=4096)(str)
"""Returns an equal text, the same object for all rows that have it."""


class _Table:
    """Values by place, without duplicates. Most payments refer to a value as the same object."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._places: dict[int, int] = {}

    def place(self, value: Any) -> int:
        found = self._places.get(id(value))
        if found is None:
            if value not in self.values:
                self.values.append(value)
            found = self._places[id(value)] = self.values.index(value)
        return found


class PaymentWriter:
    """Makes rows of payments, and the tables that they refer to."""

    def __init__(self) -> None:
        self.shared, self.timelines = _Table(), _Table()

    def row(self, transaction: Transaction) -> Any:
        shared = self.shared.place(transaction.kind)
        steps = self.timelines.place(transaction.steps) if transaction.steps else None
        extras = JSON_ENCODER.encode(transaction.extras) if transaction.extras else b""
        row = PAYMENTS.row(transaction, shared, steps, extras)
        row.debit, row.results = transaction.entry_ids, tuple(map(RESULT_ROW, transaction.results))
        return row


def restore_payments(
    state: State, rows: Iterable[Any], shared: Sequence[PaymentKind], timelines: Sequence[Any]
) -> None:
    """Add the payments of these rows. Their resellers must have their ledger entries already."""
    resellers = [state.resellers[kind.reseller] for kind in shared]
    for row in rows:
        reseller = resellers[row.shared]
        entries = [reseller.wallet.entries[id_ - 1] for id_ in row.debit]
        first = entries[0]
        transaction = Transaction(
            trxid=first.trxid,
            refid=row.refid,
            kind=shared[row.shared],
            account=same_text(row.account),
            amount=shared_amount(row.amount),
            cost=shared_amount(row.cost),
            remarks=same_text(row.remarks),
            extras=JSON_DECODER.decode(row.extras) if row.extras else NO_EXTRAS,
            sender=same_text(row.sender),
            created=first.at,
            face=shared_amount(row.face),
            debit=first.id,
            refund=entries[-1].id if len(entries) > 1 else 0,
            results=tuple(_results(row.results, entries)),
            steps=() if row.steps is None else timelines[row.steps],
            ticket=row.ticket,
            requeries=row.requeries,
            bill=row.bill,
        )
        state.transactions.add(transaction)
        reseller.wallet.replace_debit(transaction)
        reseller.refids[transaction.refid] = transaction
        reseller.history.add(transaction)


def _results(rows: Iterable[ResultRow], entries: Sequence[Entry]) -> Iterator[PaymentResult]:
    """Yield the results of a payment with these ledger entries, which have its balances and often its times."""
    balances = {str(entry.balance): entry.balance for entry in entries}
    times = {entry.at: entry.at for entry in entries}
    for at, status, code, cost, balance, cause, *texts in rows:
        yield PaymentResult(
            times.get(at, at),
            result_kind(status, code, cost, cause),
            balances.get(balance) or Decimal(balance),
            ResultTexts(*texts) if any(texts[1:]) else result_texts(texts[0]),
        )


def restore_entries(rows: Iterable[EntryRow]) -> Iterator[Entry]:
    """Yield the ledger entries of these rows."""
    for id_, at, type_, amount, balance, remarks, trxid in rows:
        yield Entry(id_, at, type_, shared_amount(amount), balance, same_text(remarks), trxid)


OF_RESELLER, OF_CATALOG = "reseller/", "catalog"
"""The prefixes of the keys of webhooks that belong to a reseller or to the catalog."""

StepRow = tuple[int, datetime, StepDue]
"""A step that is due: its ticket and its time."""
DueRow = tuple[int, datetime, str, str | int, bool]
"""Any other due item: its ticket, its time, its kind, the id of a job or a case, or the place of a scheduled change in
the scenario; and whether a case is refunded."""

# A payment is written as its number, a result as its place there, the webhook of a delivery as its key.
CALLBACKS: Final = Rows(Callback, transaction=int, result=int | tuple[int, Decimal])
"""Callbacks; `result` is the place among the results of the payment, with the balance if that is the balance at the
sending."""
CASES: Final = Rows(Case, transaction=int)
DELIVERIES: Final = Rows(Delivery, event=tuple[str, str, datetime, Typed, int], webhook=str)
CHANGES: Final = Rows(CatalogEntry, resource=Typed)
_DATA: Final = {kind.__name__: kind for kind in (BalanceAdded, CHANGES.type)}
_RESOURCES: Final = {kind.__name__: kind for kind in (Product, Option, Category, Group)}


class JobWriter:
    """Makes rows of jobs. `elsewhere` are jobs that are no longer in any log; `removed` are webhooks that only
    deliveries refer to, by key."""

    def __init__(self, live: LiveSandbox) -> None:
        state = live.core.state
        self.elsewhere = _jobs_without_log(live)
        self.removed: dict[str, Webhook] = {}
        self._keys = {id(reseller.webhook): OF_RESELLER + reseller.code for reseller in state.resellers.values()}
        self._keys[id(state.catalog_webhook)] = OF_CATALOG
        deliveries = [*state.deliveries, *(job for job in self.elsewhere if isinstance(job, Delivery))]
        for delivery in sorted(deliveries, key=attrgetter("serial")):
            if id(delivery.webhook) not in self._keys:
                self._keys[id(delivery.webhook)] = key = f"removed/{delivery.serial}"
                self.removed[key] = delivery.webhook

    def delivery(self, delivery: Delivery) -> Any:
        event = delivery.event
        data = event.data
        row = data if isinstance(data, BalanceAdded) else CHANGES.row(data, typed(data.resource))
        return DELIVERIES.row(
            delivery, (event.id, event.type, event.created, typed(row), event.replays), self._keys[id(delivery.webhook)]
        )


def _jobs_without_log(live: LiveSandbox) -> list[Any]:
    """Return the jobs that are no longer in any log, in order of creation: they are due, or in flight."""
    state = live.core.state
    due = (item.item for item in state.agenda.items.values())
    jobs = [
        *(job for job in due if isinstance(job, Callback | Delivery)),
        *(send.job for send in state.in_flight.values()),
    ]
    logs = state.callbacks, state.deliveries
    found = {job.id: job for job in jobs if all(log.find(job.id) is None for log in logs)}
    return sorted(found.values(), key=attrgetter("serial"))


def callback_row(callback: Callback) -> Any:
    payment, result = callback.transaction, callback.result
    place = [each.status for each in payment.results].index(result.status)  # a payment has a status once
    is_same = payment.results[place].balance == result.balance
    return CALLBACKS.row(callback, payment.number, place if is_same else (place, result.balance))


def due_rows(state: State) -> Iterator[DueRow]:
    """Yield the rows of all due items but steps."""
    for ticket, due in state.agenda.items.items():
        match due.item:
            case Callback() | Delivery() as job:
                yield ticket, due.at, "job", job.id, False
            case CaseDue(case, is_refund):
                yield ticket, due.at, "case", case.id, is_refund
            case ScheduledChange() as planned:
                yield ticket, due.at, "schedule", state.scenario.schedule.index(planned), False


class JobReader(dict[str, Any]):
    """Callbacks and deliveries by id, created from their rows."""

    def __init__(self, state: State, removed: Mapping[str, Webhook]) -> None:
        super().__init__()
        self._state = state
        self._webhooks = {OF_RESELLER + reseller.code: reseller.webhook for reseller in state.resellers.values()}
        self._webhooks |= {OF_CATALOG: state.catalog_webhook, **removed}
        self._events: dict[str, Event] = {}  # deliveries may share one

    def callback(self, row: Any) -> Callback:
        payment = self._state.transactions.by_number[row.transaction]
        place, *balances = row.result if isinstance(row.result, tuple) else (row.result,)
        result = payment.results[place]
        for balance in balances:
            result = msgspec.structs.replace(result, balance=balance)
        found: Callback = CALLBACKS.record(row, transaction=payment, result=result)
        found.url, found.method = same_text(found.url), same_text(found.method)
        self[row.id] = found
        return found

    def delivery(self, row: Any) -> Delivery:
        id_, type_, created, data, replays = row.event
        if id_ not in self._events:
            found_data = untyped(data, _DATA)
            if not isinstance(found_data, BalanceAdded):
                found_data = CHANGES.record(found_data, resource=untyped(found_data.resource, _RESOURCES))
            self._events[id_] = Event(id_, type_, created, found_data, replays)
        found: Delivery = DELIVERIES.record(row, event=self._events[id_], webhook=self._webhooks[row.webhook])
        self[row.id] = found
        return found

    def restore_agenda(self, cases: Iterable[Any], due: Iterable[DueRow], steps: Iterable[StepRow], added: int) -> None:
        """Add the cases, and replace the due items. All jobs must exist by then."""
        state, made = self._state, {}
        for row in cases:
            case = made[row.id] = CASES.record(row, transaction=state.transactions.by_number[row.transaction])
            state.cases.setdefault(case.transaction.trxid, []).append(case)
        items: list[tuple[int, Due[AgendaItem]]] = [(item[0], Due(item[1], self._due(item, made))) for item in due]
        items += [(ticket, Due(at, step)) for ticket, at, step in steps]
        state.agenda.restore(dict(sorted(items, key=itemgetter(0))), added)

    def _due(self, row: DueRow, cases: Mapping[str, Case]) -> AgendaItem:
        match row:
            case _, _, "job", str() as id_, _:
                job: Callback | Delivery = self[id_]
                return job
            case _, _, "case", str() as id_, is_refund:
                return CaseDue(cases[id_], is_refund)
            case _, _, "schedule", int() as place, _:
                return self._state.scenario.schedule[place]
        raise ValueError(f"nothing is due that is called {row[2]!r}")
