"""The product list and sub-products: the catalog in the words of old integrations (SPEC 4.7, 4.8)."""

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.client import Client, Response, running

PHONE, IDENTITY = "0123456789", "900101145678"


def products(client: Client) -> dict[str, Any]:
    response = client.call("GET", "/v2/product-list")
    assert response.status == 200
    return {record["product_code"]: record for record in response.data}


def ask(client: Client, **query: str) -> Response:
    return client.call("GET", f"/v2/subproducts?{urlencode(query)}")


def subproducts(client: Client, **query: str) -> list[Any]:
    response = ask(client, **query)
    assert response.status == 200, response.body
    assert response.json["message"] == "Success"
    listed: list[Any] = response.data
    return listed


# The product list


def test_the_product_list_is_the_catalog_in_its_order_with_inactive_products_too() -> None:
    with running() as client:
        whole = client.call("GET", "/v2/catalog?include_inactive=true").json["products"]
        listed = products(client)
        assert list(listed) == list(whole)
        for code, product in whole.items():
            assert listed[code]["product_name"] == product["name"]
            assert listed[code]["image_url"] == product["image_url"]
            assert (listed[code]["status"] == "Active") is product["is_active"]
        assert listed["RETIRED"]["status"] == "Inactive"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "RELOAD",
            {
                "has_subproduct": False,
                "product_remarks": "",
                "account_label": "Mobile number",
                "keyboard_type": "tel",
                "account_type": "phone_number",
                "denomination": "5,10,20,30,50,100",
                "common_denominations": "5,10,20,30,50,100",
                "denomination_data_type": "Integer",
                "denomination_currency": "MYR",
                "denomination_unit_price": 1,
                "product_group": "Everyday",
                "category": "Mobile reload",
                "is_refundable": False,
            },
        ),
        ("DATA", {"has_subproduct": True, "common_denominations": "5,10,30,50", "account_type": "phone_number"}),
        (
            "ELECTRIC",
            {
                "has_subproduct": False,
                "product_remarks": "Bills are settled within a business day",
                "keyboard_type": "numeric",
                "account_type": "account_number",
                "denomination": "1-10000",
                "common_denominations": "",
                "denomination_data_type": "Decimal",
                "category": "Bills",
                "is_refundable": True,
            },
        ),
        ("INTERBANK", {"has_subproduct": True, "account_label": "Ref-1", "is_refundable": True}),
        ("STUDENTLOAN", {"has_subproduct": True, "account_label": "Identity number", "keyboard_type": "numeric"}),
        ("PARKING", {"denomination": "1-200", "denomination_data_type": "Integer"}),
        (
            "GAME",
            {
                "denomination_currency": "Gems",
                "denomination_unit_price": 0.045,
                "keyboard_type": "text",
                "product_group": "Leisure",
            },
        ),
        ("GIFTCARD", {"account_type": "not_required", "account_label": None, "keyboard_type": "text"}),
        ("VOUCHER", {"account_type": "account_number", "keyboard_type": "email"}),
        ("ABROAD", {"denomination_currency": "IDR", "denomination_unit_price": 0.00028}),
    ],
)
def test_a_product_has_the_members_of_the_legacy_list(code: str, expected: dict[str, Any]) -> None:
    with running() as client:
        record = products(client)[code]
        assert {name: record[name] for name in expected} == expected


def own(**more: Any) -> dict[str, Any]:
    """A product beside the products of the default scenario."""
    base = {
        "code": "OWN",
        "name": "Own",
        "image_url": "https://images.example.com/own.png",
        "processing_time": "instant",
        "discount": {"type": "percentage", "value": 1},
    }
    return {"catalog": {"products": [base | more]}}


def amount_field(**more: Any) -> dict[str, Any]:
    return {"id": "amount", "role": "pricing", "type": "money", "label": "Amount", **more}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([amount_field()], {"denomination": "", "denomination_data_type": "Decimal"}),
        ([amount_field(validation={"min": "0.50"})], {"denomination": "0.5-"}),
        ([amount_field(validation={"max": 1000})], {"denomination": "-1000"}),
        (
            [amount_field(type="select", options=[5, 2.50, 1000])],
            {
                "denomination": "2.5,5,1000",
                "common_denominations": "2.5,5,1000",
                "denomination_data_type": "Decimal",
            },
        ),
    ],
)
def test_denominations_come_from_the_form_when_the_catalog_lists_none(
    fields: list[Any], expected: dict[str, Any]
) -> None:
    with running(own(fields=fields)) as client:
        record = products(client)["OWN"]
        assert {name: record[name] for name in expected} == expected
        assert (record["product_group"], record["category"]) == ("", "")


def test_hidden_products_are_left_out() -> None:
    with running(own(fields=[amount_field()], is_hidden=True)) as client:
        assert "OWN" not in products(client)
        assert ask(client, product_code="OWN").status == 400


