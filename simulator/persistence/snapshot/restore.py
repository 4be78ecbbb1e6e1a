"""Restores a sandbox from a snapshot, with a player that continues with the tape's next entry."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

import msgspec

from simulator.domain.model.catalog import Catalog
from simulator.domain.model.delivery_attempts import OutgoingRequest, Send
from simulator.domain.model.domain_events import AttemptOutcome, EmailNotification, LedgerPosting, StatusChange
from simulator.domain.model.request_limits import SpentNonce, shared_second
from simulator.domain.model.rules import AddedRule, Rule
from simulator.domain.model.wallet import Wallet
from simulator.domain.sandbox import Sandbox
from simulator.persistence.replay.player import Player, RequestReplay
from simulator.persistence.replay.rebuilding import player_of
from simulator.persistence.snapshot.document import (
    JSON_DECODER,
    STATE,
    Snapshot,
    Typed,
    log_rows,
    reading_snapshot,
    special,
    untyped,
)
from simulator.persistence.snapshot.rows import (
    CALLBACKS,
    DELIVERIES,
    PAYMENTS,
    EntryRow,
    JobReader,
    StepRow,
    restore_entries,
    restore_payments,
)
from simulator.persistence.snapshot.state_part import COUNTS, MAPPINGS, RESELLERS, AddedRow, EventRow, StatePart
from simulator.persistence.tape.entries import Entry as TapeEntry
from simulator.runtime.events import Action, Item
from simulator.runtime.inbox_messages import Inbox, InboxMessage
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import Beginning, Surroundings
from simulator.runtime.traces import Traced
from simulator.scenario.build import ScenarioCompiler, build_rule

_KINDS: Final[tuple[Any, ...]] = (int, StatusChange, tuple[str, int], AttemptOutcome, Action, EmailNotification)
EVENTS: Final = {kind.__name__: kind for kind in _KINDS}
"""The types of events; a posting is written as its reseller and the id of its entry."""


def restored(
    snapshot: Snapshot,
    id_: str,
    beginning: Beginning,
    replayer: RequestReplay,
    surroundings: Surroundings,
    compiler: ScenarioCompiler,
    *,
    entries: Iterable[TapeEntry] = (),
) -> Player:
    """Return a player that has played the first `snapshot.n` entries of the tape of a life with this beginning.
    `entries` are the entries that the sandbox's own tape gets, as many as were kept; the other arguments are as in
    `player_of`. Raises `BadSnapshot`, and `ScenarioError` for a scenario that this version does not accept."""
    player = player_of(id_, beginning, replayer, surroundings, compiler, Sandbox.empty)
    live, clock = player.live, player.clock
    player.place = snapshot.n
    with reading_snapshot():
        part: StatePart = msgspec.msgpack.decode(snapshot.parts[STATE], type=StatePart, dec_hook=special)
        if part.scenario is not None:
            name, document = part.scenario
            scenario = player.compiler.scenario(JSON_DECODER.decode(document), name)
            live.core.state.follow(scenario)  # logs keep the size that they began with
            live.core.state.install_rules()
            live.follow(scenario)
        _Restore(live, snapshot.parts, part).all()
    clock.mode, clock.rate, clock.latest = part.clock
    clock.stand_at(snapshot.now, clock.latest)
    live.tape.restore(entries, *part.tape)
    return player


class _Restore:
    """Restores the state of a sandbox that already has its scenario, with the logs around it."""

    def __init__(self, live: LiveSandbox, parts: Mapping[str, bytes], part: StatePart) -> None:
        self._live, self._state, self._parts, self._part = live, live.core.state, parts, part

    def all(self) -> None:
        self._resellers()
        self._catalog()
        self._rules()
        payments = log_rows(self._parts, "payments", PAYMENTS.type)
        restore_payments(self._state, payments, self._part.shared, self._part.timelines)
        self._add_jobs()
        self._counts()
        self._inboxes()
        row = self._part.counters
        self._live.counters.restore(dict(row.answers), row.calls, row.first, row.notes, row.taken, row.values)
        self._logs()

    def _resellers(self) -> None:
        state, part = self._state, self._part
        for place, row in enumerate(part.resellers):
            opening, threshold = row.wallet
            wallet = Wallet(opening)
            wallet.restore(list(restore_entries(log_rows(self._parts, f"entries/{place}", EntryRow))), threshold)
            reseller = RESELLERS.record(row, wallet=wallet)
            state.resellers[reseller.code] = reseller
        keys = {key.key: key for reseller in state.resellers.values() for key in reseller.keys}
        state.keys.update({key: (state.resellers[code], keys[key]) for key, code in part.keys})
        state.users.update({name: (state.resellers[code], user) for name, code, user in part.users})
        state.catalog_webhook = part.catalog_webhook
        state.secrets.restore(*part.secrets)

    def _catalog(self) -> None:
        state, row = self._state, self._part.catalog
        begun = state.catalog = state.scenario.catalog
        state.catalog_updated = row.updated
        products = dict(begun.products)
        for product in row.products:
            before = begun.products[product.code]
            products[product.code] = replace(product, bill=before.bill, fields_by_account=before.fields_by_account)
        if row.groups is not None or row.products:
            state.catalog = Catalog(begun.groups if row.groups is None else row.groups, MappingProxyType(products))

    def _rules(self) -> None:
        state, part = self._state, self._part
        for section, book in part.books.items():
            rules = [self._rule(section, row) for row in book.rules]
            state.books[section].restore(zip(rules, book.counts, strict=True), book.magic)

    def _rule(self, section: str, row: int | AddedRow) -> Rule[Any]:
        state = self._state
        if isinstance(row, int):
            found: Rule[Any] = getattr(state.scenario, section)[row]
            return found
        document = JSON_DECODER.decode(row.document)
        timelines = state.scenario.timelines if row.timelines is None else row.timelines
        rule = build_rule(section, document, row.rule_id, timelines=timelines)
        state.added[rule.id] = AddedRule(section, document, row.rule_id, timelines)
        return rule

    def _add_jobs(self) -> None:
        state, part = self._state, self._part
        jobs = JobReader(state, part.removed_webhooks)
        callbacks = [jobs.callback(row) for row in log_rows(self._parts, "callbacks", CALLBACKS.type)]
        deliveries = [jobs.delivery(row) for row in log_rows(self._parts, "deliveries", DELIVERIES.type)]
        for callback in part.callbacks:
            jobs.callback(callback)
        for delivery in part.deliveries:
            jobs.delivery(delivery)
        state.callbacks.restore(callbacks, part.callbacks_left_out)
        state.deliveries.restore(deliveries, part.deliveries_last, part.deliveries_left_out)
        state.in_flight.update({job: Send(jobs[job], jobs[job].attempts[number - 1]) for job, number in part.in_flight})
        jobs.restore_agenda(part.cases, part.due, log_rows(self._parts, "steps", StepRow), part.due_added)

    def _counts(self) -> None:
        state, part = self._state, self._part
        for name in COUNTS:
            setattr(state, name, part.counts[name])
        state.now = part.now
        for name in MAPPINGS:
            getattr(state, name).update(getattr(part, name))
        state.bills_paid.update(dict(part.bills_paid))
        state.network.overrides = dict(part.network)
        oldest_until, replaced = part.nonces
        spent = log_rows(self._parts, "nonces", tuple[int, datetime, int])
        shared = (SpentNonce(key, at, shared_second(timestamp_s)) for key, at, timestamp_s in spent)
        state.nonces.restore(shared, oldest_until, replaced)
        if state.rates is not None:
            state.rates.restore(*part.rates)
        state.notifications.restore(part.notifications, part.notifications_left_out)

    def _inboxes(self) -> None:
        home, part = self._live.inboxes, self._part
        found = []
        for row in part.inboxes:
            found.append(inbox := Inbox(home, row.name, row.last_n, row.left_out_before))
            inbox.evicted = row.evicted
            inbox.set_program(row.program, row.replied)
        messages = [list(log_rows(self._parts, f"messages/{box.name}", InboxMessage)) for box in found]
        counted = Counter(part.message_order)
        if any(counted[place] != len(of_one) for place, of_one in enumerate(messages)):
            raise ValueError("the order of messages does not match the messages")
        next_of = [iter(of_one) for of_one in messages]
        home.restore(found, [(found[place], next(next_of[place])) for place in part.message_order], part.inboxes_gone)

    def _logs(self) -> None:
        live, parts, part = self._live, self._parts, self._part
        live.journal.restore(log_rows(parts, "requests", Exchange), *part.journal)
        emails = {notification.n: notification for notification in self._state.notifications}
        events = [(self._event(row, emails), wall) for wall, row in log_rows(parts, "events", EventRow)]
        live.events.restore(events, part.events)
        live.courier.traces.restore(log_rows(parts, "traces", Traced))
        live.courier.sent.restore(log_rows(parts, "sent", tuple[str, int, OutgoingRequest]), part.begun)
        live.probes.extend(part.probed)

    def _event(self, row: Typed, emails: Mapping[int, EmailNotification]) -> Item:
        item: Any = untyped(row, EVENTS)
        if isinstance(item, tuple):
            reseller, entry = item
            return LedgerPosting(reseller, self._state.resellers[reseller].wallet.entry(entry))
        found: Item = emails.get(item.n, item) if isinstance(item, EmailNotification) else item
        return found
