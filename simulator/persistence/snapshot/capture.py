"""Takes a snapshot of a sandbox, part by part."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from simulator.domain.agenda import StepDue
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.domain_events import LedgerPosting
from simulator.domain.model.rule_book import RuleBook
from simulator.domain.model.webhooks import Delivery
from simulator.domain.state import State
from simulator.persistence.snapshot.document import (
    ENCODER,
    HEAD,
    JSON_ENCODER,
    STATE,
    VERSION,
    NotNow,
    SnapshotHead,
    log_parts,
    typed,
)
from simulator.persistence.snapshot.rows import CASES, JobWriter, PaymentWriter, callback_row, due_rows
from simulator.persistence.snapshot.state_part import (
    COUNTS,
    MAPPINGS,
    RESELLERS,
    AddedRow,
    BookRow,
    CatalogRow,
    CountersRow,
    EventRow,
    InboxRow,
    StatePart,
)
from simulator.runtime.events import Item
from simulator.runtime.inbox_messages import Inbox
from simulator.runtime.live_sandbox import LiveSandbox


def parts_of(live: LiveSandbox, n: int | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of a snapshot, the head last; each takes a few milliseconds. Raises `NotNow`, also when something
    happened in the sandbox between two parts. `n` is the number of entries of a tape that has not kept all of them."""
    refuse_not_now(live)
    tape = live.tape
    entries = len(tape) + tape.left_out
    for part in _parts(live):
        yield part
        if len(tape) + tape.left_out != entries or live.tape is not tape:
            raise NotNow(f"something happened in the sandbox {live.id!r} while its snapshot was taken")
    refuse_not_now(live)
    now = max(live.clock.at(live.clock.latest), live.core.state.now)
    yield HEAD, msgspec.json.encode(SnapshotHead(VERSION, entries if n is None else n, now))


def refuse_not_now(live: LiveSandbox) -> None:
    """Raise `NotNow` when a request waits or an advance runs, and when the sandbox is closed."""
    if live.is_closed:
        raise NotNow(f"the sandbox {live.id!r} was deleted or is being reset")
    if live.tape.waiting_requests():
        raise NotNow(f"a request of the sandbox {live.id!r} waits")
    if live.driver.advancing is not None or live.driver.is_settling:
        raise NotNow(f"the sandbox {live.id!r} is being advanced")


def _parts(live: LiveSandbox) -> Iterator[tuple[str, bytes]]:
    """Yield all parts but the head. Writing payments fills tables, so `state` comes last."""
    state, payments, jobs = live.core.state, PaymentWriter(), JobWriter(live)
    callbacks, deliveries, events = list(state.callbacks), list(state.deliveries), live.events.entries()
    for number, reseller in enumerate(state.resellers.values()):
        yield from log_parts(f"entries/{number}", reseller.wallet.entries)
    yield from log_parts("payments", state.transactions.by_number, payments.row)
    yield from log_parts("nonces", list(state.nonces))
    due = state.agenda.items.items()
    yield from log_parts(
        "steps", [(ticket, entry.at, entry.item) for ticket, entry in due if isinstance(entry.item, StepDue)]
    )
    yield from log_parts("callbacks", callbacks, callback_row)
    yield from log_parts("deliveries", deliveries, jobs.delivery)
    yield from log_parts("requests", list(live.journal))
    yield from log_parts("events", events, _event)
    yield from log_parts("sent", list(live.courier.sent))
    yield from log_parts("traces", list(live.courier.traces))
    for box in _inboxes(live):
        messages = [msgspec.structs.replace(message, serial=0) for message in box.received]
        yield from log_parts(f"messages/{box.name}", messages)
    yield STATE, ENCODER.encode(_state_part(live, payments, jobs))


