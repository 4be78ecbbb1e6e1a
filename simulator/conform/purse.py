"""What a run may spend, and what each of its payments may cost at most."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from simulator.conform.findings import NotExercised

CENT = Decimal("0.01")


class BadOrder(ValueError):
    """An order that cannot be understood, or a plan that cannot be afforded; the text says why."""


@dataclass(frozen=True, slots=True)
class Order:
    """One payment that the caller allows: `amount` is what is sent."""

    product: str
    account: str
    amount: Decimal
    extras: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def parse(text: str) -> "Order":
        """`PRODUCT:ACCOUNT:AMOUNT`, and `:name=value` for each extra. Raises `BadOrder`."""
        product, account, amount, *extras = [*text.split(":"), "", "", ""][: max(3, text.count(":") + 1)]
        try:
            value = Decimal(amount)
        except InvalidOperation:
            value = Decimal(0)
        pairs = [extra.partition("=") for extra in extras]
        if not product or not account or not (value.is_finite() and value > 0) or not all(sign for _, sign, _ in pairs):
            raise BadOrder(f"{text!r} is not PRODUCT:ACCOUNT:AMOUNT, with :NAME=VALUE for each extra")
        return Order(product, account, value, {name: chosen for name, _, chosen in pairs})


class Purse:
    """A limit in MYR, and what of it is spent or reserved. `products` are those of the catalog."""

    def __init__(self, limit: Decimal, products: Mapping[str, Any]) -> None:
        self.limit = limit
        self.used = Decimal(0)
        self._products = products
        self._first_balance: Decimal | None = None

    def ceiling(self, order: Order) -> Decimal:
        """The most that a payment may cost: its face value, or its cost where that is more. Raises `BadOrder` for a
        product that the catalog does not have."""
        return self.ceiling_of(order.product, order.amount)

    def ceiling_of(self, code: str, amount: Decimal) -> Decimal:
        """The same of an amount of a product."""
        product = self._products.get(code)
        if product is None:
            raise BadOrder(f"the catalog has no product {code!r}")
        face = amount * Decimal(product["denomination_unit_price"])
        pricing = product["pricing"]
        factor = Decimal(pricing["unit_price"]) if pricing["discount"]["type"] == "percentage" else Decimal(1)
        return (max(face, face * factor) + CENT).quantize(CENT)

    def check_plan(self, orders: tuple[Order, ...]) -> None:
        """Raise `BadOrder` when a plan may cost more than the limit: each order once, and the first once more, in
        case the service pays a refid twice."""
        total = sum(map(self.ceiling, orders), self.ceiling(orders[0]))
        if total > self.limit:
            text = f"the plan may cost {total} MYR: each payment once, the first twice if the service is not idempotent"
            raise BadOrder(f"{text}; --spend-at-most allows {self.limit}")

    def reserve(self, ceiling: Decimal, balance: Decimal) -> None:
        """Reserve before something is sent that may cost this much. Raises `NotExercised` when less is left, by our
        book or by what the wallet lost since the beginning."""
        if self._first_balance is None:
            self._first_balance = balance
        used = max(self.used, self._first_balance - balance)
        if used + ceiling > self.limit:
            left = max(self.limit - used, Decimal(0))
            raise NotExercised(f"it may cost {ceiling} MYR, and {left} of --spend-at-most are left")
        self.used += ceiling

    def settle(self, ceiling: Decimal, cost: Decimal) -> None:
        """Replace what was reserved by what it cost."""
        self.used += cost - ceiling
