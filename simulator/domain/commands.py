"""The commands of a sandbox, which cover every input. Their answers are beside their subjects in `model`.

A command is pure data: it can be serialized, read back and applied again with the same result. Rules and scenarios are
carried as documents, which the sandbox's compiler turns into executable values.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from simulator.domain.model.cases import CaseKind
from simulator.domain.model.catalog import Adjustment, Discount, TreeKind
from simulator.domain.model.delivery_attempts import AttemptResult
from simulator.domain.model.resellers import KeyState
from simulator.domain.model.scenario import ResellerStart
from simulator.domain.model.schedule import Command as Command
from simulator.domain.model.schedule import NetworkStatus
from simulator.domain.model.wallet import EntryType


class CreatePayment(Command, frozen=True):
    """Create a payment, or re-query it when `refid` exists. `amount` is as the client sent it; `rule` names the payment
    rule that the client requested; `sender` is the client's address and `key` its API key, "" without a key."""

    reseller: str
    refid: str
    product: str
    account: str
    amount: object
    remarks: str = ""
    extras: Mapping[str, object] = {}
    sender: str = ""
    rule: str = ""
    key: str = ""


class SetCallback(Command, frozen=True):
    """Set the URL of a reseller's callbacks."""

    reseller: str
    url: str
    method: str


class Credit(Command, frozen=True):
    """Add external money to a wallet."""

    reseller: str
    amount: Decimal
    description: str = ""
    type: EntryType = EntryType.DEPOSIT


class SetThreshold(Command, frozen=True):
    """Alert a reseller when its balance falls below `amount`."""

    reseller: str
    amount: Decimal


class AddReseller(Command, frozen=True):
    """Add a reseller."""

    start: ResellerStart


class AddApiKey(Command, frozen=True):
    """Add a key pair, drawn from the seed, to a reseller."""

    reseller: str


class RevokeApiKey(Command, frozen=True):
    """Revoke a key, effective at once."""

    reseller: str
    key: str


class PutApiKey(Command, frozen=True):
    """Add an API key with this Base64 secret, or change the existing key. An empty secret keeps the secret of the key;
    `state` None keeps its state, and activates a new key."""

    reseller: str
    key: str
    secret: str = ""
    state: KeyState | None = None


class ChangeSettings(Command, frozen=True):
    """Change some of a reseller's settings; absent settings keep their values."""

    reseller: str
    changes: Mapping[str, bool | tuple[str, ...]]


class ChangeProduct(Command, frozen=True):
    """Change properties of a product, and put `options` on sale (True) or take them off sale (False), by code. With
    `reseller`, the change applies to that reseller's view only."""

    code: str
    changes: Mapping[str, bool | str | Adjustment | Discount | None] = {}
    options: Mapping[str, bool] = {}
    reseller: str | None = None


class ChangeTree(Command, frozen=True):
    """Change properties of the category or group (`kind`) with this id, for everybody."""

    kind: TreeKind
    id: str
    changes: Mapping[str, str | tuple[str, ...]]


class SetWebhook(Command, frozen=True):
    """Create a reseller's balance webhook, or point it elsewhere."""

    reseller: str
    url: str


class EnableWebhook(Command, frozen=True):
    """Enable or disable a reseller's balance webhook."""

    reseller: str
    enabled: bool


class PutWebhook(Command, frozen=True):
    """Create or change a reseller's balance webhook. An empty `url` or `secret` and `enabled` None keep the value; a
    new webhook is enabled and draws its secret."""

    reseller: str
    url: str = ""
    secret: str = ""
    enabled: bool | None = None


class RotateWebhookSecret(Command, frozen=True):
    """Draw a new signing secret; the old one becomes invalid at once."""

    reseller: str


class RemoveWebhook(Command, frozen=True):
    """Delete a reseller's balance webhook."""

    reseller: str


class ReplayDelivery(Command, frozen=True):
    """Deliver the event of a failed job once more. With `reseller` None the job may be any reseller's."""

    reseller: str | None
    job: str


class SendCallback(Command, frozen=True):
    """Send the callback of a payment's present status again, at once, regardless of its rule. Answers the callback."""

    trxid: str


class OpenCase(Command, frozen=True):
    """Dispute or void a payment (SPEC 4.12, 4.13). `trxid` takes precedence over `refid`; an empty `trxid` counts as
    absent; `rule` names the rule that the client requested; `sender` is the client's address and `key` its API key, ""
    without a key."""

    kind: CaseKind
    reseller: str
    refid: str = ""
    trxid: str = ""
    user_email: tuple[str, ...] = ()
    refund_type: int | None = None
    refund_reason: str = ""
    rule: str = ""
    sender: str = ""
    key: str = ""


class LookUpBill(Command, frozen=True):
    """Look up the outstanding amount of a bill (SPEC 4.10). `amount` is as the client sent it; `rule` names the rule
    that the client requested; `sender` is the client's address and `key` its API key, "" without a key."""

    reseller: str
    product: str
    account: str
    biller_code: str = ""
    ref2: str = ""
    amount: str = ""
    rule: str = ""
    sender: str = ""
    key: str = ""


class SetNetwork(Command, frozen=True):
    """Set a product's network status from now on, overriding the scenario's timeline."""

    product: str
    status: NetworkStatus


class LoadScenario(Command, frozen=True):
    """Switch to another scenario: its complete `document`, including inherited parts, and its `name` when the document
    has none."""

    name: str
    document: Mapping[str, Any]


class AddRule(Command, frozen=True):
    """Insert a rule, as a scenario document, before all others of its section. Answers the rule."""

    section: str
    document: Mapping[str, Any]


class RemoveRule(Command, frozen=True):
    """Remove a rule by its id or name."""

    rule: str


class CountRequest(Command, frozen=True):
    """Count one request of a client address. Answers whether the address is blocked (SPEC 8)."""

    address: str


class SpendNonce(Command, frozen=True):
    """Check and spend a nonce atomically. Answers False when it was spent recently (SPEC 3.6). `signing_s` is the Unix
    time that the request's timestamp was compared with."""

    reseller: str
    api_key: str
    nonce: bytes
    timestamp_s: int
    signing_s: float


class ReturnNonce(Command, frozen=True):
    """Release the latest nonce, because authentication failed after it was spent."""

    reseller: str
    api_key: str
    nonce: bytes


class CountFault(Command, frozen=True):
    """Count the ids of the faults that a request `matched`, and the `chosen` fault, "" without a fault. `is_selected`
    when the request selected it by name. `values` has the request's value for each fault that counts per value."""

    matched: tuple[str, ...]
    chosen: str = ""
    is_selected: bool = False
    values: tuple[tuple[str, str], ...] = ()


class EndAttempt(Command, frozen=True):
    """End the attempt in flight of a job with its result."""

    job: str
    attempt: int
    result: AttemptResult


class PassTime(Command, frozen=True):
    """Process at most `events_max` agenda items that are due by now. Answers what happened, in order."""

    events_max: int | None = None


class RecordTime(Command, frozen=True):
    """Record that the clock was moved. Overdue items then happen at this time, not when they were due."""
