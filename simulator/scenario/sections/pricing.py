"""A product's cost and price: discounts, adjustments, amounts with a currency."""

from decimal import Decimal

from simulator.domain.model.catalog import Adjustment, Discount, Money
from simulator.scenario.reading.reader import Reader

MYR = "MYR"


def discount(item: Reader) -> Discount:
    """Parse a discount: `{type: percentage, value: 2.5}` costs 2.5% less, `{type: fixed, value: 0.30}` 30 sen less."""
    value = item["value"].amount()
    if item["type"].text() == "fixed":
        return Discount("fixed", -value, item["shown"].text(f"{_short(value * 100)} sen"))
    if value > 100:
        item["value"].problem("out_of_range", f"a discount is at most 100 percent, not {value}")
    return Discount("percentage", 1 - value / 100, item["shown"].text(f"{_short(value)}%"))


def price_adjustment(item: Reader) -> Adjustment | None:
    """Return a selling price, or None if it is absent."""
    if not item.is_mapping:
        return None
    kind = item["type"].text()
    value = item["value"].amount()
    if kind == "percentage":
        if value <= 0:
            item["value"].problem("out_of_range", f"a percentage is a factor above 0 such as 1.03, not {value}")
        return Adjustment(kind, value)
    return Adjustment(kind, value, item["currency"].text(MYR))


def money(item: Reader, currency: str) -> Money | None:
    """Return an amount, by default in `currency`; None when absent or null."""
    if item.is_mapping:
        return Money(item["amount"].amount(), item["currency"].text(currency))
    amount = item.optional_amount()
    return None if amount is None else Money(amount, currency)


def _short(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
