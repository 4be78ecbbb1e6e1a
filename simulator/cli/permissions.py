"""Parsers of what `conform` may look up, pay and spend, as callbacks: invalid text is a usage error."""

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from simulator.staging.conform.context import Bill
    from simulator.staging.conform.spending import Order


def orders(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> "tuple[Order, ...]":
    """`PRODUCT:ACCOUNT:AMOUNT` and extras."""
    from simulator.staging.conform.spending import BadOrder, Order

    try:
        return tuple(map(Order.parse, texts))
    except BadOrder as wrong:
        raise click.BadParameter(str(wrong), ctx, param) from None


def bills(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> "tuple[Bill, ...]":
    """`PRODUCT:ACCOUNT` and more parameters."""
    from simulator.staging.conform.context import Bill

    bills = []
    for text in texts:
        product, account, *more = [*text.split(":"), ""][: max(2, text.count(":") + 1)]
        pairs = [one.partition("=") for one in more]
        if not product or not account or not all(sign for _, sign, _ in pairs):
            raise click.BadParameter(f"{text!r} is not PRODUCT:ACCOUNT, with :NAME=VALUE for more", ctx, param)
        bills.append(Bill(product, account, {name: value for name, _, value in pairs}))
    return tuple(bills)


def money(ctx: click.Context, param: click.Parameter, text: str | None) -> Decimal | None:
    """An amount in MYR above 0."""
    if text is None:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(-1)
    if not (value.is_finite() and value > 0):
        raise click.BadParameter(f"{text!r} is not an amount of money above 0", ctx, param)
    return value


def only(ctx: click.Context, param: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of checks and questions."""
    from simulator.domain.model.likeness import nearest
    from simulator.staging.conform.run import known_names

    known = known_names()
    for name in names:
        if name not in known:
            near = nearest(name, sorted(known))
            hint = f"; did you mean {near!r}?" if near else ""
            text = f"there is no check or question {name!r}{hint} --list prints all"
            raise click.BadParameter(text, ctx, param)
    return names