def test_the_resellers_overlay_counts() -> None:
    resellers = [{"code": "RS001", "catalog": {"DATA": {"is_active": False}}}]
    with running({"resellers": resellers}) as client:
        assert products(client)["DATA"]["status"] == "Inactive"
        assert ask(client, product_code="DATA", account_number=PHONE).status == 400


def test_groups_and_categories_may_be_ids() -> None:
    with running({"assume": {"legacy-categories": "ids"}}) as client:
        record = products(client)["RELOAD"]
        assert (record["product_group"], record["category"]) == ("everyday", "mobile-reload")


# Sub-products


def test_plans_of_a_number_equal_the_options() -> None:
    with running() as client:
        plans = subproducts(client, product_code="DATA", account_number=PHONE)
        assert {"D5", "D10W", "D10M", "D10N", "D30", "D50"} <= {plan["subproduct_code"] for plan in plans}
        assert "D15" not in {plan["subproduct_code"] for plan in plans}
        assert plans[1] == {
            "subproduct_code": "D10W",
            "display_name": "5 GB (7 days)",
            "denomination": "10",
            "face_value": "10",
            "validity": "7 days",
            "description": None,
            "account_number": None,
            "additional_description": None,
            "min": None,
            "max": None,
        }


def test_the_offered_plans_depend_on_the_account_number() -> None:
    with running() as client:
        offers = {
            len(subproducts(client, product_code="DATA", account_number=f"01234567{last:02}")) for last in range(20)
        }
        assert offers == {6, 7}


def test_a_plan_of_the_list_can_be_paid_with_its_denomination() -> None:
    with running() as client:
        plan = subproducts(client, product_code="DATA", account_number=PHONE)[0]
        extras = {"subproduct_code": plan["subproduct_code"]}
        assert client.pay(product="DATA", amount=plan["denomination"], account=PHONE, extras=extras).status == 200


def test_a_plans_denomination_may_be_its_selling_price() -> None:
    with running({"assume": {"subproduct-denomination": "price"}}) as client:
        plan = subproducts(client, product_code="DATA", account_number=PHONE)[0]
        assert (plan["denomination"], plan["face_value"]) == ("5.20", "5")


def test_an_identity_may_have_several_loan_accounts() -> None:
    with running() as client:
        loans = subproducts(client, product_code="STUDENTLOAN", account_number=IDENTITY)
        assert [(loan["subproduct_code"], loan["account_number"], loan["description"]) for loan in loans] == [
            ("K", "1029384756", "Loan"),
            ("SP", "837465920", "Scholarship"),
        ]
        assert {(loan["denomination"], loan["min"], loan["max"]) for loan in loans} == {(None, "1.00", "10000.00")}
        assert subproducts(client, product_code="STUDENTLOAN", account_number="900101145679") != loans


def test_billers_use_their_own_limits_or_the_limits_of_the_product() -> None:
    with running() as client:
        billers = {biller["subproduct_code"]: biller for biller in subproducts(client, product_code="INTERBANK")}
        assert len(billers) >= 40
        assert "1045" not in billers
        assert (billers["1005"]["min"], billers["1005"]["max"]) == ("10.00", "5000.00")
        assert (billers["1040"]["min"], billers["1040"]["max"]) == ("1.00", "10000.00")
        assert billers["1046"]["additional_description"]


def test_no_limit_is_minus_one() -> None:
    biller = {"id": "biller", "type": "select", "label": "Biller", "options": [{"code": "b", "label": "B"}]}
    fulfillment = {"extras": {"biller_code": {"from_field": "biller", "path": "code"}}}
    with running(own(fields=[biller, amount_field()], fulfillment=fulfillment)) as client:
        [only] = subproducts(client, product_code="OWN")
        assert (only["subproduct_code"], only["min"], only["max"]) == ("b", "-1", "-1")


@pytest.mark.parametrize(("limit", "count"), [("", None), ("1", 1), ("7", 7), ("007", 7), ("9" * 18, None)])
def test_a_limit_cuts_the_list_and_a_blank_one_does_not(limit: str, count: int | None) -> None:
    with running() as client:
        whole = subproducts(client, product_code="INTERBANK")
        assert subproducts(client, product_code="INTERBANK", limit=limit) == whole[:count]


