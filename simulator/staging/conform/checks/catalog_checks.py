"""The catalog is consistent with itself, with its filters and with the older product list (SPEC 2.1, 4.4, 4.7, 9)."""

from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from simulator.staging.conform.context import (
    Run,
    an_option_list,
    categories,
    check,
    known_lists,
    lists,
    products_of,
    selects,
)
from simulator.staging.conform.findings import Departure, NotExercised, differ, unless
from simulator.staging.conform.payment_runner import CENT

UNKNOWN = "CONFORM-NO-SUCH-PRODUCT"


@check("2.1", "The tree names products that the catalog has")
def catalog_tree(run: Run) -> Iterator[Departure]:
    everything = run.good("/v2/catalog", include_inactive="true").at("products")
    for _, category in categories(run):
        for code in category["product_codes"]:
            yield from unless(code in everything, f"tree category {category['id']}", "products of the catalog", code)


@check("2.1", "Products are keyed by their code")
def catalog_codes(run: Run) -> Iterator[Departure]:
    for key, product in run.products.items():
        yield from differ(f"products.{key}.code", key, product["code"])


@check("4.4", "Without include_inactive only active products are returned")
def catalog_active(run: Run) -> Iterator[Departure]:
    for key, product in run.products.items():
        yield from differ(f"products.{key}.is_active", True, product["is_active"])


@check("4.4", "include_inactive adds the inactive products")
def catalog_inactive(run: Run) -> Iterator[Departure]:
    everything = run.good("/v2/catalog", include_inactive="true").at("products")
    for key in run.products:
        yield from unless(key in everything, f"products.{key}", "also with include_inactive", "absent")
    for key in set(everything) - set(run.products):
        yield from differ(f"products.{key}.is_active", False, everything[key]["is_active"])


@check("4.4", "product_code returns this product alone, as the whole catalog has it")
def catalog_filter(run: Run) -> Iterator[Departure]:
    code = products_of(run)[0]
    found = run.good("/v2/catalog", product_code=code).at("products")
    yield from differ("products", [code], list(found))
    yield from differ(f"products.{code}", run.products[code], found.get(code))


@check("4.4", "A product_code that matches nothing has no products, and keeps the tree")
def catalog_unknown(run: Run) -> Iterator[Departure]:
    answer = run.get("/v2/catalog", product_code=UNKNOWN)
    yield from run.expected(answer, 200)
    yield from differ("products", {}, answer.at("products"))
    whole = [group["id"] for group in run.good("/v2/catalog").at("tree.groups")]
    yield from differ("tree.groups", whole, [group["id"] for group in answer.at("tree.groups")])


@check("2.1", "References of fields and fulfillment exist, and field ids are unique")
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


@check("2.1", "unit_price follows from the discount")
def catalog_pricing(run: Run) -> Iterator[Departure]:
    for code, product in run.products.items():
        pricing = product["pricing"]
        price = Decimal(pricing["unit_price"])
        field = f"products.{code}.pricing.unit_price"
        if pricing["discount"]["type"] == "fixed":
            yield from unless(price <= 0, field, "negative with a fixed discount", price)
        else:
            yield from unless(price > 0, field, "a multiplier above 0 with a percentage", price)


@check("9", "From version 2026-09-16 the amount of a pricing select comes from denomination")
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


@check("9", "The older product list and the catalog have the same products")
def product_list_codes(run: Run) -> Iterator[Departure]:
    rows = run.good("/v2/product-list").rows()
    everything = run.good("/v2/catalog", include_inactive="true").at("products")
    codes = [row["product_code"] for row in rows]
    yield from differ("data", len(codes), len(set(codes)))
    for code in codes:
        yield from unless(code in everything, f"data {code}", "a product of the catalog", "absent there")
    for code in run.products:
        yield from unless(code in codes, f"data {code}", "every active product of the catalog", "absent")


@check("2.15", "The older product list has the status of the catalog")
def product_list_status(run: Run) -> Iterator[Departure]:
    for row in run.good("/v2/product-list").rows():
        is_active = row["product_code"] in run.products
        yield from differ(f"data {row['product_code']}.status", "Active" if is_active else "Inactive", row["status"])


PAGES = 3
VERSION = "2026-09-16"


