"""The answers of commands: payments, cases and bill look-ups, and the effects of catalog changes."""

from decimal import Decimal

import msgspec

from simulator.domain.model.bills import Bill
from simulator.domain.model.catalog import Category, Group, Option, Product
from simulator.domain.model.details import Detail
from simulator.domain.model.transactions import Reason, Result, Transaction


class PaymentAnswer(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The current transaction. `created` is False for a re-query; `rule` is the rule that decided it; `detail` names
    adjustments to the request, `ignored` its ignored extras."""

    transaction: Transaction
    result: Result
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


class CaseAnswer(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The decision on a request, with its message. `rule` is the rule that decided; `detail` explains a decision
    without a rule, or names ignored parts of the request."""

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
    """The bill found; `rule` is the rule that defined it; `detail` names ignored parts of the request."""

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

    `changed` names the changed properties of the product, `options` lists changed options. Both are empty when the
    command changed nothing.
    """

    before: Product
    after: Product
    changed: tuple[str, ...]
    options: tuple[OptionChange, ...] = ()
    reseller: str | None = None

    def __bool__(self) -> bool:
        """Return whether the command changed anything."""
        return bool(self.changed or self.options)


class TreeChange(msgspec.Struct, frozen=True):
    """The effect of a `ChangeTree`: the category or group after it, and the names of its changed properties."""

    after: Category | Group
    changed: tuple[str, ...]
