"""Pages of lists: options (SPEC 2.2), billers (SPEC 2.14), and the links of these and of the statement (SPEC 2.5)."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from simulator.domain.model import pricing
from simulator.domain.model.catalog import Option, OptionList, Product
from simulator.domain.model.pricing import amount_range
from simulator.wire.formats import amount_text, limit_text, money, number


class Page(msgspec.Struct, frozen=True):
    """Page `current` of `last`, each with `size` items of a list of `total`. An empty list has a single, empty page,
    and a page beyond the last is empty."""

    current: int
    last: int
    size: int
    total: int

    @classmethod
    def of(cls, total: int, current: int, size: int) -> "Page":
        """Return the requested page; the size is 0 only for all of an empty list."""
        return cls(current, max(1, -(-total // max(1, size))), size, total)

    @property
    def items(self) -> slice:
        """Return the slice of its items in the list."""
        first = (self.current - 1) * self.size
        return slice(first, first + self.size)

    @property
    def bounds(self) -> tuple[int, int]:
        """Return the positions of its first and last item, counted from 1; both 0 when it is empty."""
        first = (self.current - 1) * self.size
        return (first + 1, min(first + self.size, self.total)) if first < self.total else (0, 0)


def links_and_meta(page: Page, path: str, query: Mapping[str, str], *, is_paged: bool = True) -> dict[str, Any]:
    """Return `links` and `meta` of a page (SPEC 2.5, 2.14). The links repeat `query`, with spaces as `%20`, which is
    valid in queries and paths; without paging there is one page and one link."""

    def to(number: int) -> str:
        every = {**query, "page": number, "limit": page.size} if is_paged else query
        return f"{path}?{urlencode(every, quote_via=quote)}" if every else path

    before, after = min(page.current - 1, page.last), page.current + 1
    first, last = page.bounds
    return {
        "links": {
            "first": to(1),
            "last": to(page.last),
            "prev": to(before) if before >= 1 else None,
            "next": to(after) if after <= page.last else None,
        },
        "meta": {
            "current_page": page.current,
            "from": first,
            "last_page": page.last,
            "path": path,
            "per_page": page.size,
            "to": last,
            "total": page.total,
        },
    }


_BEFORE = " -–,/|·"  # noqa: RUF001  # labels contain this dash
_OPENING, _CLOSING = "([", ")]"


def options(product: Product, field_id: str, found: OptionList, page: Page, *, by_denomination: bool) -> dict[str, Any]:
    """Return the whole body. `product` is as the reseller sees it; `by_denomination` is the shape of 2026-09-16."""
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
    """Return the label of a data plan without its validity, which has its own member: `5 GB (7 days)` becomes `5 GB`.

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


BILLERS_PATH = "/v1/interbank/billers"


def billers(
    product: Product | None, found: OptionList, page: Page, prefix: str, filters: dict[str, str], *, is_paged: bool
) -> Any:
    """Return the whole body. `prefix` is the path of the sandbox; see `links_and_meta` for `filters` and `is_paged`."""
    return {
        "message": "Success",
        "data": [] if product is None else [_biller(product, option) for option in found[page.items]],
        **links_and_meta(page, prefix + BILLERS_PATH, filters, is_paged=is_paged),
    }


def _biller(product: Product, option: Option) -> dict[str, Any]:
    low, high = amount_range(product, option)
    shown: dict[str, Any] = {
        "biller_code": option.code,
        "display_name": option.label,
        "denomination": None,
        "face_value": None,
        "validity": option.validity,
        "account_number": None,
        "additional_description": list(option.additional_description),
        "min": limit_text(low),
        "max": limit_text(high),
        "suggested_category": option.suggested_category,
    }
    if option.description:
        shown["description"] = option.description
    return shown
