"""The log of deliveries: records, filters, pages that neither gap nor repeat (SPEC 2.12, 4.20)."""

import re
from typing import Any

import pytest

from tests.support.client import Client, running
from tests.support.webhooks import (
    DELIVERIES,
    answering,
    deposit,
    failed_job,
    listed,
    put,
    secret_of,
)

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def page(client: Client, query: str) -> Any:
    answer = client.call("GET", f"{DELIVERIES}?{query}")
    assert answer.status == 200, answer.body
    return answer.json


def delivered(client: Client, count: int) -> None:
    for number in range(count):
        deposit(client, number + 1)
        client.advance(1)


def amounts(rows: list[Any]) -> list[int]:
    return [row["payload"]["data"]["amount"] for row in rows]


def test_a_record_has_every_field() -> None:
    with running() as client:
        put(client)
        answering(client, 500, 200)
        deposit(client, "25.50", description="cash")
        client.advance(30)
        (row,) = listed(client)
        event = row["payload"]
        assert UUID.fullmatch(row["id"])
        assert event["data"] == {"resellerCode": "RS001", "amount": 25.5, "balance": 5025.5, "description": "cash"}
        assert row == {
            "id": row["id"],
            "eventId": event["id"],
            "status": "success",
            "error": "",
            "retryCount": 1,
            "retryLimit": 3,
            "createdAt": "2026-11-21T04:00:00.000Z",
            "completedAt": "2026-11-21T04:00:10.000Z",
            "webhookUrl": "inbox:webhooks",
            "webhookMethod": "POST",
            "replayCount": 0,
            "originalJobId": None,
            "payload": event,
            "webhookPayload": client.inbox("webhooks")[1]["json"],
            "responseCode": 200,
            "responseStatusCode": 200,
            "responseBody": "",
        }
        assert client.call("GET", f"{DELIVERIES}/{row['id']}").json == row


def test_a_delivery_under_way_has_a_record_but_is_not_listed() -> None:
    with running() as client:
        put(client)
        answering(client, 500)
        deposit(client)
        client.advance(0)
        assert listed(client) == []
        (job,) = (one["id"] for one in client.sim("GET", "/sandboxes/default/deliveries").json["deliveries"])
        row = client.call("GET", f"{DELIVERIES}/{job}").json
        assert (row["status"], row["completedAt"], row["responseCode"]) == ("pending", None, 500)


@pytest.mark.parametrize("job", ["00000000-0000-4000-8000-000000000000", "x", "%20", "replay-bulk2"])
def test_an_unknown_delivery_is_404(job: str) -> None:
    with running() as client:
        refused = client.call("GET", f"{DELIVERIES}/{job}")
        assert (refused.status, refused.json["errors"]) == (404, {})


def test_paths_that_only_look_alike_do_not_exist() -> None:
    with running() as client:
        for path in ("/", "/{jobId}/replay", "//replay", "/x/replay/", "/x/other", "/x/y/z"):
            assert client.call("POST", DELIVERIES + path).status == 404, path
        assert client.call("GET", DELIVERIES + "/x/replay").headers["allow"] == "POST"
        assert client.call("POST", DELIVERIES + "/x").headers["allow"] == "GET"


def test_another_resellers_delivery_is_unknown() -> None:
    keys = [{"key": "key-two-000000000", "secret": "c2VjcmV0LXR3bw=="}]
    with running({"resellers": [{"code": "RS002", "api_keys": keys}]}) as client:
        put(client)
        job = failed_job(client)
        other: dict[str, Any] = {"key": "key-two-000000000", "secret": "c2VjcmV0LXR3bw=="}
        assert client.call("GET", f"{DELIVERIES}/{job}", **other).status == 404
        assert client.call("POST", f"{DELIVERIES}/{job}/replay", **other).status == 404
        (result,) = client.call("POST", DELIVERIES + "/replay-bulk", {"job_ids": [job]}, **other).json["results"]
        assert not result["success"]
        assert client.call("GET", DELIVERIES, **other).json == {"deliveries": [], "cursor": "", "hasMore": False}
        assert listed(client)[0]["replayCount"] == 0


