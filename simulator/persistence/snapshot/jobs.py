"""Callbacks, deliveries, cases and what is due in a snapshot."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, Final

import msgspec

from simulator.domain.due import AgendaItem, CallbackDue, CaseDue, DeliveryDue, Due, ScheduleDue, StepDue
from simulator.domain.model.callbacks import Callback, CallbackState
from simulator.domain.model.cases import Case, CaseKind, CaseState
from simulator.domain.model.catalog import Option, Product
from simulator.domain.model.effects import Attempt
from simulator.domain.model.tree import Category, Group
from simulator.domain.model.webhooks import BalanceAdded, CatalogEntry, Delivery, DeliveryState, Event, Webhook
from simulator.domain.state import State
from simulator.persistence.snapshot.document import ENCODER, special
from simulator.runtime.live_sandbox import LiveSandbox

JOBS_DUE = CallbackDue | DeliveryDue
OF_RESELLER, OF_CATALOG = "reseller/", "catalog"
"""How the keys of webhooks begin that a reseller or the catalog has."""

DELIVERY: Final = (
    "id", "reseller", "url", "retry_limit", "created", "original", "serial", "n", "state", "error", "completed",
    "attempts",
)  # fmt: skip
"""The members of a delivery that are written as they are."""

RESOURCES: Final[Mapping[str, Any]] = {"Product": Product, "Option": Option, "Category": Category, "Group": Group}
"""What a catalog event may be about."""


class StepRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A step that is due: its ticket, its time, the number of its payment and the place in its timeline."""

    ticket: int
    at: datetime
    number: int
    place: int


class DueRow(msgspec.Struct, frozen=True, array_like=True):
    """Anything else that is due: the id of a callback, a delivery or a case, or the place of what the scenario
    schedules."""

    ticket: int
    at: datetime
    kind: str
    about: str | int
    is_refund: bool = False


class CallbackRow(msgspec.Struct, frozen=True, array_like=True):
    """A callback, of the payment with the number `payment` and its result at the place `result`."""

    id: str
    payment: int
    result: int
    url: str
    method: str
    copy: int
    is_repeat: bool
    state: CallbackState
    attempts: tuple[Attempt, ...]


class ChangeRow(msgspec.Struct, frozen=True, array_like=True):
    """The data of a catalog event; `resource` is of the class that `kind` names."""

    kind: str
    resource: msgspec.Raw
    product: Product | None
    field_id: str
    reseller: str
    has_loss_risk: bool
    by_denomination: bool


class DeliveryRow(msgspec.Struct, frozen=True, kw_only=True):
    """A delivery with its event, which it may share with others and which is about a balance or a change of the
    catalog; `webhook` is the key of its webhook."""

    id: str
    event_id: str
    event_type: str
    event_created: datetime
    balance: BalanceAdded | None
    change: ChangeRow | None
    replays: int
    webhook: str
    reseller: str
    url: str
    retry_limit: int
    created: datetime
    original: str | None
    serial: int
    n: int
    state: DeliveryState
    error: str
    completed: datetime | None
    attempts: list[Attempt]


class CaseRow(msgspec.Struct, frozen=True, array_like=True):
    """A case of the payment with the number `payment`."""

    id: str
    kind: CaseKind
    payment: int
    at: datetime
    state: CaseState
    is_accepted: bool
    message: str
    rule: str
    user_email: tuple[str, ...]
    refund_type: int | None
    refund_reason: str
    ended: datetime | None


class JobWriter:
    """Makes rows of jobs. `elsewhere` are the jobs that no log has any more; `removed` are webhooks that only
    deliveries have, by their keys."""

    def __init__(self, live: LiveSandbox) -> None:
        state = live.core.state
        self.elsewhere = _jobs_without_log(live)
        self.removed: dict[str, Webhook] = {}
        self._keys = {id(one.webhook): OF_RESELLER + one.code for one in state.resellers.values()}
        self._keys[id(state.catalog_webhook)] = OF_CATALOG
        deliveries = [*state.deliveries, *(one for one in self.elsewhere if isinstance(one, Delivery))]
        for one in sorted(deliveries, key=attrgetter("serial")):
            if id(one.webhook) not in self._keys:
                self._keys[id(one.webhook)] = key = f"removed/{one.serial}"
                self.removed[key] = one.webhook

    def delivery(self, one: Delivery) -> DeliveryRow:
        """Return the row of a delivery."""
        event, data = one.event, one.event.data
        return DeliveryRow(
            event_id=event.id,
            event_type=event.type,
            event_created=event.created,
            balance=data if isinstance(data, BalanceAdded) else None,
            change=_change(data) if isinstance(data, CatalogEntry) else None,
            replays=event.replays,
            webhook=self._keys[id(one.webhook)],
            **{name: getattr(one, name) for name in DELIVERY},
        )


def _jobs_without_log(live: LiveSandbox) -> list[Any]:
    """The jobs that no log has any more, in order of creation: they are due, in flight, or expectations wait for their
    end."""
    state = live.core.state
    due = (one.item for one in state.agenda.items.values())
    jobs = [
        *(one.callback if isinstance(one, CallbackDue) else one.delivery for one in due if isinstance(one, JOBS_DUE)),
        *(send.job for send in state.in_flight.values()),
        *chain.from_iterable(one.kept()[2] for one in live.counters.evicted.values()),
    ]
    logs = state.callbacks, state.deliveries
    found = {one.id: one for one in jobs if all(log.find(one.id) is None for log in logs)}
    return sorted(found.values(), key=attrgetter("serial"))


