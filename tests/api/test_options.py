"""`GET /v2/options`: pages, filters, refusals, and the members of an option."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.client import Client, Response, running
from tests.support.tiers import examples

PARAMETERS = (
    "product_code", "field_id", "account_number", "biller_code", "limit", "per_page", "page", "is_active",
    "include_hidden", "include_inactive", "suggested_category",
)  # fmt: skip
SENT = ("RELOAD", "DATA", "INTERBANK", "amount", "plan", "biller", "1", "25000", "9" * 18, "0", "true", "false", "")
NEW = {"X-API-Version": "2026-09-16"}
PHONE = "0123456789"
IDENTITY = "900101145678"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running() as client:
        yield client


def options(client: Client, product: str, field: str, headers: dict[str, str] | None = None, **query: Any) -> Response:
    wanted = {"product_code": product, "field_id": field} | query
    return client.call("GET", f"/v2/options?{urlencode(wanted)}", headers=headers)


def items(client: Client, product: str, field: str, headers: dict[str, str] | None = None, **query: Any) -> Any:
    response = options(client, product, field, headers, **query)
    assert response.status == 200, response.body
    return response.json["items"]


def codes(client: Client, product: str, field: str, **query: Any) -> list[str]:
    return [item["code"] for item in items(client, product, field, **query)]


def test_an_option_of_a_pricing_field_has_its_prices(client: Client) -> None:
    response = options(client, "RELOAD", "amount", NEW)
    assert {name: response.json[name] for name in ("product_code", "field_id")} == {
        "product_code": "RELOAD",
        "field_id": "amount",
    }
    assert response.json["items"][0] == {
        "code": "RELOAD-5",
        "label": "RM 5",
        "denomination": 5,
        "price": {"amount": "5.00", "currency": "MYR"},
        "cost": {"amount": "4.88", "currency": "MYR"},
        "has_loss_risk": False,
    }
    assert response.json["meta"] == {"current_page": 1, "last_page": 1, "per_page": 100, "total": 6}


def test_a_data_plan_has_validity_and_features_and_a_label_without_validity(client: Client) -> None:
    plan = next(item for item in items(client, "DATA", "plan", NEW, account_number=PHONE) if item["code"] == "D10W")
    assert plan == {
        "code": "D10W",
        "label": "5 GB",
        "denomination": 10,
        "validity": "7 days",
        "features": ["Full speed", "Hotspot"],
        "price": {"amount": "10.20", "currency": "MYR"},
        "cost": {"amount": "9.70", "currency": "MYR"},
        "rrp": {"amount": "12.00", "currency": "MYR"},
        "has_loss_risk": False,
    }


def test_a_biller_has_limits_and_no_prices(client: Client) -> None:
    first = items(client, "INTERBANK", "biller", NEW)[0]
    assert first == {
        "code": "1001",
        "label": "Northern Credit Union",
        "min_amount": {"amount": "1.00", "currency": "MYR"},
        "max_amount": {"amount": "10000.00", "currency": "MYR"},
    }


def test_a_loan_has_the_account_that_is_paid(client: Client) -> None:
    assert items(client, "STUDENTLOAN", "loan", NEW, account_number=IDENTITY) == [
        {"code": "K", "label": "Conventional loan", "description": "Loan", "account_number": "1029384756"},
        {
            "code": "SP",
            "label": "Scholarship loan for a spouse",
            "description": "Scholarship",
            "account_number": "837465920",
        },
    ]
    drawn = items(client, "STUDENTLOAN", "loan", account_number="800101145678")
    assert drawn == items(client, "STUDENTLOAN", "loan", account_number="800101145678")
    assert drawn[0]["account_number"] != items(client, "STUDENTLOAN", "loan", account_number="1")[0]["account_number"]


def test_only_options_sold_at_a_loss_have_loss_risk(client: Client) -> None:
    found = items(client, "VOUCHER", "amount", NEW)
    assert [(one["price"]["amount"], one["cost"]["amount"], one["has_loss_risk"]) for one in found] == [
        ("9.00", "9.50", True),
        ("19.00", "19.00", False),
    ]


@pytest.mark.parametrize(
    ("headers", "has_denomination"),
    [
        (None, False),
        ({"X-API-Version": "2026-09-15"}, False),
        ({"X-API-Version": "2026-09-16"}, True),
        ({"X-API-Version": "2031-01-01"}, True),
        ({"X-API-Version": "2026-9-16"}, False),
        ({"X-API-Version": "latest"}, False),
        ({"X-API-Version": "2026-13-01"}, False),
    ],
)
def test_denominations_come_with_the_version_gate(
    client: Client, headers: dict[str, str] | None, has_denomination: bool
) -> None:
    for product, field in (("RELOAD", "amount"), ("DATA", "plan")):
        found = items(client, product, field, headers, account_number=PHONE)
        assert {"denomination" in one for one in found} == {has_denomination}


@pytest.mark.parametrize(
    ("assume", "switch"), [({}, "2027-01-11T00:00:00+08:00"), ({"version-switch-zone": "utc"}, "2027-01-11T00:00:00Z")]
)
def test_denominations_come_to_everybody_when_the_day_begins(assume: dict[str, str], switch: str) -> None:
    start = "2027-01-10T15:59:59Z"
    with running({"clock": {"mode": "manual", "start": start}, "assume": assume}) as client:
        old = {"X-API-Version": "2026-01-01"}
        assert "denomination" not in items(client, "RELOAD", "amount")[0]
        client.advance(to=switch)
        assert "denomination" in items(client, "RELOAD", "amount")[0]
        assert "denomination" in items(client, "RELOAD", "amount", old)[0]


REFUSALS = [
    ("", {"product_code", "field_id"}),
    ("product_code=RELOAD", {"field_id"}),
    ("field_id=amount", {"product_code"}),
    ("product_code=&field_id=", {"product_code", "field_id"}),
    ("product_code=RELOAD&product_code=DATA&field_id=amount", {"product_code"}),
    ("product_code=DATA&field_id=plan", {"account_number"}),
    ("product_code=DATA&field_id=plan&account_number=", {"account_number"}),
    ("product_code=STUDENTLOAN&field_id=loan", {"account_number"}),
    ("product_code=RELOAD&field_id=amount&limit=0", {"limit"}),
    ("product_code=RELOAD&field_id=amount&limit=-1", {"limit"}),
    ("product_code=RELOAD&field_id=amount&limit=1.5", {"limit"}),
    ("product_code=RELOAD&field_id=amount&limit=all", {"limit"}),
    ("product_code=RELOAD&field_id=amount&per_page=0", {"per_page"}),
    ("product_code=RELOAD&field_id=amount&page=0", {"page"}),
    ("product_code=RELOAD&field_id=amount&page=99999999999999999999", {"page"}),
    ("product_code=RELOAD&field_id=amount&page=%D9%A1", {"page"}),
    ("product_code=RELOAD&field_id=amount&is_active=yes", {"is_active"}),
    ("product_code=RELOAD&field_id=amount&include_hidden=1", {"include_hidden"}),
]


@pytest.mark.parametrize(("query", "wrong"), REFUSALS)
def test_a_missing_or_invalid_parameter_is_a_400_with_its_name(client: Client, query: str, wrong: set[str]) -> None:
    response = client.call("GET", f"/v2/options?{query}")
    assert response.status == 400
    assert set(response.json) == {"message", "errors"}
    assert set(response.json["errors"]) == wrong
    assert all(isinstance(texts, list) and texts for texts in response.json["errors"].values())


@pytest.mark.parametrize(
    ("product", "field"),
    [("NOTHING", "amount"), ("RELOAD", "nothing"), ("RELOAD", "phone"), ("reload", "amount"), ("RETIRED", "amount")],
)
def test_a_field_without_options_is_a_404(client: Client, product: str, field: str) -> None:
    response = options(client, product, field)
    assert response.status == 404
    assert (set(response.json), response.json["errors"]) == ({"message", "errors"}, {})


def test_options_want_a_signature(client: Client) -> None:
    response = client.send("GET", "/v2/options", "product_code=RELOAD&field_id=amount")
    assert (response.status, response.json["error"]) == (401, "missing_api_key")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"limit": 2}, ["RELOAD-5", "RELOAD-10"]),
        ({"per_page": 2}, ["RELOAD-5", "RELOAD-10"]),
        ({"limit": 2, "per_page": 5}, ["RELOAD-5", "RELOAD-10"]),
        ({"limit": 4, "page": 2}, ["RELOAD-50", "RELOAD-100"]),
        ({"limit": 4, "page": 3}, []),
        ({"limit": "002"}, ["RELOAD-5", "RELOAD-10"]),
        ({"page": 2}, []),
    ],
)
def test_a_page_has_the_options_and_totals_of_its_query(
    client: Client, query: dict[str, Any], expected: list[str]
) -> None:
    assert codes(client, "RELOAD", "amount", **query) == expected


def test_paging_to_the_last_page_meets_every_option_once(client: Client) -> None:
    seen: list[str] = []
    page = last = 1
    while page <= last:
        body = options(client, "INTERBANK", "biller", limit=7, page=page).json
        seen += [item["code"] for item in body["items"]]
        assert (body["meta"]["current_page"], body["meta"]["per_page"], body["meta"]["total"]) == (page, 7, 45)
        page, last = page + 1, body["meta"]["last_page"]
    assert seen == codes(client, "INTERBANK", "biller")
    assert len(set(seen)) == 45


def test_a_limit_above_the_maximum(client: Client) -> None:
    assert options(client, "RELOAD", "amount", limit=25001).json["meta"]["per_page"] == 25000
    with running({"assume": {"options-page-size": "reject"}}) as strict:
        assert options(strict, "RELOAD", "amount", limit=25000).status == 200
        assert set(options(strict, "RELOAD", "amount", limit=25001).json["errors"]) == {"limit"}
        assert set(options(strict, "RELOAD", "amount", per_page=25001).json["errors"]) == {"per_page"}


@pytest.mark.parametrize(
    ("query", "found"),
    [({}, 45), ({"is_active": "true"}, 45), ({"is_active": "false"}, 1), ({"include_inactive": "true"}, 45)],
)
def test_active_status_of_static_options(client: Client, query: dict[str, str], found: int) -> None:
    listed = codes(client, "INTERBANK", "biller", **query)
    assert len(listed) == found
    assert ("1045" in listed) == (found == 1)


def test_active_and_inactive_options_come_together_when_the_scenario_says_so() -> None:
    with running({"assume": {"options-active": "all"}}) as client:
        assert len(codes(client, "INTERBANK", "biller")) == 46
        assert len(codes(client, "INTERBANK", "biller", is_active="true")) == 45
        assert len(codes(client, "INTERBANK", "biller", is_active="False")) == 1


@pytest.mark.parametrize("query", [{}, {"is_active": "true"}, {"is_active": "false"}])
def test_a_dynamic_field_offers_active_options_only(client: Client, query: dict[str, str]) -> None:
    assert "D15" not in codes(client, "DATA", "plan", account_number=PHONE, **query)


def test_inactive_and_hidden_products_are_found_on_request() -> None:
    hidden = {"catalog": {"products": [{"code": "GAME", "is_hidden": True}]}}
    with running(hidden) as client:
        assert codes(client, "RETIRED", "amount", include_inactive="true") == ["RETIRED-10", "RETIRED-20"]
        assert options(client, "RETIRED", "amount", include_hidden="true").status == 404
        assert options(client, "GAME", "pack", include_inactive="true").status == 404
        assert len(codes(client, "GAME", "pack", include_hidden="true")) == 3
        assert "GAME" not in client.call("GET", "/v2/catalog?include_inactive=true").json["products"]
        assert client.pay(product="GAME", amount=100, account="player1").status == 200


@pytest.mark.parametrize(
    ("product", "field", "biller", "expected"),
    [
        ("INTERBANK", "biller", "1004", ["1004"]),
        ("INTERBANK", "biller", "9999", []),
        ("INTERBANK", "biller", "1045", []),
        ("VOUCHER", "amount", "1004", ["VOUCHER-10", "VOUCHER-20"]),
    ],
)
def test_the_biller_filter_selects_one_biller(
    client: Client, product: str, field: str, biller: str, expected: list[str]
) -> None:
    assert codes(client, product, field, biller_code=biller) == expected


def test_plans_depend_on_the_account_number(client: Client) -> None:
    phones = [f"01{number:08}" for number in range(12)]
    offers = [tuple(codes(client, "DATA", "plan", account_number=phone)) for phone in phones]
    assert len(set(offers)) == 2
    assert offers == [tuple(codes(client, "DATA", "plan", account_number=phone)) for phone in phones]


def test_an_account_number_may_be_checked() -> None:
    with running({"assume": {"options-account-number": "validated"}}) as client:
        assert set(options(client, "DATA", "plan", account_number="12").json["errors"]) == {"account_number"}
        assert options(client, "DATA", "plan", account_number=PHONE).status == 200
    with running() as client:
        assert options(client, "DATA", "plan", account_number="12").status == 200


MANY = {
    "code": "INTERBANK",
    "fields": [{"id": "biller", "generate": {"count": 24955, "needs_ref2_every": 3, "min_amount": 2}}],
}


def test_25000_billers_are_paged_like_forty(monkeypatch: pytest.MonkeyPatch) -> None:
    with running({"catalog": {"products": [MANY]}}) as client:
        last = options(client, "INTERBANK", "biller", limit=100, page=250).json
        assert last["meta"] == {"current_page": 250, "last_page": 250, "per_page": 100, "total": 25000}
        assert codes(client, "INTERBANK", "biller", biller_code="124955") == ["124955"]
        # Whole lists are of the same shape as their pages, and the contract takes seconds to go through them.
        monkeypatch.setattr("tests.support.client.assert_in_contract", lambda *answer: None)
        whole = items(client, "INTERBANK", "biller", limit=25000)
        assert len({one["code"] for one in whole}) == 25000
        assert last["items"] == whole[-100:]
        every = client.call("GET", "/v1/interbank/billers").json
        assert [biller["biller_code"] for biller in every["data"]] == [one["code"] for one in whole]


def test_options_for_a_single_account_are_written_in_the_scenario() -> None:
    mine = {"id": "plan", "options_for": {"0199999999": [{"code": "GOLD", "label": "Gold", "denomination": 99}]}}
    with running({"catalog": {"products": [{"code": "DATA", "fields": [mine]}]}}) as client:
        assert codes(client, "DATA", "plan", account_number="0199999999") == ["GOLD"]
        assert "D5" in codes(client, "DATA", "plan", account_number="0199999998")


@settings(max_examples=examples(60))
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(PARAMETERS, st.text() | st.sampled_from(SENT))))
def test_every_query_is_answered_according_to_the_contract(client: Client, query: dict[str, str]) -> None:
    sent = {name: value.encode("utf-8", "surrogatepass") for name, value in query.items()}
    for path in ("/v2/options", "/v1/interbank/billers"):
        assert client.call("GET", f"{path}?{urlencode(sent)}").status in (200, 400, 404)


BAD_QUERIES: list[tuple[str, str, list[str]]] = [
    ("limit=1&limit=2", "limit", ["was sent 2 times"]),
    ("limit=0", "limit", ["must be a whole number from 1 on, of at most 18 digits"]),
    (f"limit={10**18}", "limit", ["must be a whole number from 1 on, of at most 18 digits"]),
    ("is_active=true&is_active=true&is_active=true", "is_active", ["was sent 3 times"]),
]


@pytest.mark.parametrize(("query", "name", "texts"), BAD_QUERIES)
def test_a_refusal_says_what_was_wrong(client: Client, query: str, name: str, texts: list[str]) -> None:
    answer = client.call("GET", f"/v2/options?product_code=RELOAD&field_id=amount&{query}")
    assert (answer.status, answer.json["errors"]) == (400, {name: texts})
    assert texts[0] in client.sim("GET", "/sandboxes/default/requests?limit=1").json["requests"][0]["diagnosis"]


STATE = {"id": "state", "label": "State", "type": "text"}
BY_STATE = {"account_number": {"from_field": "phone"}, "region": {"from_field": "state"}}
PLAN = {"id": "plan", "data_source": {"depends_on": ["phone", "state"], "params": BY_STATE}}


def test_every_parameter_that_a_dynamic_field_depends_on_is_required() -> None:
    with running({"catalog": {"products": [{"code": "DATA", "fields": [STATE, PLAN]}]}}) as client:
        assert set(options(client, "DATA", "plan").json["errors"]) == {"account_number", "region"}
        assert set(options(client, "DATA", "plan", account_number=PHONE).json["errors"]) == {"region"}
        assert set(options(client, "DATA", "plan", account_number=PHONE, region="").json["errors"]) == {"region"}
        assert set(options(client, "DATA", "plan", region="North").json["errors"]) == {"account_number"}
        found = options(client, "DATA", "plan", account_number=PHONE, region="North")
        assert found.status == 200
        assert "x-sim-diagnosis" not in found.headers, "the catalog itself names the parameter"
        target = f"/v2/options?product_code=DATA&field_id=plan&account_number={PHONE}&region=North&region=South"
        twice = client.call("GET", target)
        assert (twice.status, twice.json["errors"]) == (400, {"region": ["was sent 2 times"]})


def test_no_product_sells_below_zero() -> None:
    less = {"type": "fixed", "value": -20}
    with running({"catalog": {"products": [{"code": "VOUCHER", "price_adjustment": less}]}}) as client:
        found = items(client, "VOUCHER", "amount")
        assert [one["price"]["amount"] for one in found] == ["0.00", "0.00"]
        assert [one["has_loss_risk"] for one in found] == [True, True]