def test_filters_select_deliveries() -> None:
    with running() as client:
        put(client)
        answering(client, 200, 500, 500, 500, 500, 200)
        for amount in (1, 2, 3):
            deposit(client, amount)
            client.advance()
            client.advance(60)
        rows = listed(client)
        assert amounts(rows) == [3, 2, 1]
        first, second, third = rows[2], rows[1], rows[0]
        assert first["createdAt"] == "2026-11-21T04:00:00.000Z"
        assert second["createdAt"] == "2026-11-21T04:01:00.000Z"
        assert third["createdAt"] == "2026-11-21T04:08:10.000Z"
        table = {
            "status=all": [3, 2, 1],
            "status=success": [3, 1],
            "status=failed": [2],
            "status=": [3, 2, 1],
            f"search={second['eventId']}": [2],
            f"search={second['eventId'][4:14]}": [2],
            "search=nothing": [],
            "from=2026-11-21T04:01:00.000Z": [3, 2],
            "from=2026-11-21T04:01:00.001Z": [3],
            "to=2026-11-21T04:01:00.000Z": [2, 1],
            "to=2026-11-21T04:00:59.999": [1],
            "from=2026-11-21T12:01:00%2B08:00": [3, 2],
            "from=2026-11-21T12:01:00+08:00": [3, 2],
            "from=2026-11-21&to=2026-11-21": [3, 2, 1],
            "to=2026-11-20": [],
            "from=2026-11-22": [],
            "from=20261121T040100Z&to=2026-11-21T04:02": [2],
            "from=0001-01-01T00:00:00%2B14:00&to=9999-12-31": [3, 2, 1],
            "status=failed&search=evt_&limit=100": [2],
            "unknown=1": [3, 2, 1],
        }
        for query, expected in table.items():
            assert amounts(page(client, query)["deliveries"]) == expected, query


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("status=pending", "status"),
        ("status=Success", "status"),
        ("from=yesterday", "from"),
        ("to=2026-13-01", "to"),
        ("from=2026-11-21T25:00:00Z", "from"),
        ("from=1700000000", "from"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=-1", "limit"),
        ("limit=1.0", "limit"),
        ("limit=%D9%A1", "limit"),
        ("limit=5&limit=6", "limit"),
        ("cursor=x", "cursor"),
        ("cursor=%C3%A9", "cursor"),
        ("cursor=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "cursor"),
        ("search=" + "x" * 101, "search"),
        ("search=%FF", "search"),
    ],
)
def test_a_bad_query_is_reported_by_parameter(query: str, field: str) -> None:
    with running() as client:
        put(client)
        refused = client.call("GET", f"{DELIVERIES}?{query}")
        assert (refused.status, list(refused.json["errors"])) == (400, [field])


def test_a_page_has_fifty_by_default_and_at_most_a_hundred() -> None:
    with running() as client:
        put(client)
        for number in range(103):
            deposit(client, number + 1)
        client.advance()
        first = page(client, "")
        assert (len(first["deliveries"]), first["hasMore"]) == (50, True)
        hundred = page(client, "limit=100")
        assert (len(hundred["deliveries"]), hundred["hasMore"]) == (100, True)
        rest = page(client, f"limit=100&cursor={hundred['cursor']}")
        assert (len(rest["deliveries"]), rest["hasMore"], rest["cursor"]) == (3, False, "")


def test_walking_pages_meets_each_delivery_once_while_new_ones_end() -> None:
    with running() as client:
        put(client)
        delivered(client, 10)
        walked, cursor = [], ""
        for _ in range(4):
            answer = page(client, f"limit=3&cursor={cursor}")
            walked += amounts(answer["deliveries"])
            cursor = answer["cursor"]
            deposit(client, 1000)
            client.advance(1)
        assert walked == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
        assert cursor == ""


def test_a_delivery_that_takes_long_is_not_lost_between_pages() -> None:
    """It ends after a page with later deliveries was read: it comes first, not after the cursor."""
    with running() as client:
        put(client)
        answering(client, 500, 200)
        deposit(client, 77)
        client.advance(0)
        delivered(client, 4)
        first = page(client, "limit=2")
        client.advance()
        rest = page(client, f"limit=100&cursor={first['cursor']}")
        assert amounts(first["deliveries"] + rest["deliveries"]) == [4, 3, 2, 1]
        assert amounts(listed(client))[0] == 77


def test_paging_while_old_entries_are_evicted_shows_the_remaining_ones_without_a_gap() -> None:
    with running({"limits": {"deliveries": 10}}) as client:
        put(client)
        delivered(client, 10)
        first = page(client, "limit=3")
        delivered(client, 4)
        second = page(client, f"limit=100&cursor={first['cursor']}")
        assert amounts(first["deliveries"] + second["deliveries"]) == [10, 9, 8, 7, 6, 5]
        assert not second["hasMore"]


def test_a_cursor_whose_place_was_evicted_is_refused() -> None:
    with running({"limits": {"deliveries": 10}}) as client:
        put(client)
        delivered(client, 10)
        cursor = page(client, "limit=3")["cursor"]
        delivered(client, 8)
        refused = client.call("GET", f"{DELIVERIES}?cursor={cursor}")
        assert refused.status == 400
        assert "evicted" in refused.json["errors"]["cursor"][0]


