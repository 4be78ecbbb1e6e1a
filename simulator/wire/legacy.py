"""The legacy product list and sub-products (SPEC 2.15, 2.16), derived from the catalog."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from simulator.domain.model import pricing
from simulator.domain.model.catalog import (
    Catalog,
    FormField,
    Option,
    Product,
)
from simulator.domain.model.pricing import account_source, amount_range, subproduct_field
from simulator.wire.formats import amount_text, limit_text, number

NO_CATEGORY = ("", "")


def product_list(catalog: Catalog, products: Iterable[Product], *, by_id: bool = False) -> dict[str, Any]:
    """Return the whole body. `products` are as the reseller sees them; `by_id` writes ids of groups and categories
    instead of their names."""
    categories = _categories(catalog, by_id=by_id)
    return {"data": [_product(product, *categories.get(product.code, NO_CATEGORY)) for product in products]}


def _categories(catalog: Catalog, *, by_id: bool) -> Mapping[str, tuple[str, str]]:
    """Group and category by product code; the first groups in display order take precedence."""
    categories: dict[str, tuple[str, str]] = {}
    for group in catalog.groups:
        for category in group.categories:
            names = (group.id, category.id) if by_id else (group.name, category.name)
            for code in category.product_codes:
                categories.setdefault(code, names)
    return categories


def _product(product: Product, group: str, category: str) -> dict[str, Any]:
    entry = entered_account(product)
    choices = _choices(product)
    is_whole = all(choice == choice.to_integral_value() for choice in choices)
    if not choices:
        is_whole = product.pricing is not None and product.pricing.type == "number"
    return {
        "status": "Active" if product.is_active else "Inactive",
        "has_subproduct": subproduct_field(product) is not None,
        "product_code": product.code,
        "product_name": product.name,
        "product_remarks": product.note or "",
        "account_label": entry.label if entry else None,
        "keyboard_type": entry.input_mode if entry else "text",
        "denomination": product.denomination or _range(product) or ",".join(map(_text, choices)),
        "common_denominations": ",".join(map(_text, choices)),
        "denomination_data_type": "Integer" if is_whole else "Decimal",
        "denomination_currency": product.denomination_currency or product.currency,
        "denomination_unit_price": number(product.denomination_unit_price),
        "product_group": group,
        "category": category,
        "image_url": product.image_url,
        "account_type": _account_type(entry),
        "is_refundable": product.voidable,
    }


def entered_account(product: Product) -> FormField | None:
    """Return the field that a user types into: for a selected account, the field that the selection depends on."""
    field = product.account
    source = account_source(product, field.id) if field else None
    return next((each for each in product.fields if each.id == source), field)


def _account_type(entry: FormField | None) -> str:
    if entry is None:
        return "not_required"
    return "phone_number" if entry.input_mode == "tel" else "account_number"


def _choices(product: Product) -> list[Decimal]:
    """Return the denominations that are offered to everybody, ascending; empty where any amount may be entered."""
    options = product.options.get(product.pricing.id) if product.pricing else None
    found = {each.denomination for each in options.active if each.share == 1} if options else set()
    return sorted(denomination for denomination in found if denomination is not None)


def _range(product: Product) -> str:
    """`1-10000` for an amount that is entered; a missing limit leaves its side empty."""
    low, high = amount_range(product)
    if product.pricing is None or product.pricing.type == "select" or (low is None and high is None):
        return ""
    return "-".join("" if limit is None else _text(limit) for limit in (low, high))


def subproducts(product: Product, options: Iterable[Option], *, priced: bool = False) -> dict[str, Any]:
    """Return the whole body: the options of a product, in its order; `priced` writes a plan's selling price, not its
    face value, as `denomination`."""
    return {"message": "Success", "data": [_subproduct(product, option, priced) for option in options]}


def _subproduct(product: Product, option: Option, priced: bool) -> dict[str, Any]:
    value = option.denomination
    low, high = amount_range(product, option)
    return {
        "subproduct_code": option.code,
        "display_name": option.label,
        "denomination": _denomination(product, value, priced),
        "face_value": None if value is None else _text(value),
        "validity": option.validity,
        "description": option.description,
        "account_number": option.account_number,
        "additional_description": list(option.additional_description) or None,
        "min": limit_text(low) if value is None else None,
        "max": limit_text(high) if value is None else None,
    }


def _denomination(product: Product, value: Decimal | None, priced: bool) -> str | None:
    if value is None:
        return None
    return amount_text(pricing.price(product, value)) if priced else _text(value)


def _text(value: Decimal) -> str:
    """Return a number without trailing zeros."""
    return f"{Decimal(number(value)):f}"
