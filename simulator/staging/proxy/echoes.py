"""What an answer repeats of its request: the refid of a payment, the code of a product."""

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.contract.responses import Departure
from simulator.shortened import shortened
from simulator.staging.proxy.facts import TOPUP_PATH, first_parameters, members

CATALOG_PATH = "/v2/catalog"
_CHARS_MAX = 100
_PRODUCTS_MAX = 1000

# Of each endpoint: what was sent, and where the answer repeats it (SPEC 4.11, 4.5, 4.13).
_REPEATED: Mapping[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("POST", TOPUP_PATH): (("refid", "data.refid"),),
    ("GET", "/v2/options"): (("product_code", "product_code"), ("field_id", "field_id")),
    ("GET", "/v2/networkstatus"): (("product", "data.product_code"),),
}


def of_echoes(method: str, path: str, query: bytes, body: bytes, answer: bytes) -> Iterator[Departure]:
    """Where an answer is about something else than its request, or a product of the catalog about another."""
    if (method, path) == ("GET", CATALOG_PATH):
        yield from _of_catalog(members(answer).get("products"))
    elif repeated := _REPEATED.get((method, path)):
        sent = members(body) or first_parameters(query)
        for name, place in repeated:
            wanted, actual = sent.get(name), _at(members(answer), place)
            if isinstance(wanted, str) and isinstance(actual, str) and actual != wanted:
                yield _departure(place, wanted, actual, "as in the request")


def _of_catalog(products: Any) -> Iterator[Departure]:
    if isinstance(products, dict):
        for key, product in list(products.items())[:_PRODUCTS_MAX]:
            code = product.get("code") if isinstance(product, dict) else None
            if isinstance(code, str) and code != key:
                yield _departure(f"products.{key}.code", key, code, "as its key")


def _departure(place: str, wanted: str, actual: str, why: str) -> Departure:
    return Departure(place, f"{shortened(wanted, _CHARS_MAX)!r}, {why}", repr(shortened(actual, _CHARS_MAX)))


def _at(found: Any, place: str) -> Any:
    for name in place.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found
