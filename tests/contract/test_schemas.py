"""The schema files themselves: valid, described, connected, and true to the shapes that they are for."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import jsonschema_rs
import pytest

from simulator.contract import schemas
from simulator.contract.files import data_dir
from simulator.contract.schemas import BASE_URI, at_pointer, schema, schema_at
from simulator.contract.validator import validator
from simulator.domain.model.instants import EARLIEST, LATEST
from tests.support.shapes import PAYMENT, SOURCE, catalog, field, product

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def parts(value: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object in a schema with its JSON pointer."""
    if isinstance(value, dict):
        yield pointer, value
        for key, member in value.items():
            yield from parts(member, f"{pointer}/{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from parts(item, f"{pointer}/{index}")


def refusals(name: str, value: Any) -> dict[str, list[str]]:
    return validator(name).problems(value)


def test_a_pattern_is_explained_in_words() -> None:
    unsaid = [
        f"{name}{pointer}"
        for name in schemas.names()
        for pointer, part in parts(schema(name))
        if isinstance(part.get("pattern"), str) and "x-must-be" not in part and "x-published" not in pointer
    ]
    assert unsaid == []


def test_each_schema_is_valid_and_named_like_its_file() -> None:
    problems = {name: found for name in schemas.names() if (found := problem_of(name))}
    assert problems == {}


def problem_of(name: str) -> str:
    source = schema(name)
    try:
        jsonschema_rs.meta.validate(source)
        validator(name)
    except Exception as error:
        return repr(error)
    expected = {"$schema": DRAFT, "$id": f"{BASE_URI}schemas/{name}.json"}
    return "" if source.items() >= expected.items() else f"it should have {expected}"


def test_every_schema_and_every_member_is_described() -> None:
    assert [place for name in schemas.names() for place in places_without_description(name)] == []


def places_without_description(name: str) -> Iterator[str]:
    source = schema(name)
    if not source["description"]:
        yield f"{name}.json"
    for pointer, part in parts(source):
        for key, member in part.get("properties", {}).items() if not pointer.endswith("/properties") else ():
            if not member.get("description"):
                yield f"{name}.json: {pointer}/properties/{key}"
        for key, member in part.get("$defs", {}).items():
            if not member.get("description"):
                yield f"{name}.json: $defs/{key}"


def test_every_reference_of_a_schema_leads_somewhere() -> None:
    for name in schemas.names():
        for pointer, part in parts(schema(name)):
            if isinstance(ref := part.get("$ref"), str):
                file, _, inner = ref.partition("#")
                target = at_pointer(schema(file.removesuffix(".json") or name), inner)
                assert isinstance(target, dict), f"{name}.json: {pointer}"


def test_every_file_is_written_the_same_way() -> None:
    for path in (data_dir("contracts") / "schemas").iterdir():
        text = path.read_text("utf-8")
        assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n", path.name


def test_a_uri_leads_to_a_part_of_a_schema() -> None:
    refid = schema_at(f"{BASE_URI}schemas/topup-request.json#/properties/refid")
    assert (refid["minLength"], refid["maxLength"]) == (1, 50)
    assert at_pointer({"a/b": [{"c~d": 1}]}, "/a~1b/0/c~0d") == 1


def test_a_payment_result_has_all_its_fields() -> None:
    assert refusals("payment-answer", {"data": PAYMENT}) == {}
    assert len(schema("payment-fields")["required"]) == len(PAYMENT) == 16
    for name in PAYMENT:
        less = {key: value for key, value in PAYMENT.items() if key != name}
        assert refusals("payment-answer", {"data": less}) == {f"data.{name}": ["is required"]}


@pytest.mark.parametrize(
    ("schema_name", "changes", "wrong"),
    [
        ("payment-answer", {"status": "Successful"}, "data.status"),
        ("payment-answer", {"status": "Refund", "statusCode": 53}, None),
        ("payment-answer", {"statusCode": "20"}, "data.statusCode"),
        ("payment-answer", {"amount": "10"}, "data.amount"),
        ("payment-answer", {"expiry": "2027-12-31"}, "data.expiry"),
        ("payment-answer", {"expiry": ""}, None),
        ("payment-answer", {"timestamp": "2026-11-21 12:00:05.000"}, "data.timestamp"),
        ("payment-answer", {"timestamp": "21-11-2026 12:00:05"}, "data.timestamp"),
        ("payment-answer", {"note": None}, "data.note"),
        ("payment-refusal", {"status": "Failed", "cost": 0}, None),
        ("payment-refusal", {"status": "Failed", "cost": 1}, "data.cost"),
        ("payment-refusal", {"status": "Accepted", "cost": 0}, "data.status"),
        ("callback", {}, None),
        ("callback", {"status": "Failed", "statusCode": 53}, None),
        ("callback", {"status": "Accepted"}, "data.status"),
        ("callback", {"status": "Refund"}, "data.status"),
        ("callback", {"timestamp": "2026-11-21 12:00:05.000"}, "data.timestamp"),
    ],
)
def test_the_schema_of_a_payment_depends_on_where_it_appears(
    schema_name: str, changes: dict[str, Any], wrong: str | None
) -> None:
    assert list(refusals(schema_name, {"data": PAYMENT | changes})) == ([wrong] if wrong else [])


def test_the_message_of_a_get_callback_has_milliseconds_and_no_wrapper() -> None:
    message = PAYMENT | {"timestamp": "2026-11-21 12:00:05.123"}
    assert refusals("callback-message", message) == {}
    assert list(refusals("callback-message", PAYMENT)) == ["timestamp"]
    assert "data" not in schema("callback-message")["properties"]


def test_the_days_of_a_scenario_match_the_range_of_a_clock() -> None:
    days = json.loads((data_dir("contracts") / "scenario.schema.json").read_text())["definitions"]["date"]
    last = LATEST - timedelta(days=1)
    assert (days["minimum"], days["maximum"]) == (int(f"{EARLIEST:%Y%m%d}"), int(f"{last:%Y%m%d}"))


@pytest.mark.parametrize(
    ("changes", "is_accepted"),
    [
        ({}, True),
        ({"fulfillment": {"account": None, "amount": None, "extras": {}}}, True),
        ({"note": "for people", "min_amount": {"amount": "1", "currency": "MYR"}}, True),
        ({"denomination": None, "denomination_currency": None}, True),
        ({"processing_time": "tomorrow"}, False),
        ({"denomination_unit_price": "1"}, False),
        ({"is_active": "true"}, False),
        ({"min_amount": 1}, False),
        ({"min_amount": {"amount": 1, "currency": "MYR"}}, False),
        ({"fields": [field(type="date")]}, False),
        ({"fields": [field(role="amount")]}, False),
        ({"fields": [field(data_source=SOURCE | {"endpoint": "/v2/options"})]}, False),
        ({"fields": [field(data_source=SOURCE | {"params": {"x": {"static": 1, "from_field": "y"}}})]}, False),
        ({"fulfillment": {"account": {}, "amount": None, "extras": {}}}, False),
        ({"fulfillment": {"amount": None, "extras": {}}}, False),
        ({"pricing": {"unit_price": 0.97}}, False),
    ],
)
def test_a_product_of_the_catalog_is_checked(changes: dict[str, Any], is_accepted: bool) -> None:
    assert (refusals("catalog-answer", catalog(P=product(**changes))) == {}) is is_accepted


def test_a_catalog_without_products_keeps_its_tree() -> None:
    assert refusals("catalog-answer", catalog()) == {}
    assert refusals("catalog-answer", {"last_updated": "2026-11-21T04:00:00.000Z", "products": {}})


@pytest.mark.parametrize(
    ("name", "value", "is_accepted"),
    [
        ("auth-error", {"error": "nonce_reused", "message": "x"}, True),
        ("auth-error", {"error": "no_such_code", "message": "x"}, False),
        ("catalog-unauthorized", {"error": "nonce_reused", "message": "x", "metadata": {"status_code": "401"}}, True),
        ("catalog-unauthorized", {"error": "nonce_reused", "message": "x", "metadata": {"status_code": 401}}, False),
        ("parameter-error", {"message": "x", "errors": {}}, True),
        ("parameter-error", {"message": "x", "errors": {"url": ["is required"]}}, True),
        ("parameter-error", {"message": "x", "errors": {"url": "is required"}}, False),
        ("parameter-error", {"message": "x", "errors": []}, False),
        ("service-error", {"error": "ip_not_allowed", "message": "x"}, True),
        ("service-error", {"error": "IP not allowed", "message": "x"}, False),
        ("balance-answer", {"data": {"balance": 4990.3, "currency": "MYR"}}, True),
        ("balance-answer", {"data": {"balance": "4990.30", "currency": "MYR"}}, False),
        ("instant", "2026-11-21T04:00:00.123456Z", True),
        ("instant", "2026-11-21T04:00:00Z", False),
        ("instant", "2026-11-21T12:00:00.123456+08:00", False),
    ],
)
def test_an_answer_is_checked(name: str, value: Any, is_accepted: bool) -> None:
    assert validator(name).is_valid(value) is is_accepted


@pytest.mark.parametrize(
    ("changes", "is_accepted"),
    [
        ({}, True),
        ({"CallbackUrl": "", "Method": ""}, True),
        ({"Method": "PUT"}, False),
        ({"Status": "success"}, False),
    ],
)
def test_a_callback_configuration_is_checked(changes: dict[str, str], is_accepted: bool) -> None:
    data = {"Status": "Success", "CallbackUrl": "http://example.com", "Method": "POST"} | changes
    metadata = {"status_code": 200, "last_updated": "21-11-2026 12:00:00"}
    assert validator("callback-url-answer").is_valid({"data": data, "@metadata": metadata}) is is_accepted
