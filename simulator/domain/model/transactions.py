"""A payment that was created, and its possible states (SPEC 3.1).

A transaction always has a state: the creating answer is its first. `Accepted` may change to `Processing`, never back.
`Succesful` and `Failed` are final for the provider; only a void leads out of success. `Failed` and `Refunded` are
terminal.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache

import msgspec

from simulator.domain.model.bills import BillKey
from simulator.domain.model.catalog import Category
from simulator.domain.model.details import Detail
from simulator.domain.model.draw import Delay, Spread
from simulator.domain.model.rules import Text


class Status(StrEnum):
    """A transaction's status; the wire layer decides its spelling."""

    ACCEPTED = "accepted"
    PROCESSING = "processing"
    SUCCESSFUL = "successful"
    FAILED = "failed"
    REFUNDED = "refunded"

    __hash__ = str.__hash__  # the enum's own is slow Python code; every payment uses a dozen


# Member access on the enum runs Python code; every payment uses these.
PROCESSING, SUCCESSFUL, FAILED = Status.PROCESSING, Status.SUCCESSFUL, Status.FAILED


class Reason(StrEnum):
    """The reason for not creating a payment (SPEC 4.11); the value is the text of `remarks`, except for plan codes,
    whose remarks are a sentence."""

    REQUEST = "Invalid_Request"
    PRODUCT = "Invalid_Product"
    ACCOUNT = "Invalid_Account"
    EXTRAS = "Invalid_Extras"
    DENOMINATION = "Invalid_Denomination"
    PLAN_REQUIRED = "Plan_Code_Required"
    PLAN_UNKNOWN = "Unknown_Plan_Code"
    PLAN_MISMATCH = "Plan_Code_Mismatch"
    BALANCE = "Insufficient_Balance"
    REFID = "Refid_Conflict"


TRANSITIONS: dict[Status | None, frozenset[Status]] = {
    None: frozenset({Status.ACCEPTED, Status.PROCESSING, Status.SUCCESSFUL, Status.FAILED}),
    Status.ACCEPTED: frozenset({Status.PROCESSING, Status.SUCCESSFUL, Status.FAILED}),
    Status.PROCESSING: frozenset({Status.SUCCESSFUL, Status.FAILED}),
    Status.SUCCESSFUL: frozenset({Status.REFUNDED}),
    Status.FAILED: frozenset(),
    Status.REFUNDED: frozenset(),
}

# The status code of each status and refusal (SPEC 7.3); a scenario may replace them.
STATUS_CODES: Mapping[str, int] = {
    Status.ACCEPTED: 1,
    Status.PROCESSING: 2,
    Status.SUCCESSFUL: 20,
    Status.FAILED: 48,
    Status.REFUNDED: 53,
    Reason.BALANCE: 40,
    Reason.PRODUCT: 41,
    Reason.ACCOUNT: 42,
    Reason.EXTRAS: 43,
    Reason.PLAN_REQUIRED: 44,
    Reason.PLAN_UNKNOWN: 44,
    Reason.PLAN_MISMATCH: 44,
    Reason.REQUEST: 45,
    Reason.REFID: 46,
    Reason.DENOMINATION: 58,
}

# The terminal statuses for provider results.
SETTLED = frozenset({Status.SUCCESSFUL, Status.FAILED, Status.REFUNDED})


def may_follow(before: Status | None, after: Status) -> bool:
    """Return whether a transaction may go from `before` to `after`."""
    return after in TRANSITIONS[before]


class Step(msgspec.Struct, frozen=True):
    """One dated status of a timeline. The first step has no time; each other step has either `after` or `requery`,
    which count from the creation, or `at`, the first such time of day (in the service's zone) after the dated step
    above. With a `spread`, the time is drawn for each payment, and `after` is its median. `texts` are the scenario's
    templates for a result's `sn`, `pin`, `remarks`, `note`, `voucherlink`."""

    status: Status
    after: timedelta | None = None
    requery: int | None = None
    code: int | None = None
    texts: Mapping[str, Text] | None = None
    expiry: date | None = None
    at: time | None = None
    spread: Spread | None = None


class Distortion(msgspec.Struct, frozen=True):
    """The distortion of callbacks by a rule. `duplicates` is the number of extra copies of each callback; after
    `again_after`, each is sent once more. The first attempt of each waits in the hold of this name. Callbacks that are
    due at the same time are sent at once when `concurrent`, else sequentially. `by_status` overrides the distortion for
    a status."""

    drop: bool = False
    duplicates: int = 0
    delay: Delay = timedelta(0)
    reverse: bool = False
    again_after: timedelta | None = None
    by_status: Mapping[Status, "Distortion"] | None = None
    hold: str = ""
    concurrent: bool = False

    def of(self, status: Status) -> "Distortion":
        """Return the distortion for the callbacks of a status."""
        return self if self.by_status is None else self.by_status.get(status, self)


class Refusal(msgspec.Struct, frozen=True, gc=False):
    """The refusal of a payment; `code` and `remarks` default to the reason's own."""

    reason: Reason
    code: int | None = None
    remarks: str = ""
    detail: Detail | None = None


