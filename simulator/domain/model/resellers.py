"""The account that integrates: wallet, credentials, callback and webhook configuration, settings, catalog overlay."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from simulator.domain.model.callbacks import CallbackConfig
from simulator.domain.model.catalog import Catalog, Overlay, Product
from simulator.domain.model.history.records import Records
from simulator.domain.model.transactions import Transaction
from simulator.domain.model.wallet import Wallet
from simulator.domain.model.webhooks import Webhook


class KeyState(StrEnum):
    """What an API key is good for; all but `ACTIVE` exist to be refused."""

    ACTIVE = "active"
    REVOKED = "revoked"
    NO_SECRET = "no_secret"  # noqa: S105  # a state, no password
    UNDECRYPTABLE = "undecryptable"


@dataclass(frozen=True, slots=True)
class DelayedSwitch:
    """On or off since ever, then whatever each change says from its own time on.

    `changes` are in order of time and hold the one that acts, if any, and those that do not act yet.
    """

    first: bool = False
    changes: tuple[tuple[datetime, bool], ...] = ()

    def is_on(self, now: datetime) -> bool:
        """Whether it is on at `now`."""
        return next((on for at, on in reversed(self.changes) if at <= now), self.first)

    def turned(self, on: bool, now: datetime, acts_at: datetime) -> "DelayedSwitch":
        """The switch after a change that acts at `acts_at`; what acted before `now` is forgotten."""
        waiting = tuple((at, to) for at, to in self.changes if now < at < acts_at)
        return DelayedSwitch(self.is_on(now), (*waiting, (acts_at, on)))


@dataclass(slots=True)
class ApiKey:
    """A key and its secret: `secret` in Base64 as the integrator holds it, `secret_bytes` as HMAC wants it."""

    key: str
    secret: str
    secret_bytes: bytes
    state: KeyState = KeyState.ACTIVE


@dataclass(frozen=True, slots=True)
class User:
    """A username and password of the legacy token endpoint."""

    username: str
    password: str


@dataclass(slots=True)
class Settings:
    """What an account owner sets in the console. An empty allowlist lets every address in.

    `require_api_key_for_topup` is what is set; `Reseller.closed_to_tokens` says since when it acts.
    """

    require_api_key_for_topup: bool = False
    ip_allowlist: tuple[str, ...] = ()


@dataclass(slots=True)
class Reseller:
    """All that belongs to one reseller in one sandbox. `refids` never forgets: idempotency is permanent."""

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
    refids: dict[str, Transaction] = field(default_factory=dict)
    created: datetime | None = None
    overlay_updated: datetime | None = None
    records: Records = field(init=False)

    def __post_init__(self) -> None:
        """Begin the indexes over what the wallet and `refids` will hold."""
        self.records = Records(self.wallet)

    def catalog_updated(self, shared: datetime) -> datetime:
        """When what this reseller sees changed last; `shared` is when the catalog itself did."""
        return max(shared, self.overlay_updated or shared)

    def sees(self, catalog: Catalog, code: str) -> Product | None:
        """A product with this reseller's overlay, or None when there is no such product."""
        product = catalog.products.get(code)
        if product is not None and (overlay := self.overlay.get(code)):
            return overlay.over(product)
        return product
