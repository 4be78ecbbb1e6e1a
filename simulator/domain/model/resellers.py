"""The account of a reseller: wallet, credentials, callback and webhook configuration, settings, catalog overlay,
current and replaced secrets."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

import msgspec

from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.catalog import Catalog, Overlay, Product
from simulator.domain.model.history import History
from simulator.domain.model.transactions import Transaction
from simulator.domain.model.wallet import Wallet
from simulator.domain.model.webhooks import Webhook


class KeyState(StrEnum):
    """The state of an API key; all but `ACTIVE` are rejected."""

    ACTIVE = "active"
    REVOKED = "revoked"
    NO_SECRET = "no_secret"  # noqa: S105  # a state, not a password
    UNDECRYPTABLE = "undecryptable"


class DelayedSwitch(msgspec.Struct, frozen=True):
    """A setting with its initial value, and changes that each take effect at their own time.

    `changes` are in order of time: at most the change in effect and the pending changes.
    """

    first: bool = False
    changes: tuple[tuple[datetime, bool], ...] = ()

    def is_on(self, now: datetime) -> bool:
        """Return whether the setting is on at `now`."""
        return next((on for at, on in reversed(self.changes) if at <= now), self.first)

    def turned(self, on: bool, now: datetime, acts_at: datetime) -> "DelayedSwitch":
        """Return the switch with a change that takes effect at `acts_at`, without superseded changes."""
        waiting = tuple((at, to) for at, to in self.changes if now < at < acts_at)
        return DelayedSwitch(self.is_on(now), (*waiting, (acts_at, on)))


class ApiKey(msgspec.Struct):
    """A key and its secret: `secret` in Base64 as the integrator holds it, `secret_bytes` as HMAC needs it."""

    key: str
    secret: str
    secret_bytes: bytes
    state: KeyState = KeyState.ACTIVE
    created: datetime | None = None


class User(msgspec.Struct, frozen=True):
    """A username and password of the legacy token endpoint."""

    username: str
    password: str


class Settings(msgspec.Struct):
    """The settings that an account owner changes in the console. An empty allowlist allows every address.

    `require_api_key_for_topup` is the current setting; `Reseller.closed_to_tokens` records since when it is in effect.
    """

    require_api_key_for_topup: bool = False
    ip_allowlist: tuple[str, ...] = ()


@dataclass(slots=True)
class Reseller:
    """All data of a reseller in a sandbox. `refids` never expires: idempotency is permanent."""

    code: str
    email: str
    wallet: Wallet
    keys: list[ApiKey]
    users: tuple[User, ...] = ()
    callback: CallbackConfig = CallbackConfig()
    webhook: Webhook = field(default_factory=Webhook)
    settings: Settings = field(default_factory=Settings)
    closed_to_tokens: DelayedSwitch = DelayedSwitch()
    overlay: Mapping[str, Overlay] = field(default_factory=dict)
    created: datetime | None = None
    overlay_updated: datetime | None = None
    refids: dict[str, Transaction] = field(default_factory=dict)
    history: History = field(default_factory=History)

    def catalog_updated(self, shared: datetime) -> datetime:
        """Return when this reseller's view last changed; `shared` is when the catalog last changed."""
        return max(shared, self.overlay_updated or shared)

    def sees(self, catalog: Catalog, code: str) -> Product | None:
        """Return a product with this reseller's overlay, or None when it does not exist."""
        product = catalog.products.get(code)
        if product is not None and (overlay := self.overlay.get(code)):
            return overlay.over(product)
        return product


FORMER_MAX = 10_000
"""The maximum number of replaced secrets; the oldest are dropped first."""


class SecretLog:
    """API secrets, passwords and webhook secrets that must not be shown. `version` increments with each new secret,
    `replacements` with each replaced secret."""

    def __init__(self) -> None:
        self.holders: Counter[str] = Counter()  # users of each secret: keys, accounts, webhooks; 0 if replaced
        self.former: deque[str] = deque()  # replaced secrets, latest first
        self.version = 0
        self.replacements = 0

    def __len__(self) -> int:
        return len(self.holders)

    def __iter__(self) -> Iterator[str]:
        return iter(self.holders)

    def restore(self, holders: Mapping[str, int], former: Iterable[str], version: int, replacements: int) -> None:
        """Replace the contents with a snapshot's; `former` is oldest first."""
        self.holders, self.former = Counter(holders), deque(reversed([*former]))
        self.version, self.replacements = version, replacements

    def add(self, secret: str, replaced: str = "") -> None:
        """Add a secret that is now in force instead of `replaced`; either may be empty."""
        if replaced == secret:
            return
        if secret:
            self.version += secret not in self.holders
            self.holders[secret] += 1
        if replaced in self.holders:
            self.holders[replaced] -= 1
            self.former.appendleft(replaced)
            self.replacements += 1
        while len(self.former) > FORMER_MAX:
            oldest = self.former.pop()
            if self.holders[oldest] <= 0:
                del self.holders[oldest]
