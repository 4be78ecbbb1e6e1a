"""The part `state` of a snapshot: everything but the long logs, as structs."""

from datetime import datetime
from decimal import Decimal
from typing import Final

import msgspec

from simulator.domain.model.bills import BillKey
from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.catalog import Group, Overlay, Product
from simulator.domain.model.delivery_attempts import JobCounts
from simulator.domain.model.domain_events import AttemptOutcome, EmailNotification
from simulator.domain.model.inbox_programs import InboxProgram
from simulator.domain.model.outcomes import DomainOutcome
from simulator.domain.model.request_limits import SpentNonce
from simulator.domain.model.resellers import ApiKey, DelayedSwitch, Settings, User
from simulator.domain.model.rules import RuleCount
from simulator.domain.model.schedule import NetworkStatus
from simulator.domain.model.transactions import Step
from simulator.domain.model.webhooks import Webhook
from simulator.persistence.snapshot.jobs import CallbackRow, CaseRow, DeliveryRow, DueRow
from simulator.persistence.snapshot.payments import SharedValues
from simulator.runtime.counters import AnswerKey
from simulator.runtime.events import Action
from simulator.runtime.value_counts import KeptCounts
from simulator.wire import traffic

COUNTS: Final = ("rules_added", "cases_made", "callbacks_made", "catalog_changes", "keys_made")
"""The names of the counts of a state."""

OF_RESELLER, OF_CATALOG = "reseller/", "catalog"
"""The prefixes of the keys of webhooks that belong to a reseller or to the catalog."""


class EventRow(msgspec.Struct, frozen=True, array_like=True):
    """An event: its wall time, and numbers that identify its subject, or the value itself."""

    wall: datetime
    kind: str
    number: int = 0
    place: int = 0
    reseller: str = ""
    attempted: AttemptOutcome | None = None
    action: Action | None = None
    notification: EmailNotification | None = None


class ResellerRow(msgspec.Struct, frozen=True, kw_only=True):
    """A reseller without its payments and ledger entries."""

    code: str
    email: str
    opening: Decimal
    threshold: Decimal
    keys: list[ApiKey]
    users: tuple[User, ...]
    callback: CallbackConfig
    webhook: Webhook
    settings: Settings
    closed_to_tokens: DelayedSwitch
    overlay: dict[str, Overlay]
    created: datetime | None
    overlay_updated: datetime | None


class AddedRow(msgspec.Struct, frozen=True, array_like=True):
    """An added rule: the command that added it, the id, and its timelines if the scenario has different ones."""

    command: bytes
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


class Rest(msgspec.Struct, frozen=True, kw_only=True):
    """The part `state`: everything but the long logs."""

    scenario: bytes | None
    now: datetime
    resellers: list[ResellerRow]
    keys: list[tuple[str, str]]
    users: list[tuple[str, str, User]]
    catalog_webhook: Webhook
    removed_webhooks: dict[str, Webhook]
    secrets: tuple[dict[str, int], list[str], int, int]
    catalog: CatalogRow
    books: dict[str, BookRow]
    rule_owners: list[str]
    chosen_before: dict[str, int]
    shared: list[SharedValues]
    timelines: list[tuple[Step, ...]]
    cases: list[CaseRow]
    due: list[DueRow]
    due_added: int
    callbacks: list[CallbackRow]
    deliveries: list[DeliveryRow]
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
