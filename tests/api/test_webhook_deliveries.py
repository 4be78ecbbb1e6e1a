"""Deliveries of `balance.added`: content, signature, retries (SPEC 2.13, 6.3)."""

import hashlib
import hmac
import json
from datetime import timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from simulator.runtime.clock import wall_clock
from tests.support.client import Client, running
from tests.support.receivers import Got, Reset, refused_url
from tests.support.webhooks import (
    WEBHOOK,
    answering,
    deposit,
    failed_job,
    hooked,
    listed,
    put,
    replay,
    secret_of,
)

SOURCES = {"3.1.120.89", "18.140.170.98", "13.215.6.214"}
SCHEDULE = ["04:00:00", "04:00:10", "04:01:10", "04:06:10"]


def attempts(client: Client) -> list[Any]:
    (delivery,) = client.sim("GET", "/sandboxes/default/deliveries").json["deliveries"]
    return list(delivery["attempts"])


def times(client: Client) -> list[str]:
    return [attempt["at"][11:19] for attempt in attempts(client)]


def test_an_event_has_the_credit_and_the_balance_after_it() -> None:
    with hooked() as (client, receiver, _):
        deposit(client, "250.50", description="bank transfer")
        deposit(client, 10)
        client.advance()
        first, second = (json.loads(got.body) for got in receiver.got)
        assert first == {
            "type": "balance.added",
            "version": "1.0",
            "id": first["id"],
            "created_at": "2026-11-21T04:00:00.000Z",
            "data": {"resellerCode": "RS001", "amount": 250.5, "balance": 5250.5, "description": "bank transfer"},
        }
        assert second["data"] == {"resellerCode": "RS001", "amount": 10, "balance": 5260.5, "description": ""}
        assert first["id"] != second["id"]


def test_an_event_is_a_post_that_standard_webhooks_verifies() -> None:
    with running(wall=wall_clock) as client:
        secret = secret_of(client)
        deposit(client)
        client.advance()
        (item,) = client.inbox("webhooks")
        headers = dict(item["headers"])
        assert (item["method"], headers["content-type"]) == ("POST", "application/json")
        assert headers["x-forwarded-for"] in SOURCES
        event = Webhook(bytes.fromhex(secret)).verify(item["body"], headers)
        assert event["id"] == headers["webhook-id"]
        with pytest.raises(WebhookVerificationError):
            Webhook(bytes.fromhex(secret)).verify(item["body"] + " ", headers)
        with pytest.raises(WebhookVerificationError):
            Webhook(b"another secret").verify(item["body"], headers)


def test_the_timestamp_is_of_the_wall_clock_at_any_sandbox_time() -> None:
    clock = {"mode": "manual", "start": "2027-06-01T00:00:00Z", "skew": "-90s"}
    with hooked(clock=clock) as (client, receiver, _):
        deposit(client)
        client.advance()
        (got,) = receiver.got
        assert int(got.headers["webhook-timestamp"]) == int((client.wall() - timedelta(seconds=90)).timestamp())
        assert json.loads(got.body)["created_at"] == "2027-06-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("scheme", "prefix", "by_text"),
    [({}, "", False), ({"prefix": "sha256="}, "sha256=", False), ({"key": "text"}, "", True)],
)
def test_a_scenario_may_ask_for_a_plain_hmac_in_any_header(scheme: Any, prefix: str, by_text: bool) -> None:
    with hooked(webhooks={"signature": {"header": "X-Signature"} | scheme}) as (client, receiver, secret):
        deposit(client)
        client.advance()
        (got,) = receiver.got
        key = secret.encode() if by_text else bytes.fromhex(secret)
        assert got.headers["x-signature"] == prefix + hmac.new(key, got.body, hashlib.sha256).hexdigest()
        assert "webhook-signature" not in got.headers


def test_a_scheduled_deposit_is_published_too() -> None:
    schedule = [{"at": "10s", "deposit": {"reseller": "RS001", "amount": "500.00", "description": "monthly"}}]
    with hooked(schedule=schedule) as (client, receiver, _):
        done = client.advance(10)
        (got,) = receiver.got
        assert json.loads(got.body)["data"]["description"] == "monthly"
        assert [fired["kind"] for fired in done["fired"]] == ["deposit", "webhook"]
        attempt = done["fired"][1]
        assert (attempt["state"], attempt["attempt"], attempt["answered"]) == ("success", 1, 200)
        assert (attempt["type"], attempt["reseller"]) == ("balance.added", "RS001")


def test_no_event_is_sent_without_an_enabled_webhook() -> None:
    with running() as client:
        deposit(client)
        put(client)
        client.call("PATCH", WEBHOOK + "/enabled", {"enabled": False})
        deposit(client)
        client.call("PATCH", WEBHOOK + "/enabled", {"enabled": True})
        deposit(client, description="seen")
        client.advance()
        assert [item["json"]["data"]["description"] for item in client.inbox("webhooks")] == ["seen"]


