"""The catalog agrees with itself, with its filters and with the older product list (SPEC 2.1, 4.4, 4.7, 9)."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import Departure, NotExercised, differ, unless
from simulator.staging.conform.registry import check
from simulator.staging.conform.selection import categories, products_of, selects

UNKNOWN = "CONFORM-NO-SUCH-PRODUCT"


@check("catalog-tree", "2.1", "The tree names products that the catalog has")
def catalog_tree(run: Run) -> Iterator[Departure]:
    everything = run.good("/v2/catalog", include_inactive="true").at("products")
    for _, category in categories(run):
        for code in category["product_codes"]:
            yield from unless(code in everything, f"tree category {category['id']}", "products of the catalog", code)


@check("catalog-codes", "2.1", "Products are keyed by their code")
def catalog_codes(run: Run) -> Iterator[Departure]:
    for key, product in run.products.items():
        yield from differ(f"products.{key}.code", key, product["code"])


@check("catalog-active", "4.4", "Without include_inactive only active products are returned")
def catalog_active(run: Run) -> Iterator[Departure]:
    for key, product in run.products.items():
        yield from differ(f"products.{key}.is_active", True, product["is_active"])


@check("catalog-inactive", "4.4", "include_inactive adds the inactive products")
def catalog_inactive(run: Run) -> Iterator[Departure]:
    everything = run.good("/v2/catalog", include_inactive="true").at("products")
    for key in run.products:
        yield from unless(key in everything, f"products.{key}", "also with include_inactive", "absent")
    for key in set(everything) - set(run.products):
        yield from differ(f"products.{key}.is_active", False, everything[key]["is_active"])


@check("catalog-filter", "4.4", "product_code returns this product alone, as the whole catalog has it")
def catalog_filter(run: Run) -> Iterator[Departure]:
    code = products_of(run)[0]
    found = run.good("/v2/catalog", product_code=code).at("products")
    yield from differ("products", [code], list(found))
    yield from differ(f"products.{code}", run.products[code], found.get(code))


@check("catalog-unknown", "4.4", "A product_code that matches nothing has no products, and keeps the tree")
def catalog_unknown(run: Run) -> Iterator[Departure]:
    answer = run.get("/v2/catalog", product_code=UNKNOWN)
    yield from run.expected(answer, 200)
    yield from differ("products", {}, answer.at("products"))
    whole = [group["id"] for group in run.good("/v2/catalog").at("tree.groups")]
    yield from differ("tree.groups", whole, [group["id"] for group in answer.at("tree.groups")])


@check("catalog-fields", "2.1", "What fields and fulfillment refer to exists, and field ids are unique")
def catalog_fields(run: Run) -> Iterator[Departure]:
    for code, product in run.products.items():
        names = [field["id"] for field in product["fields"]]
        yield from differ(f"products.{code}.fields", len(names), len(set(names)))
        for where, name in _references(product):
            yield from unless(name in names, f"products.{code}.{where}", "a field of the product", name)


def _references(product: dict[str, Any]) -> Iterator[tuple[str, str]]:
    fulfillment = product["fulfillment"]
    sources = {"account": fulfillment["account"], "amount": fulfillment["amount"], **fulfillment["extras"]}
    for name, source in sources.items():
        if source is not None:
            yield f"fulfillment.{name}", source["from_field"]
    for field in product["fields"]:
        source = field.get("data_source", {})
        for name in source.get("depends_on", ()):
            yield f"fields.{field['id']}.depends_on", name
        for name, value in source.get("params", {}).items():
            if "from_field" in value:
                yield f"fields.{field['id']}.params.{name}", value["from_field"]


@check("catalog-pricing", "2.1", "unit_price follows from the discount")
def catalog_pricing(run: Run) -> Iterator[Departure]:
    for code, product in run.products.items():
        pricing = product["pricing"]
        price = Decimal(pricing["unit_price"])
        field = f"products.{code}.pricing.unit_price"
        if pricing["discount"]["type"] == "fixed":
            yield from unless(price <= 0, field, "negative with a fixed discount", price)
        else:
            yield from unless(price > 0, field, "a multiplier above 0 with a percentage", price)


@check("catalog-version", "9", "From version 2026-09-16 the amount of a pricing select comes from denomination")
def catalog_version(run: Run) -> Iterator[Departure]:
    newer = run.good("/v2/catalog", "2026-09-16").at("products")
    found = list(selects(run, "pricing"))
    if not found:
        raise NotExercised("no product has a pricing select")
    for product, field in found:
        amount = newer[product["code"]]["fulfillment"]["amount"]
        if amount is not None and amount["from_field"] == field["id"]:
            where = f"products.{product['code']}.fulfillment.amount.path"
            yield from differ(where, "denomination", amount.get("path"))


@check("product-list-codes", "9", "The older product list and the catalog have the same products")
def product_list_codes(run: Run) -> Iterator[Departure]:
    rows = run.good("/v2/product-list").rows()
    everything = run.good("/v2/catalog", include_inactive="true").at("products")
    codes = [row["product_code"] for row in rows]
    yield from differ("data", len(codes), len(set(codes)))
    for code in codes:
        yield from unless(code in everything, f"data {code}", "a product of the catalog", "absent there")
    for code in run.products:
        yield from unless(code in codes, f"data {code}", "every active product of the catalog", "absent")


@check("product-list-status", "2.15", "The older product list has the status of the catalog")
def product_list_status(run: Run) -> Iterator[Departure]:
    for row in run.good("/v2/product-list").rows():
        is_active = row["product_code"] in run.products
        yield from differ(f"data {row['product_code']}.status", "Active" if is_active else "Inactive", row["status"])
