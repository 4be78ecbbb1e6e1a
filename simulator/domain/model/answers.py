"""What commands answer: payments, cases and bill look-ups, and the effects of catalog changes."""

from decimal import Decimal

import msgspec

from simulator.domain.model.bills import Bill
from simulator.domain.model.catalog import Category, Group, Option, Product
from simulator.domain.model.details import Detail
from simulator.domain.model.transactions import Reason, Result, Transaction


class PaymentAnswer(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The current transaction. `created` is False for a re-query; `rule` is the rule that decided it; `detail` names
    what was adjusted in the request, `ignored` its ignored extras."""

    transaction: Transaction
    result: Result
    balance: Decimal
    created: bool
    rule: str
    detail: Detail | None = None
    ignored: Detail | None = None


class PaymentRefused(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Nothing was created and the refid is free. `remarks` default to the reason's name; `rule` is the rule that
    refused, if any; otherwise `detail` gives the cause; `ignored` names the ignored extras, `warning` what else the
    amount could mean."""

    reason: Reason
    code: int
    balance: Decimal
    product_name: str = ""
    remarks: str = ""
    rule: str = ""
    detail: Detail | None = None
    ignored: Detail | None = None
    warning: Detail | None = None


class CaseAnswer(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Whether the request was accepted, and the message; `rule` is the rule that decided it; `detail` says why no rule
    was needed, or what was ignored in the request."""

    transaction: Transaction
    is_accepted: bool
    message: str
    rule: str
    detail: Detail | None = None


class NoSuchTransaction(msgspec.Struct, frozen=True, gc=False):
    """The reseller has no transaction with this reference."""

    named_by: str
    detail: Detail | None = None


class BillFound(msgspec.Struct, frozen=True, gc=False):
    """The bill found; `rule` is the rule that defined it; `detail` names what was ignored in the request."""

    bill: Bill
    rule: str
    detail: Detail | None = None


class OptionChange(msgspec.Struct, frozen=True):
    """An option of a field before and after."""

    field_id: str
    before: Option
    after: Option


class ProductChange(msgspec.Struct, frozen=True):
    """The effect of a `ChangeProduct`: the product before and after, as seen by `reseller` when that is set.

    `changed` names the product's own properties that differ now, `options` lists changed options. Both are empty when
    the command changed nothing.
    """

    before: Product
    after: Product
    changed: tuple[str, ...]
    options: tuple[OptionChange, ...] = ()
    reseller: str | None = None

    def __bool__(self) -> bool:
        """True when something changed."""
        return bool(self.changed or self.options)


class TreeChange(msgspec.Struct, frozen=True):
    """The effect of a `ChangeTree`: the category or group after it, and which of its properties differ."""

    after: Category | Group
    changed: tuple[str, ...]
