"""`/_sim/sandboxes/{id}/notifications`: listing, filtering, paging, waiting, bounds."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.domain.model.domain_events import EmailNotification, NotificationKind, NotificationLog
from tests.support.client import Client, running

PATH = "/sandboxes/default/notifications"


@pytest.fixture
def client() -> Iterator[Client]:
    with running({"limits": {"notifications": 5}}) as client:
        yield client


def log(client: Client) -> NotificationLog:
    return client.live.core.state.notifications


def note(
    client: Client, kind: NotificationKind = NotificationKind.DISPUTE, reseller: str = "RS001", **refs: Any
) -> None:
    to = ("a@example.com", "b@example.com")
    at = client.live.clock.now()
    log(client).add(EmailNotification(at=at, kind=kind, reseller=reseller, to=to, subject="about", text="text", **refs))


def test_a_notification_has_its_recipient_and_text(client: Client) -> None:
    note(client, NotificationKind.VOID, trxid="T1", refid="ref-1")
    answer = client.sim("GET", PATH).json
    assert answer == {
        "notifications": [
            {
                "n": 1,
                "at": client.sim("GET", "/sandboxes/default/clock").json["now"],
                "kind": "void",
                "reseller": "RS001",
                "to": ["a@example.com", "b@example.com"],
                "subject": "about",
                "text": "text",
                "trxid": "T1",
                "refid": "ref-1",
            }
        ],
        "cursor": None,
        "has_more": False,
        "left_out": 0,
        "complete": True,
    }


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [1, 2, 3]),
        ("kind=void", [2]),
        ("reseller=R2", [3]),
        ("kind=dispute&reseller=RS001", [1]),
        ("kind=low_balance", []),
        ("cursor=1", [2, 3]),
        ("limit=2", [1, 2]),
    ],
)
def test_notifications_are_found_by_kind_and_reseller_oldest_first(
    client: Client, query: str, found: list[int]
) -> None:
    client.sim("POST", "/sandboxes/default/resellers", {"code": "R2"})
    for kind, reseller in (
        (NotificationKind.DISPUTE, "RS001"),
        (NotificationKind.VOID, "RS001"),
        (NotificationKind.DISPUTE, "R2"),
    ):
        note(client, kind, reseller)
    rows = client.sim("GET", f"{PATH}?{query}").json["notifications"]
    assert [row["n"] for row in rows] == found


def test_the_next_page_continues_after_the_cursor_even_after_evictions(client: Client) -> None:
    for _ in range(5):
        note(client)
    first = client.sim("GET", f"{PATH}?limit=2").json
    note(client)
    second = client.sim("GET", f"{PATH}?limit=4&cursor={first['cursor']}").json
    assert [row["n"] for row in second["notifications"]] == [3, 4, 5, 6]
    assert (second["left_out"], second["has_more"], second["cursor"]) == (1, False, None)


@pytest.mark.parametrize("query", ["kind=spam", "colour=green", "limit=0", "cursor=-1", "wait_for=x", "timeout=nan"])
def test_an_invalid_query_is_refused(client: Client, query: str) -> None:
    answer = client.sim("GET", f"{PATH}?{query}")
    assert answer.status == 400
    assert answer.json["path"] == query.partition("=")[0]
    assert client.sim("GET", "/sandboxes/none/notifications").status == 404


@pytest.mark.parametrize("bell", ["of a request", "of the agenda"])
def test_waiting_ends_with_the_notification_that_was_waited_for(client: Client, bell: str) -> None:
    async def both() -> int:
        waiting = asyncio.create_task(client.asim("GET", f"{PATH}?wait_for=1&timeout=30"))
        await asyncio.sleep(0)
        note(client)
        if bell == "of a request":
            await client.acall("GET", "/v2/balance")
        else:
            client.live.driver.notifier.notify()
        return len((await asyncio.wait_for(waiting, 60)).json["notifications"])

    assert client.run(both()) == 1
    assert client.live.journal.notifier.waiting == client.live.driver.notifier.waiting == []


def test_a_wait_that_times_out_says_so(client: Client) -> None:
    assert client.sim("GET", f"{PATH}?wait_for=1&timeout=0").json["complete"] is False
