"""`GET /v2/balance-statement`: entries, pages, links, totals, refusals, assumptions (SPEC 2.5, 4.17)."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from tests.support.client import HOST, Client, running

START = "2026-11-20T23:59:50+08:00"
OUTCOMES = [
    {"when": {"account": {"suffix": "48"}}, "then": [{"status": "Accepted"}, {"after": "1s", "status": "Failed"}]}
]
SCENARIO = {"clock": {"mode": "manual", "start": START}, "payments": OUTCOMES}
DEPOSITS = "/sandboxes/default/resellers/RS001/deposits"
BOTH_DAYS = "2026-11-20 - 2026-11-21"
ALL = [5, 4, 3, 2, 1]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with running(SCENARIO) as client:
        fill(client)
        yield client


def fill(client: Client) -> None:
    """Entries 1 to 3 on the first day, 4 and 5 on the second."""
    client.sim("POST", DEPOSITS, {"amount": "500.25", "description": "bank transfer"})
    client.pay("bad", "10", account="0123456748")
    client.advance(20)
    client.sim("POST", DEPOSITS, {"amount": 7, "type": "COMMISSION"})
    client.pay("good", "20")
    client.advance(60)


def ask(client: Client, **wanted: Any) -> Any:
    query = {"date": BOTH_DAYS} | wanted
    return client.call("GET", f"/v2/balance-statement?{urlencode(query, doseq=True, quote_via=quote)}")


def test_an_entry_is_a_change_of_the_balance(client: Client) -> None:
    answer = ask(client)
    assert [set(entry) for entry in answer.data] == [{"id", "date", "amount", "balance", "remarks", "type"}] * 5
    assert answer.data[-1] == {
        "id": 1,
        "date": "2026-11-20 23:59:50.000",
        "amount": 500.25,
        "balance": 5500.25,
        "remarks": "bank transfer",
        "type": "DEPOSIT",
    }
    assert [entry["type"] for entry in answer.data] == ["TRANSACTION", "COMMISSION", "REFUND", "TRANSACTION", "DEPOSIT"]
    assert answer.data[0]["balance"] == client.call("GET", "/v2/balance").data["balance"]
    assert answer.data[2]["amount"] == -answer.data[3]["amount"] > 0


def test_remarks_name_the_payment_or_the_deposit(client: Client) -> None:
    paid, commission, refund, failed, deposit = [entry["remarks"] for entry in ask(client).data]
    assert (paid, failed) == ("Mobile Reload 0123456789", "Mobile Reload 0123456748")
    assert (refund, commission, deposit) == ("refund of bad", "", "bank transfer")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ALL),
        ({"date": "2026-11-20"}, [3, 2, 1]),
        ({"date": "2026-11-21"}, [5, 4]),
        ({"date": "2026-11-22"}, []),
        ({"type": "TRANSACTION"}, [5, 2]),
        ({"type": "TRANSACTION", "date": "2026-11-20"}, [2]),
        ({"type": "DEPOSIT"}, [1]),
        ({"type": "REFUND"}, [3]),
        ({"type": "COMMISSION"}, [4]),
        ({"type": ""}, ALL),
        ({"limit": "2"}, [5, 4]),
        ({"limit": "2", "page": "2"}, [3, 2]),
        ({"limit": "2", "page": "3"}, [1]),
        ({"limit": "2", "page": "4"}, []),
        ({"limit": "", "page": ""}, ALL),
        ({"page": "9" * 18, "limit": "9" * 18}, []),
    ],
)
def test_filters_and_pages_select_entries(client: Client, wanted: dict[str, str], found: list[int]) -> None:
    assert [entry["id"] for entry in ask(client, **wanted).data] == found


@pytest.mark.parametrize("wanted", [{}, {"limit": "1"}, {"page": "9"}])
def test_totals_are_over_the_whole_search(client: Client, wanted: dict[str, str]) -> None:
    entries = {entry["id"]: entry["amount"] for entry in ask(client).data}
    assert ask(client, **wanted).json["summary"] == {
        "total_transactions": {"amount": pytest.approx(entries[2] + entries[5]), "count": 2},
        "total_deposit": {"amount": 500.25, "count": 1},
        "total_refund": {"amount": entries[3], "count": 1},
    }


def test_totals_follow_the_filter(client: Client) -> None:
    nothing = {"amount": 0, "count": 0}
    summary = ask(client, type="DEPOSIT").json["summary"]
    assert (summary["total_transactions"], summary["total_refund"]) == (nothing, nothing)
    assert summary["total_deposit"] == {"amount": 500.25, "count": 1}
    assert ask(client, date="2020-01-01").json["summary"]["total_deposit"] == nothing


def link(page: int, limit: int, more: str = "") -> str:
    return f"/v2/balance-statement?date=2026-11-20%20-%202026-11-21{more}&page={page}&limit={limit}"


@pytest.mark.parametrize(
    ("page", "before", "after", "first_row", "last_row"),
    [
        (1, None, 2, 1, 2),
        (2, 1, 3, 3, 4),
        (3, 2, None, 5, 5),
        (4, 3, None, 0, 0),
        (9, 3, None, 0, 0),
    ],
)
def test_links_and_meta_say_where_a_page_stands(
    client: Client, page: int, before: int | None, after: int | None, first_row: int, last_row: int
) -> None:
    content = ask(client, limit="2", page=str(page)).json
    assert content["links"] == {
        "first": link(1, 2),
        "last": link(3, 2),
        "prev": link(before, 2) if before else None,
        "next": link(after, 2) if after else None,
    }
    assert content["meta"] == {
        "current_page": page,
        "from": first_row,
        "last_page": 3,
        "path": "/v2/balance-statement",
        "per_page": 2,
        "to": last_row,
        "total": 5,
    }


def test_links_lead_through_all_pages(client: Client) -> None:
    found, target = [], "/v2/balance-statement?limit=1&type=TRANSACTION&date=2026-11-20%20-%202026-11-21"
    while target:
        content = client.call("GET", target).json
        found += [entry["id"] for entry in content["data"]]
        target = content["links"]["next"]
    assert found == [5, 2]


def test_an_empty_statement_still_counts_as_a_page(client: Client) -> None:
    content = ask(client, date="2020-01-01").json
    assert (content["meta"]["last_page"], content["meta"]["total"], content["meta"]["from"]) == (1, 0, 0)
    assert (content["links"]["prev"], content["links"]["next"]) == (None, None)


def test_a_page_has_a_hundred_entries_by_default(client: Client) -> None:
    assert ask(client).json["meta"]["per_page"] == 100
    assert ask(client, limit="1001").json["meta"]["per_page"] == 1000


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"date": ""}, "date"),
        ({"date": "2026-11-31"}, "date"),
        ({"date": "2026-11-21 - 2026-11-20"}, "date"),
        ({"date": "yesterday"}, "date"),
        ({"type": "deposit"}, "type"),
        ({"type": ["DEPOSIT", "REFUND"]}, "type"),
        ({"page": "0"}, "page"),
        ({"page": "-1"}, "page"),
        ({"page": "one"}, "page"),
        ({"page": "9" * 19}, "page"),
        ({"limit": "0"}, "limit"),
        ({"limit": "-5"}, "limit"),
        ({"limit": "1e2"}, "limit"),
    ],
)
def test_an_invalid_query_is_refused(client: Client, wanted: dict[str, Any], field: str) -> None:
    answer = ask(client, **wanted)
    assert answer.status == 400
    assert list(answer.json["errors"]) == [field]


def test_the_date_is_required(client: Client) -> None:
    assert client.call("GET", "/v2/balance-statement").json["errors"] == {"date": ["is required"]}


@pytest.mark.parametrize(
    ("choice", "wanted", "expected"),
    [
        ({"statement-order": "oldest_first"}, {"limit": "2"}, lambda a: [e["id"] for e in a.data] == [1, 2]),
        (
            {"statement-summary": "unsigned"},
            {"date": "2026-11-20"},
            lambda a: a.json["summary"]["total_transactions"]["amount"] == -a.data[1]["amount"] > 0,
        ),
        (
            {"statement-links": "absolute"},
            {"type": "REFUND"},
            lambda a: a.json["links"]["last"] == f"http://{HOST}{link(1, 100, '&type=REFUND')}",
        ),
        (
            {"statement-links": "absolute"},
            {},
            lambda a: a.json["meta"]["path"] == f"http://{HOST}/v2/balance-statement",
        ),
        ({"statement-limit": "reject"}, {"limit": "1001"}, lambda a: list(a.json["errors"]) == ["limit"]),
        ({"statement-limit": "reject"}, {"limit": "1000"}, lambda a: a.status == 200),
    ],
)
def test_a_scenario_may_assume_otherwise(choice: dict[str, str], wanted: dict[str, str], expected: Any) -> None:
    with running(SCENARIO | {"assume": choice}) as client:
        fill(client)
        answer = ask(client, **wanted)
        assert expected(answer), answer.body


def test_links_stay_in_the_sandbox_whose_address_was_used() -> None:
    with running(SCENARIO) as client:
        fill(client)
        query = "date=2026-11-01%20-%202026-11-30&limit=1"
        for prefix in ("", "/s/default"):
            body = client.call("GET", f"{prefix}/v2/balance-statement?{query}").json
            assert body["meta"]["path"] == f"{prefix}/v2/balance-statement"
            link = body["links"]["next"]
            assert link.startswith(f"{prefix}/v2/balance-statement?date=2026-11-01%20-%202026-11-30&")
            assert client.call("GET", link).data[0]["id"] != body["data"][0]["id"]
