"""A loaded scenario: the frozen values that a sandbox starts from."""

from base64 import b64encode
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol

import msgspec

from simulator.domain.model import draw
from simulator.domain.model.bills import BillThen
from simulator.domain.model.callbacks import CallbackConfig, RetryPolicy
from simulator.domain.model.cases import CaseThen
from simulator.domain.model.catalog import Catalog, Overlay
from simulator.domain.model.expectations import Expectation
from simulator.domain.model.fault_kinds import FaultThen
from simulator.domain.model.inbox_programs import InboxProgram
from simulator.domain.model.resellers import KeyState, User
from simulator.domain.model.rules import NO_MAGIC, SECTIONS, Magic, Rule, ScenarioOrigin
from simulator.domain.model.schedule import NetworkTimeline, ScheduledChange
from simulator.domain.model.transactions import PaymentThen, Step
from simulator.domain.model.webhooks import WebhookPolicy, WebhookStart


class KeyStart(msgspec.Struct, frozen=True):
    """An API key that exists from the start; `secret` is Base64."""

    key: str
    secret: str
    state: KeyState = KeyState.ACTIVE


def draw_key(seed: int, *identity: object) -> KeyStart:
    """Draw a key pair from the seed and `identity`."""
    key = "rk_" + draw.alphanumeric(seed, 24, "api-key", *identity).lower()
    return KeyStart(key, b64encode(draw.secret(seed, "api-secret", *identity)).decode())


class ResellerStart(msgspec.Struct, frozen=True):
    """The initial state of a reseller."""

    code: str
    email: str
    balance: Decimal = Decimal(0)
    keys: tuple[KeyStart, ...] = ()
    users: tuple[User, ...] = ()
    callback: CallbackConfig = CallbackConfig()
    webhook: WebhookStart | None = None
    require_api_key_for_topup: bool = False
    ip_allowlist: tuple[str, ...] = ()
    overlay: Mapping[str, Overlay] = msgspec.field(default_factory=dict)
    low_balance_threshold: Decimal | None = None


class ClockStart(msgspec.Struct, frozen=True):
    """The scenario's clock; `start` None means the present. `skew` is added to the wall clock wherever external time
    applies."""

    mode: str = "real"
    rate: float = 1.0
    start: datetime | None = None
    skew: timedelta = timedelta(0)
    signature: str = "wall"


class Limits(msgspec.Struct, frozen=True):
    """The limits of SPEC 6.1 and 8, with limits on our own memory. None: no limit."""

    requests_per_interval: int | None = 30_000
    rate_limit_interval: timedelta = timedelta(minutes=5)
    rate_limit_block: timedelta = timedelta(minutes=240)
    nonce_window: timedelta = timedelta(minutes=10)
    nonces: int = 500_000
    timestamp_tolerance: timedelta = timedelta(minutes=5)
    token_lifetime: timedelta = timedelta(hours=1)
    refresh_token_lifetime: timedelta = timedelta(days=30)
    integration_timeout: timedelta | None = timedelta(seconds=29)
    settings_delay: timedelta = timedelta(minutes=5)
    callback_timeout: timedelta = timedelta(seconds=30)
    callback_timeout_manual: timedelta = timedelta(seconds=5)
    callback_retry: RetryPolicy = RetryPolicy()
    callbacks: int = 20_000
    callbacks_bytes: int = 64 * 1024 * 1024
    deliveries: int = 10_000
    deliveries_bytes: int = 64 * 1024 * 1024
    notifications: int = 5_000
    journal: int = 4_000
    journal_bytes: int = 64 * 1024 * 1024
    tape: int = 100_000
    tape_bytes: int = 48 * 1024 * 1024
    inbox: int = 10_000
    inbox_bytes: int = 64 * 1024 * 1024
    inboxes: int = 1_000
    inboxes_bytes: int = 64 * 1024 * 1024
    rules: int = 2_000
    resellers: int = 1_000
    api_keys: int = 2_000


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Scenario:
    """The initial values of a sandbox. `environment` is `staging` or `production`; with `realistic_times`, payments
    take as long as their product specifies; `assume` holds the choices that differ from the register's defaults, by id.
    `origin` is None for a scenario that came in a request."""

    name: str
    description: str = ""
    seed: int = 0
    environment: str = "staging"
    realistic_times: bool = False
    accepts_any_certificate: bool = False
    clock: ClockStart = ClockStart()
    resellers: tuple[ResellerStart, ...] = ()
    catalog: Catalog = Catalog()
    timelines: Mapping[str, tuple[Step, ...]] = field(default_factory=dict)
    payments: tuple[Rule[PaymentThen], ...] = ()
    voids: tuple[Rule[CaseThen], ...] = ()
    disputes: tuple[Rule[CaseThen], ...] = ()
    bills: tuple[Rule[BillThen], ...] = ()
    faults: tuple[Rule[FaultThen], ...] = ()
    magic: Magic = NO_MAGIC
    network: Mapping[str, NetworkTimeline] = field(default_factory=dict)
    inboxes: Mapping[str, InboxProgram] = field(default_factory=dict)
    schedule: tuple[ScheduledChange, ...] = ()
    limits: Limits = Limits()
    webhooks: WebhookPolicy = WebhookPolicy()
    assume: Mapping[str, object] = field(default_factory=dict)
    expect: tuple[Expectation, ...] = ()
    written: Callable[[], Mapping[str, Any]] = field(default=dict, compare=False, repr=False)
    origin: ScenarioOrigin | None = field(default=None, compare=False, repr=False)

    @property
    def rules(self) -> Mapping[str, tuple[Rule[Any], ...]]:
        """Return the rules of all sections, by section."""
        return {section: getattr(self, section) for section in SECTIONS}

    @property
    def document(self) -> Mapping[str, Any]:
        """Return the complete source document, including inherited parts, as plain values; rebuilt on each access."""
        return {key: value for key, value in self.written().items() if key != "extends"}


class Compiler(Protocol):
    """A compiler of documents. It raises its own error for an invalid document, and then changes nothing."""

    def rule(
        self,
        section: str,
        document: Mapping[str, Any],
        rule_id: str,
        products: Collection[str],
        resellers: Collection[str],
        timelines: Mapping[str, tuple[Step, ...]],
    ) -> Rule[Any]:
        """Compile a rule of a section; `rule_id` is its id when the document has no id. The rule may name these
        products, resellers and timelines."""

    def scenario(self, document: Mapping[str, Any], name: str) -> Scenario:
        """Compile a whole scenario; `name` is its title when the document has no title."""