def test_a_cursor_carries_its_filters() -> None:
    with running() as client:
        put(client)
        answering(client, 200, 500, 500, 500, 500, 200, 500, 500, 500, 500, 200)
        for amount in range(1, 6):
            deposit(client, amount)
            client.advance()
        first = page(client, "status=success&limit=1")
        assert amounts(first["deliveries"]) == [5]
        for query in ("", "&status=success", "&status="):
            rest = page(client, f"cursor={first['cursor']}{query}")
            assert amounts(rest["deliveries"]) == [3, 1], query
        for query in ("&status=failed", "&search=e", "&from=2026-11-21", "&to=2026-11-21"):
            refused = client.call("GET", f"{DELIVERIES}?cursor={first['cursor']}{query}")
            assert (refused.status, list(refused.json["errors"])) == (400, ["cursor"]), query


DAY = "from=2026-11-21&to=2026-11-21"


@pytest.mark.parametrize(
    ("first", "then", "status"),
    [
        ("", "&status=all", 200),
        ("status=all", "", 200),
        ("status=all", "&status=", 200),
        ("status=all&search=", "&status=all", 200),
        ("status=", "&status=all&search=&from=&to=", 200),
        ("", "&limit=50", 200),
        ("status=success", "", 200),
        (DAY, "&from=2026-11-21T00:00:00Z", 200),
        (DAY, "&from=2026-11-21T08:00:00%2B08:00&to=2026-11-21", 200),
        (DAY, "&to=2026-11-21T23:59:59.999999", 200),
        ("status=success", "&status=all", 400),
        ("", "&status=success", 400),
        (DAY, "&from=2026-11-21T00:00:01Z", 400),
        ("", "&from=2026-11-21", 400),
        (DAY, "&search=evt", 400),
    ],
)
def test_a_cursor_is_valid_with_the_same_filters_in_every_notation(first: str, then: str, status: int) -> None:
    with running() as client:
        put(client)
        delivered(client, 3)
        cursor = page(client, f"limit=1&{first}")["cursor"]
        answer = client.call("GET", f"{DELIVERIES}?cursor={cursor}{then}")
        assert answer.status == status
        assert amounts(answer.json.get("deliveries", [])) == ([2, 1] if status == 200 else [])


def test_an_invalid_time_is_reported_with_a_cursor_too() -> None:
    with running() as client:
        put(client)
        delivered(client, 2)
        cursor = page(client, "limit=1")["cursor"]
        assert list(client.call("GET", f"{DELIVERIES}?cursor={cursor}&to=soon").json["errors"]) == ["to"]


def test_a_foreign_cursor_is_refused() -> None:
    keys = [{"key": "key-two-000000000", "secret": "c2VjcmV0LXR3bw=="}]
    with running({"resellers": [{"code": "RS002", "api_keys": keys}]}) as client:
        put(client)
        delivered(client, 3)
        cursor = page(client, "limit=1")["cursor"]
        other: dict[str, Any] = {"key": "key-two-000000000", "secret": "c2VjcmV0LXR3bw=="}
        assert client.call("GET", f"{DELIVERIES}?cursor={cursor}", **other).status == 400
        client.sim("POST", "/sandboxes", {"id": "twin"})
        assert client.call("GET", f"{DELIVERIES}?cursor={cursor}", sandbox="twin").status == 400
        flipped = ("B" if cursor[0] == "A" else "A") + cursor[1:]
        for bad in (flipped, cursor[:-2], cursor + "AA", cursor.lower()):
            assert client.call("GET", f"{DELIVERIES}?cursor={bad}").status == 400, bad


def test_a_cursor_of_before_a_reset_is_refused() -> None:
    with running() as client:
        put(client)
        delivered(client, 3)
        cursor = page(client, "limit=1")["cursor"]
        client.sim("POST", "/sandboxes/default/reset")
        assert client.call("GET", f"{DELIVERIES}?cursor={cursor}").status == 400


def test_the_log_is_bounded_by_count_and_bytes() -> None:
    for limits, kept in (({"deliveries": 4}, 4), ({"deliveries_bytes": 11_000}, 4)):
        with running({"limits": limits}) as client:
            put(client)
            delivered(client, 9)
            rows = listed(client)
            assert amounts(rows) == [9, 8, 7, 6][:kept]
            page = client.sim("GET", "/sandboxes/default/deliveries").json
            assert page["left_out"] == 9 - kept
            gone = client.live.core.state
            assert len(gone.deliveries) == kept


def test_secrets_are_in_no_record() -> None:
    with running() as client:
        secret = secret_of(client)
        delivered(client, 1)
        whole = client.call("GET", DELIVERIES).body + client.sim("GET", "/sandboxes/default/deliveries").body
        assert secret.encode() not in whole
