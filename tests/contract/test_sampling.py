"""What stands for a large value where departures are explained."""

import json
from typing import Any

from simulator.contract.openapi import OPENAPI
from simulator.contract.responses import Departure, departures
from simulator.contract.sampling import CONTAINERS_MAX, ITEMS_MAX, VALUES_MAX, named_members, sample
from simulator.contract.schemas import schema
from tests.support.shapes import catalog, product


def of_catalog(body: Any) -> list[Departure]:
    return list(departures(OPENAPI, "GET", "/v2/catalog", 200, "application/json", json.dumps(body).encode()))


def products(count: int, **last: Any) -> dict[str, Any]:
    found = {f"P{n}": product() for n in range(count)}
    return found | {f"P{count - 1}": product(**last)}


def counted(value: Any) -> tuple[int, int]:
    """Containers and values in all."""
    if not isinstance(value, dict | list):
        return 0, 1
    inner = [counted(each) for each in (value.values() if isinstance(value, dict) else value)]
    return 1 + sum(one for one, _ in inner), 1 + sum(two for _, two in inner)


def test_a_small_value_stands_for_itself() -> None:
    value = {"a": [1, {"b": [2, 3]}], "c": None}
    assert sample(value, set()) == value


def test_a_sample_is_bounded_whatever_the_value_is_like() -> None:
    values: list[Any] = [
        [{}] * 40_000,
        [[[[1] * 60] * 60] * 60] * 60,
        {str(n): {str(m): m for m in range(100)} for n in range(1000)},
    ]
    for value in values:
        part = sample(value, set())
        containers, all_values = counted(part)
        assert containers <= CONTAINERS_MAX
        assert all_values <= VALUES_MAX + 1


def test_members_that_the_schema_names_are_never_cut() -> None:
    named = named_members(schema("catalog-answer"))
    assert {"tree", "products", "code", "groups"} <= named
    value = {**{f"x{n}": n for n in range(3000)}, **catalog(P=product())}
    part = sample(value, named)
    assert {"tree", "products"} <= part.keys()
    assert len(part) < 3000


def test_what_no_sample_can_stand_for_has_none() -> None:
    value: Any = {"a": "b"}
    for _ in range(CONTAINERS_MAX):
        value = {"a": value}
    assert sample(value, set()) is None


def test_each_odd_item_is_named_up_to_a_number() -> None:
    found = of_catalog(catalog(**{f"P{n}": {} for n in range(5000)}))
    assert len(found) == 20
    assert found[0].field.startswith("products.P0.")


def test_an_odd_item_behind_the_sample_is_named_too() -> None:
    (found,) = of_catalog(catalog(**products(ITEMS_MAX[0] * 4, code=7)))
    assert (found.field, found.actual) == (f"products.P{ITEMS_MAX[0] * 4 - 1}.code", "7")


def test_unknown_members_of_the_first_items_are_named() -> None:
    value = catalog(**{code: one | {"colour": "red"} for code, one in products(500).items()})
    found = of_catalog(value)
    assert {one.is_unknown for one in found} == {True}
    assert found[0].field == "products.P0.colour"
    assert 50 < len(found) < 500
