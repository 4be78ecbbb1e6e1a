"""Replays: only failed deliveries, three times an event, whichever way (SPEC 3.2, 4.20)."""

import asyncio
from typing import Any

import pytest

from tests.support.client import Client, running
from tests.support.webhooks import (
    DELIVERIES,
    WEBHOOK,
    answering,
    deposit,
    failed_job,
    listed,
    put,
    replay,
    secret_of,
)


def bulk(client: Client, *jobs: Any) -> list[Any]:
    answer = client.call("POST", DELIVERIES + "/replay-bulk", {"job_ids": list(jobs)})
    assert answer.status == 200, answer.body
    results: list[Any] = answer.json["results"]
    return results


def from_console(client: Client, job: str) -> Any:
    return client.sim("POST", f"/sandboxes/default/deliveries/{job}/replay")


def record(client: Client, job: str) -> Any:
    return client.call("GET", f"{DELIVERIES}/{job}").json


def test_a_replay_is_a_new_job_for_the_same_event() -> None:
    with running() as client:
        put(client)
        job = failed_job(client)
        event = record(client, job)["eventId"]
        answering(client, 200)
        replayed = replay(client, job)
        new = replayed.json["jobId"]
        assert (replayed.status, replayed.json) == (200, {"jobId": new, "originalJobId": job, "eventId": event})
        assert new != job
        client.advance()
        row = record(client, new)
        assert (row["status"], row["originalJobId"], row["replayCount"], row["eventId"]) == ("success", job, 1, event)
        old = record(client, job)
        assert (old["status"], old["originalJobId"], old["replayCount"]) == ("failed", None, 1)
        items = client.inbox("webhooks")
        assert len({item["body"] for item in items}) == 1
        assert len({dict(item["headers"])["webhook-id"] for item in items}) == 1


def test_a_replay_has_retries_of_its_own() -> None:
    with running() as client:
        put(client)
        new = replay(client, failed_job(client)).json["jobId"]
        client.advance()
        row = record(client, new)
        assert (row["status"], row["retryCount"]) == ("failed", 3)
        assert len(client.inbox("webhooks")) == 8


def test_a_fourth_replay_of_an_event_is_429_whichever_of_its_jobs_it_names() -> None:
    with running() as client:
        put(client)
        jobs = [failed_job(client)]
        for _ in range(3):
            jobs.append(replay(client, jobs[-1]).json["jobId"])
            client.advance()
        for job in jobs:
            refused = replay(client, job)
            assert (refused.status, refused.json["error"]) == (429, "replay_limit_reached")
            assert record(client, job)["replayCount"] == 3
            (result,) = bulk(client, job)
            assert result == {"jobId": job, "success": False, "newJobId": None, "error": result["error"]}
            assert from_console(client, job).status == 429
        assert len(listed(client)) == 4
        assert client.live.core.violations() == []


@pytest.mark.parametrize("stop", [("PATCH", "/enabled", {"enabled": False}), ("DELETE", "", None)])
def test_a_fourth_replay_is_429_also_while_the_webhook_is_stopped(stop: tuple[str, str, Any]) -> None:
    with running() as client:
        put(client)
        job = failed_job(client)
        for _ in range(3):
            assert replay(client, job).status == 200
        client.call(stop[0], WEBHOOK + stop[1], stop[2])
        assert (replay(client, job).status, from_console(client, job).status) == (429, 429)
        assert bulk(client, job)[0]["error"] == "this event has already been replayed 3 times"


def test_all_ways_count_together() -> None:
    with running() as client:
        put(client)
        job = failed_job(client)
        assert replay(client, job).status == 200
        assert bulk(client, job)[0]["success"]
        console = from_console(client, job)
        assert (console.status, console.json["original"], console.json["replays"]) == (201, job, 3)
        assert replay(client, job).status == 429


def test_events_are_counted_apart() -> None:
    with running() as client:
        put(client)
        first, second = failed_job(client), failed_job(client)
        for _ in range(3):
            assert replay(client, first).status == 200
        assert replay(client, second).status == 200


def test_parallel_replays_of_an_event_never_exceed_three() -> None:
    with running() as client:
        put(client)
        job = failed_job(client)

        async def many() -> list[int]:
            paths = [client.acall("POST", f"{DELIVERIES}/{job}/replay") for _ in range(20)]
            paths += [client.asim("POST", f"/sandboxes/default/deliveries/{job}/replay") for _ in range(5)]
            return [answer.status for answer in await asyncio.gather(*paths)]

        statuses = client.run(many())
        assert sum(status in (200, 201) for status in statuses) == 3
        assert statuses.count(429) == 22
        assert record(client, job)["replayCount"] == 3


def test_a_success_cannot_be_replayed() -> None:
    with running() as client:
        put(client)
        deposit(client)
        client.advance()
        job = listed(client)[0]["id"]
        refused = replay(client, job)
        assert (refused.status, list(refused.json["errors"])) == (400, ["jobId"])
        assert "succeeded" in bulk(client, job)[0]["error"]
        assert from_console(client, job).status == 409
        assert record(client, job)["replayCount"] == 0


