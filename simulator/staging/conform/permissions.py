"""The caller's permissions: payments, accounts whose bills may be looked up, changes of the configuration, a login."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import NamedTuple, Self


class BadOrder(ValueError):
    """An invalid order, or a plan that cannot be afforded; the text says why."""


class AllowedBill(NamedTuple):
    """An account whose bill may be looked up."""

    product: str
    account: str
    more: Mapping[str, str]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `PRODUCT:ACCOUNT`, and `:name=value` for each parameter. Raises `BadOrder`."""
        (product, account), more = _parts(text, "PRODUCT:ACCOUNT")
        return cls(product, account, more)


@dataclass(frozen=True, slots=True)
class Order:
    """A payment that the caller allows; `amount` is sent as is."""

    product: str
    account: str
    amount: Decimal
    extras: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `PRODUCT:ACCOUNT:AMOUNT`, and `:name=value` for each extra. Raises `BadOrder`."""
        (product, account, amount), extras = _parts(text, form := "PRODUCT:ACCOUNT:AMOUNT")
        try:
            return cls(product, account, money(amount), extras)
        except BadOrder as wrong:
            raise BadOrder(f"{text!r} is not {form}: {wrong}") from None


def _parts(text: str, form: str) -> tuple[list[str], dict[str, str]]:
    """Return the parts of a form, and the values behind them by name. Raises `BadOrder`."""
    count = form.count(":") + 1
    parts, pairs = text.split(":")[:count], [part.partition("=") for part in text.split(":")[count:]]
    if len(parts) < count or not all(parts) or not all(sign for _, sign, _ in pairs):
        raise BadOrder(f"{text!r} is not {form}, with :NAME=VALUE for more")
    return parts, {name: value for name, _, value in pairs}


def money(text: str) -> Decimal:
    """Return an amount in MYR above 0. Raises `BadOrder`."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(0)
    if not (value.is_finite() and value > 0):
        raise BadOrder(f"{text!r} is not an amount of money above 0")
    return value


@dataclass(frozen=True, slots=True)
class RunPermissions:
    """The caller's permissions beyond reading and payments: `login` is a user's name and password."""

    configuration: bool = False
    login: tuple[str, str] | None = None
    bills: tuple[AllowedBill, ...] = ()
