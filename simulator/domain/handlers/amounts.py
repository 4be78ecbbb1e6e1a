"""Details for invalid amounts, shared by payments and bill look-ups, including the nearest options."""

from collections.abc import Collection
from decimal import Decimal
from heapq import nsmallest

from simulator.domain.model.details import Detail, DetailKind, detail
from simulator.domain.model.money import denotes_number, is_whole_cents

# A detail names at most this many of a product's denominations: those nearest to the requested one.
SOLD_SHOWN_MAX = 10
SENT_CHARS_MAX = 60


def no_amount(sent: object) -> Detail:
    """Why `parse_amount` rejected the value sent."""
    amount = f'"{sent[:SENT_CHARS_MAX]}"' if isinstance(sent, str) else sent
    return detail(DetailKind.TOO_MANY_DIGITS if denotes_number(sent) else DetailKind.NO_NUMBER, amount=amount)


def bad_money(amount: Decimal) -> Detail | None:
    """Why this amount cannot be paid; None when it can."""
    if amount <= 0:
        return detail(DetailKind.NOT_POSITIVE, amount=amount)
    return None if is_whole_cents(amount) else detail(DetailKind.NO_CENTS, amount=amount)


def beyond_limits(amount: Decimal, low: Decimal | None, high: Decimal | None, biller: str = "") -> Detail | None:
    """Which limit the amount violates; None for none. The limits are those of `biller`, when given."""
    if low is not None and amount < low:
        return detail(DetailKind.TOO_LITTLE, amount=amount, low=low, biller=biller)
    if high is not None and amount > high:
        return detail(DetailKind.TOO_MUCH, amount=amount, high=high, biller=biller)
    return None


def not_sold(product: str, amount: Decimal, sold: Collection[Decimal]) -> Detail:
    """The product is not sold in this amount."""
    if not sold:
        return detail(DetailKind.NOTHING_SOLD, product=product)
    nearest = sorted(nsmallest(SOLD_SHOWN_MAX, sold, key=lambda one: abs(one - amount)))
    left_out = len(sold) - len(nearest) or None
    return detail(DetailKind.NOT_SOLD, product=product, amount=amount, sold=tuple(nearest), left_out=left_out)