def test_payments_and_refunds_publish_no_events() -> None:
    with hooked(payments=[{"when": {}, "then": [{"status": "Failed"}]}]) as (client, receiver, _):
        client.pay()
        client.advance()
        assert receiver.got == []


def test_a_failing_receiver_gets_four_attempts_on_schedule() -> None:
    with hooked(500) as (client, receiver, _):
        deposit(client)
        client.advance()
        assert times(client) == SCHEDULE
        assert len({got.headers["webhook-id"] for got in receiver.got}) == 1
        assert len({got.body for got in receiver.got}) == 1
        (row,) = listed(client)
        assert (row["status"], row["retryCount"], row["retryLimit"]) == ("failed", 3, 3)
        assert row["completedAt"] == "2026-11-21T04:06:10.000Z"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (300, "the receiver answered 300"),
        (400, "the receiver answered 400"),
        (503, "the receiver answered 503"),
        (b"", "closed before an answer came"),
        (b"HTTP/1.1 404 X\r\nContent-Length: 9\r\n\r\nhalf", "status 404 came, then the answer broke off"),
        (999, "the receiver answered 999"),
        (b"garbage\r\n\r\n", "not HTTP"),
    ],
)
def test_anything_but_a_2xx_is_retried_and_logged(answer: Any, error: str) -> None:
    with hooked(answer) as (client, _, _):
        deposit(client)
        client.advance()
        (row,) = listed(client)
        assert row["status"] == "failed"
        assert error in row["error"]
        assert row["retryCount"] == 3


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 20"])
def test_a_reset_before_a_status_line_is_tried_again_and_no_request_is_sent_twice(sent: bytes) -> None:
    with hooked(Reset(sent), Reset(sent), 200) as (client, receiver, _):
        deposit(client)
        client.advance()
        assert [attempt["ending"] for attempt in attempts(client)] == ["connection", "connection", "answered"]
        assert times(client) == SCHEDULE[:3]
        assert len(receiver.got) == 3
        (row,) = listed(client)
        assert (row["status"], row["retryCount"], row["responseCode"]) == ("success", 2, 200)


def test_resets_alone_spend_the_retries() -> None:
    with hooked(Reset(b"HTTP/1.1 20")) as (client, receiver, _):
        deposit(client)
        client.advance()
        (row,) = listed(client)
        assert (row["status"], row["retryCount"], row["responseCode"], row["responseBody"]) == ("failed", 3, None, None)
        assert "reset" in row["error"]
        assert len(receiver.got) == 4


