"""The spending limit of a run: the orders that the caller allows, the ceiling of each, and the limit of all together.

The maximum cost of a request is reserved before it is sent, and no request is sent that the limit does not cover. A
reservation is reduced when the wallet shows that less was paid; a wallet that never falls proves nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_UP, Decimal, InvalidOperation
from typing import Any

from simulator.staging.conform.findings import NotExercised
from simulator.staging.service import Answer

CENT = Decimal("0.01")


class BadOrder(ValueError):
    """An invalid order, or a plan that cannot be afforded; the text says why."""


@dataclass(frozen=True, slots=True)
class Order:
    """A payment that the caller allows; `amount` is sent as is."""

    product: str
    account: str
    amount: Decimal
    extras: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def parse(text: str) -> "Order":
        """Parse `PRODUCT:ACCOUNT:AMOUNT`, and `:name=value` for each extra. Raises `BadOrder`."""
        product, account, amount, *extras = [*text.split(":"), "", "", ""][: max(3, text.count(":") + 1)]
        value = _number(amount)
        pairs = [extra.partition("=") for extra in extras]
        if not product or not account or not value > 0 or not all(sign for _, sign, _ in pairs):
            raise BadOrder(f"{text!r} is not PRODUCT:ACCOUNT:AMOUNT, with :NAME=VALUE for each extra")
        return Order(product, account, value, {name: chosen for name, _, chosen in pairs})


def _number(value: Any) -> Decimal:
    """Return a finite number; for any other value a number below every price."""
    try:
        number = Decimal(value)
    except (InvalidOperation, TypeError, ValueError):
        number = Decimal("NaN")
    return number if number.is_finite() else Decimal("-Infinity")


def ceiling(code: str, amount: Decimal, products: Mapping[str, Any]) -> Decimal:
    """Return the maximum cost of a payment: its amount, its face value, or its cost, whichever is highest. Raises
    `BadOrder` for a product that is not in the catalog, or without a usable price."""
    if (product := products.get(code)) is None:
        raise BadOrder(f"the catalog has no product {code!r}")
    pricing = product["pricing"]
    is_share = pricing["discount"]["type"] == "percentage"
    unit, price = _number(product["denomination_unit_price"]), _number(pricing["unit_price"])
    if unit < 0 or price == Decimal("-Infinity") or (is_share and price < 0):
        wrong = product["denomination_unit_price"] if unit < 0 else pricing["unit_price"]
        raise BadOrder(f"the catalog has no usable price of {code!r}: {wrong!r}")
    face = amount * unit
    return (max(amount, face, face * price if is_share else face + price) + CENT).quantize(CENT, ROUND_UP)


class SpendingLimit:
    """The most that a run may spend, compared with its reservations and the wallet's losses."""

    def __init__(self, limit: Decimal) -> None:
        self.most = limit
        self._reserved = self._fallen = Decimal(0)
        self._balance: Decimal | None = None  # latest known balance

    @property
    def spent(self) -> Decimal:
        """Return the highest possible spending: the reservations, or the wallet's losses if they are higher."""
        return max(self._reserved, self._fallen)

    def see(self, balance: Decimal) -> Decimal:
        """Record the wallet's balance, and return it."""
        if self._balance is not None:
            self._fallen += max(Decimal(0), self._balance - balance)
        self._balance = balance
        return balance

    def reserve(self, ceiling: Decimal) -> None:
        """Reserve the maximum cost of a request. Raises `NotExercised` when the limit does not cover it."""
        if self.spent + ceiling > self.most:
            left = max(self.most - self.spent, Decimal(0))
            raise NotExercised(f"it may cost {ceiling} MYR, and {left} of --spend-at-most are left")
        self._reserved += ceiling

    def settle(self, ceiling: Decimal, fall: Decimal, *, is_free: bool) -> None:
        """Replace a reservation by the wallet's loss. A request that should be free, and costs nothing, releases it
        only when the wallet has fallen before."""
        if fall > 0 or (self._fallen > 0 and is_free):
            self._reserved += max(fall, Decimal(0)) - ceiling


def balance_of(answer: Answer) -> Decimal:
    """Return the balance in either shape of the register (`balance-record`). Raises `NotExercised` for any other."""
    value = answer.members
    inner = value.get("data", value)
    balance = inner.get("balance") if isinstance(inner, dict) else None
    if answer.status != 200 or isinstance(balance, bool) or not isinstance(balance, int | Decimal):
        raise NotExercised(f"the balance cannot be read: {answer}")
    return Decimal(balance)