def in_pages(
    run: Run,
    path: str,
    rows: str,
    key: str,
    whole: list[Any],
    query: dict[str, Any],
    *,
    total: int = 0,
    place_of: Callable[[int, int], dict[str, int]] = lambda number, size: {"page": number},
) -> Iterator[Departure]:
    """Read a list again in about three pages, and compare them with the `whole` list of `key`. `total` counts all rows,
    also beyond the list. `place_of` returns the parameter of a page by its number and size. Meta and links of a page
    are compared as far as the answer has them (SPEC 2.5, 2.14)."""
    size, total = max(1, -(-len(whole) // PAGES)), total or len(whole)
    paged: list[Any] = []
    for number in range(1, -(-len(whole) // size) + 1):
        answer = run.good(path, **query | place_of(number, size), limit=size)
        found = [row[key] for row in answer.rows(rows)]
        yield from unless(len(found) <= size, f"{rows} with limit={size}", f"at most {size}", len(found))
        first = (number - 1) * size + 1
        meta = {"current_page": number, "per_page": size, "from": first, "to": first + len(found) - 1}
        meta |= {"total": total, "last_page": -(-total // size)}
        for name, wanted in meta.items():
            if name in answer.members.get("meta", ()):
                yield from differ(f"meta.{name} of page {number}", wanted, answer.at(f"meta.{name}"))
        for name, is_null in (("prev", number == 1), ("next", number * size >= total)):
            if "links" in answer.members:
                link = answer.at(f"links.{name}")
                said = "null" if is_null else "a link"
                yield from unless((link is None) == is_null, f"links.{name} of page {number}", said, link)
        paged += found
    yield from _compared(f"{rows} of all pages", whole, paged[: len(whole)])


def _compared(field: str, whole: list[Any], paged: list[Any]) -> Iterator[Departure]:
    """Yield a departure unless the pages have the items of the whole list, in its order."""
    if whole != paged:
        missing = [item for item in whole if item not in paged][:5]
        twice = sorted({str(item) for item in paged if paged.count(item) > 1})[:5]
        actual = {"count": len(paged), "missing": missing, "twice": twice}
        yield from differ(field, f"the {len(whole)} of the whole list, in its order", actual)


@check("4.5", "The pages of options are complete and without duplicates")
def options_pages(run: Run) -> Iterator[Departure]:
    where = max(lists(run), key=lambda query: _total(run, query), default=None)
    if where is None:
        raise NotExercised("no product of the catalog has a select field with static options")
    whole = [item["code"] for item in run.good("/v2/options", **where, limit=25000).rows("items")]
    if len(whole) < 2:
        raise NotExercised("no list of options has two items")
    yield from in_pages(run, "/v2/options", "items", "code", whole, where)


def _total(run: Run, where: dict[str, str]) -> int:
    return int(run.good("/v2/options", **where, limit=25000).at("meta.total"))


@check("4.5", "Without limit a page has at most 100 options, and per_page is an alias of limit")
def options_default_page(run: Run) -> Iterator[Departure]:
    where = an_option_list(run)
    answer = run.good("/v2/options", **where)
    yield from differ("meta.per_page", 100, answer.at("meta.per_page"))
    alias = run.good("/v2/options", **where, per_page=1)
    yield from differ("meta.per_page with per_page=1", 1, alias.at("meta.per_page"))
    yield from unless(len(alias.rows("items")) <= 1, "items with per_page=1", "at most 1", len(alias.rows("items")))


@check("2.2", "The codes of a list of options are unique")
def options_codes(run: Run) -> Iterator[Departure]:
    for where in lists(run)[:5]:
        codes = [item["code"] for item in run.good("/v2/options", VERSION, **where).rows("items")]
        twice = sorted({code for code in codes if codes.count(code) > 1})
        yield from differ(f"items of {where['product_code']}", [], twice)


def _priced_options(run: Run) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the options of some pricing fields, each with its product."""
    for where in known_lists(run, "pricing")[:5] or [an_option_list(run, "pricing")]:
        for item in run.good("/v2/options", VERSION, **where).rows("items"):
            yield where["product_code"], item


@check("2.2", "From version 2026-09-16 the options of a pricing select have a denomination")
def options_denomination(run: Run) -> Iterator[Departure]:
    for code, item in _priced_options(run):
        yield from unless("denomination" in item, f"items {item['code']}.denomination of {code}", "present", "absent")


@check("2.1", "An option costs what the product's pricing says")
def options_cost(run: Run) -> Iterator[Departure]:
    for code, item in _priced_options(run):
        if "denomination" in item and "cost" in item:
            wanted, found = cost_of(run.products[code], item["denomination"]), Decimal(item["cost"]["amount"])
            field = f"items {item['code']}.cost.amount of {code}"
            yield from unless(abs(wanted - found) <= CENT, field, str(wanted), found)


def cost_of(product: dict[str, Any], denomination: Any) -> Decimal:
    """Return the cost of a denomination by the product's pricing."""
    face = Decimal(denomination) * Decimal(product["denomination_unit_price"])
    price = Decimal(product["pricing"]["unit_price"])
    cost = face * price if product["pricing"]["discount"]["type"] == "percentage" else face - abs(price)
    return max(cost, Decimal(0)).quantize(CENT, ROUND_HALF_UP)


@check("4.8", "The older sub-products and the options have the same codes")
def subproducts_codes(run: Run) -> Iterator[Departure]:
    has_some = {row["product_code"] for row in run.good("/v2/product-list").rows() if row["has_subproduct"]}
    found = [row for row in known_lists(run, "pricing") if row["product_code"] in has_some]
    if not found:
        raise NotExercised("no product with sub-products has options that can be read; --pay one of its accounts")
    for where in found[:5]:
        wanted = [item["code"] for item in run.good("/v2/options", VERSION, **where, limit=25000).rows("items")]
        older = {name: value for name, value in where.items() if name != "field_id"}
        rows = run.good("/v2/subproducts", **older).rows()
        yield from differ("data", sorted(wanted), sorted(str(row["subproduct_code"]) for row in rows))


@check("4.6", "The pages of billers are complete, and their meta and links agree")
def billers_pages(run: Run) -> Iterator[Departure]:
    whole = [row["biller_code"] for row in run.good("/v1/interbank/billers").rows()]
    if len(whole) < 2:
        raise NotExercised("there are fewer than two billers")
    yield from in_pages(run, "/v1/interbank/billers", "data", "biller_code", whole, {})


@check("4.6", "biller_code and suggested_category choose billers")
def billers_filter(run: Run) -> Iterator[Departure]:
    rows = run.good("/v1/interbank/billers").rows()
    if not rows:
        raise NotExercised("there are no billers")
    code = rows[-1]["biller_code"]
    found = run.good("/v1/interbank/billers", biller_code=code).rows()
    yield from differ(f"data with biller_code={code}", [code], [row["biller_code"] for row in found])
    category = next((row["suggested_category"] for row in rows if row["suggested_category"]), None)
    if category:
        wanted = [row["biller_code"] for row in rows if row["suggested_category"] == category]
        some = run.good("/v1/interbank/billers", suggested_category=category).rows()
        yield from differ(f"data of {category}", wanted, [row["biller_code"] for row in some])
