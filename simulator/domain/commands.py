"""Everything that can enter a sandbox, in the imperative, and what it answers.

A command is pure data: it can be written down, read back and applied again with the same result. What a rule or a
scenario says comes as the document that it was written in; the sandbox's compiler makes of it what decides.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from simulator.domain.model.bills import Bill
from simulator.domain.model.cases import CaseKind
from simulator.domain.model.catalog import Adjustment, Discount, TreeKind
from simulator.domain.model.details import Detail
from simulator.domain.model.effects import Outcome
from simulator.domain.model.network import NetworkStatus
from simulator.domain.model.scenario import ResellerStart
from simulator.domain.model.transactions import Reason, Result, Transaction
from simulator.domain.model.wallet import EntryType


class Command(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="command"):
    """What all commands have in common: they are told apart by their name when they are read back."""


class CreatePayment(Command, frozen=True):
    """Create a payment, or re-query it when `refid` exists. `amount` is as the client sent it; `rule` names the
    payment rule that the client asked for."""

    reseller: str
    refid: str
    product: str
    account: str
    amount: object
    remarks: str = ""
    extras: Mapping[str, object] = {}
    sender: str = ""
    rule: str = ""


class PaymentAnswer(msgspec.Struct, frozen=True, gc=False):
    """A transaction as it stands. `created` is False for a re-query; `rule` is the rule that decided it; `detail` says
    what of the request was read otherwise, `ignored` which extras were not."""

    transaction: Transaction
    result: Result
    balance: Decimal
    created: bool
    rule: str
    detail: Detail | None = None
    ignored: Detail | None = None


class PaymentRefused(msgspec.Struct, frozen=True, gc=False):
    """Nothing was created and the refid is free. `remarks` are the reason's name unless given; `rule` is the rule
    that refused, if one did, and else `detail` says why; `ignored` says which extras were not looked at."""

    reason: Reason
    code: int
    balance: Decimal
    product_name: str = ""
    remarks: str = ""
    rule: str = ""
    detail: Detail | None = None
    ignored: Detail | None = None


class SetCallback(Command, frozen=True):
    """Point a reseller's callbacks somewhere."""

    reseller: str
    url: str
    method: str


class Credit(Command, frozen=True):
    """Add money to a wallet from outside."""

    reseller: str
    amount: Decimal
    description: str = ""
    type: EntryType = EntryType.DEPOSIT


class SetThreshold(Command, frozen=True):
    """Alert a reseller when its balance falls below `amount`."""

    reseller: str
    amount: Decimal


class AddReseller(Command, frozen=True):
    """One more reseller."""

    start: ResellerStart


class AddApiKey(Command, frozen=True):
    """One more key pair for a reseller; the pair is drawn from the seed."""

    reseller: str


class RevokeApiKey(Command, frozen=True):
    """A key that stops working at once."""

    reseller: str
    key: str


class ChangeSettings(Command, frozen=True):
    """Some of a reseller's settings; what is absent stays."""

    reseller: str
    changes: Mapping[str, bool | tuple[str, ...]]


class ChangeProduct(Command, frozen=True):
    """Change properties of a product, and put `options` on sale (True) or take them off it, by code. With `reseller`
    only what that reseller sees changes."""

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
    """Let events go to a reseller's balance webhook, or stop them."""

    reseller: str
    enabled: bool


class RotateWebhookSecret(Command, frozen=True):
    """A new signing secret; the old one is of no use from now on."""

    reseller: str


class RemoveWebhook(Command, frozen=True):
    """Forget a reseller's balance webhook."""

    reseller: str


class ReplayDelivery(Command, frozen=True):
    """Deliver the event of a failed job once more. `reseller` None may replay any reseller's."""

    reseller: str | None
    job: str


class OpenCase(Command, frozen=True):
    """Dispute or void a payment (SPEC 4.12, 4.13). `trxid` wins over `refid`, an empty one is not given; `rule` names
    the rule that the client asked for."""

    kind: CaseKind
    reseller: str
    refid: str = ""
    trxid: str = ""
    user_email: tuple[str, ...] = ()
    refund_type: int | None = None
    refund_reason: str = ""
    rule: str = ""


class CaseAnswer(msgspec.Struct, frozen=True, gc=False):
    """Whether the request was taken, and what is told; `rule` is the rule that decided it; `detail` says why none had
    to, or what of the request did not count."""

    transaction: Transaction
    is_taken: bool
    message: str
    rule: str
    detail: Detail | None = None


class NoSuchTransaction(msgspec.Struct, frozen=True, gc=False):
    """The reseller has no transaction of this reference."""

    named_by: str
    detail: Detail | None = None


class LookUpBill(Command, frozen=True):
    """What is outstanding on a bill (SPEC 4.10). `amount` is as the client sent it; `rule` names the rule that the
    client asked for."""

    reseller: str
    product: str
    account: str
    biller_code: str = ""
    ref2: str = ""
    amount: str = ""
    rule: str = ""


class BillFound(msgspec.Struct, frozen=True, gc=False):
    """A bill as it stands; `rule` is the rule that wrote it; `detail` says what of the request did not count."""

    bill: Bill
    rule: str
    detail: Detail | None = None


class SetNetwork(Command, frozen=True):
    """A product's network status from now on, whatever the scenario planned."""

    product: str
    status: NetworkStatus


class LoadScenario(Command, frozen=True):
    """Go on with another scenario: its whole `document`, what it extends included, and its `name` when the document
    has none."""

    name: str
    document: Mapping[str, Any]


class AddRule(Command, frozen=True):
    """Place a rule, as it is written in a scenario, before all others of its section. Answers the rule."""

    section: str
    document: Mapping[str, Any]


class RemoveRule(Command, frozen=True):
    """Take a rule out, by id."""

    rule: str


class CountRequest(Command, frozen=True):
    """One request of a client's address came in. Answers whether the address is blocked (SPEC 8)."""

    address: str


class SpendNonce(Command, frozen=True):
    """Check and spend a nonce in one step. Answers False when it was spent lately (SPEC 3.6). `signing_s` is the Unix
    time that the request's timestamp was compared with."""

    reseller: str
    api_key: str
    nonce: bytes
    timestamp_s: int
    signing_s: float


class ReturnNonce(Command, frozen=True):
    """Take back that the latest nonce was spent: nobody was authenticated after all."""

    reseller: str
    api_key: str
    nonce: bytes


class CountFault(Command, frozen=True):
    """A request met the faults of the scenario: the rules, by id, whose `when` it `matched`, and the one among them
    that was `chosen`, "" for none."""

    matched: tuple[str, ...]
    chosen: str = ""


class EndDelivery(Command, frozen=True):
    """What became of the attempt that was in the air for a job."""

    job: str
    attempt: int
    outcome: Outcome


class PassTime(Command, frozen=True):
    """Let happen what is due by now, at most `events_max` things of it. Answers what happened, in order."""

    events_max: int | None = None


class SeeTime(Command, frozen=True):
    """The clock was moved. What is overdue happens at this time then, not at the time when it was due."""