def callback_row(one: Callback) -> CallbackRow:
    """Return the row of a callback."""
    payment = one.transaction
    return CallbackRow(
        one.id,
        payment.number,
        payment.results.index(one.result),
        one.url,
        one.method,
        one.copy,
        one.is_repeat,
        one.state,
        one.attempts,
    )


def _change(data: CatalogEntry) -> ChangeRow:
    kind, resource = type(data.resource).__name__, msgspec.Raw(ENCODER.encode(data.resource))
    values = [getattr(data, name) for name in ChangeRow.__struct_fields__[2:]]
    return ChangeRow(kind, resource, *values)


def case_row(one: Case) -> CaseRow:
    """Return the row of a case."""
    own: dict[str, Any] = {name: getattr(one, name) for name in CaseRow.__struct_fields__ if name != "payment"}
    return CaseRow(payment=one.transaction.number, **own)


def is_step(due: tuple[int, Due[AgendaItem]]) -> bool:
    """True for a step of a payment."""
    return type(due[1].item) is StepDue


def step_row(due: tuple[int, Due[StepDue]]) -> StepRow:
    """Return the row of a step that is due."""
    ticket, (at, step) = due[0], (due[1].at, due[1].item)
    return StepRow(ticket, at, step.number, step.place)


def due_row(state: State, ticket: int, due: Due[AgendaItem]) -> DueRow:
    """Return the row of anything else that is due."""
    match due.item:
        case CallbackDue(callback):
            return DueRow(ticket, due.at, "callback", callback.id)
        case DeliveryDue(delivery):
            return DueRow(ticket, due.at, "delivery", delivery.id)
        case CaseDue(case, is_refund):
            return DueRow(ticket, due.at, "case", case.id, is_refund)
        case ScheduleDue(planned):
            return DueRow(ticket, due.at, "schedule", state.scenario.schedule.index(planned))
    raise AssertionError("steps are in a log of their own")


class JobReader(dict[str, Any]):
    """Callbacks and deliveries by their ids, as they are made of their rows."""

    def __init__(self, state: State, removed: Mapping[str, Webhook]) -> None:
        super().__init__()
        self._state = state
        self._removed = removed
        self._events: dict[str, Event] = {}  # deliveries may share one
        self._urls: dict[str, str] = {}  # each of them once

    def callback(self, row: CallbackRow) -> Callback:
        """Make the callback of a row."""
        transaction = self._state.transactions.by_number[row.payment]
        made = self[row.id] = Callback(
            id=row.id,
            transaction=transaction,
            result=transaction.results[row.result],
            url=self._urls.setdefault(row.url, row.url),
            method=row.method,
            copy=row.copy,
            is_repeat=row.is_repeat,
            state=row.state,
            attempts=row.attempts,
        )
        return made

    def delivery(self, row: DeliveryRow) -> Delivery:
        """Make the delivery of a row."""
        event = self._events.get(row.event_id)
        if event is None:
            data = row.balance or (_change_of(row.change) if row.change is not None else None)
            assert data is not None, "an event is about something"
            event = Event(row.event_id, row.event_type, row.event_created, data, row.replays)
            self._events[row.event_id] = event
        own = {name: getattr(row, name) for name in DELIVERY}
        made = self[row.id] = Delivery(event=event, webhook=self._webhook(row.webhook), **own)
        return made

    def _webhook(self, key: str) -> Webhook:
        if key == OF_CATALOG:
            return self._state.catalog_webhook
        if key.startswith(OF_RESELLER):
            return self._state.resellers[key.removeprefix(OF_RESELLER)].webhook
        return self._removed[key]

    def restore_agenda(
        self, cases: Iterable[CaseRow], due: Iterable[DueRow], steps: Iterable[StepRow], added: int
    ) -> None:
        """Add the cases, and replace what is due. All jobs have been made."""
        state, made = self._state, {}
        for row in cases:
            own = {name: getattr(row, name) for name in row.__struct_fields__ if name != "payment"}
            case = made[row.id] = Case(transaction=state.transactions.by_number[row.payment], **own)
            state.cases.setdefault(case.transaction.trxid, []).append(case)
        items: list[tuple[int, Due[AgendaItem]]] = [(one.ticket, Due(one.at, self._due(one, made))) for one in due]
        items += [(one.ticket, Due(one.at, StepDue(one.number, one.place))) for one in steps]
        state.agenda.restore(dict(sorted(items, key=itemgetter(0))), added)

    def _due(self, row: DueRow, cases: Mapping[str, Case]) -> AgendaItem:
        match row.kind, row.about:
            case "callback", str() as id_:
                return CallbackDue(self[id_])
            case "delivery", str() as id_:
                return DeliveryDue(self[id_])
            case "case", str() as id_:
                return CaseDue(cases[id_], row.is_refund)
            case "schedule", int() as place:
                return ScheduleDue(self._state.scenario.schedule[place])
        raise ValueError(f"nothing is due that is called {row.kind!r}")


def _change_of(row: ChangeRow) -> CatalogEntry:
    resource = msgspec.msgpack.decode(row.resource, type=RESOURCES[row.kind], dec_hook=special)
    return CatalogEntry(resource, *(getattr(row, name) for name in row.__struct_fields__[2:]))