def test_a_job_under_way_cannot_be_replayed() -> None:
    with running() as client:
        put(client)
        new = replay(client, failed_job(client)).json["jobId"]
        refused = replay(client, new)
        assert (refused.status, list(refused.json["errors"])) == (400, ["jobId"])
        assert "in progress" in bulk(client, new)[0]["error"]
        assert from_console(client, new).json["error"] == "delivery_under_way"
        assert record(client, new)["replayCount"] == 1


def test_an_unknown_job_is_404() -> None:
    with running() as client:
        put(client)
        assert replay(client, "nothing").status == 404
        assert from_console(client, "nothing").json["error"] == "unknown_delivery"
        assert client.sim("GET", "/sandboxes/default/deliveries/nothing").status == 404


def test_a_replay_goes_to_where_the_webhook_points_now_signed_with_its_secret() -> None:
    with running() as client:
        put(client)
        job = failed_job(client)
        client.call("DELETE", WEBHOOK)
        secret_of(client, "inbox:moved")
        new = replay(client, job).json["jobId"]
        client.advance()
        assert record(client, new)["webhookUrl"] == "inbox:moved"
        assert len(client.inbox("moved")) == 1


def test_no_delivery_is_replayed_or_counted_without_an_enabled_webhook() -> None:
    with running() as client:
        put(client)
        job = failed_job(client)
        client.call("PATCH", WEBHOOK + "/enabled", {"enabled": False})
        assert replay(client, job).status == 400
        client.call("DELETE", WEBHOOK)
        assert replay(client, job).status == 404
        assert from_console(client, job).json["error"] == "no_webhook"
        assert record(client, job)["replayCount"] == 0


def test_bulk_answers_each_item_in_order() -> None:
    with running() as client:
        put(client)
        first = failed_job(client)
        second = failed_job(client)
        answering(client, 200)
        deposit(client)
        client.advance()
        good = listed(client)[0]["id"]
        results = bulk(client, second, "nothing", good, first, first, first, first, "")
        assert [result["jobId"] for result in results] == [second, "nothing", good, first, first, first, first, ""]
        assert [result["success"] for result in results] == [True, False, False, True, True, True, False, False]
        assert [result["newJobId"] is not None for result in results] == [result["success"] for result in results]
        assert ["error" in result for result in results] == [not result["success"] for result in results]
        client.advance()
        assert {record(client, result["newJobId"])["status"] for result in results if result["success"]} == {"success"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "job_ids"),
        ({"job_ids": []}, "job_ids"),
        ({"job_ids": ["x"] * 51}, "job_ids"),
        ({"job_ids": "x"}, "job_ids"),
        ({"job_ids": [1]}, "job_ids.0"),
        ({"job_ids": [None]}, "job_ids.0"),
        ({"job_ids": ["x" * 101]}, "job_ids.0"),
        (b"", "body"),
    ],
)
def test_a_malformed_bulk_replay_is_refused_whole(body: Any, field: str) -> None:
    with running() as client:
        put(client)
        refused = client.call("POST", DELIVERIES + "/replay-bulk", body)
        assert (refused.status, list(refused.json["errors"])) == (400, [field])


def test_fifty_jobs_are_the_most_that_bulk_takes() -> None:
    with running() as client:
        put(client)
        assert len(bulk(client, *["x"] * 50)) == 50


def test_the_control_api_lists_deliveries_under_filters() -> None:
    with running() as client:
        put(client)
        job = failed_job(client)
        new = from_console(client, job).json
        event = new["event_id"]

        def ids(query: str) -> list[str]:
            page = client.sim("GET", f"/sandboxes/default/deliveries{query}").json
            return [one["id"] for one in page["deliveries"]]

        assert ids("") == [job, new["id"]]
        assert ids("?state=failed") == [job]
        assert ids("?state=pending") == [new["id"]]
        assert ids(f"?event={event}&reseller=RS001") == [job, new["id"]]
        assert client.sim("GET", "/sandboxes/default/deliveries?reseller=RS002").status == 400
        assert ids("?limit=1&cursor=1") == [new["id"]]
        assert client.sim("GET", "/sandboxes/default/deliveries?status=failed").status == 400
        assert client.sim("GET", f"/sandboxes/default/deliveries/{job}").json["attempts"][3]["status"] == 500


def test_paging_the_control_apis_list_skips_no_stored_delivery_during_evictions() -> None:
    with running({"limits": {"deliveries": 6}}) as client:
        put(client)

        def page(query: str) -> tuple[list[int], str | None]:
            listed = client.sim("GET", f"/sandboxes/default/deliveries?limit=2{query}").json
            return [one["event"]["data"]["amount"] for one in listed["deliveries"]], listed["cursor"]

        for amount in range(1, 7):
            deposit(client, amount)
        client.advance()
        walked, cursor = page("")
        for amount in range(7, 9):
            deposit(client, amount)
        client.advance()
        while cursor:
            amounts, cursor = page(f"&cursor={cursor}")
            walked += amounts
        assert walked == [1, 2, 3, 4, 5, 6, 7, 8]
