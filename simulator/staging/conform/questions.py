"""Questions about the catalog, options, lists and refusals, and about accepted signatures."""

from collections.abc import Callable
from secrets import token_hex
from typing import Any
from urllib.parse import quote

from simulator.staging.conform.checks.catalog_checks import UNKNOWN
from simulator.staging.conform.checks.signatures import REFRESH, TOKEN, login, post, result_of
from simulator.staging.conform.context import (
    Run,
    a_dynamic_list,
    an_option_list,
    categories,
    known_lists,
    lists,
    products_of,
    question,
)
from simulator.staging.conform.findings import NotExercised
from simulator.staging.service import Answer, SignedAs, target


def _accepts(run: Run, sent: str, signed: str) -> bool:
    """Return whether a request with one query string is accepted with the signature of another."""
    answer = run.session.call("GET", sent, signed=SignedAs(query=signed))
    if answer.status not in (200, 401):
        raise NotExercised(f"neither 200 nor 401: {answer}")
    return answer.status == 200


def _which(first: bool, second: bool, names: tuple[str, str]) -> str:
    if not (first or second):
        raise NotExercised("the service accepts neither")
    return "either" if first and second else names[0] if first else names[1]


@question()
def repeated_query_keys(run: Run) -> tuple[Any, str]:
    sent = target("/v2/transactions", date=run.days, limit=1, status=["SUCCESSFUL", "FAILED"])
    base = target("", date=run.days, limit=1).removeprefix("?")
    as_sent, by_value = (
        _accepts(run, sent, f"{base}&status={first}&status={second}")
        for first, second in (("SUCCESSFUL", "FAILED"), ("FAILED", "SUCCESSFUL"))
    )
    evidence = f"signed in the order sent: {_word(as_sent)}; by value: {_word(by_value)}"
    return _which(as_sent, by_value, ("as_sent", "sorted")), evidence


@question()
def empty_query_values(run: Run) -> tuple[Any, str]:
    sent = "/v2/catalog?is_active=true&product_code="
    kept, left_out = _accepts(run, sent, "is_active=true&product_code="), _accepts(run, sent, "is_active=true")
    evidence = f"signed with product_code=: {_word(kept)}; without: {_word(left_out)}"
    return _which(kept, left_out, ("with", "without")), evidence


def _word(is_accepted: bool) -> str:
    return "accepted" if is_accepted else "refused"


def _judged(run: Run, body: bytes, media: str, values: tuple[str, str]) -> tuple[Any, str]:
    """Return how the login of an unknown user judges a body: wrong credentials (401), or a bad body (400)."""
    answer = post(run, TOKEN, body, media)
    if answer.status not in (400, 401):
        raise NotExercised(f"neither 400 nor 401: {answer}")
    return values[answer.status == 401], f"the login of an unknown user, so sent, answered {answer.status}"


@question()
def content_type(run: Run) -> tuple[Any, str]:
    body = f'{{"username":"conform-{token_hex(8)}","password":"x"}}'.encode()
    return _judged(run, body, "text/plain", ("checked", "ignored"))


@question()
def duplicate_json_keys(run: Run) -> tuple[Any, str]:
    body = f'{{"username":"conform-{token_hex(8)}","password":"x","password":"y"}}'.encode()
    return _judged(run, body, "application/json", ("reject", "last"))


@question(needs="login")
def token_answer(run: Run) -> tuple[Any, str]:
    value = login(run).json
    is_wrapped, is_flat = "AuthenticationResult" in value, "IdToken" in value
    evidence = f"the members of a login are {', '.join(sorted(value))}"
    if not (is_wrapped or is_flat):
        raise NotExercised(evidence)
    return ("both" if is_wrapped and is_flat else "wrapped" if is_wrapped else "flat"), evidence


@question(needs="login")
def refreshed_token(run: Run) -> tuple[Any, str]:
    answer = post(run, REFRESH, {"refresh_token": result_of(login(run))["RefreshToken"]})
    if answer.status != 200:
        raise NotExercised(f"the refresh answered {answer.status}")
    is_null = result_of(answer)["RefreshToken"] is None
    return ("original" if is_null else "new"), f"RefreshToken of a refresh is {'null' if is_null else 'a token'}"


@question(needs="login")
def bearer_endpoints(run: Run) -> tuple[Any, str]:
    token = result_of(login(run))["IdToken"]
    answer = run.session.plain("GET", "/v2/balance", headers={"Authorization": f"Bearer {token}"})
    if answer.status not in (200, 401):
        raise NotExercised(f"neither 200 nor 401: {answer}")
    value = "all" if answer.status == 200 else "legacy"
    return value, f"GET /v2/balance with a bearer token answered {answer.status}"


