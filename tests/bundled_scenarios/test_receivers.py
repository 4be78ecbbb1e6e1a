"""lost-callbacks, callback-storm, flaky-receiver, dead-receiver, webhook-failures: who gets what, when, how often."""

from typing import Any

import pytest

from tests.support.client import Client, running
from tests.support.play import (
    buy,
    callback_statuses,
    settle,
    status,
)
from tests.support.webhooks import listed, replay

ONCE = ["Processing", "Succesful"]
# scenario, product, the account's ending, what arrives
CALLBACKS: list[tuple[str, str, str, list[str]]] = [
    ("default", "RELOAD", "", ONCE),
    ("lost-callbacks", "RELOAD", "", []),
    ("lost-callbacks", "ELECTRIC", "", ONCE),
    ("lost-callbacks", "WATER", "", ["Processing"] * 3 + ["Succesful"] * 3),
    ("lost-callbacks", "GIFTCARD", "", ["Succesful", "Processing"]),
    ("lost-callbacks", "RELOAD", "0000000", ONCE),  # magic accounts keep working
    ("callback-storm", "RELOAD", "", ["Succesful"] * 3 + ["Processing"] * 3),
    ("callback-storm", "RELOAD", "0000006", []),
    ("stale-callbacks", "RELOAD", "", ["Processing", "Succesful", "Succesful", "Processing"]),
]


@pytest.mark.parametrize(("scenario", "product", "ending", "expected"), CALLBACKS)
def test_callbacks_arrive_as_the_scenario_says(scenario: str, product: str, ending: str, expected: list[str]) -> None:
    with running(scenario) as client:
        refid, _ = buy(client, product, ending)
        settle(client)
        assert callback_statuses(client, refid) == expected
        assert status(client, refid) == "Succesful"


def test_an_hour_after_the_first_processing_comes_again() -> None:
    with running("stale-callbacks") as client:
        refid, _ = buy(client, "ELECTRIC")
        client.advance(3601)
        assert callback_statuses(client, refid) == ["Processing", "Failed"]
        client.advance(1)
        assert callback_statuses(client, refid) == ["Processing", "Failed", "Processing"]
        assert status(client, refid) == "Failed"
        assert client.sim("GET", "/sandboxes/default/expectations").json["ok"]


@pytest.mark.parametrize(("scenario", "product"), [("lost-callbacks", "ELECTRIC"), ("callback-storm", "RELOAD")])
def test_callbacks_are_a_minute_late(scenario: str, product: str) -> None:
    with running(scenario) as client:
        refid, _ = buy(client, product)
        client.advance(61)
        assert callback_statuses(client, refid) == []
        client.advance(4)
        assert "Succesful" in callback_statuses(client, refid)


def attempts(client: Client) -> list[Any]:
    found: list[Any] = client.sim("GET", "/sandboxes/default/callbacks").json["callbacks"]
    return found


def test_a_flaky_receiver_accepts_the_fourth_attempt_and_refuses_the_next_callback_with_404() -> None:
    with running("flaky-receiver") as client:
        first, _ = buy(client)
        client.advance(184)
        assert callback_statuses(client, first) == ["Succesful"] * 3
        client.advance(1)
        second, _ = buy(client)
        settle(client)
        assert (callback_statuses(client, first), callback_statuses(client, second)) == (
            ["Succesful"] * 4,
            ["Succesful"],
        )
        assert [item["status"] for item in client.inbox()] == [500, 429, 200, 200, 404]
        assert len(attempts(client)) == 5


def test_webhooks_of_a_flaky_receiver_arrive_at_the_third_attempt() -> None:
    with running("flaky-receiver") as client:
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "5.00"})
        settle(client)
        assert [item["status"] for item in client.inbox("webhooks")] == [503, 500, 200]
        [row] = listed(client)
        assert (row["status"], row["retryCount"]) == ("success", 2)


def test_a_dead_receiver_is_tried_four_times_and_the_payment_does_not_mind() -> None:
    with running("dead-receiver") as client:
        refid, _ = buy(client)
        settle(client)
        assert status(client, refid) == "Succesful"
        assert len(attempts(client)) == 8
        assert client.inbox() == []
        [row] = listed(client)
        assert (row["status"], row["retryCount"], row["payload"]["data"]["amount"]) == ("failed", 3, 250)


def test_failed_webhooks_are_replayed_three_times_and_no_more() -> None:
    with running("webhook-failures") as client:
        client.advance(80)
        [row] = listed(client, "?status=failed")
        assert (row["retryCount"], row["retryLimit"], row["responseBody"]) == (1, 1, "database is away")
        job = row["id"]
        for _ in range(3):
            assert replay(client, job).status == 200
            client.advance(30)
        assert replay(client, job).status == 429
        client.sim("PUT", "/sandboxes/default/inbox/webhooks", {"replies": [{"status": 200}]})
        client.advance(3600)
        assert [row["status"] for row in listed(client)] == ["success"] + ["failed"] * 4