class PaymentThen(msgspec.Struct, frozen=True):
    """The effect of a payment rule: a timeline, whose first step is the answer to the creating request, with the
    handling of its callbacks; or a refusal, which creates nothing."""

    steps: tuple[Step, ...]
    callbacks: Distortion = Distortion()
    refusal: Refusal | None = None


class ResultKind(msgspec.Struct, frozen=True, gc=False):
    """The values of a result that many payments share. `cost` is 0 after a refund; `cause` is `creation`, `step`,
    `requery` or `void`."""

    status: Status
    code: int
    cost: Decimal
    cause: str


@lru_cache(maxsize=4096)
def result_kind(status: Status, code: int, cost: str, cause: str) -> ResultKind:
    """Return a shared kind, to save memory. Equal costs may differ in their digits, so the cost is a text."""
    return ResultKind(status, code, Decimal(cost), cause)


class ResultTexts(msgspec.Struct, frozen=True, gc=False):
    """The remarks of a result, and what only a receipt has."""

    remarks: str = ""
    sn: str = ""
    pin: str = ""
    expiry: date | None = None
    note: str = ""
    voucherlink: str = ""


result_texts = lru_cache(maxsize=4096)(ResultTexts)  # shared by several results, to save memory


class PaymentResult(msgspec.Struct, frozen=True, gc=False):
    """The state of a transaction from `at` on: the variable half of SPEC 2.3. `balance` is the wallet's after this
    transaction's latest entry so far, unaffected by other payments."""

    at: datetime
    kind: ResultKind
    balance: Decimal
    texts: ResultTexts = ResultTexts()

    @property
    def status(self) -> Status:
        """Return the status, which most readers want."""
        return self.kind.status


class PaymentKind(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The values of a payment that many payments share, as of its creation."""

    reseller: str
    product: str
    product_name: str
    rule: str
    callbacks: Distortion
    category: Category | None
    currency: str


class Transaction(msgspec.Struct, eq=False, gc=False):  # not part of any reference cycle
    """A payment. `face` is the amount in ringgit, as of its creation. `results` has an entry per status, the current
    status last; `debit` and `refund` are the ids of its ledger entries, 0 for none; `number` is its index among the
    sandbox's transactions, from 0; `bill` is the bill that it pays, if any. `steps`, `ticket` and `requeries` drive the
    timeline until the payment is settled; `ticket` is the agenda's, for the next dated step."""

    trxid: str
    refid: str
    kind: PaymentKind
    account: str
    amount: Decimal
    cost: Decimal
    remarks: str
    extras: Mapping[str, object]
    sender: str
    created: datetime
    face: Decimal
    debit: int = 0
    refund: int = 0
    results: tuple[PaymentResult, ...] = ()
    steps: tuple[Step, ...] = ()
    ticket: int | None = None
    requeries: int = 0
    number: int = 0
    bill: BillKey | None = None

    @property
    def reseller(self) -> str:
        """Return the code of the reseller who pays."""
        return self.kind.reseller

    @property
    def product(self) -> str:
        return self.kind.product

    @property
    def rule(self) -> str:
        """Return the label of the rule that decided it, or an empty text."""
        return self.kind.rule

    @property
    def entry_ids(self) -> tuple[int, ...]:
        """Return the ids of its ledger entries, oldest first."""
        return tuple(filter(None, (self.debit, self.refund)))

    @property
    def result(self) -> PaymentResult:
        return self.results[-1]

    @property
    def is_settled(self) -> bool:
        """Return whether no provider result can follow."""
        return self.results[-1].kind.status in SETTLED


class Transactions(dict[str, Transaction]):
    """The transactions of a sandbox by trxid, in the order of their creation, and by number."""

    __slots__ = ("by_number",)

    def __init__(self) -> None:
        super().__init__()
        self.by_number: list[Transaction] = []

    def add(self, transaction: Transaction) -> None:
        """Add a new transaction, which gets its number."""
        assert transaction.trxid not in self, "two refids have the same trxid"
        transaction.number = len(self.by_number)
        self.by_number.append(transaction)
        self[transaction.trxid] = transaction


SPELLINGS: Mapping[object, Callable[[str], str]] = {"case_insensitive": str.casefold, "trimmed": str.strip}
"""How equivalent refids become the same text, for each choice of `refid-comparison` other than exact comparison."""


class PaymentAnswer(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The current transaction. `created` is False for a re-query; `rule` is the rule that decided it; `detail` names
    adjustments to the request, `ignored` its ignored extras."""

    transaction: Transaction
    result: PaymentResult
    balance: Decimal
    created: bool
    rule: str
    detail: Detail | None = None
    ignored: Detail | None = None


class PaymentRefused(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A refusal that created nothing and left the refid unused. `remarks` default to the reason's name; `rule` is the
    rule that refused, if any; otherwise `detail` gives the cause. `ignored` names the ignored extras, `warning` another
    possible meaning of the amount."""

    reason: Reason
    code: int
    balance: Decimal
    product_name: str = ""
    remarks: str = ""
    rule: str = ""
    detail: Detail | None = None
    ignored: Detail | None = None
    warning: Detail | None = None