@pytest.mark.parametrize(("code", "status", "requests"), [(200, "success", 1), (404, "failed", 4)])
@pytest.mark.parametrize(
    ("rest", "body"),
    [
        (b"Content-Length: 9\r\n\r\nhalf", "half"),
        (b"Content-Length: -1\r\n\r\n", ""),
        (b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", ""),
    ],
)
def test_the_status_line_decides_even_when_the_body_fails(
    code: int, status: str, requests: int, rest: bytes, body: str
) -> None:
    with hooked(b"HTTP/1.1 %d X\r\n%s" % (code, rest)) as (client, receiver, _):
        deposit(client)
        client.advance()
        (row,) = listed(client)
        assert (row["status"], row["responseCode"], row["responseStatusCode"]) == (status, code, code)
        assert (row["responseBody"], len(receiver.got)) == (body, requests)


def test_each_request_that_left_is_one_attempt_also_on_a_connection_that_was_kept() -> None:
    """The receiver takes requests on a kept connection and closes it without an answer."""
    with hooked(200, b"", 200, b"", b"", 500, 200, 404, b"", b"", b"", 200) as (client, receiver, _):
        for _ in range(5):
            deposit(client)
            client.advance()
        tried = client.sim("GET", "/sandboxes/default/deliveries").json["deliveries"]
        assert [len(row["attempts"]) for row in tried] == [1, 2, 4, 4, 1]
        assert [row["state"] for row in tried] == ["success", "success", "success", "failed", "success"]
        ids = [got.headers["webhook-id"] for got in receiver.got]
        assert ids == [row["event_id"] for row in tried for _ in row["attempts"]]
        assert [row["retryCount"] for row in reversed(listed(client))] == [0, 1, 3, 3, 0]


def test_an_advance_reports_each_attempt_with_its_outcome() -> None:
    with hooked(503, b"", 200, 404) as (client, _, _):
        deposit(client)
        first = [(one["state"], one["ending"], one["answered"]) for one in client.advance()["fired"]]
        assert first == [("pending", "answered", 503), ("pending", "connection", None), ("success", "answered", 200)]
        deposit(client)
        assert [one["state"] for one in client.advance()["fired"]] == ["pending", "pending", "pending", "failed"]


def test_an_attempt_that_a_disabled_webhook_prevents_is_logged_as_failed() -> None:
    with hooked(503) as (client, _, _):
        deposit(client)
        assert [one["state"] for one in client.advance(0)["fired"]] == ["pending"]
        client.call("PATCH", WEBHOOK + "/enabled", {"enabled": False})
        assert [(one["state"], one["attempt"]) for one in client.advance()["fired"]] == [("failed", None)]


@pytest.mark.parametrize(
    ("scenario", "known"),
    [
        ({"environment": "staging"}, SOURCES),
        ({"environment": "production"}, SOURCES - {"3.1.120.89"}),
        ({"environment": "production", "assume": {"source-address": "192.0.2.1"}}, {"192.0.2.1"}),
    ],
)
def test_the_source_address_is_one_of_the_environment_unless_the_scenario_has_another(
    scenario: Any, known: set[str]
) -> None:
    with running(scenario) as client:
        put(client)
        client.call("POST", "/v2/callback-url?url=inbox:callbacks&method=GET")
        deposit(client)
        client.pay()
        client.advance()
        items = client.inbox("webhooks") + client.inbox("callbacks")
        assert len(items) == 3
        assert {dict(item["headers"])["x-forwarded-for"] for item in items} <= known


@pytest.mark.parametrize("status", [204, 299])
def test_any_2xx_is_accepted(status: int) -> None:
    with hooked(status) as (client, receiver, _):
        deposit(client)
        client.advance()
        assert len(receiver.got) == 1
        (row,) = listed(client)
        assert (row["status"], row["error"], row["responseCode"], row["retryCount"]) == ("success", "", status, 0)


def test_a_receiver_that_recovers_ends_it() -> None:
    with hooked(500, 302, 200) as (client, _, _):
        deposit(client)
        client.advance()
        assert times(client) == SCHEDULE[:3]
        (row,) = listed(client)
        assert (row["status"], row["retryCount"], row["responseBody"]) == ("success", 2, "ok")


@pytest.mark.parametrize(
    ("url", "ending"),
    [("", "connection"), ("http://no-such-host.invalid/", "dns")],
)
def test_attempts_at_an_unreachable_receiver_are_logged(url: str, ending: str) -> None:
    with running() as client, refused_url() as refused:
        put(client, url or refused)
        deposit(client)
        client.advance()
        assert [attempt["ending"] for attempt in attempts(client)] == [ending] * 4
        (row,) = listed(client)
        assert (row["responseCode"], row["responseStatusCode"], row["responseBody"]) == (None, None, None)
        assert row["error"]


def test_a_silent_receiver_is_given_up_after_the_timeout() -> None:
    with hooked(None, 200, webhooks={"timeout": "100ms"}) as (client, _, _):
        deposit(client)
        client.advance()
        assert [attempt["ending"] for attempt in attempts(client)] == ["timeout", "answered"]


@pytest.mark.parametrize(("delay_s", "expected"), [(0.05, ["answered"]), (0.4, ["timeout", "answered"])])
def test_just_below_the_timeout_is_in_time_and_just_above_it_is_not(delay_s: float, expected: list[str]) -> None:
    with running({"webhooks": {"timeout": "200ms"}}) as client:
        put(client)
        replies = [{"status": 200, "delay": delay_s}, {"status": 200}]
        client.sim("PUT", "/sandboxes/default/inbox/webhooks", {"replies": replies})
        deposit(client)
        client.advance()
        assert [attempt["ending"] for attempt in attempts(client)] == expected


def test_an_endless_answer_is_read_to_a_bound_and_cut_in_the_record() -> None:
    endless = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"2710\r\n" + b"x" * 10_000 + b"\r\n"
    with hooked(endless + b"2710\r\n" + b"y" * 10_000 + b"\r\n") as (client, _, _):
        deposit(client)
        client.advance()
        (row,) = listed(client)
        assert (row["status"], row["responseBody"]) == ("success", "x" * 4096)


def test_rotation_counts_at_once_also_for_a_retry_of_an_earlier_event() -> None:
    with running({"clock": {"mode": "manual", "start": "2020-01-01T00:00:00Z"}}, wall=wall_clock) as client:
        old = secret_of(client)
        answering(client, 500, 200)
        deposit(client)
        client.advance(0)
        new = client.call("POST", WEBHOOK + "/rotate-secret").json["webhook_secret"]
        client.advance()
        first, second = ((item["body"], dict(item["headers"])) for item in client.inbox("webhooks"))
        Webhook(bytes.fromhex(old)).verify(*first)
        Webhook(bytes.fromhex(new)).verify(*second)
        with pytest.raises(WebhookVerificationError):
            Webhook(bytes.fromhex(old)).verify(*second)


@pytest.mark.parametrize("stop", [("PATCH", "/enabled", {"enabled": False}), ("DELETE", "", None)])
def test_stopping_the_webhook_ends_pending_deliveries(stop: tuple[str, str, Any]) -> None:
    with hooked(500) as (client, receiver, _):
        deposit(client)
        client.advance(0)
        client.call(stop[0], WEBHOOK + stop[1], stop[2])
        client.advance()
        assert len(receiver.got) == 1
        (row,) = listed(client)
        assert (row["status"], row["retryCount"]) == ("failed", 0)
        assert "disabled or removed" in row["error"]


def test_a_webhook_that_is_enabled_again_before_the_next_attempt_gets_it() -> None:
    with hooked(500, 200) as (client, receiver, _):
        deposit(client)
        client.advance(0)
        for enabled in (False, True):
            client.call("PATCH", WEBHOOK + "/enabled", {"enabled": enabled})
        client.advance()
        assert len(receiver.got) == 2
        assert [(row["status"], row["retryCount"]) for row in listed(client)] == [("success", 1)]


def test_a_webhook_that_replaces_a_removed_webhook_gets_none_of_its_events() -> None:
    with hooked(500) as (client, receiver, url):
        deposit(client)
        client.advance(0)
        client.call("DELETE", WEBHOOK)
        client.call("PUT", WEBHOOK, {"url": url})
        client.advance()
        assert len(receiver.got) == 1
        assert [row["status"] for row in listed(client)] == ["failed"]


def test_a_new_address_is_for_new_events() -> None:
    with hooked(500, 200) as (client, receiver, _):
        deposit(client, description="first")
        client.advance(0)
        put(client, "inbox:webhooks")
        deposit(client, description="second")
        client.advance()
        assert len(receiver.got) == 2
        assert [item["json"]["data"]["description"] for item in client.inbox("webhooks")] == ["second"]


def test_resellers_have_webhooks_of_their_own() -> None:
    other = {"code": "RS002", "balance_webhook": {"url": "inbox:other"}}
    with running({"resellers": [other]}) as client:
        put(client)
        deposit(client, reseller="RS002")
        client.advance()
        assert client.inbox("webhooks") == []
        (item,) = client.inbox("other")
        assert item["json"]["data"] == {"resellerCode": "RS002", "amount": 10, "balance": 10, "description": ""}
        assert listed(client) == []


def test_a_reseller_that_is_added_may_bring_a_webhook() -> None:
    with running() as client:
        wanted = {"code": "RS002", "balance_webhook": {"url": "inbox:other"}}
        assert client.sim("POST", "/sandboxes/default/resellers", wanted).status == 201
        deposit(client, reseller="RS002")
        client.advance()
        assert len(client.inbox("other")) == 1


def test_a_receiver_may_replay_and_deposit_from_inside_its_delivery() -> None:
    with hooked() as (client, receiver, _):

        async def more(got: Got) -> None:
            if len(receiver.got) == 1:
                answer = await client.asim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": 5})
                assert answer.status == 201

        receiver.on_request = more
        deposit(client)
        client.advance()
        assert [json.loads(got.body)["data"]["amount"] for got in receiver.got] == [10, 5]


def test_a_repeated_day_gives_equal_events_jobs_and_times() -> None:
    def day() -> Any:
        with running({"seed": 7}) as client:
            put(client)
            job = failed_job(client)
            assert replay(client, job).status == 200
            answering(client, 200)
            deposit(client)
            client.advance()
            items = [(item["body"], item["headers"]) for item in client.inbox("webhooks")]
            return listed(client), items

    assert day() == day()


def test_a_fast_clock_tries_again_by_itself() -> None:
    with running({"clock": "x2000"}, wall=wall_clock) as client:
        put(client)
        answering(client, 500, 500, 500, 200)
        deposit(client)
        page = client.sim("GET", "/sandboxes/default/deliveries?wait_for=1&timeout=30").json
        (one,) = page["deliveries"]
        assert [attempt["status"] for attempt in one["attempts"]] == [500, 500, 500, 200]
        assert one["state"] == "success"


def test_an_event_under_a_running_clock_goes_out_by_itself() -> None:
    with running({"clock": "real"}, wall=wall_clock) as client:
        put(client)
        deposit(client)
        path = "/sandboxes/default/deliveries?wait_for=1&timeout=30"
        page = client.sim("GET", path).json
        assert page["complete"]
        assert [one["state"] for one in page["deliveries"]] == ["success"]
