"""`GET /v2/transactions`: records, filters, pages, figures, refusals, assumptions (SPEC 2.4, 4.14)."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from tests.support.client import Client, running

# 11:59:50 on 2026-11-20 in GMT+8; the scenario's own payments take five seconds.
START = "2026-11-20T23:59:50+08:00"
OUTCOMES = [
    {"when": {"account": {"suffix": "48"}}, "then": [{"status": "Accepted"}, {"after": "1s", "status": "Failed"}]},
    {"when": {"account": {"suffix": "99"}}, "then": [{"status": "Processing"}]},
    {"when": {"product": "ELECTRIC"}, "then": [{"status": "Succesful", "sn": "SN-1", "remarks": ""}]},
]
SCENARIO = {"clock": {"mode": "manual", "start": START}, "payments": OUTCOMES}
# refid, product, account, amount; one a second, the last two on the next day
PAID = [
    ("ok-1", "RELOAD", "0123456789", "10"),
    ("bad-1", "RELOAD", "0123456748", "5"),
    ("open-1", "RELOAD", "0123456799", "20"),
    ("bill-1", "ELECTRIC", "123456789012", "55.5"),
    ("ok-2", "RELOAD", "0123456789", "30"),
    ("bill-2", "ELECTRIC", "123456789012", "100"),
]
BOTH_DAYS = "2026-11-20 - 2026-11-21"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running(SCENARIO) as client:
        pay_all(client)
        yield client


def pay_all(client: Client) -> None:
    for number, (refid, product, account, amount) in enumerate(PAID):
        assert client.pay(refid, amount, product, account=account).status == 200
        client.advance(8 if number == 3 else 1)
    client.advance(60)


def ask(client: Client, **wanted: Any) -> Any:
    query = {"limit": "10", "date": BOTH_DAYS} | wanted
    return client.call("GET", f"/v2/transactions?{urlencode(query, doseq=True, quote_via=quote)}")


def refids(client: Client, **wanted: Any) -> list[str]:
    answer = ask(client, **wanted)
    assert answer.status == 200, answer.body
    return [record["refid"] for record in answer.data]


def test_a_record_has_every_field_as_a_string(client: Client) -> None:
    (record,) = ask(client, account="0123456748").data
    (transaction,) = client.sim("GET", "/sandboxes/default/transactions?refid=bad-1").json["transactions"]
    assert record == {
        "trxid": transaction["trxid"],
        "date": "2026-11-20 23:59:51.000",
        "product_code": "RELOAD",
        "product_name": record["product_name"],
        "biller_code": None,
        "product_image_url": record["product_image_url"],
        "category": record["category"],
        "amount": "5.00",
        "account": "0123456748",
        "sender": "127.0.0.1",
        "member_id": "RS001",
        "status_code": "48",
        "status_name": "Failed",
        "response_date": "2026-11-20 23:59:52.000",
        "price": "0.00",
        "sn": "",
        "pin": "",
        "expiry": "",
        "remarks": None,
        "refid": "bad-1",
        "voucherlink": None,
        "currency": "MYR",
    }
    catalog = client.call("GET", "/v2/catalog?product_code=RELOAD").json
    product = catalog["products"]["RELOAD"]
    assert (record["product_name"], record["product_image_url"]) == (product["name"], product["image_url"])
    shelves = [shelf for group in catalog["tree"]["groups"] for shelf in group["categories"]]
    assert record["category"] == next(shelf["name"] for shelf in shelves if "RELOAD" in shelf["product_codes"])


def test_success_is_spelled_with_two_s_here(client: Client) -> None:
    (record,) = ask(client, account="123456789012", date="2026-11-20").data
    assert (record["status_name"], record["status_code"], record["sn"]) == ("Successful", "20", "SN-1")
    assert record["response_date"] == record["date"] == "2026-11-20 23:59:53.000"
    assert record["amount"] == "55.50"


def test_a_pending_transaction_has_no_response_date(client: Client) -> None:
    (record,) = ask(client, status="PENDING").data
    assert (record["status_name"], record["status_code"], record["response_date"]) == ("Pending", "2", "")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["bill-2", "ok-2", "bill-1", "open-1", "bad-1", "ok-1"]),
        ({"date": "2026-11-20"}, ["bill-1", "open-1", "bad-1", "ok-1"]),
        ({"date": "2026-11-21"}, ["bill-2", "ok-2"]),
        ({"date": "2026-11-21 - 2026-11-21"}, ["bill-2", "ok-2"]),
        ({"date": "2026-11-22"}, []),
        ({"date": "0001-01-01 - 9999-12-31", "limit": "1"}, ["bill-2"]),
        ({"status": "SUCCESSFUL"}, ["bill-2", "ok-2", "bill-1", "ok-1"]),
        ({"status": "FAILED"}, ["bad-1"]),
        ({"status": ["PENDING", "FAILED"]}, ["open-1", "bad-1"]),
        ({"status": ["FAILED", "FAILED", ""]}, ["bad-1"]),
        ({"status": "REFUND"}, []),
        ({"status": ""}, ["bill-2", "ok-2", "bill-1", "open-1", "bad-1", "ok-1"]),
        ({"product": "ELECTRIC"}, ["bill-2", "bill-1"]),
        ({"product": "RELOAD", "status": "SUCCESSFUL", "date": "2026-11-20"}, ["ok-1"]),
        ({"product": ""}, ["bill-2", "ok-2", "bill-1", "open-1", "bad-1", "ok-1"]),
        ({"product": "RETIRED"}, []),
        ({"account": "0123456789"}, ["ok-2", "ok-1"]),
        ({"account": "0123456789", "product": "ELECTRIC"}, []),
        ({"account": "0123456789", "status": "FAILED"}, []),
        ({"account": "0123456789", "offset": "1"}, ["ok-1"]),
        ({"account": "nobody"}, []),
        ({"limit": "2"}, ["bill-2", "ok-2"]),
        ({"limit": "2", "offset": "2"}, ["bill-1", "open-1"]),
        ({"limit": "2", "offset": "5"}, ["ok-1"]),
        ({"limit": "2", "offset": "6"}, []),
        ({"offset": "9" * 18}, []),
        ({"offset": ""}, ["bill-2", "ok-2", "bill-1", "open-1", "bad-1", "ok-1"]),
        ({"limit": "1", "offset": "1", "status": ["SUCCESSFUL", "FAILED"]}, ["ok-2"]),
        ({"limit": "9" * 18}, ["bill-2", "ok-2", "bill-1", "open-1", "bad-1", "ok-1"]),
    ],
)
def test_filters_and_pages_select_transactions(client: Client, wanted: dict[str, Any], found: list[str]) -> None:
    assert refids(client, **wanted) == found


@pytest.mark.parametrize("wanted", [{}, {"limit": "1"}, {"offset": "100"}])
def test_the_figures_are_over_the_whole_search(client: Client, wanted: dict[str, str]) -> None:
    meta = ask(client, **wanted).json["meta"]
    paid = [
        one.result.kind.cost for one in client.live.core.state.transactions.values() if one.refid[:2] in ("ok", "bi")
    ]
    assert meta == {
        "transaction_count": "6",
        "total_amount": "195.50",
        "total_price": f"{sum(paid):.2f}",
        "profit": f"{195.5 - float(sum(paid)):.2f}",
        "successful_count": "4",
        "failed_count": "1",
        "pending_count": "1",
        "refund_count": "0",
    }


def test_an_empty_search_has_figures_too(client: Client) -> None:
    meta = ask(client, date="2025-01-01").json["meta"]
    assert meta.pop("total_amount") == meta.pop("total_price") == meta.pop("profit") == "0.00"
    assert set(meta.values()) == {"0"}


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"date": "2026-13-01"}, "date"),
        ({"date": "2026-02-30"}, "date"),
        ({"date": "0000-01-01"}, "date"),
        ({"date": "20-11-2026"}, "date"),
        ({"date": "2026-11-20-2026-11-21"}, "date"),
        ({"date": "2026-11-20 to 2026-11-21"}, "date"),
        ({"date": "2026-11-21 - 2026-11-20"}, "date"),
        ({"date": "2026-11-20 - "}, "date"),
        ({"date": ""}, "date"),
        ({"date": "２０２６-11-20"}, "date"),
        ({"date": ["2026-11-20", "2026-11-21"]}, "date"),
        ({"limit": ""}, "limit"),
        ({"limit": "0"}, "limit"),
        ({"limit": "000"}, "limit"),
        ({"limit": "-1"}, "limit"),
        ({"limit": "1.5"}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"limit": "9" * 5000}, "limit"),
        ({"limit": ["1", "2"]}, "limit"),
        ({"offset": "-1"}, "offset"),
        ({"offset": "x"}, "offset"),
        ({"status": "Succesful"}, "status"),
        ({"status": "SUCCESSFUL,FAILED"}, "status"),
        ({"status": ["FAILED", "nonsense"]}, "status"),
        ({"status": ["FAILED"] * 101}, "status"),
        ({"product": "NOTHING"}, "product"),
        ({"product": "reload"}, "product"),
        ({"account": "9" * 101}, "account"),
    ],
)
def test_an_invalid_query_is_refused(client: Client, wanted: dict[str, Any], field: str) -> None:
    answer = ask(client, **wanted)
    assert answer.status == 400, answer.body
    assert list(answer.json["errors"]) == [field]


def test_all_problems_are_reported(client: Client) -> None:
    missing = client.call("GET", "/v2/transactions")
    assert missing.json["errors"] == {"limit": ["is required"], "date": ["is required"]}
    errors = ask(client, date="2026-02-30", product="NOTHING").json["errors"]
    assert errors == {"date": ["must be a day of the calendar"], "product": ["must be a product of the catalog"]}


def test_a_plus_is_a_space_in_the_range(client: Client) -> None:
    answer = client.call("GET", "/v2/transactions?limit=10&date=2026-11-20+-+2026-11-21")
    assert len(answer.data) == 6


def test_a_reseller_sees_its_own_transactions_alone() -> None:
    with running(SCENARIO | {"resellers": [{"code": "R2", "email": "b@example.com", "balance": "100"}]}) as client:
        client.pay()
        made = client.sim("POST", "/sandboxes/default/resellers/R2/api-keys").json
        mine = {"key": made["api_key"], "secret": made["api_secret"]}
        answer = client.call("GET", "/v2/transactions?limit=10&date=2026-11-20", **mine)
        assert (answer.data, answer.json["meta"]["transaction_count"]) == ([], "0")


@pytest.mark.parametrize(
    ("choice", "wanted", "expected"),
    [
        (
            {"history-order": "oldest_first"},
            {"limit": "2"},
            lambda a: [r["refid"] for r in a.data] == ["ok-1", "bad-1"],
        ),
        (
            {"history-order": "oldest_first"},
            {"account": "0123456789"},
            lambda a: [r["refid"] for r in a.data] == ["ok-1", "ok-2"],
        ),
        ({"history-meta": "page"}, {"limit": "2"}, lambda a: a.json["meta"]["total_amount"] == "130.00"),
        ({"history-meta": "page"}, {"status": "PENDING"}, lambda a: a.json["meta"]["pending_count"] == "1"),
        (
            {"history-status-names": "payment"},
            {"status": "PENDING"},
            lambda a: a.data[0]["status_name"] == "Processing",
        ),
        ({"history-unknown-product": "empty"}, {"product": "NOTHING"}, lambda a: (a.status, a.data) == (200, [])),
        ({"history-limit": "reject"}, {"limit": "1001"}, lambda a: list(a.json["errors"]) == ["limit"]),
        ({"history-limit": "reject"}, {"limit": "1000"}, lambda a: a.status == 200),
        ({"failed-wallet": "keep_cost"}, {"status": "FAILED"}, lambda a: a.data[0]["price"] != "0.00"),
    ],
)
def test_a_scenario_may_assume_otherwise(choice: dict[str, str], wanted: dict[str, str], expected: Any) -> None:
    with running(SCENARIO | {"assume": choice}) as client:
        pay_all(client)
        answer = ask(client, **wanted)
        assert expected(answer), answer.body


@pytest.mark.parametrize("value", ["name", "id"])
def test_a_category_is_a_name_or_an_id(value: str) -> None:
    with running(SCENARIO | {"assume": {"history-category": value}}) as client:
        client.pay()
        category = client.live.core.state.catalog.categories["RELOAD"]
        assert ask(client).data[0]["category"] == getattr(category, value)


def test_more_than_a_thousand_is_taken_as_a_thousand() -> None:
    with running(SCENARIO | {"resellers": [{"code": "RS001", "balance": "1000000"}]}) as client:
        for number in range(1001):
            client.pay(f"many-{number}", account="123456789012", product="ELECTRIC")
        answer = ask(client, limit="5000", date="2026-11-20")
        assert (len(answer.data), answer.json["meta"]["transaction_count"]) == (1000, "1001")


def test_a_status_that_changes_moves_its_transaction_within_the_figures() -> None:
    with running(SCENARIO) as fresh:
        fresh.pay()
        counts = []
        for _ in range(2):
            meta = ask(fresh).json["meta"]
            counts.append((meta["pending_count"], meta["successful_count"], meta["total_amount"]))
            fresh.advance(10)
        assert counts == [("1", "0", "0.00"), ("0", "1", "10.00")]


def test_a_record_has_the_products_own_currency_and_the_figures_are_in_ringgit() -> None:
    world = {"payments": [{"then": [{"status": "Succesful"}]}]}
    with running(SCENARIO | world) as client:
        client.pay("gems", "100", "GAME", account="player1")
        client.pay("abroad", "25000", "ABROAD", account="628123456789")
        client.pay("reload", "10")
        answer = ask(client)
        assert {one["refid"]: (one["amount"], one["currency"]) for one in answer.data} == {
            "gems": ("100.00", "Gems"),
            "abroad": ("25000.00", "IDR"),
            "reload": ("10.00", "MYR"),
        }
        meta = answer.json["meta"]
        assert meta["total_amount"] == "21.50", "100 gems at 4.5 sen, 25000 IDR at 0.00028, and 10.00"
        prices = sum(Decimal(one["price"]) for one in answer.data)
        assert meta["total_price"] == f"{prices:.2f}"
        assert meta["profit"] == f"{Decimal('21.50') - prices:.2f}"
        assert ask(client, product="GAME").json["meta"]["total_amount"] == "4.50"
        assert ask(client, account="player1").json["meta"]["total_amount"] == "4.50"
    with running(SCENARIO | world | {"assume": {"history-meta": "page"}}) as client:
        client.pay("gems", "100", "GAME", account="player1")
        assert ask(client).json["meta"]["total_amount"] == "4.50"


def test_the_history_keeps_the_product_names_of_its_day() -> None:
    with running(SCENARIO) as client:
        client.pay("gems", "100", "GAME", account="player1")
        before = ask(client).data
        client.sim("PATCH", "/sandboxes/default/catalog/categories/games", {"name": "Play"})
        client.sim("PATCH", "/sandboxes/default/catalog/products/GAME", {"name": "Other"})
        client.pay("later", "100", "GAME", account="player1")
        later, *after = ask(client).data
        assert after == before
        assert (before[0]["category"], before[0]["product_name"]) == ("Games", "Dragon Gems")
        assert (later["category"], later["product_name"]) == ("Play", "Other")
        client.sim("PATCH", "/sandboxes/default/catalog/categories/games", {"product_codes": []})
        client.pay("last", "100", "GAME", account="player1")
        assert [one["category"] for one in ask(client).data] == ["", "Play", "Games"]
