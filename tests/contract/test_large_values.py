"""The beginning of a large value that departs from the contract is explained."""

import json
from typing import Any

from simulator.contract.openapi import OPENAPI
from simulator.contract.responses import ContractDeparture, departures
from tests.support.shapes import catalog, product


def of_catalog(body: Any) -> list[ContractDeparture]:
    return list(departures(OPENAPI, "GET", "/v2/catalog", 200, "application/json", json.dumps(body).encode()))


def products(count: int, **last: Any) -> dict[str, Any]:
    found = {f"P{n}": product() for n in range(count)}
    return found | {f"P{count - 1}": product(**last)}


def test_each_odd_item_is_named_up_to_a_number() -> None:
    found = of_catalog(catalog(**{f"P{n}": {} for n in range(5000)}))
    assert len(found) == 20
    assert found[0].field.startswith("products.P0.")


def test_an_odd_item_after_the_beginning_is_named_too() -> None:
    (found,) = of_catalog(catalog(**products(500, code=7)))
    assert (found.field, found.actual) == ("products.P499.code", "7")


def test_unknown_members_of_the_first_items_are_named() -> None:
    value = catalog(**{code: one | {"colour": "red"} for code, one in products(500).items()})
    found = of_catalog(value)
    assert {one.is_unknown for one in found} == {True}
    assert found[0].field == "products.P0.colour"
    assert 50 < len(found) < 500
