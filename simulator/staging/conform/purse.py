"""What a run may spend, and what each of its payments may cost at most."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_UP, Decimal, InvalidOperation
from typing import Any

from simulator.staging.conform.findings import NotExercised

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
    """A limit in MYR, and what of it is spent or reserved. `products` are those of the catalog. `fallen` is the sum of
    all that the wallet was seen to lose, whatever it got back."""

    def __init__(self, limit: Decimal, products: Mapping[str, Any]) -> None:
        self.limit = limit
        self.used = Decimal(0)
        self.fallen = Decimal(0)
        self._products = products
        self.balance: Decimal | None = None  # of the wallet, as it was seen last

    @property
    def spent(self) -> Decimal:
        """The most that was spent: by the book, or by what the wallet lost where that is more."""
        return max(self.used, self.fallen)

    def ceiling(self, order: Order) -> Decimal:
        """The most that a payment may cost. Raises `BadOrder` for a product that the catalog does not have, or whose
        price is none."""
        return self.ceiling_of(order.product, order.amount)

    def ceiling_of(self, code: str, amount: Decimal) -> Decimal:
        """The same of an amount of a product: the amount, its face value, or its cost, whichever is most; so a catalog
        that is wrong never makes it less than what is sent."""
        product = self._products.get(code)
        if product is None:
            raise BadOrder(f"the catalog has no product {code!r}")
        pricing = product["pricing"]
        face = amount * _price(code, product["denomination_unit_price"])
        if pricing["discount"]["type"] == "percentage":
            cost = face * _price(code, pricing["unit_price"])
        else:
            cost = face + _price(code, pricing["unit_price"], is_discount=True)
        return (max(amount, face, cost) + CENT).quantize(CENT, ROUND_UP)

    def check_plan(self, orders: tuple[Order, ...]) -> None:
        """Raise `BadOrder` when a plan may cost more than the limit: each order once, and the dearest once more, in
        case the service pays a refid again when it is asked for."""
        ceilings = [self.ceiling(order) for order in orders]
        total = sum(ceilings, max(ceilings))
        if total > self.limit:
            text = f"the plan may cost {total} MYR: each payment once, the dearest twice if a refid is paid again"
            raise BadOrder(f"{text}; --spend-at-most allows {self.limit}")

    def saw(self, balance: Decimal) -> Decimal:
        """Take note of the wallet's balance, and answer by how much it fell since the last time."""
        fall = Decimal(0) if self.balance is None else max(Decimal(0), self.balance - balance)
        self.balance = balance
        self.fallen += fall
        return fall

    def reserve(self, ceiling: Decimal, balance: Decimal) -> None:
        """Reserve before something is sent that may cost this much. Raises `NotExercised` when less is left, by our
        book or by what the wallet lost since the beginning."""
        self.saw(balance)
        if self.spent + ceiling > self.limit:
            left = max(self.limit - self.spent, Decimal(0))
            raise NotExercised(f"it may cost {ceiling} MYR, and {left} of --spend-at-most are left")
        self.used += ceiling

    def settle(self, ceiling: Decimal, cost: Decimal, fall: Decimal = Decimal(0)) -> None:
        """Replace what was reserved by what it cost, which is at least what the wallet lost. Raises ValueError for a
        cost below 0."""
        if cost < 0:
            raise ValueError(f"a cost of {cost} MYR")
        self.used += max(cost, fall) - ceiling


def _price(code: str, value: Any, *, is_discount: bool = False) -> Decimal:
    """A price of the catalog; only a fixed discount is below 0. Raises `BadOrder` for what is no price."""
    try:
        price = Decimal(value)
    except (InvalidOperation, TypeError, ValueError):
        price = Decimal("NaN")
    if not price.is_finite() or (price < 0 and not is_discount):
        raise BadOrder(f"the catalog has no usable price of {code!r}: {value!r}")
    return price
