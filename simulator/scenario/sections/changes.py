"""Changes of products, categories and groups: for a scenario's schedule and the control API."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from simulator.domain.model.catalog import Catalog, Product
from simulator.domain.model.tree import TreeKind
from simulator.scenario.reading.check import check
from simulator.scenario.reading.document import Report
from simulator.scenario.reading.load import load_object
from simulator.scenario.reading.reader import Reader
from simulator.scenario.sections.catalog import product_codes
from simulator.scenario.sections.pricing import discount, price_adjustment

SHARED_ONLY = ("name", "note", "discount", "options")


class Changes(NamedTuple):
    """Properties of the product, and options to put on sale or take off sale."""

    properties: Mapping[str, Any]
    options: Mapping[str, bool]


def build_tree_changes(data: Mapping[str, object], kind: TreeKind, found: Catalog) -> Mapping[str, Any]:
    """Read changes of a category or group from an object. Raises `ScenarioError`."""
    document = load_object(data, kind)
    report = Report(document.problems)
    check(document, report, f"{kind}_changes")
    result = tree_changes(Reader.of(document.root, report), kind, found.products)
    report.raise_if_any()
    return result


def tree_changes(item: Reader, kind: TreeKind, products: Mapping[str, Product]) -> Mapping[str, Any]:
    """Read the changes of a category or group."""
    result: dict[str, Any] = {}
    if item["name"].is_given:
        result["name"] = item["name"].text()
    if kind is TreeKind.GROUP and item["icon_url"].is_given:
        result["icon_url"] = item["icon_url"].text()
    if kind is TreeKind.CATEGORY and item["product_codes"].is_given:
        result["product_codes"] = product_codes(item["product_codes"], products)
    return result


def build_changes(data: Mapping[str, object], product: Product, *, is_overlay: bool) -> Changes:
    """Read changes from an object. Raises `ScenarioError`."""
    document = load_object(data, "product")
    report = Report(document.problems)
    check(document, report, "product_changes")
    result = changes(Reader.of(document.root, report), product, is_overlay=is_overlay)
    report.raise_if_any()
    return result


def changes(item: Reader, product: Product | None, *, is_overlay: bool) -> Changes:
    """Read the changes; in an overlay null resets a property to the product's own value."""
    if is_overlay:
        for name in SHARED_ONLY:
            if item[name].is_given:
                item[name].problem("misplaced", f"{name!r} is the same for all resellers", at_key=True)
    properties: dict[str, Any] = {}
    if item["is_active"].is_given:
        properties["is_active"] = None if item["is_active"].is_null else item["is_active"].boolean()
        if item["is_active"].is_null and not is_overlay:
            text = "must be true or false; null is for an overlay, where it restores the product's value"
            item["is_active"].problem("type", text)
    if item["price_adjustment"].is_given:
        properties["price_adjustment"] = price_adjustment(item["price_adjustment"])
    if item["name"].is_given:
        properties["name"] = item["name"].text()
    if item["note"].is_given:
        properties["note"] = item["note"].text() or None
    if item["discount"].is_given:
        properties["discount"] = discount(item["discount"])
    return Changes(properties, _options(item["options"], product))


def _options(item: Reader, product: Product | None) -> Mapping[str, bool]:
    found: dict[str, bool] = {}
    for code, entry in item.entries():
        lists = [*product.options.values(), *product.options_for.values()] if product else []
        if product and not any(code in options.by_code for options in lists):
            entry.problem("unknown_option", f"product {product.code!r} has no option {code!r}", at_key=True)
        found[code] = entry["is_active"].boolean(True)
    return found