BEYOND_PAGE = 25001
HISTORIES = ("/v2/transactions", "/v2/balance-statement")
TOO_SHORT = "12"


def accepted(answer: Answer, if_200: str, if_400: str) -> tuple[str, str]:
    """Return the value that a 200 or a 400 stands for. Raises `NotExercised` for any other status."""
    values = {200: if_200, 400: if_400}
    if answer.status not in values:
        raise NotExercised(f"neither 200 nor 400: {answer}")
    return values[answer.status], f"{answer.request.method} {answer.request.target} answered {answer.status}"


def _of(path: str, if_200: str, if_400: str, **query: Any) -> Callable[[Run], tuple[Any, str]]:
    def ask(run: Run) -> tuple[Any, str]:
        days = {"date": run.days} if path in HISTORIES else {}
        first = {"product_code": products_of(run)[0]} if path == "/v1/interbank/billers" else {}
        where = an_option_list(run) if path == "/v2/options" else {}
        return accepted(run.get(path, **where, **first, **days, **query), if_200, if_400)

    return ask


for _knob, _asked in (
    ("options-page-size", _of("/v2/options", "clamp", "reject", limit=BEYOND_PAGE)),
    ("billers-product-code", _of("/v1/interbank/billers", "ignore", "reject")),
    ("history-unknown-product", _of("/v2/transactions", "empty", "reject", limit=10, product=UNKNOWN)),
    ("history-limit", _of("/v2/transactions", "cap", "reject", limit=1001)),
    ("statement-limit", _of("/v2/balance-statement", "cap", "reject", limit=1001)),
):
    question(knob=_knob)(_asked)


@question()
def tree_products(run: Run) -> tuple[Any, str]:
    codes = products_of(run)
    in_tree = {code for _, category in categories(run) for code in category["product_codes"]}
    code = next((code for code in codes if code in in_tree), None)
    if code is None or len(in_tree) < 2:
        raise NotExercised("the tree has fewer than two products")
    groups = run.good("/v2/catalog", product_code=code).at("tree.groups")
    listed = {
        listed_code for group in groups for category in group["categories"] for listed_code in category["product_codes"]
    }
    evidence = f"with product_code={code} the tree lists {len(listed)} of {len(in_tree)} products"
    return ("answer" if listed == {code} else "whole"), evidence


@question()
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
    raise NotExercised("no list of options has inactive options")


@question()
def options_account_number(run: Run) -> tuple[Any, str]:
    where, entered, _ = a_dynamic_list(run)
    if not entered["validation"].get("pattern"):
        raise NotExercised("the account field has no pattern")
    return accepted(run.get("/v2/options", **where, account_number=TOO_SHORT), "any", "validated")


def category_of(run: Run, rows: list[dict[str, Any]], by_name: str, by_id: str) -> tuple[str, str]:
    """Return how rows name the category of their product, with the evidence. Raises `NotExercised`."""
    for row in rows:
        for _, category in categories(run):
            if row["product_code"] in category["product_codes"] and category["name"] != category["id"]:
                value = {category["name"]: by_name, category["id"]: by_id}.get(row["category"])
                if value:
                    return value, f"{row['product_code']} has the category {row['category']!r}"
    raise NotExercised("no row has a category of the tree, by name or id")


@question()
def legacy_categories(run: Run) -> tuple[Any, str]:
    return category_of(run, run.good("/v2/product-list").rows(), "names", "ids")


@question()
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


@question()
def balance_record(run: Run) -> tuple[Any, str]:
    value = run.good("/v2/balance").json
    for shape, holder in (("wrapped", value.get("data", {})), ("flat", value)):
        if "balance" in holder:
            return shape, f"GET /v2/balance answered with {', '.join(sorted(value))}"
    raise NotExercised("GET /v2/balance has another shape")


@question()
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


@question()
def retry_count(run: Run) -> tuple[Any, str]:
    for row in run.good("/v2/balance-webhook/deliveries", limit=100, status="failed").rows("deliveries"):
        value = {row["retryLimit"]: "retries", row["retryLimit"] + 1: "attempts"}.get(row["retryCount"])
        if value:
            return value, f"a failed delivery has retryCount {row['retryCount']} of {row['retryLimit']}"
    raise NotExercised("no failed delivery has spent its retries")
