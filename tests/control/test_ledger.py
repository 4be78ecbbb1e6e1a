"""`/_sim/sandboxes/{id}/ledger`: every entry once, newest first, also with entries posted between two pages."""

from collections.abc import Iterator
from typing import Any

import pytest

from simulator.domain.commands import CreatePayment
from simulator.domain.model.wallet import EntryType
from tests.support.client import Client, running

PATH = "/sandboxes/default/ledger"
SCENARIO: dict[str, Any] = {
    "payments": [{"when": {"account": "0120000000"}, "then": [{"status": "Failed"}]}],
    "resellers": [{"code": "RS001", "balance": "100000.00"}, {"code": "RS002", "balance": "100000.00"}],
}


@pytest.fixture
def client() -> Iterator[Client]:
    with running(SCENARIO) as client:
        yield client


def pay(client: Client, reseller: str, refid: str) -> None:
    client.live.apply_and_record(CreatePayment(reseller, refid, "RELOAD", "0123456789", "10"))


def fill(client: Client, count: int = 12) -> None:
    """Entries of two resellers; of every three in a row two have the same time."""
    for number in range(count):
        pay(client, f"RS00{1 + number % 2}", f"r{number}")
        if number % 3 == 0:
            client.advance(1)
    client.sim("POST", "/sandboxes/default/resellers/RS002/deposits", {"amount": "5.00"})
    client.advance(until="idle")


def entries(client: Client, query: str = "") -> list[Any]:
    answer = client.sim("GET", PATH + query)
    assert answer.status == 200, answer.body
    found: list[Any] = answer.json["entries"]
    return found


def all_pages(client: Client, query: str, between: Any = lambda: None) -> list[Any]:
    found, cursor = [], ""
    while cursor is not None:
        page = client.sim("GET", f"{PATH}?{query}{cursor and '&cursor=' + cursor}").json
        found += page["entries"]
        cursor = page["cursor"]
        assert page["has_more"] == (cursor is not None)
        between()
    return found


def test_an_entry_names_its_reseller_and_its_subject(client: Client) -> None:
    client.pay("order-7")
    [one] = entries(client)
    assert one | {"at": "", "trxid": ""} == {
        "id": 1,
        "at": "",
        "type": "TRANSACTION",
        "amount": -9.75,
        "balance": 99990.25,
        "remarks": one["remarks"],
        "trxid": "",
        "refid": "order-7",
        "reseller": "RS001",
    }
    assert one["trxid"] == client.sim("GET", "/sandboxes/default/transactions").json["transactions"][0]["trxid"]


def test_entries_of_all_resellers_are_in_the_order_of_time_newest_first(client: Client) -> None:
    fill(client)
    found = entries(client)
    wallets = [one.wallet for one in client.live.core.state.resellers.values()]
    assert len(found) == sum(len(wallet.entries) for wallet in wallets) == 13
    assert [one["at"] for one in found] == sorted((one["at"] for one in found), reverse=True)
    for code in ("RS001", "RS002"):
        ids = [one["id"] for one in found if one["reseller"] == code]
        assert ids == list(range(len(ids), 0, -1))


@pytest.mark.parametrize("limit", [1, 2, 5, 100])
@pytest.mark.parametrize("query", ["", "reseller=RS002&", "type=TRANSACTION&", "type=DEPOSIT&", "refid=r3&"])
def test_pages_list_each_entry_once_while_others_are_posted(client: Client, query: str, limit: int) -> None:
    fill(client)
    whole = entries(client, f"?{query}limit=1000")
    later = iter(range(1_000))
    found = all_pages(client, f"{query}limit={limit}", lambda: pay(client, "RS001", f"later{next(later)}"))
    assert found == whole
    assert len(whole) >= 1


def test_filters_keep_matching_entries(client: Client) -> None:
    fill(client)
    assert {one["reseller"] for one in entries(client, "?reseller=RS002")} == {"RS002"}
    assert [(one["type"], one["amount"], one["refid"]) for one in entries(client, "?type=DEPOSIT")] == [
        ("DEPOSIT", 5, "")
    ]
    assert [one["refid"] for one in entries(client, "?refid=r4")] == ["r4"]
    assert entries(client, "?refid=r4&type=REFUND") == entries(client, "?refid=r4&reseller=RS002") == []
    assert entries(client, "?refid=nothing") == []


def test_a_refund_stands_before_its_payment(client: Client) -> None:
    client.pay("gone", account="0120000000")
    client.advance(until="idle")
    found = entries(client, "?refid=gone")
    assert [(one["type"], one["amount"]) for one in found] == [("REFUND", 9.75), ("TRANSACTION", -9.75)]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("reseller=RS009", "reseller"),
        ("type=deposit", "type"),
        ("cursor=7", "cursor"),
        ("cursor=1.2.x", "cursor"),
        ("limit=0", "limit"),
        ("kind=DEPOSIT", "kind"),
    ],
)
def test_filters_that_can_never_match_are_refused(client: Client, query: str, path: str) -> None:
    refused = client.sim("GET", f"{PATH}?{query}")
    assert (refused.status, refused.json["path"]) == (400, path)


@pytest.mark.parametrize("cursor", ["0.0.0", "0.9999999.9999999999999999", "9999999999999999.0.0"])
def test_a_cursor_that_was_made_up_leads_to_a_page(client: Client, cursor: str) -> None:
    fill(client)
    assert client.sim("GET", f"{PATH}?cursor={cursor}").status == 200


def test_the_latest_of_a_rare_type_are_found_among_many_others(
    client: Client,
) -> None:
    for number in range(5):
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": f"{number + 1}.00"})
        for payment in range(400):
            pay(client, "RS001", f"r{number}-{payment}")
    reseller = client.live.core.state.resellers["RS001"]
    found = reseller.wallet.newest_first(EntryType.DEPOSIT, len(reseller.wallet.entries))
    assert [entry.amount for entry in found] == [5, 4, 3, 2, 1]
    middle = reseller.wallet.newest_first(EntryType.DEPOSIT, 1_000)
    assert [entry.amount for entry in middle] == [3, 2, 1]
