"""A client that knows nothing but the catalog: it fills a product's form and makes a payment of it (SPEC 2.1).

`fill` reads the fields in their order, types into text fields, fetches the options of select fields with the
parameters that the catalog names, and keeps the whole selected option. `payment` applies the fulfillment.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from tests.support.client import Client

NEW = {"X-API-Version": "2026-09-16"}
# Typical inputs. The first input that the field accepts is used.
TYPED = ("0123456789", "900101145678", "you@example.com", "12345678", "A-1", "10")

Form = dict[str, Any]
Json = dict[str, Any]
Choose = Callable[[Json, list[Json]], Json]


def catalog(client: Client, headers: Mapping[str, str] = NEW, **more: str) -> dict[str, Json]:
    """The products of the catalog, by default in the shapes of API version 2026-09-16."""
    products: dict[str, Json] = client.call("GET", "/v2/catalog", headers=dict(headers), **more).json["products"]
    return products


def first(field: Json, options: list[Json]) -> Json:
    """Choose the first option."""
    assert options, f"nothing to choose from in {field['id']}"
    return options[0]


def fill(
    client: Client,
    product: Json,
    *,
    choose: Choose = first,
    given: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] = NEW,
    **more: str,
) -> Form:
    """Return the value of each field. `given` are values by field id; `choose` picks the option of a select field."""
    form: Form = {}
    for field in sorted(product["fields"], key=lambda field: (_depth(field, product), field["order"])):
        if given and field["id"] in given:
            form[field["id"]] = given[field["id"]]
        elif field["type"] == "select":
            form[field["id"]] = choose(field, fetch(client, field, form, headers, **more))
        elif field["type"] in ("money", "number"):
            form[field["id"]] = str(least(product, field, form))
        else:
            form[field["id"]] = typed(field)
    return form


def fetch(client: Client, field: Json, form: Form, headers: Mapping[str, str] = NEW, **more: str) -> list[Json]:
    """All options of a select field, page by page."""
    source = field["data_source"]
    assert source["endpoint"] == "/options"
    params = {
        name: param["static"] if "static" in param else form[param["from_field"]]
        for name, param in source["params"].items()
    }
    found: list[Json] = []
    page = last = 1
    while page <= last:
        target = f"/v2{source['endpoint']}?{urlencode(params | {'page': page})}"
        body = client.call("GET", target, headers=dict(headers), **more).json
        found += body["items"]
        page, last = page + 1, body["meta"]["last_page"]
    return found


def typed(field: Json) -> str:
    """Something that a text field takes."""
    pattern = field["validation"].get("pattern", "")
    return next(text for text in (field["placeholder"], *TYPED) if text and re.search(pattern, text))


def least(product: Json, field: Json, form: Form) -> Decimal:
    """The least amount that may be entered: a selected option's own, else the product's, else the field's."""
    limits = [option.get("min_amount") for option in form.values() if isinstance(option, dict)]
    for limit in (*limits, product["min_amount"]):
        if limit:
            return Decimal(limit["amount"])
    return Decimal(str(field["validation"].get("min", 1)))


def payment(product: Json, form: Form, refid: str) -> Json:
    """The body of `POST /v2/topup`; a product without an account field is paid to the customer's own reference."""
    mapping = product["fulfillment"]
    extras = {name: read(source, form) for name, source in mapping["extras"].items()}
    kept = {name: value for name, value in extras.items() if value or not mapping["extras"][name].get("omit_if_empty")}
    return {
        "refid": refid,
        "product": product["code"],
        "account": read(mapping["account"], form) if mapping["account"] else "customer-1",
        "amount": read(mapping["amount"], form),
    } | ({"extras": kept} if kept else {})


def read(source: Json, form: Form) -> Any:
    """The value that a mapping of the fulfillment leads to."""
    value = form[source["from_field"]]
    for part in source["path"].split(".") if "path" in source else ():
        value = value[part]
    return value


def _depth(field: Json, product: Json) -> int:
    """Return the length of the longest chain of fields that have to be filled before this field."""
    by_id = {each["id"]: each for each in product["fields"]}
    before = field.get("data_source", {}).get("depends_on", ())
    return 1 + max((_depth(by_id[each], product) for each in before), default=-1)
