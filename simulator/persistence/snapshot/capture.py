"""Takes a snapshot of a sandbox, part by part."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from simulator.domain.commands import AddRule, LoadScenario
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.domain_events import LedgerPosting
from simulator.domain.model.resellers import SecretLog
from simulator.domain.model.rule_book import RuleBook
from simulator.domain.model.rules import Rule
from simulator.domain.model.webhooks import Delivery
from simulator.domain.state import State
from simulator.persistence.snapshot.document import (
    ENCODER,
    HEAD,
    STATE,
    VERSION,
    NotNow,
    Snapshot,
    SnapshotHead,
    log_parts,
    snapshot_of,
    typed,
)
from simulator.persistence.snapshot.jobs import CASES, JobWriter, callback_row, due_rows, step_rows
from simulator.persistence.snapshot.payments import PaymentWriter
from simulator.persistence.snapshot.state import (
    COUNTS,
    RESELLERS,
    AddedRow,
    BookRow,
    CatalogRow,
    CountersRow,
    EventRow,
    InboxRow,
    Rest,
)
from simulator.persistence.tape.entries import write
from simulator.runtime.events import Item
from simulator.runtime.inbox_messages import Inbox, InboxMessage
from simulator.runtime.live_sandbox import LiveSandbox


def take(live: LiveSandbox, n: int) -> Snapshot:
    """Return a snapshot of a sandbox after the first `n` entries of its tape, taken at once. Raises `NotNow`."""
    return snapshot_of(parts_of(live, n))


def parts_of(live: LiveSandbox, n: int | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of a snapshot, the head last; each takes a few milliseconds. Raises `NotNow`, also when something
    happened in the sandbox between two parts. `n` is the number of entries of a tape that has not kept all of them."""
    refuse_not_now(live)
    tape = live.tape
    entries, count = len(tape) + tape.left_out, 0
    for part in _Capture(live).parts():
        count += 1
        yield part
        if len(tape) + tape.left_out != entries or live.tape is not tape:
            raise NotNow(f"something happened in the sandbox {live.id!r} while its snapshot was taken")
    refuse_not_now(live)
    now = max(live.clock.at(live.clock.latest), live.core.state.now)
    yield HEAD, msgspec.json.encode(SnapshotHead(VERSION, entries if n is None else n, now, count))


def refuse_not_now(live: LiveSandbox) -> None:
    """Raise `NotNow` when a request waits or an advance runs, and when the sandbox is closed."""
    if live.is_closed:
        raise NotNow(f"the sandbox {live.id!r} was deleted or is being reset")
    if live.tape.is_awaited:
        raise NotNow(f"a request of the sandbox {live.id!r} waits")
    if live.driver.advancing is not None or live.driver.is_settling:
        raise NotNow(f"the sandbox {live.id!r} is being advanced")


class _Capture:
    """Makes the parts of a snapshot. Writing payments fills tables, so `state` comes last."""

    def __init__(self, live: LiveSandbox) -> None:
        self._live, self._state = live, live.core.state
        self._payments, self._jobs = PaymentWriter(), JobWriter(live)

    def parts(self) -> Iterator[tuple[str, bytes]]:
        """Yield all parts but the head."""
        live, state = self._live, self._state
        callbacks, deliveries, events = list(state.callbacks), list(state.deliveries), list(live.events.entries())
        for number, reseller in enumerate(state.resellers.values()):
            yield from log_parts(f"entries/{number}", reseller.wallet.entries)
        yield from log_parts("payments", state.transactions.by_number, self._payments.row)
        yield from log_parts("nonces", list(state.nonces))
        yield from log_parts("steps", step_rows(state))
        yield from log_parts("callbacks", callbacks, callback_row)
        yield from log_parts("deliveries", deliveries, self._jobs.delivery)
        yield from log_parts("requests", list(live.journal))
        yield from log_parts("events", events, _event)
        yield from log_parts("sent", list(live.courier.sent))
        yield from log_parts("traces", list(live.courier.traces))
        for box in _inboxes(live):
            yield from log_parts(f"messages/{box.name}", list(box.received), _message)
        yield STATE, ENCODER.encode(self._rest())

    def _rest(self) -> Rest:
        live, state = self._live, self._state
        return Rest(
            scenario=_scenario(live),
            now=state.now,
            resellers=[
                RESELLERS.row(one, (one.wallet.opening, one.wallet.threshold)) for one in state.resellers.values()
            ],
            keys=[(key, reseller.code) for key, (reseller, _) in state.keys.items()],
            users=[(name, reseller.code, user) for name, (reseller, user) in state.users.items()],
            catalog_webhook=state.catalog_webhook,
            removed_webhooks=self._jobs.removed,
            secrets=_secrets(state.secrets),
            catalog=_catalog(state),
            books={section: _book(state, section, book) for section, book in state.books.items()},
            chosen_before=state.chosen_before,
            shared=self._payments.shared.values,
            timelines=self._payments.timelines.values,
            cases=[CASES.row(one, one.transaction.number) for ones in state.cases.values() for one in ones],
            due=list(due_rows(state)),
            due_added=state.agenda.added,
            callbacks=[callback_row(one) for one in self._jobs.elsewhere if isinstance(one, Callback)],
            deliveries=[self._jobs.delivery(one) for one in self._jobs.elsewhere if isinstance(one, Delivery)],
            in_flight=[(job, send.attempt.number) for job, send in state.in_flight.items()],
            callbacks_left_out=state.callbacks.left_out,
            deliveries_last=state.deliveries.last,
            deliveries_left_out=state.deliveries.left_out,
            counts={name: getattr(state, name) for name in COUNTS},
            noted=state.noted,
            bills_paid=list(state.bills_paid.items()),
            callback_counts=state.callback_counts,
            webhook_counts=state.webhook_counts,
            network=dict(state.network.overrides),
            nonces=state.nonces.kept(),
            rates=state.rates.kept() if state.rates is not None else ([], []),
            notifications=list(state.notifications),
            notifications_left_out=state.notifications.left_out,
            inboxes=[_inbox(one) for one in _inboxes(live)],
            inboxes_gone=live.inboxes.gone,
            message_order=_message_order(live),
            counters=_counters(live),
            journal=(live.journal.last_n, live.journal.left_out),
            events=live.events.count,
            clock=(live.clock.mode, live.clock.rate, live.clock.latest),
            tape=(live.tape.bytes, live.tape.left_out, live.tape.left_bytes),
            begun=live.courier.sent.begun,
            probed=list(live.probed),
        )


