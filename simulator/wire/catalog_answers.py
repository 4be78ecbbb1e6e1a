"""The catalog response of SPEC 2.1."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from simulator.domain.model import pricing
from simulator.domain.model.catalog import (
    Adjustment,
    Category,
    DataSource,
    FormField,
    Fulfillment,
    Group,
    Overlay,
    Product,
    Source,
)
from simulator.wire.formats import iso_utc, money, number


def catalog(
    tree: Iterable[Group], products: Iterable[Product], updated: datetime, *, by_denomination: bool
) -> dict[str, Any]:
    """Return the whole body. `products` are those to show, as the reseller sees them; `tree` is not filtered further.

    `by_denomination` is the shape of API version 2026-09-16: `amount` maps from an option's `denomination`, and
    products with plan codes gain `extras.subproduct_code`.
    """
    return {
        "last_updated": iso_utc(updated),
        "tree": {"groups": [_group(group) for group in tree]},
        "products": {product.code: product_body(product, by_denomination=by_denomination) for product in products},
    }


def tree_part(category: Category | Group) -> dict[str, Any]:
    """Return one category or group."""
    return _group(category) if isinstance(category, Group) else _category(category)


def _group(group: Group) -> dict[str, Any]:
    return {
        "id": group.id,
        "name": group.name,
        "icon_url": group.icon_url,
        "categories": [_category(category) for category in group.categories],
    }


def _category(category: Category) -> dict[str, Any]:
    return {"id": category.id, "name": category.name, "product_codes": list(category.product_codes)}


def product_body(
    product: Product, *, by_denomination: bool = True, has_loss_risk: bool | None = None
) -> dict[str, Any]:
    """Return one product, by default in the shape of API version 2026-09-16; `has_loss_risk` is computed unless
    given."""
    return {
        "code": product.code,
        "name": product.name,
        "note": product.note,
        "image_url": product.image_url,
        "processing_time": product.processing_time,
        "is_active": product.is_active,
        "denomination": product.denomination,
        "denomination_currency": product.denomination_currency,
        "denomination_unit_price": number(product.denomination_unit_price),
        "fields": [_field(field) for field in sorted(product.fields, key=lambda field: field.order)],
        "fulfillment": _fulfillment(product.fulfillment, by_denomination),
        "pricing": _pricing(product, has_loss_risk),
        "min_amount": money(product.min_amount) if product.min_amount else None,
        "max_amount": money(product.max_amount) if product.max_amount else None,
    }


def _field(field: FormField) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": field.id,
        "type": field.type,
        "input_mode": field.input_mode,
        "label": field.label,
        "placeholder": field.placeholder,
        "required": field.required,
        "order": field.order,
        "role": field.role,
    }
    is_typed = field.type != "select"  # a select field accepts its options only
    validation = {
        "pattern": field.pattern if is_typed else None,
        "message": field.message if is_typed else None,
        "min": _number(field.minimum),
        "max": _number(field.maximum),
    }
    shown["validation"] = {name: value for name, value in validation.items() if value is not None}
    if field.data_source:
        shown["data_source"] = _data_source(field.data_source)
    if field.type == "money":
        shown["currency"] = field.currency or "MYR"
    return shown


def _data_source(source: DataSource) -> dict[str, Any]:
    shown: dict[str, Any] = {"type": source.type, "endpoint": "/options"}
    shown["params"] = {name: dict(param) for name, param in source.params.items()}
    if source.type == "dynamic":
        shown["depends_on"] = list(source.depends_on)
    return shown


def _fulfillment(fulfillment: Fulfillment, by_denomination: bool) -> dict[str, Any]:
    amount = fulfillment.amount and _source(fulfillment.amount)
    if amount and amount.get("path") == "denomination" and not by_denomination:
        amount["path"] = "price.amount"
    extras = {
        name: _source(source)
        for name, source in fulfillment.extras.items()
        if by_denomination or name != "subproduct_code"
    }
    account = fulfillment.account and _source(fulfillment.account)
    return {"account": account, "amount": amount, "extras": extras}


def _source(source: Source) -> dict[str, Any]:
    shown: dict[str, Any] = {"from_field": source.from_field}
    if source.path:
        shown["path"] = source.path
    if source.omit_if_empty:
        shown["omit_if_empty"] = True
    return shown


def _pricing(product: Product, has_loss_risk: bool | None) -> dict[str, Any]:
    return {
        "unit_price": f"{product.discount.unit_price:f}",
        "currency": product.currency,
        "discount": {"type": product.discount.type, "value": product.discount.value},
        "price_adjustment": adjustment(product.price_adjustment),
        "has_loss_risk": pricing.has_loss_risk(product) if has_loss_risk is None else has_loss_risk,
    }


def adjustment(one: Adjustment | None) -> dict[str, Any] | None:
    """Return a reseller's selling price, null for none."""
    if one is None:
        return None
    shown: dict[str, Any] = {"type": one.type, "value": number(one.value)}
    return shown | ({"currency": one.currency or "MYR"} if one.type == "fixed" else {})


def overlay_body(overlay: Overlay | None) -> dict[str, Any] | None:
    """Return a reseller's own changes to a product, null without changes."""
    if overlay is None:
        return None
    return {"is_active": overlay.is_active, "price_adjustment": adjustment(overlay.price_adjustment)}


def _number(value: Decimal | None) -> int | Decimal | None:
    return None if value is None else number(value)
