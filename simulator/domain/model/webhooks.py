"""Webhooks as values: configuration (SPEC 2.11), events (SPEC 2.13, 6.4) and their delivery jobs (SPEC 2.12), with
their log.

An event may have several jobs: the first, and a job for each manual replay. They share the event and its replay count.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from itertools import takewhile

import msgspec

from simulator.domain.model.catalog import Category, Group, Option, Product
from simulator.domain.model.delivery_attempts import Attempt

BALANCE_ADDED = "balance.added"
REPLAYS_MAX = 3
RESPONSE_CHARS_MAX = 4096


@dataclass(slots=True)
class Webhook:
    """The target of signed events, and whether it is enabled. An empty `url` means no webhook; `secret` has 64
    hexadecimal digits."""

    url: str = ""
    secret: str = field(default="", repr=False)
    enabled: bool = False
    created: datetime | None = None
    updated: datetime | None = None
    secrets_drawn: int = 0


@dataclass(frozen=True, slots=True)
class WebhookStart:
    """A webhook that exists from the start; an empty `secret` is replaced by a secret drawn from the seed."""

    url: str
    secret: str = field(default="", repr=False)
    enabled: bool = True


class Signature(msgspec.Struct, frozen=True):
    """The signature format of events. Without `header`: Standard Webhooks. With it, that header holds `prefix` and the
    hexadecimal HMAC of the body, keyed with the secret's 32 bytes, or with its 64 characters when `key` is `text`."""

    header: str = ""
    prefix: str = ""
    key: str = "bytes"


class WebhookPolicy(msgspec.Struct, frozen=True):
    """The delivery of events. `retry_after` are the waits before each retry, from the end of the previous attempt; the
    last wait repeats. `timeout` None means the callbacks' timeout. `catalog` is the target of catalog events. The first
    attempt of each delivery waits in the hold of this name. Each event is delivered `duplicate` more times,
    simultaneously."""

    retry_limit: int = 3
    retry_after: tuple[timedelta, ...] = (timedelta(seconds=10), timedelta(seconds=60), timedelta(seconds=300))
    signature: Signature = Signature()
    timeout: timedelta | None = None
    catalog: WebhookStart | None = None
    hold: str = ""
    duplicate: int = 0

    def wait(self, retry: int) -> timedelta:
        """Return the wait before the retry with this number, from 1."""
        return self.retry_after[min(retry, len(self.retry_after)) - 1]


class BalanceAdded(msgspec.Struct, frozen=True):
    """The data of a `balance.added` event: a credit, and the wallet after it."""

    reseller: str
    amount: Decimal
    balance: Decimal
    description: str


class CatalogEntry(msgspec.Struct, frozen=True):
    """The resource of a catalog event, in the default shape at that time. An option has its product and the field that
    offers it; a change for a single reseller has that reseller's code. `has_loss_risk` is stored for a product, whose
    options are not; `by_denomination` selects the shape of 2026-09-16."""

    resource: Product | Option | Category | Group
    product: Product | None = None
    field_id: str = ""
    reseller: str = ""
    has_loss_risk: bool = False
    by_denomination: bool = False


EventData = BalanceAdded | CatalogEntry


class Event(msgspec.Struct):
    """A notification, sent once by each job. `replays` counts the manual jobs."""

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
    """The reason for not replaying a job; the value is its code in the control API."""

    UNKNOWN = "unknown_delivery"
    SUCCEEDED = "delivery_succeeded"
    UNDER_WAY = "delivery_under_way"
    NO_WEBHOOK = "no_webhook"
    DISABLED = "webhook_disabled"
    LIMIT = "replay_limit_reached"


class Delivery(msgspec.Struct):
    """A job that delivers an event. Signing uses the current state of `webhook`; `url` is fixed at creation. `serial`
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
    attempts: tuple[Attempt, ...] = ()

    @property
    def lane(self) -> str:
        """Return the job's own lane: each job is sent independently."""
        return self.id

    @property
    def size(self) -> int:
        """Return the approximate memory of an ended job, in bytes."""
        bodies = sum(len(attempt.result.body) for attempt in self.attempts if attempt.result)
        length = len(self.event.data.description) if isinstance(self.event.data, BalanceAdded) else 0
        return 2000 + 500 * len(self.attempts) + 4 * (bodies + length)


class DeliveryLog:
    """Jobs by id and by number. The oldest ended jobs are evicted, by count and by `size`, the approximate memory in
    bytes; `left_out` counts them. Only ended jobs count for the limits."""

    def __init__(self, count_max: int, bytes_max: int) -> None:
        self._count_max = count_max
        self._bytes_max = bytes_max
        self.size = 0
        self.left_out = 0
        self._by_id: dict[str, Delivery] = {}  # in order of creation
        self._by_n: dict[int, Delivery] = {}
        self._last_serial = 0
        self._last_n = 0

    def __iter__(self) -> Iterator[Delivery]:
        return iter(self._by_id.values())

    def __reversed__(self) -> Iterator[Delivery]:
        return reversed(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def find(self, id_: str) -> Delivery | None:
        """Return the job with this id, if it is still in the log."""
        return self._by_id.get(id_)

    def ended(self, before: int | None = None) -> Iterator[Delivery]:
        """Yield ended jobs, latest first; with `before`, only jobs with a lower number."""
        n = self._last_n if before is None else before - 1
        while (delivery := self._by_n.get(n)) is not None:
            yield delivery
            n -= 1

    def add(self, delivery: Delivery) -> None:
        """Add and number a new job."""
        self._last_serial += 1
        delivery.serial = self._last_serial
        self._by_id[delivery.id] = delivery

    @property
    def last(self) -> tuple[int, int]:
        """Return the latest number in order of creation, and in order of ending."""
        return self._last_serial, self._last_n

    def after(self, serial: int) -> list[Delivery]:
        """Return the jobs created after the job with this number that are still in the log, oldest first."""
        return list(takewhile(lambda delivery: delivery.serial > serial, reversed(self._by_id.values())))[::-1]

    def restore(self, deliveries: Iterable[Delivery], last: tuple[int, int], left_out: int) -> None:
        """Replace all jobs, in order of creation; `left_out` counts earlier evictions."""
        self._by_id = {delivery.id: delivery for delivery in deliveries}
        ended = sorted((delivery for delivery in self._by_id.values() if delivery.n), key=lambda delivery: delivery.n)
        self._by_n = {delivery.n: delivery for delivery in ended}
        self.size = sum(delivery.size for delivery in ended)
        (self._last_serial, self._last_n), self.left_out = last, left_out

    def end(self, delivery: Delivery, state: DeliveryState, error: str, now: datetime) -> None:
        """Number an ended job, and evict the oldest as needed, never the newest."""
        assert delivery.state is DeliveryState.UNDER_WAY, "a job ends once"
        self._last_n += 1
        delivery.n, delivery.state, delivery.error, delivery.completed = self._last_n, state, error, now
        self._by_n[delivery.n] = delivery
        self.size += delivery.size
        while len(self._by_n) > self._count_max or (self.size > self._bytes_max and len(self._by_n) > 1):
            oldest = self._by_n.pop(self._last_n - len(self._by_n) + 1)
            del self._by_id[oldest.id]
            self.size -= oldest.size
            self.left_out += 1
