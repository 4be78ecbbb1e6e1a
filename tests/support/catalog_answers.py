"""Everything that the API answers about a catalog, so that two simulators can be compared byte for byte."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from tests.support.client import Client

NEWER = {"X-API-Version": "2026-09-16"}


def answers(client: Client, accounts: Mapping[str, Sequence[str]], every: int = 1) -> dict[str, tuple[int, bytes]]:
    """Status and body by request. `accounts` are account numbers by product, for dynamic fields; of the questions about
    one product only those about each `every`th are asked."""
    catalog = client.call("GET", "/v2/catalog?include_inactive=true", headers=NEWER).json
    products = list(catalog["products"].values())
    targets = ["/v2/catalog", "/v2/catalog?is_active=false", "/v2/catalog?include_inactive=true"]
    targets += ["/v1/interbank/billers", "/v1/interbank/billers?limit=7&page=2"]
    for product in products[::every]:
        targets += _of_product(product, accounts.get(product["code"], ()))
    found = {}
    for target in targets:
        for version in ({}, NEWER):
            response = client.call("GET", target, headers=version)
            found[f"{target} {version}"] = (response.status, response.body)
    return found


def _of_product(product: dict[str, Any], accounts: Sequence[str]) -> list[str]:
    code = product["code"]
    targets = [f"/v2/catalog?{urlencode({'product_code': code})}", f"/v2/networkstatus?{urlencode({'product': code})}"]
    selects = [form for form in product["fields"] if form["type"] == "select"]
    is_dynamic = any(form["data_source"]["type"] == "dynamic" for form in selects)
    numbers: Sequence[str] = accounts if is_dynamic else ("",)
    for number in numbers:
        account = {"account_number": number} if number else {}
        targets.append(f"/v2/subproducts?{urlencode({'product_code': code, **account})}")
        for form in selects:
            query = {"product_code": code, "field_id": form["id"], **account}
            for more in ({}, {"is_active": "true"}, {"include_inactive": "true"}, {"limit": "3", "page": "2"}):
                targets.append(f"/v2/options?{urlencode(query | more)}")
            if not number:
                targets.append(f"/v2/options?{urlencode(query | {'is_active': 'false'})}")
    return targets
