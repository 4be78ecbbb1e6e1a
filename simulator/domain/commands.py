"""What a sandbox can be told to do, in the imperative, and what it answers. Pure values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any, NamedTuple

from simulator.domain.model.bills import Bill
from simulator.domain.model.cases import CaseKind
from simulator.domain.model.catalog import TreeKind
from simulator.domain.model.details import Detail
from simulator.domain.model.network import NetworkStatus
from simulator.domain.model.rules import Rule
from simulator.domain.model.scenario import ResellerStart, Scenario
from simulator.domain.model.transactions import Reason, Result, Transaction
from simulator.domain.model.wallet import EntryType


class CreatePayment(NamedTuple):
    """Create a payment, or re-query it when `refid` exists. `amount` is as the client sent it; `rule` names the
    payment rule that the client asked for."""

    reseller: str
    refid: str
    product: str
    account: str
    amount: object
    remarks: str = ""
    extras: Mapping[str, object] = MappingProxyType({})
    sender: str = ""
    rule: str = ""


class PaymentAnswer(NamedTuple):
    """A transaction as it stands. `created` is False for a re-query; `rule` is the rule that decided it; `detail` says
    what of the request did not count."""

    transaction: Transaction
    result: Result
    balance: Decimal
    created: bool
    rule: str
    detail: Detail | None = None


@dataclass(frozen=True, slots=True)
class PaymentRefused:
    """Nothing was created and the refid is free. `remarks` are the reason's name unless given; `rule` is the rule
    that refused, if one did, and else `detail` says why."""

    reason: Reason
    code: int
    balance: Decimal
    product_name: str = ""
    remarks: str = ""
    rule: str = ""
    detail: Detail | None = None


@dataclass(frozen=True, slots=True)
class SetCallback:
    """Point a reseller's callbacks somewhere."""

    reseller: str
    url: str
    method: str


@dataclass(frozen=True, slots=True)
class Credit:
    """Add money to a wallet from outside."""

    reseller: str
    amount: Decimal
    description: str = ""
    type: EntryType = EntryType.DEPOSIT


@dataclass(frozen=True, slots=True)
class SetThreshold:
    """Alert a reseller when its balance falls below `amount`."""

    reseller: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class AddReseller:
    """One more reseller."""

    start: ResellerStart


@dataclass(frozen=True, slots=True)
class AddApiKey:
    """One more key pair for a reseller; the pair is drawn from the seed."""

    reseller: str


@dataclass(frozen=True, slots=True)
class RevokeApiKey:
    """A key that stops working at once."""

    reseller: str
    key: str


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """Some of a reseller's settings; what is absent stays."""

    reseller: str
    changes: Mapping[str, object]


class ChangeProduct(NamedTuple):
    """Change properties of a product, and put `options` on sale (True) or take them off it, by code. With `reseller`
    only what that reseller sees changes."""

    code: str
    changes: Mapping[str, Any] = MappingProxyType({})
    options: Mapping[str, bool] = MappingProxyType({})
    reseller: str | None = None


class ChangeTree(NamedTuple):
    """Change properties of the category or group (`kind`) with this id, for everybody."""

    kind: TreeKind
    id: str
    changes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SetWebhook:
    """Create a reseller's balance webhook, or point it elsewhere."""

    reseller: str
    url: str


@dataclass(frozen=True, slots=True)
class EnableWebhook:
    """Let events go to a reseller's balance webhook, or stop them."""

    reseller: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class RotateWebhookSecret:
    """A new signing secret; the old one is of no use from now on."""

    reseller: str


@dataclass(frozen=True, slots=True)
class RemoveWebhook:
    """Forget a reseller's balance webhook."""

    reseller: str


@dataclass(frozen=True, slots=True)
class ReplayDelivery:
    """Deliver the event of a failed job once more. `reseller` None may replay any reseller's."""

    reseller: str | None
    job: str


@dataclass(frozen=True, slots=True)
class OpenCase:
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


class CaseAnswer(NamedTuple):
    """Whether the request was taken, and what is told; `rule` is the rule that decided it; `detail` says why none had
    to, or what of the request did not count."""

    transaction: Transaction
    is_taken: bool
    message: str
    rule: str
    detail: Detail | None = None


@dataclass(frozen=True, slots=True)
class NoSuchTransaction:
    """The reseller has no transaction of this reference."""

    named_by: str
    detail: Detail | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class LookUpBill:
    """What is outstanding on a bill (SPEC 4.10). `amount` is as the client sent it; `rule` names the rule that the
    client asked for."""

    reseller: str
    product: str
    account: str
    biller_code: str = ""
    ref2: str = ""
    amount: str = ""
    rule: str = ""


class BillFound(NamedTuple):
    """A bill as it stands; `rule` is the rule that wrote it; `detail` says what of the request did not count."""

    bill: Bill
    rule: str
    detail: Detail | None = None


@dataclass(frozen=True, slots=True)
class SetNetwork:
    """A product's network status from now on, whatever the scenario planned."""

    product: str
    status: NetworkStatus


@dataclass(frozen=True, slots=True)
class LoadScenario:
    """Go on with another scenario."""

    scenario: Scenario


@dataclass(frozen=True, slots=True)
class AddRule:
    """Place a rule before all others of its section."""

    section: str
    rule: Rule[Any]


@dataclass(frozen=True, slots=True)
class RemoveRule:
    """Take a rule out, by id."""

    rule: str


Command = (
    CreatePayment
    | SetCallback
    | Credit
    | SetThreshold
    | AddReseller
    | AddApiKey
    | RevokeApiKey
    | ChangeSettings
    | SetWebhook
    | EnableWebhook
    | RotateWebhookSecret
    | RemoveWebhook
    | ReplayDelivery
    | OpenCase
    | LookUpBill
    | SetNetwork
    | ChangeProduct
    | ChangeTree
    | AddRule
    | RemoveRule
    | LoadScenario
)
