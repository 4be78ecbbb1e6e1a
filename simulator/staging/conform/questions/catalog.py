"""What the catalog, the options and the older lists show of the knobs."""

from typing import Any
from urllib.parse import quote

from simulator.staging.conform.checks.catalog import UNKNOWN
from simulator.staging.conform.context import Run
from simulator.staging.conform.findings import NotExercised
from simulator.staging.conform.registry import question
from simulator.staging.conform.selection import a_dynamic_list, categories, known_lists, lists, products_of
from simulator.staging.service import Answer

BEYOND_PAGE = 25001
TOO_SHORT = "12"


def accepted(answer: Answer, if_200: str, if_400: str) -> tuple[str, str]:
    """The value that a 200 or a 400 stands for. Raises `NotExercised` for any other status."""
    values = {200: if_200, 400: if_400}
    if answer.status not in values:
        raise NotExercised(f"neither 200 nor 400: {answer}")
    return values[answer.status], f"{answer.request.method} {answer.request.target} answered {answer.status}"


@question("tree-products")
def tree_products(run: Run) -> tuple[Any, str]:
    codes = products_of(run)
    in_tree = {code for _, category in categories(run) for code in category["product_codes"]}
    code = next((one for one in codes if one in in_tree), None)
    if code is None or len(in_tree) < 2:
        raise NotExercised("the tree has fewer than two products")
    groups = run.good("/v2/catalog", product_code=code).at("tree.groups")
    listed = {one for group in groups for category in group["categories"] for one in category["product_codes"]}
    evidence = f"with product_code={code} the tree lists {len(listed)} of {len(in_tree)} products"
    return ("answer" if listed == {code} else "whole"), evidence


@question("options-page-size")
def options_page_size(run: Run) -> tuple[Any, str]:
    where = next(iter(lists(run)), None)
    if where is None:
        raise NotExercised("no product has static options")
    return accepted(run.get("/v2/options", **where, limit=BEYOND_PAGE), "clamp", "reject")


@question("options-active")
def options_active(run: Run) -> tuple[Any, str]:
    for where in lists(run):
        default, active = (
            {item["code"] for item in run.good("/v2/options", **where, limit=25000, **more).rows("items")}
            for more in ({}, {"is_active": "true"})
        )
        inactive = run.good("/v2/options", **where, limit=25000, is_active="false").rows("items")
        codes = {item["code"] for item in inactive} - active
        if codes:
            evidence = f"{where['product_code']} has {len(codes)} inactive options, {len(codes & default)} by default"
            return ("all" if codes & default else "active"), evidence
    raise NotExercised("no list of options has inactive ones")


@question("options-account-number")
def options_account_number(run: Run) -> tuple[Any, str]:
    where, entered, _ = a_dynamic_list(run)
    if not entered["validation"].get("pattern"):
        raise NotExercised("the account field has no pattern")
    return accepted(run.get("/v2/options", **where, account_number=TOO_SHORT), "any", "validated")


@question("billers-product-code")
def billers_product_code(run: Run) -> tuple[Any, str]:
    code = products_of(run)[0]
    return accepted(run.get("/v1/interbank/billers", product_code=code), "ignore", "reject")


@question("legacy-categories")
def legacy_categories(run: Run) -> tuple[Any, str]:
    rows = run.good("/v2/product-list").rows()
    for _, category in categories(run):
        for row in rows:
            if row["product_code"] in category["product_codes"] and category["name"] != category["id"]:
                evidence = f"{row['product_code']} has the category {row['category']!r}"
                if row["category"] == category["name"]:
                    return "names", evidence
                if row["category"] == category["id"]:
                    return "ids", evidence
    raise NotExercised("no product of the list is in a category of the tree by name or id")


@question("subproduct-denomination")
def subproduct_denomination(run: Run) -> tuple[Any, str]:
    for where in known_lists(run, "pricing"):
        items = run.good("/v2/options", "2026-09-16", **where).rows("items")
        prices = {item["code"]: (item.get("denomination"), item.get("price", {}).get("amount")) for item in items}
        older = {name: value for name, value in where.items() if name != "field_id"}
        rows = run.good("/v2/subproducts", **older).rows()
        for row in rows:
            face, price = prices.get(row["subproduct_code"], (None, None))
            if face is None or price is None or float(face) == float(price) or row["denomination"] is None:
                continue
            evidence = f"{row['subproduct_code']} of {face} at {price} has the denomination {row['denomination']}"
            if float(row["denomination"]) == float(face):
                return "face_value", evidence
            if float(row["denomination"]) == float(price):
                return "price", evidence
    raise NotExercised("no sub-product has a price that differs from its face value")


@question("history-unknown-product")
def history_unknown_product(run: Run) -> tuple[Any, str]:
    return accepted(run.get("/v2/transactions", date=run.days, limit=10, product=UNKNOWN), "empty", "reject")


@question("history-limit")
def history_limit(run: Run) -> tuple[Any, str]:
    return accepted(run.get("/v2/transactions", date=run.days, limit=1001), "cap", "reject")


@question("statement-limit")
def statement_limit(run: Run) -> tuple[Any, str]:
    return accepted(run.get("/v2/balance-statement", date=run.days, limit=1001), "cap", "reject")


@question("balance-record")
def balance_record(run: Run) -> tuple[Any, str]:
    value = run.good("/v2/balance").json
    for shape, holder in (("wrapped", value.get("data", {})), ("flat", value)):
        if "balance" in holder:
            return shape, f"GET /v2/balance answered with {', '.join(sorted(value))}"
    raise NotExercised("GET /v2/balance has another shape")


@question("deprecation-header")
def deprecation_header(run: Run) -> tuple[Any, str]:
    found = run.good("/v2/product-list").headers.get("deprecation")
    evidence = f"GET /v2/product-list has Deprecation {found!r}" if found else "GET /v2/product-list has no Deprecation"
    if found is None:
        return "none", evidence
    if found.lower() == "true":
        return "draft", evidence
    if found.startswith("@"):
        return "rfc9745", evidence
    raise NotExercised(f"the header has another form: {quote(found)}")


@question("retry-count")
def retry_count(run: Run) -> tuple[Any, str]:
    for row in run.good("/v2/balance-webhook/deliveries", limit=100, status="failed").rows("deliveries"):
        value = {row["retryLimit"]: "retries", row["retryLimit"] + 1: "attempts"}.get(row["retryCount"])
        if value:
            return value, f"a failed delivery has retryCount {row['retryCount']} of {row['retryLimit']}"
    raise NotExercised("no failed delivery has spent its retries")