def test_a_product_without_subproducts_lists_none() -> None:
    with running() as client:
        assert subproducts(client, product_code="RELOAD") == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "product_code"),
        ("product_code", "product_code"),
        ("product_code=", "product_code"),
        ("product_code=NOTHING", "product_code"),
        ("product_code=RETIRED", "product_code"),
        ("product_code=data", "product_code"),
        ("product_code=DATA&product_code=DATA", "product_code"),
        ("product_code=%ff", "product_code"),
        ("product_code=" + "x" * 101, "product_code"),
        ("product_code=DATA", "account_number"),
        ("product_code=DATA&account_number=", "account_number"),
        ("product_code=STUDENTLOAN", "account_number"),
        ("product_code=STUDENTLOAN&account_number=" + "9" * 101, "account_number"),
        ("product_code=INTERBANK&limit=0", "limit"),
        ("product_code=INTERBANK&limit=-1", "limit"),
        ("product_code=INTERBANK&limit=1.5", "limit"),
        ("product_code=INTERBANK&limit=ten", "limit"),
        ("product_code=INTERBANK&limit=%D9%A3", "limit"),
        ("product_code=INTERBANK&limit=1%0A", "limit"),
        ("product_code=INTERBANK&limit=1e3", "limit"),
        ("product_code=INTERBANK&limit=" + "9" * 5000, "limit"),
    ],
)
def test_an_invalid_look_up_is_400_and_names_the_parameter(query: str, field: str) -> None:
    with running() as client:
        response = client.call("GET", f"/v2/subproducts?{query}")
        assert (response.status, set(response.json["errors"])) == (400, {field})
        assert response.headers["deprecation"].startswith("@")


@pytest.mark.parametrize("number", ["x", "\0", "%", "' or 1", "0" * 100, "\N{PILE OF POO}"])
def test_any_account_number_has_an_answer_and_always_the_same(number: str) -> None:
    with running() as client:
        for code in ("DATA", "STUDENTLOAN"):
            first = subproducts(client, product_code=code, account_number=number)
            assert subproducts(client, product_code=code, account_number=number) == first


def test_an_account_number_may_have_to_be_one_that_the_form_accepts() -> None:
    with running({"assume": {"options-account-number": "validated"}}) as client:
        assert set(ask(client, product_code="DATA", account_number="x").json["errors"]) == {"account_number"}
        assert subproducts(client, product_code="DATA", account_number=PHONE)


@pytest.mark.parametrize("target", ["/v2/product-list", "/v2/subproducts?product_code=RELOAD"])
def test_legacy_endpoints_take_a_signature_or_a_token_and_say_that_they_are_deprecated(target: str) -> None:
    with running({"assume": {"bearer-endpoints": "legacy"}}) as client:
        body = urlencode({"username": "test_user_RS001", "password": "test_password_RS001"}).encode()
        form = {"content-type": "application/x-www-form-urlencoded"}
        token = client.send("POST", "/v2/token", "", body, form).json["IdToken"]
        path, _, query = target.partition("?")
        by_token = client.send("GET", path, query, b"", {"authorization": f"Bearer {token}"})
        by_key = client.call("GET", target)
        assert by_token.status == by_key.status == 200
        assert by_token.body == by_key.body
        assert by_token.headers["deprecation"] == by_key.headers["deprecation"] == "@1789516800"
        assert client.send("GET", path, query).json["error"] == "missing_api_key"
        assert client.send("POST", path).status == 405


@pytest.mark.parametrize("target", ["/v2/product-list", "/v2/subproducts?product_code=RELOAD"])
def test_a_refusal_of_a_legacy_endpoint_is_deprecated_like_its_answers(target: str) -> None:
    fault = {"name": "late", "when": {"path": target.partition("?")[0]}, "times": 1, "then": {"status": 504}}
    with running({"faults": [fault]}) as client:
        refused = [
            client.call("GET", target),
            client.send("GET", *target.partition("?")[::2]),
            client.call("GET", target, key="nobody"),
            client.call("GET", target, secret="d3Jvbmc="),
            client.call("GET", target, timestamp=0),
        ]
        client.sim("PATCH", "/sandboxes/default/resellers/RS001/settings", {"ip_allowlist": ["10.0.0.0/8"]})
        refused.append(client.call("GET", target))
        found = [(answer.status, answer.json["error"], answer.headers.get("deprecation")) for answer in refused]
    assert found == [
        (504, "integration_timeout", "@1789516800"),
        (401, "missing_api_key", "@1789516800"),
        (401, "invalid_api_key", "@1789516800"),
        (401, "invalid_signature", "@1789516800"),
        (401, "timestamp_expired", "@1789516800"),
        (403, "ip_not_allowed", "@1789516800"),
    ]


def test_a_product_that_changes_while_it_runs_changes_here_too() -> None:
    change = {"at": "10s", "product": {"code": "RELOAD", "set": {"is_active": False, "name": "Sold no more"}}}
    with running({"schedule": [change]}) as client:
        assert products(client)["RELOAD"]["status"] == "Active"
        client.advance(10)
        record = products(client)["RELOAD"]
        assert (record["status"], record["product_name"]) == ("Inactive", "Sold no more")