def _state_part(live: LiveSandbox, payments: PaymentWriter, jobs: JobWriter) -> StatePart:
    state, inboxes, counters = live.core.state, _inboxes(live), live.counters
    secrets = state.secrets
    first, latest = live.beginning.spec.scenario, live.spec.scenario
    is_first = latest is first or (latest.name == first.name and latest.document == first.document)
    places = {inbox: place for place, inbox in enumerate(inboxes)}
    return StatePart(
        scenario=None if is_first else (latest.name, JSON_ENCODER.encode(latest.document)),
        now=state.now,
        resellers=[
            RESELLERS.row(reseller, (reseller.wallet.opening, reseller.wallet.threshold))
            for reseller in state.resellers.values()
        ],
        keys=[(key, reseller.code) for key, (reseller, _) in state.keys.items()],
        users=[(name, reseller.code, user) for name, (reseller, user) in state.users.items()],
        catalog_webhook=state.catalog_webhook,
        removed_webhooks=jobs.removed,
        secrets=(dict(secrets.holders), list(reversed(secrets.former)), secrets.version, secrets.replacements),
        catalog=_catalog(state),
        books={section: _book(state, section, book) for section, book in state.books.items()},
        shared=payments.shared.values,
        timelines=payments.timelines.values,
        cases=[CASES.row(case, case.transaction.number) for cases in state.cases.values() for case in cases],
        due=list(due_rows(state)),
        due_added=state.agenda.added,
        callbacks=[callback_row(job) for job in jobs.elsewhere if isinstance(job, Callback)],
        deliveries=[jobs.delivery(job) for job in jobs.elsewhere if isinstance(job, Delivery)],
        in_flight=[(job, send.attempt.number) for job, send in state.in_flight.items()],
        callbacks_left_out=state.callbacks.left_out,
        deliveries_last=state.deliveries.last,
        deliveries_left_out=state.deliveries.left_out,
        counts={name: getattr(state, name) for name in COUNTS},
        **{name: getattr(state, name) for name in MAPPINGS},
        bills_paid=list(state.bills_paid.items()),
        network=dict(state.network.overrides),
        nonces=state.nonces.kept(),
        rates=state.rates.kept() if state.rates is not None else ([], []),
        notifications=list(state.notifications),
        notifications_left_out=state.notifications.left_out,
        inboxes=[
            InboxRow(inbox.name, inbox.last_n, inbox.evicted, inbox.left_out_before, inbox.replied, inbox.program)
            for inbox in inboxes
        ],
        inboxes_gone=live.inboxes.gone,
        message_order=[places[inbox] for inbox in live.inboxes.budget.by_age],
        counters=CountersRow(
            answers=list(counters.answers.items()),
            calls=counters.calls,
            first=counters.first,
            notes=counters.notes,
            taken=counters.values_taken,
            values={place: value.kept() for place, value in counters.values.items()},
        ),
        journal=(live.journal.last_n, live.journal.left_out),
        events=live.events.count,
        clock=(live.clock.mode, live.clock.rate, live.clock.latest),
        tape=(live.tape.bytes, live.tape.left_out, live.tape.left_bytes),
        begun=live.courier.sent.begun,
        probed=list(live.probes),
    )


def _event(event: tuple[Item, datetime]) -> EventRow:
    item, wall = event
    if isinstance(item, LedgerPosting):
        return wall, typed((item.reseller, item.entry.id))
    return wall, typed(item)


def _catalog(state: State) -> CatalogRow:
    """Return the differences from the catalog of the scenario."""
    own, begun = state.catalog, state.scenario.catalog
    changed = (
        [] if own is begun else [product for code, product in own.products.items() if product != begun.products[code]]
    )
    products = [replace(product, bill=None, fields_by_account=frozenset()) for product in changed]
    return CatalogRow(None if own.groups == begun.groups else own.groups, products, state.catalog_updated)


def _book(state: State, section: str, book: RuleBook[Any]) -> BookRow:
    places = {id(rule): place for place, rule in enumerate(getattr(state.scenario, section))}
    rules: list[int | AddedRow] = []
    for rule, _ in book.counted_rules():
        if (place := places.get(id(rule))) is not None:
            rules.append(place)
            continue
        added = state.added[rule.id]
        timelines = None if added.timelines == state.scenario.timelines else dict(added.timelines)
        rules.append(AddedRow(JSON_ENCODER.encode(added.document), added.rule_id, timelines))
    return BookRow(rules, [count for _, count in book.counted_rules()], dict(book.magic_chosen))


def _inboxes(live: LiveSandbox) -> list[Inbox]:
    """Return the inboxes with programmed replies by name, then the others in order of their last use."""
    return [*(inbox for inbox in live.inboxes if inbox.is_programmed), *live.inboxes.budget.by_use]
