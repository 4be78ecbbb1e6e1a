"""`/_sim/sandboxes/{id}/due`: what is to come, in its order, in words; the same cost for any number of others."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from simulator.control import clock_endpoints
from simulator.domain.agenda import Agenda
from simulator.domain.commands import CreatePayment
from tests.support.client import Client, running

PATH = "/sandboxes/default/due"
BEGAN = datetime(2026, 11, 21, 4, tzinfo=UTC)
RICH: dict[str, Any] = {"resellers": [{"code": "RS001", "balance": "10000000.00"}]}


@pytest.fixture
def client() -> Iterator[Client]:
    with running() as client:
        yield client


def listed(client: Client, query: str = "") -> Any:
    answer = client.sim("GET", PATH + query)
    assert answer.status == 200, answer.body
    return answer.json


def about(client: Client) -> list[str]:
    return [one["about"] for one in listed(client)["due"]]


def test_a_new_sandbox_has_no_due_items(client: Client) -> None:
    assert listed(client) == {"due": [], "cursor": None, "has_more": False, "pending": 0, "left_out": 0}


def test_a_payments_statuses_and_callbacks_are_listed_before_they_happen(client: Client) -> None:
    paid = client.pay("order-7").data
    [one] = listed(client)["due"]
    story = client.sim("GET", "/sandboxes/default/transactions?refid=order-7").json["transactions"][0]
    assert paid["status"] == "Accepted"
    assert one == {
        "at": client.live.core.state.agenda.next_due.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),  # type: ignore[union-attr]
        "kind": "status",
        "about": "order-7 becomes Processing",
        "refid": "order-7",
        "trxid": story["trxid"],
        "reseller": "RS001",
        "job": "",
    }
    client.sim("PUT", "/sandboxes/default/inbox/callbacks", {"replies": [{"status": 500}]})
    client.advance(2)
    assert about(client) == ["order-7 becomes Succesful", "callback 2 of 4 for order-7"]
    assert listed(client)["due"][1]["job"] == "cb-1"


def test_items_due_at_the_same_time_are_listed_in_the_order_of_execution(client: Client) -> None:
    for number in range(20):
        client.pay(f"r{number}")
    told = [one["refid"] for one in listed(client)["due"]]
    fired = [one["refid"] for one in client.advance(2)["fired"] if one["kind"] == "status"]
    assert told == fired == [f"r{number}" for number in range(20)]


def test_webhooks_voids_and_the_schedule_are_listed() -> None:
    scenario = {
        "resellers": [{"code": "RS001", "balance": "500.00", "balance_webhook": {"url": "inbox:events"}}],
        "voids": [
            {
                "name": "refused later",
                "when": {"refid": {"prefix": "no"}},
                "then": {"status": "Success", "refused_after": "90s"},
            },
        ],
        "schedule": [
            {"at": "1h", "deposit": {"reseller": "RS001", "amount": "5.00"}},
            {"at": "2h", "network": {"product": "RELOAD", "status": "Interruption"}},
            {"at": "3h", "settings": {"reseller": "RS001", "ip_allowlist": ["203.0.113.0/24"]}},
            {"at": "4h", "webhook": {"reseller": "RS001", "enabled": False}},
            {"at": "5h", "rule": {"remove": "refused later"}},
        ],
    }
    with running(scenario) as client:
        for refid in ("yes-1", "no-1"):
            client.pay(refid, product="ELECTRIC", account="210012345678")
        client.advance(5)
        for refid in ("yes-1", "no-1"):
            body = {"refid": refid, "refund_type": 1, "user_email": ["a@example.com"]}
            assert client.call("POST", "/v2/transactions/void", body).status == 200
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "7.00"})
        assert [(one["kind"], one["about"]) for one in listed(client)["due"]] == [
            ("webhook", "webhook 1 of 4: balance.added to RS001"),
            ("status", "yes-1 becomes Refund"),
            ("case", "void of no-1 is refused"),
            ("schedule", "deposit RS001 5"),
            ("schedule", "network RELOAD Interruption"),
            ("schedule", "settings RS001 ip_allowlist"),
            ("schedule", "balance webhook RS001 off"),
            ("schedule", "rule removed refused later"),
        ]


def test_a_step_that_cannot_follow_is_not_listed() -> None:
    then = [{"status": "Accepted"}, {"requery": 1, "status": "Processing"}, {"after": "9s", "status": "Processing"}]
    with running({"payments": [{"when": {"product": "RELOAD"}, "then": then}]}) as client:
        client.pay("r1")
        client.pay("r1")
        assert about(client)[1:] == ["r1 stays Processing, which Processing cannot follow"]


def test_pages_follow_each_other(client: Client) -> None:
    for number in range(5):
        client.pay(f"r{number}")
    first = listed(client, "?limit=3")
    second = listed(client, f"?limit=3&cursor={first['cursor']}")
    assert (first["has_more"], second["has_more"], first["pending"]) == (True, False, 5)
    assert [one["refid"] for one in first["due"] + second["due"]] == [f"r{number}" for number in range(5)]


def test_only_the_first_items_are_listed_and_a_page_after_them_is_refused_with_a_sentence() -> None:
    with running(RICH) as client:
        for number in range(clock_endpoints.LISTED_MAX + 3):
            client.live.apply_and_record(CreatePayment("RS001", f"p{number}", "RELOAD", "0123456789", "10"))
        last = listed(client, f"?limit=1000&cursor={clock_endpoints.LISTED_MAX - 1000}")
        assert (last["has_more"], last["cursor"], last["left_out"]) == (False, None, 3)
        assert last["due"][-1]["refid"] == f"p{clock_endpoints.LISTED_MAX - 1}"
        assert listed(client, "?limit=1000")["left_out"] == 0
        refused = client.sim("GET", f"{PATH}?cursor={clock_endpoints.LISTED_MAX + 1}")
        assert (refused.status, refused.json["path"]) == (400, "cursor")
        assert "later items appear as time passes" in refused.json["message"]


def test_an_agenda_is_read_in_order_after_additions_and_cancellations() -> None:
    agenda: Agenda[int] = Agenda()
    for number in range(500):
        ticket = agenda.add(BEGAN + timedelta(seconds=number * 7919 % 101), number)
        if number % 3 == 0:
            agenda.cancel(ticket)
    told = [item for _, item in agenda.in_order(1_000)]
    popped = []
    while due_ := agenda.pop_due(BEGAN + timedelta(days=1)):
        popped.append(due_.item)
    assert told == popped
    assert list(agenda.in_order(10)) == []


class Looked(list[Any]):
    """Counts which places are read."""

    reads = 0

    def __getitem__(self, place: Any) -> Any:
        self.reads += 1
        return super().__getitem__(place)


def test_the_first_items_are_found_without_looking_at_the_others() -> None:
    agenda: Agenda[int] = Agenda()
    for number in range(50_000):
        agenda.add(BEGAN + timedelta(seconds=number * 7919 % 100_003), number)
    agenda._heap = heap = Looked(agenda._heap)
    first = [item for (_, item), _ in zip(agenda.in_order(5_000), range(100), strict=False)]
    assert len(first) == 100
    assert heap.reads <= 2 * 101 + 1


def test_cancelled_items_end_the_search_at_a_bound() -> None:
    agenda: Agenda[int] = Agenda()
    agenda.add(BEGAN, 0)
    for number in range(1, 1_000):
        agenda.cancel(agenda.add(BEGAN + timedelta(seconds=number), number))
    agenda.add(BEGAN + timedelta(days=1), 1_000)
    assert [item for _, item in agenda.in_order(500)] == [0]
    assert [item for _, item in agenda.in_order(2_000)] == [0, 1_000]