def _event(event: tuple[Item, datetime]) -> EventRow:
    item, wall = event
    if isinstance(item, LedgerPosting):
        return wall, typed((item.reseller, item.entry.id))
    return wall, typed(item)


def _secrets(log: SecretLog) -> tuple[dict[str, int], list[str], int, int]:
    holders, former = log.kept()
    return dict(holders), list(former), log.version, log.replacements


def _catalog(state: State) -> CatalogRow:
    """Return the differences from the catalog of the scenario."""
    own, begun = state.catalog, state.scenario.catalog
    changed = [] if own is begun else [one for code, one in own.products.items() if one != begun.products[code]]
    products = [replace(one, bill=None, fields_by_account=frozenset()) for one in changed]
    return CatalogRow(None if own.groups == begun.groups else own.groups, products, state.catalog_updated)


def _scenario(live: LiveSandbox) -> bytes | None:
    """Return the loaded scenario as the command that loaded it; None for the scenario of the beginning."""
    first, latest = live.beginning.spec.scenario, live.spec.scenario
    if latest is first or (latest.name == first.name and latest.document == first.document):
        return None
    return write(LoadScenario(latest.name, latest.document))


def _book(state: State, section: str, book: RuleBook[Any]) -> BookRow:
    places = {id(one): place for place, one in enumerate(getattr(state.scenario, section))}
    listed = list(book.counted_rules())
    return BookRow(
        [places[id(rule)] if id(rule) in places else _added(state, rule) for rule, _ in listed],
        [count for _, count in listed],
        dict(book.magic_chosen),
    )


def _added(state: State, rule: Rule[Any]) -> AddedRow:
    added = state.added[rule.id]
    is_same = added.timelines == state.scenario.timelines
    command = write(AddRule(added.section, added.document))
    return AddedRow(command, added.rule_id, None if is_same else dict(added.timelines))


def _inboxes(live: LiveSandbox) -> list[Inbox]:
    """Return the inboxes with programmed replies by name, then the others in order of their last use."""
    return [*(one for one in live.inboxes if one.is_programmed), *live.inboxes.budget.by_use]


def _inbox(one: Inbox) -> InboxRow:
    return InboxRow(one.name, one.last_n, one.evicted, one.left_out_before, one.replied, one.program)


def _message(one: InboxMessage) -> InboxMessage:
    return msgspec.structs.replace(one, serial=0)


def _message_order(live: LiveSandbox) -> list[int]:
    """Return the place of each message's inbox, oldest message first."""
    places = {one: place for place, one in enumerate(_inboxes(live))}
    return [places[one] for one in live.inboxes.budget.by_age]


def _counters(live: LiveSandbox) -> CountersRow:
    counters = live.counters
    return CountersRow(
        answers=list(counters.answers.items()),
        calls=counters.calls,
        first=counters.first,
        notes=counters.notes,
        taken=counters.values_taken,
        values={place: one.kept() for place, one in counters.values.items()},
    )
