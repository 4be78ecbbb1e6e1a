"""The jobs of a snapshot: callbacks, deliveries, cases and due items."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from simulator.domain.agenda import AgendaItem, CallbackDue, CaseDue, DeliveryDue, Due, ScheduleDue, StepDue
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.cases import Case
from simulator.domain.model.catalog import Category, Group, Option, Product
from simulator.domain.model.webhooks import BalanceAdded, CatalogEntry, Delivery, Event, Webhook
from simulator.domain.state import State
from simulator.persistence.snapshot.document import ENCODER, special
from simulator.runtime.live_sandbox import LiveSandbox

JOBS_DUE = CallbackDue | DeliveryDue
OF_RESELLER, OF_CATALOG = "reseller/", "catalog"
"""The prefixes of the keys of webhooks that belong to a reseller or to the catalog."""

RESOURCES: Final[Mapping[str, Any]] = {"Product": Product, "Option": Option, "Category": Category, "Group": Group}
"""The possible subjects of a catalog event."""


class StepRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A step that is due: its ticket, its time, the number of its payment and the place in its timeline."""

    ticket: int
    at: datetime
    number: int
    place: int


class DueRow(msgspec.Struct, frozen=True, array_like=True):
    """Any other due item: the id of a callback, a delivery or a case, or the place of a scheduled change in the
    scenario."""

    ticket: int
    at: datetime
    kind: str
    about: str | int
    is_refund: bool = False


def _members(kind: type[msgspec.Struct], **references: Any) -> list[tuple[str, Any]]:
    """Return the members of a type with their types, and with the types of `references` instead where given."""
    return [(one.name, references.get(one.name, one.type)) for one in msgspec.structs.fields(kind)]


if TYPE_CHECKING:
    CallbackRow: TypeAlias = Any
    CaseRow: TypeAlias = Any
    ChangeRow: TypeAlias = Any
    DeliveryRow: TypeAlias = Any
else:
    # A payment is encoded as its number, a result as its place there, the webhook of a delivery as its key.
    CallbackRow = msgspec.defstruct("CallbackRow", _members(Callback, transaction=int, result=int), array_like=True)
    CaseRow = msgspec.defstruct("CaseRow", _members(Case, transaction=int), array_like=True)
    ChangeRow = msgspec.defstruct(
        "ChangeRow", [("kind", str), *_members(CatalogEntry, resource=msgspec.Raw)], array_like=True
    )
    _EVENT = {"event_id": str, "event_type": str, "event_created": datetime, "replays": int}
    _DATA = {"balance": BalanceAdded | None, "change": ChangeRow | None}
    _OWN = [member for member in _members(Delivery, webhook=str) if member[0] != "event"]
    DeliveryRow = msgspec.defstruct("DeliveryRow", [*_EVENT.items(), *_DATA.items(), *_OWN])


def _row(kind: Any, one: object, /, **references: Any) -> Any:
    """Return the row of this kind with the members of a value, replaced by `references` where given."""
    return kind(*(references[name] if name in references else getattr(one, name) for name in kind.__struct_fields__))


def _made(kind: Any, row: Any, /, **references: Any) -> Any:
    """Return the value of this kind with the members of its row, replaced by `references` where given."""
    return kind(**{name: getattr(row, name) for name in kind.__struct_fields__ if name not in references}, **references)


class JobWriter:
    """Makes rows of jobs. `elsewhere` are jobs that are no longer in any log; `removed` are webhooks that only
    deliveries refer to, by key."""

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
        return _row(
            DeliveryRow,
            one,
            event_id=event.id,
            event_type=event.type,
            event_created=event.created,
            balance=data if isinstance(data, BalanceAdded) else None,
            change=_change(data) if isinstance(data, CatalogEntry) else None,
            replays=event.replays,
            webhook=self._keys[id(one.webhook)],
        )


def _jobs_without_log(live: LiveSandbox) -> list[Any]:
    """Return the jobs that are no longer in any log, in order of creation: they are due, or in
    flight."""
    state = live.core.state
    due = (one.item for one in state.agenda.items.values())
    jobs = [
        *(one.callback if isinstance(one, CallbackDue) else one.delivery for one in due if isinstance(one, JOBS_DUE)),
        *(send.job for send in state.in_flight.values()),
    ]
    logs = state.callbacks, state.deliveries
    found = {one.id: one for one in jobs if all(log.find(one.id) is None for log in logs)}
    return sorted(found.values(), key=attrgetter("serial"))


def callback_row(one: Callback) -> CallbackRow:
    """Return the row of a callback."""
    payment = one.transaction
    return _row(CallbackRow, one, transaction=payment.number, result=payment.results.index(one.result))


def _change(data: CatalogEntry) -> ChangeRow:
    resource = msgspec.Raw(ENCODER.encode(data.resource))
    return _row(ChangeRow, data, kind=type(data.resource).__name__, resource=resource)


def case_row(one: Case) -> CaseRow:
    """Return the row of a case."""
    return _row(CaseRow, one, transaction=one.transaction.number)


def is_step(due: tuple[int, Due[AgendaItem]]) -> bool:
    """Return whether it is a step of a payment."""
    return type(due[1].item) is StepDue


def step_row(due: tuple[int, Due[StepDue]]) -> StepRow:
    """Return the row of a step that is due."""
    ticket, (at, step) = due[0], (due[1].at, due[1].item)
    return StepRow(ticket, at, step.number, step.place)


def due_row(state: State, ticket: int, due: Due[AgendaItem]) -> DueRow:
    """Return the row of any other due item."""
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
    """Callbacks and deliveries by id, created from their rows."""

    def __init__(self, state: State, removed: Mapping[str, Webhook]) -> None:
        super().__init__()
        self._state = state
        self._removed = removed
        self._events: dict[str, Event] = {}  # deliveries may share one
        self._urls: dict[str, str] = {}  # each of them once

    def callback(self, row: CallbackRow) -> Callback:
        """Return the callback of a row."""
        payment, url = self._state.transactions.by_number[row.transaction], self._urls.setdefault(row.url, row.url)
        found: Callback = _made(Callback, row, transaction=payment, result=payment.results[row.result], url=url)
        self[row.id] = found
        return found

    def delivery(self, row: DeliveryRow) -> Delivery:
        """Return the delivery of a row."""
        event = self._events.get(row.event_id)
        if event is None:
            data = row.balance or (_change_of(row.change) if row.change is not None else None)
            assert data is not None, "an event is about something"
            event = Event(row.event_id, row.event_type, row.event_created, data, row.replays)
            self._events[row.event_id] = event
        found: Delivery = _made(Delivery, row, event=event, webhook=self._webhook(row.webhook))
        self[row.id] = found
        return found

    def _webhook(self, key: str) -> Webhook:
        if key == OF_CATALOG:
            return self._state.catalog_webhook
        if key.startswith(OF_RESELLER):
            return self._state.resellers[key.removeprefix(OF_RESELLER)].webhook
        return self._removed[key]

    def restore_agenda(
        self, cases: Iterable[CaseRow], due: Iterable[DueRow], steps: Iterable[StepRow], added: int
    ) -> None:
        """Add the cases, and replace the due items. All jobs must exist by then."""
        state, made = self._state, {}
        for row in cases:
            case = made[row.id] = _made(Case, row, transaction=state.transactions.by_number[row.transaction])
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
    found: CatalogEntry = _made(CatalogEntry, row, resource=resource)
    return found
