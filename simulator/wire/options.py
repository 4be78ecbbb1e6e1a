"""The options response of SPEC 2.2."""

import re
from decimal import Decimal
from typing import Any

from simulator.domain.model import pricing
from simulator.domain.model.catalog import Option, OptionList, Product
from simulator.wire.json import number
from simulator.wire.money import amount_text, money
from simulator.wire.paging import Page

_BEFORE = " -–,/|·"  # noqa: RUF001  # labels contain this dash
_OPENING, _CLOSING = "([", ")]"


def options(product: Product, field_id: str, found: OptionList, page: Page, *, by_denomination: bool) -> dict[str, Any]:
    """The whole body. `product` is as the reseller sees it; `by_denomination` is the shape of 2026-09-16."""
    is_pricing = product.pricing is not None and product.pricing.id == field_id
    return {
        "product_code": product.code,
        "field_id": field_id,
        "items": [_item(product, option, is_pricing, by_denomination) for option in found[page.items]],
        "meta": {
            "current_page": page.current,
            "last_page": page.last,
            "per_page": page.size,
            "total": page.total,
        },
    }


def option(product: Product, field_id: str, one: Option, *, by_denomination: bool) -> dict[str, Any]:
    """One option, with its product and field."""
    is_pricing = product.pricing is not None and product.pricing.id == field_id
    item = _item(product, one, is_pricing, by_denomination)
    return {"product_code": product.code, "field_id": field_id, **item}


def _item(product: Product, option: Option, is_pricing: bool, by_denomination: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"code": option.code, "label": label_without_validity(option)}
    priced = option.denomination if is_pricing else None
    if priced is not None and by_denomination:
        shown["denomination"] = number(priced)
    if option.validity:
        shown["validity"] = option.validity
    if option.features:
        shown["features"] = list(option.features)
    if option.description:
        shown["description"] = option.description
    if priced is not None:
        shown |= _prices(product, priced)
    for name in ("rrp", "min_amount", "max_amount"):
        if (amount := getattr(option, name)) is not None:
            shown[name] = money(amount)
    if option.account_number:
        shown["account_number"] = option.account_number
    return shown


def _prices(product: Product, denomination: Decimal) -> dict[str, Any]:
    price, cost = pricing.price(product, denomination), pricing.cost(product, denomination)
    return {
        "price": {"amount": amount_text(price), "currency": product.currency},
        "cost": {"amount": amount_text(cost), "currency": product.currency},
        "has_loss_risk": price < cost,
    }


def label_without_validity(option: Option) -> str:
    """The label of a data plan without its validity, which has its own member: `5 GB (7 days)` becomes `5 GB`.

    A label with nothing else is unchanged.
    """
    if not option.validity:
        return option.label
    found = re.search(rf"(?<!\w){re.escape(option.validity)}(?!\w)", option.label, re.IGNORECASE)
    if found is None:
        return option.label
    before, after = option.label[: found.start()].rstrip(_BEFORE), option.label[found.end() :].lstrip()
    if before[-1:] in _OPENING and after[:1] in _CLOSING and before and after:
        before, after = before[:-1].rstrip(_BEFORE), after[1:]
    after = after.strip(_BEFORE) if not before or before[-1] in _OPENING else after.strip()
    gap = "" if before[-1:] in _OPENING or after[:1] in _CLOSING or after[:1] == "," else " "
    return f"{before}{gap if before and after else ''}{after}" or option.label
