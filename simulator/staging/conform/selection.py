"""What of the catalog a check can use: products, and select fields whose options can be read."""

from collections.abc import Iterator
from typing import Any

from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import NotExercised
from simulator.staging.conform.payments import Order

Field = dict[str, Any]


def products_of(run: Run) -> list[str]:
    """The codes of the active products. Raises `NotExercised` without any."""
    if not run.products:
        raise NotExercised("the catalog has no products")
    return list(run.products)


def selects(run: Run, role: str = "", kind: str = "") -> Iterator[tuple[dict[str, Any], Field]]:
    """The products' select fields of a role, whose data source is of a kind."""
    for product in run.products.values():
        for field in product["fields"]:
            is_wanted = field["type"] == "select" and role in ("", field["role"])
            if is_wanted and kind in ("", field.get("data_source", {}).get("type", "")):
                yield product, field


def lists(run: Run, role: str = "") -> list[dict[str, str]]:
    """The queries of the options of select fields that anybody may read."""
    return [
        {"product_code": product["code"], "field_id": field["id"]} for product, field in selects(run, role, "reference")
    ]


def known_lists(run: Run, role: str = "") -> list[dict[str, str]]:
    """These, and those that depend on an account which the caller named for a payment."""
    found = lists(run, role)
    orders = run.runner.orders if run.allows("payments") else ()
    for product, field in selects(run, role, "dynamic"):
        source = field["data_source"].get("params", {}).get("account_number", {}).get("from_field")
        numbers = (_entered(order, product, source) for order in orders if order.product == product["code"])
        if number := next(filter(None, numbers), ""):
            found.append({"product_code": product["code"], "field_id": field["id"], "account_number": number})
    return found


def _entered(order: Order, product: dict[str, Any], field: str) -> str:
    """What was entered in a field for a payment to be this; empty when the payment does not show it."""
    fulfillment = product["fulfillment"]
    if fulfillment["account"] and fulfillment["account"]["from_field"] == field:
        return order.account
    for name, source in fulfillment["extras"].items():
        if source["from_field"] == field and "path" not in source:
            return order.extras.get(name, "")
    return ""


def an_option_list(run: Run, role: str = "") -> dict[str, str]:
    """The first of them. Raises `NotExercised` without any."""
    found = lists(run, role)
    if not found:
        raise NotExercised("no product of the catalog has a select field with static options")
    return found[0]


def a_dynamic_list(run: Run) -> tuple[dict[str, str], Field, dict[str, Any]]:
    """The query of options that depend on an account, without it, with the field that the account is entered in, and
    the product. Raises `NotExercised`."""
    for product, field in selects(run, kind="dynamic"):
        source = field["data_source"].get("params", {}).get("account_number", {}).get("from_field")
        entered = next((one for one in product["fields"] if one["id"] == source), None)
        if entered is not None:
            return {"product_code": product["code"], "field_id": field["id"]}, entered, product
    raise NotExercised("no product of the catalog has options that depend on an account")


def categories(run: Run) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Group and category, in the order of the tree."""
    groups = run.good("/v2/catalog").at("tree.groups")
    return [(group, category) for group in groups for category in group["categories"]]
