"""Webhooks as values: configuration (SPEC 2.11), events (SPEC 2.13, 6.4) and the jobs that deliver them (SPEC 2.12).

One event may have several jobs: the first, and one for each manual replay. They share the event, and with it the count
of replays.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

import msgspec

from simulator.domain.model.catalog import Option, Product
from simulator.domain.model.effects import Attempt
from simulator.domain.model.tree import Category, Group

BALANCE_ADDED = "balance.added"
REPLAYS_MAX = 3
RESPONSE_CHARS_MAX = 4096


@dataclass(slots=True)
class Webhook:
    """Where signed events go, and whether. An empty `url` means no webhook; `secret` has 64 hexadecimal digits."""

    url: str = ""
    secret: str = field(default="", repr=False)
    enabled: bool = False
    created: datetime | None = None
    updated: datetime | None = None
    secrets_drawn: int = 0


@dataclass(frozen=True, slots=True)
class WebhookStart:
    """A webhook that exists from the start; an empty `secret` is replaced by one drawn from the seed."""

    url: str
    secret: str = field(default="", repr=False)
    enabled: bool = True


class Signature(msgspec.Struct, frozen=True):
    """How events are signed. Without `header`: Standard Webhooks. With it, that header holds `prefix` and the
    hexadecimal HMAC of the body, keyed with the secret's 32 bytes, or with its 64 characters when `key` is `text`."""

    header: str = ""
    prefix: str = ""
    key: str = "bytes"


class WebhookPolicy(msgspec.Struct, frozen=True):
    """How events are delivered. `retry_after` are the waits before each retry, from the end of the previous attempt;
    the last one repeats. `timeout` None is that of callbacks. `catalog` is the target of catalog events."""

    retry_limit: int = 3
    retry_after: tuple[timedelta, ...] = (timedelta(seconds=10), timedelta(seconds=60), timedelta(seconds=300))
    signature: Signature = Signature()
    timeout: timedelta | None = None
    catalog: WebhookStart | None = None

    def wait(self, retry: int) -> timedelta:
        """The wait before the retry with this number, counted from 1."""
        return self.retry_after[min(retry, len(self.retry_after)) - 1]


class BalanceAdded(msgspec.Struct, frozen=True):
    """The data of a `balance.added` event: a credit, and the wallet after it."""

    reseller: str
    amount: Decimal
    balance: Decimal
    description: str


class CatalogEntry(msgspec.Struct, frozen=True):
    """The resource of a catalog event, in the shape that was the default then. An option has its product and the field
    that offers it; a change for a single reseller has that reseller's code. `has_loss_risk` is stored for a product,
    whose options are not; `by_denomination` is the shape of 2026-09-16."""

    resource: Product | Option | Category | Group
    product: Product | None = None
    field_id: str = ""
    reseller: str = ""
    has_loss_risk: bool = False
    by_denomination: bool = False


EventData = BalanceAdded | CatalogEntry


class Event(msgspec.Struct):
    """A notification, sent once by each job. `replays` counts the manual ones."""

    id: str
    type: str
    created: datetime
    data: EventData
    replays: int = 0


class DeliveryState(StrEnum):
    """The state of a job (SPEC 3.2)."""

    UNDER_WAY = "pending"
    SUCCEEDED = "success"
    FAILED = "failed"


class ReplayRefused(StrEnum):
    """Why a job is not replayed; the value is its code in the control API."""

    UNKNOWN = "unknown_delivery"
    SUCCEEDED = "delivery_succeeded"
    UNDER_WAY = "delivery_under_way"
    NO_WEBHOOK = "no_webhook"
    DISABLED = "webhook_disabled"
    LIMIT = "replay_limit_reached"


class Delivery(msgspec.Struct):
    """One job that delivers an event. Signing uses the current state of `webhook`; `url` is fixed at creation. `serial`
    numbers jobs in order of creation, `n` in order of ending, 0 before; `original` is the replayed job."""

    id: str
    event: Event
    reseller: str
    webhook: Webhook
    url: str
    retry_limit: int
    created: datetime
    original: str | None = None
    serial: int = 0
    n: int = 0
    state: DeliveryState = DeliveryState.UNDER_WAY
    error: str = ""
    completed: datetime | None = None
    attempts: list[Attempt] = msgspec.field(default_factory=list)

    @property
    def lane(self) -> str:
        """Jobs of one event keep their order."""
        return self.event.id

    @property
    def size(self) -> int:
        """The approximate memory of an ended job, in bytes."""
        bodies = sum(len(attempt.result.body) for attempt in self.attempts if attempt.result)
        length = len(self.event.data.description) if isinstance(self.event.data, BalanceAdded) else 0
        return 2000 + 500 * len(self.attempts) + 4 * (bodies + length)
