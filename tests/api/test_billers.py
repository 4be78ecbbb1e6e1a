"""`GET /v1/interbank/billers`."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Client, running

PATH = "/v1/interbank/billers"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running() as client:
        yield client


def listed(client: Client, query: str = "") -> Any:
    response = client.call("GET", f"{PATH}{'?' if query else ''}{query}")
    assert response.status == 200, response.body
    return response.json


def codes(body: Any) -> list[str]:
    return [biller["biller_code"] for biller in body["data"]]


def test_the_whole_list_comes_without_a_limit(client: Client) -> None:
    body = listed(client)
    assert len(body["data"]) == 45
    assert body["links"] == {"first": PATH, "last": PATH, "prev": None, "next": None}
    assert body["meta"] == {
        "current_page": 1,
        "from": 1,
        "last_page": 1,
        "path": PATH,
        "per_page": 45,
        "to": 45,
        "total": 45,
    }
    assert body["data"][0] == {
        "biller_code": "1001",
        "display_name": "Northern Credit Union",
        "denomination": None,
        "face_value": None,
        "validity": None,
        "account_number": None,
        "additional_description": [],
        "min": "1.00",
        "max": "10000.00",
        "suggested_category": "Loans",
    }


def test_a_biller_has_all_its_properties(client: Client) -> None:
    (biller,) = listed(client, "biller_code=1046")["data"]
    assert biller["description"] == "Electricity and gas of one household"
    assert biller["additional_description"] == ["Ref-1 is the contract number", "Ref-2 is the customer number"]
    assert (biller["min"], biller["max"], biller["suggested_category"]) == ("5.00", "10000.00", "Utilities")


def test_a_biller_without_limits_uses_the_limits_of_its_product(client: Client) -> None:
    (biller,) = listed(client, "biller_code=1040")["data"]
    assert (biller["min"], biller["max"], biller["suggested_category"]) == ("1.00", "10000.00", None)


@pytest.mark.parametrize(
    ("page", "first", "last", "before", "after"),
    [(1, 1, 20, None, 2), (2, 21, 40, 1, 3), (3, 41, 45, 2, None), (4, 0, 0, 3, None), (9, 0, 0, 3, None)],
)
def test_pages_and_their_links(
    client: Client, page: int, first: int, last: int, before: int | None, after: int | None
) -> None:
    def link(number: int | None) -> str | None:
        return None if number is None else f"{PATH}?page={number}&limit=20"

    body = listed(client, f"page={page}&limit=20")
    assert body["links"] == {"first": link(1), "last": link(3), "prev": link(before), "next": link(after)}
    meta = body["meta"]
    assert (meta["current_page"], meta["from"], meta["to"], meta["last_page"], meta["per_page"], meta["total"]) == (
        page,
        first,
        last,
        3,
        20,
        45,
    )
    assert len(body["data"]) == (last - first + 1 if first else 0)


def test_a_limit_has_no_maximum(client: Client) -> None:
    body = listed(client, "limit=999999999999999999")
    assert (len(body["data"]), body["meta"]["per_page"], body["meta"]["last_page"]) == (45, 999999999999999999, 1)


def test_the_links_lead_through_the_list(client: Client) -> None:
    seen, link = [], f"{PATH}?limit=7"
    while link:
        response = client.call("GET", link)
        seen += codes(response.json)
        link = response.json["links"]["next"]
    assert seen == codes(listed(client))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("biller_code=1003", ["1003"]),
        ("biller_code=0", []),
        ("biller_code=1045", []),
        ("biller_code=1003&suggested_category=Internet", ["1003"]),
        ("biller_code=1003&suggested_category=Loans", []),
        ("suggested_category=Internet", ["1003", "1009"]),
        ("suggested_category=internet", []),
        ("suggested_category=Internet&limit=1", ["1003"]),
        ("biller_code=&suggested_category=&limit=1", ["1001"]),
    ],
)
def test_filters_select_billers(client: Client, query: str, expected: list[str]) -> None:
    assert codes(listed(client, query)) == expected


def test_links_repeat_the_filters(client: Client) -> None:
    links = listed(client, "suggested_category=Internet&limit=1")["links"]
    assert links["next"] == f"{PATH}?suggested_category=Internet&page=2&limit=1"
    assert listed(client, "suggested_category=Internet")["links"]["first"] == f"{PATH}?suggested_category=Internet"


def test_links_stay_in_the_sandbox_whose_address_was_used() -> None:
    with running({"catalog": {"products": [SPACED]}}) as client:
        query = "suggested_category=Loans%20and%20more&limit=1"
        for prefix in ("", "/s/default"):
            body = client.call("GET", f"{prefix}{PATH}?{query}").json
            assert body["meta"]["path"] == prefix + PATH
            assert body["links"]["next"] == f"{prefix}{PATH}?suggested_category=Loans%20and%20more&page=2&limit=1"
            (following,) = client.call("GET", body["links"]["next"]).json["data"]
            assert following["biller_code"] != body["data"][0]["biller_code"]


SPACED = {
    "code": "INTERBANK",
    "fields": [
        {
            "id": "biller",
            "options": [
                {"code": code, "label": code, "suggested_category": "Loans and more"} for code in ("2001", "2002")
            ],
        }
    ],
}


def test_an_empty_list_has_its_members(client: Client) -> None:
    body = listed(client, "biller_code=0")
    meta = {name: body["meta"][name] for name in ("from", "to", "total", "current_page", "last_page", "per_page")}
    assert meta == {"from": 0, "to": 0, "total": 0, "current_page": 1, "last_page": 1, "per_page": 0}
    assert listed(client, "biller_code=0&limit=5")["meta"]["per_page"] == 5


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("page=1", "page"),
        ("page=2&limit=", "page"),
        ("limit=0", "limit"),
        ("limit=x", "limit"),
        ("page=0&limit=5", "page"),
        ("page=1.0&limit=5", "page"),
        ("page=1&page=2&limit=5", "page"),
        ("biller_code=1&biller_code=2", "biller_code"),
    ],
)
def test_an_invalid_parameter_is_a_400_with_its_name(client: Client, query: str, wrong: str) -> None:
    response = client.call("GET", f"{PATH}?{query}")
    assert response.status == 400
    assert set(response.json["errors"]) == {wrong}


def test_the_list_wants_a_signature(client: Client) -> None:
    assert client.send("GET", PATH).status == 401


def test_a_product_code_is_ignored_and_noted_or_refused() -> None:
    with running() as client:
        response = client.call("GET", f"{PATH}?product_code=INTERBANK")
        assert response.status == 200
        assert "product_code" in response.headers["x-sim-diagnosis"]
    with running({"assume": {"billers-product-code": "reject"}}) as client:
        response = client.call("GET", f"{PATH}?product_code=INTERBANK")
        assert (response.status, list(response.json["errors"])) == (400, ["product_code"])


def test_a_reseller_that_does_not_sell_the_product_has_no_billers() -> None:
    with running({"resellers": [{"code": "RS001", "catalog": {"INTERBANK": {"is_active": False}}}]}) as client:
        assert listed(client)["data"] == []


def test_which_product_is_paid_to_billers_is_the_catalog_s_to_say() -> None:
    field = {"id": "who", "label": "Who", "type": "select", "options": [{"code": "A", "label": "Alpha"}]}
    product = {
        "code": "OTHER",
        "name": "Other",
        "processing_time": "instant",
        "discount": {"type": "fixed", "value": 0},
        "fields": [field],
        "fulfillment": {"extras": {"biller_code": {"from_field": "who", "path": "code"}}},
    }
    key = {"key": "k", "secret": "bm90LWEtc2VjcmV0"}
    reseller = {"code": "R", "email": "r@example.com", "api_keys": [key]}
    with running({"extends": None, "resellers": [reseller], "catalog": {"products": [product]}}) as client:
        (biller,) = listed(client)["data"]
        assert (biller["biller_code"], biller["min"], biller["max"]) == ("A", "-1", "-1")
    with running({"extends": None, "resellers": [reseller]}) as client:
        assert listed(client)["data"] == []
