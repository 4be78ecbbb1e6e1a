"""The part `state` of a snapshot: everything but the long logs, as structs."""

from datetime import datetime
from decimal import Decimal
from typing import Final

import msgspec

from simulator.domain.model.bills import BillKey
from simulator.domain.model.catalog import Group, Product
from simulator.domain.model.delivery_attempts import JobCounts
from simulator.domain.model.domain_events import EmailNotification
from simulator.domain.model.inbox_programs import InboxProgram
from simulator.domain.model.outcomes import DomainOutcome
from simulator.domain.model.request_limits import SpentNonce
from simulator.domain.model.resellers import Reseller, User
from simulator.domain.model.rules import RuleCount
from simulator.domain.model.schedule import NetworkStatus
from simulator.domain.model.transactions import PaymentKind, Step
from simulator.domain.model.webhooks import Webhook
from simulator.persistence.snapshot.document import Rows, Typed
from simulator.persistence.snapshot.rows import CALLBACKS, CASES, DELIVERIES, DueRow
from simulator.runtime.counters import AnswerKey
from simulator.runtime.value_counts import KeptCounts
from simulator.wire import traffic

COUNTS: Final = ("rules_added", "cases_made", "callbacks_made", "catalog_changes", "keys_made")
"""The names of the counts of a state."""
MAPPINGS: Final = ("chosen_before", "noted", "callback_counts", "webhook_counts")
"""The names of the mappings of a state that are written as they are."""

RESELLERS: Final = Rows(Reseller, ("refids", "history"), wallet=tuple[Decimal, Decimal])
"""Resellers without their payments and ledger entries; of the wallet its opening balance and its threshold."""
EventRow = tuple[datetime, Typed]
"""An event with its wall time; a posting as its reseller and the id of its entry."""


class AddedRow(msgspec.Struct, frozen=True, array_like=True):
    """An added rule: its document as JSON, its id, and its timelines if the scenario has different timelines."""

    document: bytes
    rule_id: str
    timelines: dict[str, tuple[Step, ...]] | None


class BookRow(msgspec.Struct, frozen=True, array_like=True):
    """The rules of a section in order, with their counts; rules of the scenario by their places."""

    rules: list[int | AddedRow]
    counts: list[RuleCount]
    magic: dict[str, int]


class InboxRow(msgspec.Struct, frozen=True, array_like=True):
    """An inbox without its messages."""

    name: str
    last_n: int
    evicted: int
    left_out_before: int
    replied: int
    program: InboxProgram


class CountersRow(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of a sandbox for its expectations and its coverage."""

    answers: list[tuple[AnswerKey, int]]
    calls: dict[int, int]
    first: dict[int, list[int]]
    notes: dict[int, str]
    taken: int
    values: dict[int, KeptCounts]


class CatalogRow(msgspec.Struct, frozen=True, array_like=True):
    """The differences from the catalog of the scenario, and the time of the last change. Products omit members that are
    constant at run time and not plain."""

    groups: tuple[Group, ...] | None
    products: list[Product]
    updated: datetime


class StatePart(msgspec.Struct, frozen=True, kw_only=True):
    """The part `state`: everything but the long logs."""

    # The ignored types of rows are made at run time.

    scenario: tuple[str, bytes] | None
    now: datetime
    resellers: list[RESELLERS.type]  # type: ignore[name-defined]
    keys: list[tuple[str, str]]
    users: list[tuple[str, str, User]]
    catalog_webhook: Webhook
    removed_webhooks: dict[str, Webhook]
    secrets: tuple[dict[str, int], list[str], int, int]
    catalog: CatalogRow
    books: dict[str, BookRow]
    chosen_before: dict[str, int]
    shared: list[PaymentKind]
    timelines: list[tuple[Step, ...]]
    cases: list[CASES.type]  # type: ignore[name-defined]
    due: list[DueRow]
    due_added: int
    callbacks: list[CALLBACKS.type]  # type: ignore[name-defined]
    deliveries: list[DELIVERIES.type]  # type: ignore[name-defined]
    in_flight: list[tuple[str, int]]
    callbacks_left_out: int
    deliveries_last: tuple[int, int]
    deliveries_left_out: int
    counts: dict[str, int]
    noted: dict[DomainOutcome, int]
    bills_paid: list[tuple[BillKey, Decimal]]
    callback_counts: dict[str, JobCounts]
    webhook_counts: dict[str, JobCounts]
    network: dict[str, NetworkStatus]
    nonces: tuple[datetime, SpentNonce | None]
    rates: tuple[list[tuple[str, datetime, int]], list[tuple[str, datetime]]]
    notifications: list[EmailNotification]
    notifications_left_out: int
    inboxes: list[InboxRow]
    inboxes_gone: tuple[int, int]
    message_order: list[int]
    counters: CountersRow
    journal: tuple[int, int]
    events: int
    clock: tuple[str, float, datetime]
    tape: tuple[int, int, int]
    begun: list[str]
    probed: list[traffic.Notification]
