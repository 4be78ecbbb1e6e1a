"""Money as the API writes it: `{amount: string, currency: string}` (SPEC 2.2)."""

from decimal import Decimal

from simulator.domain.model.catalog import Money

NO_LIMIT = "-1"


def money(value: Money) -> dict[str, str]:
    """The amount as text, with at least two decimals."""
    return {"amount": amount_text(value.amount), "currency": value.currency}


def amount_text(amount: Decimal) -> str:
    """`1.00`, `0.045`."""
    exponent = amount.as_tuple().exponent
    assert isinstance(exponent, int)
    return f"{amount:.2f}" if exponent > -2 else f"{amount:f}"


def limit_text(amount: Decimal | None) -> str:
    """The same for a limit of billers and sub-products (SPEC 2.14, 2.16): `-1` means none."""
    return NO_LIMIT if amount is None else amount_text(amount)
