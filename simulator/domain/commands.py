"""What a sandbox can be told to do, in the imperative, and what it answers. Pure values."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from simulator.domain.faults import FaultThen
from simulator.domain.rules import PaymentThen, Rule
from simulator.domain.scenario import ResellerStart
from simulator.domain.transactions import Result, Transaction
from simulator.domain.wallet import EntryType


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


class Reason(StrEnum):
    """Why a payment was not created (SPEC 4.11); the value is what `remarks` says."""

    REQUEST = "Invalid_Request"
    PRODUCT = "Invalid_Product"
    ACCOUNT = "Invalid_Account"
    EXTRAS = "Invalid_Extras"
    DENOMINATION = "Invalid_Denomination"
    BALANCE = "Insufficient_Balance"
    REFID = "Refid_Conflict"


class PaymentAnswer(NamedTuple):
    """A transaction as it stands. `created` is False for a re-query; `rule` is the rule that decided it."""

    transaction: Transaction
    result: Result
    balance: Decimal
    created: bool
    rule: str


@dataclass(frozen=True, slots=True)
class PaymentRefused:
    """Nothing was created and the refid is free."""

    reason: Reason
    code: int
    balance: Decimal
    product_name: str = ""


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


@dataclass(frozen=True, slots=True)
class AddPaymentRule:
    """Place a payment rule before all others."""

    rule: Rule[PaymentThen]


@dataclass(frozen=True, slots=True)
class AddFault:
    """Place a fault before all others."""

    rule: Rule[FaultThen]


@dataclass(frozen=True, slots=True)
class RemoveRule:
    """Take a rule out, by id."""

    rule: str


Command = (
    CreatePayment
    | SetCallback
    | Credit
    | AddReseller
    | AddApiKey
    | RevokeApiKey
    | ChangeSettings
    | ChangeProduct
    | AddPaymentRule
    | AddFault
    | RemoveRule
)
