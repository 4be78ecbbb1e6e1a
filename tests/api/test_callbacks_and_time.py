"""Callbacks over real sockets, and the clock that drives them (SPEC 6.1)."""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pytest

from simulator.contract.openapi import bundled
from simulator.domain.model.callbacks import CallbackConfig
from simulator.runtime.clock import wall_clock
from tests.support.client import Client, running
from tests.support.receivers import (
    Answer,
    Got,
    Receiver,
    refused_url,
)

FAST = [{"status": "Accepted"}, {"after": "1s", "status": "Succesful"}]
TWO_STEPS = [{"status": "Accepted"}, {"after": "1s", "status": "Processing"}, {"after": "2s", "status": "Succesful"}]


@contextmanager
def receiving(*answers: Answer, then: Any = FAST, **scenario: Any) -> Iterator[tuple[Client, Receiver]]:
    """An application whose payments call back a real receiver."""
    whole = {"payments": [{"when": {}, "then": then}]} | scenario
    with running(whole) as client:
        receiver = client.run(Receiver(list(answers) or [200]).start())
        point_at(client, receiver.url)
        try:
            yield client, receiver
        finally:
            client.run(receiver.stop())


def point_at(client: Client, url: str, method: str = "POST") -> None:
    from urllib.parse import quote

    set_ = client.call("POST", f"/v2/callback-url?url={quote(url, safe='')}&method={method}")
    assert set_.status == 200, set_.body


def attempts(client: Client) -> list[Any]:
    rows: list[Any] = client.sim("GET", "/sandboxes/default/callbacks").json["callbacks"]
    return rows


def test_a_post_callback_carries_the_payment_result() -> None:
    with receiving() as (client, receiver):
        client.pay()
        client.advance(1)
        (got,) = receiver.got
        asked = client.pay().data
        assert got.method == "POST"
        assert got.headers["content-type"] == "application/json"
        assert got.headers["x-forwarded-for"] in ("3.1.120.89", "18.140.170.98", "13.215.6.214")
        assert got.data == asked
        assert json.loads(got.body).keys() == {"data"}


def test_a_get_callback_carries_four_parameters_and_keeps_the_urls_own_query() -> None:
    with receiving() as (client, receiver):
        point_at(client, receiver.url + "?shop=7&x=a%20b", "GET")
        client.pay("ref&1=ü")
        client.advance(1)
        (got,) = receiver.got
        query = got.query
        message = json.loads(query.pop("message"))
        cost = message["cost"]
        assert got.method == "GET"
        assert got.target.startswith("/hook?shop=7&x=a%20b&refid=")
        assert query == {"shop": "7", "x": "a b", "refid": "ref&1=ü", "status": "20", "price": str(cost)}
        assert message["timestamp"] == "2026-11-21 12:00:01.000"
        assert message | {"timestamp": ""} == client.pay("ref&1=ü").data | {"timestamp": ""}


def test_a_dead_receiver_gets_four_attempts_sixty_seconds_apart_in_no_time() -> None:
    with running({"payments": [{"when": {}, "then": FAST}]}) as client, refused_url() as refused:
        point_at(client, refused)
        client.pay()
        client.advance(until="idle")
        rows = attempts(client)
        assert [row["attempt"] for row in rows] == [1, 2, 3, 4]
        assert [row["at"][11:19] for row in rows] == ["04:00:01", "04:01:01", "04:02:01", "04:03:01"]
        assert {row["ending"] for row in rows} == {"connection"}


def test_advance_fires_retries_due_by_its_target_and_no_later_items() -> None:
    with receiving(500) as (client, receiver):
        client.pay()
        done = client.advance(61)
        assert len(receiver.got) == 2
        assert [fired["kind"] for fired in done["fired"]] == ["status", "callback", "callback"]
        assert done["now"] == "2026-11-21T04:01:01.000000Z"
        assert client.advance(59)["fired"] == []
        assert len(client.advance(1)["fired"]) == 1


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (200, 1),
        (204, 1),
        (302, 1),
        (400, 1),
        (404, 1),
        (408, 4),
        (429, 4),
        (500, 4),
        (503, 4),
        (599, 4),
        (600, 1),
        (999, 1),
        (b"", 4),
        (b"garbage\r\n\r\n", 4),
        (b"HTTP/1.1 20", 4),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", 1),
        (b"HTTP/1.1 404 X\r\nContent-Length: 9\r\n\r\nhalf", 1),
        (b"HTTP/1.1 503 X\r\nContent-Length: -1\r\n\r\n", 4),
    ],
)
def test_outcomes_are_retried_as_the_table_says(answer: Answer, expected: int) -> None:
    with receiving(answer) as (client, receiver):
        client.pay()
        client.advance(until="idle")
        assert len(attempts(client)) == expected
        assert len(receiver.got) == expected


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_each_request_that_left_is_one_attempt_also_on_a_connection_that_was_kept(method: str) -> None:
    """The receiver takes requests on a kept connection and closes it without an answer: the crash after accepting."""
    answers: list[Answer] = [200, b"", 200, b"", b"", 500, 200, 404, b"", b"", b"", b"", 200]
    with receiving(*answers, limits={"callback_timeout_manual": "1m"}) as (client, receiver):
        point_at(client, receiver.url, method)
        for number in range(6):
            client.pay(f"ref-{number}")
            client.advance(until="idle")
        rows = attempts(client)
        refids = [got.query["refid"] if method == "GET" else got.data["refid"] for got in receiver.got]
        assert [row["refid"] for row in rows] == refids
        assert [refids.count(f"ref-{number}") for number in range(6)] == [1, 2, 4, 1, 4, 1]
        assert [row["state"] for row in rows if row["attempt"] == 1] == [
            "delivered",
            "delivered",
            "delivered",
            "failed",
            "failed",
            "delivered",
        ]


def test_each_request_that_left_is_one_attempt_under_a_running_clock_too() -> None:
    """Two callbacks of each payment, on connections that the receiver keeps once and drops once."""
    # An attempt that is given up before the receiver had its turn has not arrived: at this rate the usual 30 s are 0.3.
    limits = {"callback_retry_after": "1s", "callback_timeout": "2h"}
    options: dict[str, Any] = {"clock": "x100", "limits": limits}
    with running({"payments": [{"when": {}, "then": TWO_STEPS}], **options}, wall=wall_clock) as client:
        receiver = client.run(Receiver([200, b""] * 50).start())
        point_at(client, receiver.url)
        for number in range(10):
            client.pay(f"ref-{number}")
        page = client.sim("GET", "/sandboxes/default/callbacks?wait_for=30&timeout=30").json
        assert page["complete"]
        client.sim("PUT", "/sandboxes/default/clock", {"mode": "manual"})
        client.advance(until="idle")
        assert len(receiver.got) == len(attempts(client))
        client.run(receiver.stop())


def test_an_advance_reports_each_attempt_with_its_outcome() -> None:
    with receiving(503, b"", 200, 404) as (client, _):
        client.pay()
        attempts = [one for one in client.advance(until="idle")["fired"] if one["kind"] == "callback"]
        assert [(one["attempt"], one["state"], one["ending"], one["answered"]) for one in attempts] == [
            (1, "pending", "answered", 503),
            (2, "pending", "connection", None),
            (3, "delivered", "answered", 200),
        ]
        client.pay("ref-2")
        attempts = [one for one in client.advance(until="idle")["fired"] if one["kind"] == "callback"]
        assert [(one["attempt"], one["state"]) for one in attempts] == [(1, "failed")]


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("status", ["Succesful", "Failed"])
def test_a_callback_has_the_balance_after_its_own_payments_last_entry(method: str, status: str) -> None:
    """The balance excludes payments and deposits before the change of status; the statement agrees."""
    then = [{"status": "Accepted"}, {"after": "5s", "status": status}]
    with receiving(503, 200, then=then) as (client, receiver):
        point_at(client, receiver.url, method)
        for number in range(3):
            client.pay(f"ref-{number}")
            client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "7"})
            client.advance(1)
        client.advance(until="idle")
        balances: dict[str, set[Any]] = {}
        for got in receiver.got:
            data = json.loads(got.query["message"]) if method == "GET" else got.data
            balances.setdefault(data["refid"], set()).add(data["balance"])
        stories = client.sim("GET", "/sandboxes/default/transactions").json["transactions"]
        assert len(stories) == 3
        for row in stories:
            story = client.sim("GET", f"/sandboxes/default/transactions/{row['trxid']}").json
            assert balances[row["refid"]] == {story["entries"][-1]["balance"]}
            assert story["statuses"][-1]["balance"] == story["entries"][-1]["balance"]
        assert client.pay("ref-0").data["balance"] == client.call("GET", "/v2/balance").data["balance"]


def test_a_callback_may_report_the_balance_at_its_sending() -> None:
    with receiving(503, 200, assume={"callback-balance": "at_sending"}) as (client, receiver):
        first = client.pay().data["balance"]
        client.advance(1)
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "100"})
        client.advance(until="idle")
        assert [got.data["balance"] for got in receiver.got] == [first, first + 100]
        (found,) = client.sim("GET", "/sandboxes/default/transactions").json["transactions"]
        story = client.sim("GET", f"/sandboxes/default/transactions/{found['trxid']}").json
        assert {status["balance"] for status in story["statuses"]} == {first}


def test_a_silent_receiver_times_out_and_costs_no_sandbox_time_under_a_manual_clock() -> None:
    with receiving(None, 200, limits={"callback_timeout_manual": "100ms"}) as (client, _):
        client.pay()
        client.advance(until="idle")
        rows = attempts(client)
        assert [row["ending"] for row in rows] == ["timeout", "answered"]
        assert [row["at"][11:19] for row in rows] == ["04:00:01", "04:01:01"]


def test_a_receiver_may_call_the_api_from_inside_its_callback() -> None:
    with receiving() as (client, receiver):
        seen: list[Any] = []

        async def ask(got: Got) -> None:
            body = {"refid": "from-inside", "product": "RELOAD", "account": "0123456789", "amount": "10"}
            if got.data["refid"] != "from-inside":
                seen.append((await client.acall("POST", "/v2/topup", body)).data)
            again = await client.asim("POST", "/sandboxes/default/clock/advance", {"seconds": 0})
            seen.append((again.status, again.json["error"]))

        receiver.on_request = ask
        client.pay()
        client.advance(until="idle")
        assert seen[0]["status"] == "Accepted"
        assert seen[0]["timestamp"] == "2026-11-21 12:00:01", "it happened at the time of the attempt"
        assert seen[1:] == [(409, "advance_running")] * 2
        assert [got.data["refid"] for got in receiver.got] == ["ref-1", "from-inside"]


def test_receivers_that_answer_in_the_wrong_order_leave_no_trace() -> None:
    def story(slow_first: bool) -> list[Any]:
        with running({"payments": [{"when": {}, "then": FAST}]}) as client:
            client.sim("POST", "/sandboxes/default/resellers", {"code": "OTHER", "balance": "100"})
            first, second = (client.run(Receiver([500]).start()) for _ in range(2))
            gate = asyncio.Event()

            async def wait(got: Got) -> None:
                await gate.wait()

            async def open_(got: Got) -> None:
                gate.set()

            (first if slow_first else second).on_request = wait
            (second if slow_first else first).on_request = open_
            other = client.live.core.state.resellers["OTHER"].keys[0]
            point_at(client, first.url)
            client.call("POST", f"/v2/callback-url?url={second.url}&method=POST", key=other.key, secret=other.secret)
            client.pay()
            client.pay(key=other.key, secret=other.secret)
            client.advance(61)
            client.run(first.stop())
            client.run(second.stop())
            return [(row["callback"], row["attempt"], row["reseller"], row["at"]) for row in attempts(client)]

    assert story(slow_first=True) == story(slow_first=False)


def test_the_inbox_answers_with_its_queued_replies() -> None:
    with running({"payments": [{"when": {}, "then": FAST}]}) as client:
        client.sim(
            "PUT",
            "/sandboxes/default/inbox/callbacks",
            {"replies": [{"status": 500}, {"status": 404}, {"status": 200}]},
        )
        client.pay("a")
        client.advance(until="idle")
        client.pay("b")
        client.advance(until="idle")
        assert [(item["json"]["data"]["refid"], item["status"]) for item in client.inbox()] == [
            ("a", 500),
            ("a", 404),
            ("b", 200),
        ]


def test_waiting_for_the_inbox_ends_when_enough_arrived_or_the_time_is_up() -> None:
    with running({"payments": [{"when": {}, "then": FAST}]}) as client:

        async def both() -> Any:
            path = "/sandboxes/default/inbox/callbacks?wait_for=1&timeout=30"
            waiting = asyncio.create_task(client.asim("GET", path))
            await asyncio.sleep(0)
            await client.asim("POST", "/sandboxes/default/clock/advance", {"seconds": 1})
            return await waiting

        client.pay()
        arrived = client.run(both()).json
        assert (arrived["complete"], arrived["count"]) == (True, 1)
        late = client.sim("GET", "/sandboxes/default/inbox/callbacks?wait_for=5&timeout=0.01").json
        assert (late["complete"], late["count"]) == (False, 1)


def test_nothing_happens_unasked_under_a_manual_clock() -> None:
    rules = [{"when": {}, "then": [{"status": "Accepted"}, {"after": "0s", "status": "Succesful"}]}]
    with running({"payments": rules}) as client:
        assert client.pay().data["status"] == "Accepted"
        assert client.pay().data["status"] == "Accepted"
        fired = client.advance(0)["fired"]
        assert [one["kind"] for one in fired] == ["status", "callback"]
        assert client.pay().data["status"] == "Succesful"


def test_setting_the_clock_fires_no_items_and_the_next_advance_does() -> None:
    with running() as client:
        client.pay()
        moved = client.sim("PUT", "/sandboxes/default/clock", {"now": "2026-11-21T05:00:00Z"})
        assert (moved.status, moved.json["pending"]) == (200, 1)
        assert client.pay().data["status"] == "Accepted"
        done = client.advance(0)["fired"]
        assert [one["at"][11:19] for one in done if one["kind"] == "status"] == ["05:00:00", "05:00:00"]
        back = client.sim("PUT", "/sandboxes/default/clock", {"now": "2026-11-21T04:30:00Z"})
        assert (back.status, back.json["error"]) == (400, "clock_goes_back")


def test_a_running_clock_delivers_by_itself_and_advance_moves_it_forward() -> None:
    with running({"clock": {"mode": "real"}, "payments": [{"when": {}, "then": TWO_STEPS}]}) as client:
        client.pay()
        client.pass_time(1)
        assert client.pay().data["status"] == "Processing", "a request sees what is due, timer or not"
        done = client.advance(10)
        assert [one["kind"] for one in done["fired"]] == ["status", "callback"]
        waited = client.sim("GET", "/sandboxes/default/inbox/callbacks?wait_for=2&timeout=30").json
        assert [item["json"]["data"]["status"] for item in waited["items"]] == ["Processing", "Succesful"]
        assert client.sim("GET", "/sandboxes/default/clock").json["now"] == "2026-11-21T04:00:11.000000Z"


def test_a_fast_clock_runs_without_advance() -> None:
    with running(
        {"clock": {"mode": "xN", "rate": 1000}, "payments": [{"when": {}, "then": TWO_STEPS}]}, wall=wall_clock
    ) as client:
        client.pay()
        waited = client.sim("GET", "/sandboxes/default/inbox/callbacks?wait_for=2&timeout=30").json
        assert [item["json"]["data"]["status"] for item in waited["items"]] == ["Processing", "Succesful"]


def test_a_dead_receiver_does_not_delay_a_working_one_under_a_running_clock() -> None:
    scenario = {
        "clock": {"mode": "real"},
        "payments": [{"when": {}, "then": [{"status": "Accepted"}, {"after": "10ms", "status": "Succesful"}]}],
    }
    with running(scenario, wall=wall_clock) as client:
        made = client.sim("POST", "/sandboxes/default/resellers", {"code": "OTHER", "balance": "1000"}).json
        other = {"key": made["api_key"], "secret": made["api_secret"]}
        dead, good = client.run(Receiver([None]).start()), client.run(Receiver().start())
        point_at(client, dead.url)
        client.call("POST", f"/v2/callback-url?url={good.url}&method=POST", **other)
        for number in range(100):
            client.pay(f"dead-{number}", "5")
        for number in range(20):
            client.pay(f"good-{number}", "5", **other)
        waited = client.sim("GET", "/sandboxes/default/callbacks?wait_for=20&timeout=30").json
        assert (waited["complete"], len(good.got)) == (True, 20)
        client.run(dead.stop())
        client.run(good.stop())


def test_until_idle_ends_with_an_empty_agenda() -> None:
    with running() as client:
        client.pay()
        done = client.advance(until="idle")
        assert (done["idle"], done["left_out"]) == (True, 0)
        assert client.sim("GET", "/sandboxes/default/clock").json | {"now": ""} == {
            "mode": "manual",
            "now": "",
            "rate": 0,
            "pending": 0,
            "next_due": None,
            "advancing": None,
        }


def test_until_idle_gives_up_on_a_day_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.runtime.lanes.IDLE_EVENTS_MAX", 30)
    monkeypatch.setattr("simulator.runtime.lanes.FIRED_REPORTED_MAX", 10)
    with receiving(then=FAST) as (client, receiver):
        number = 0

        async def again(got: Got) -> None:
            nonlocal number
            number += 1
            body = {"refid": f"again-{number}", "product": "RELOAD", "account": "0123456789", "amount": "5"}
            await client.acall("POST", "/v2/topup", body)

        receiver.on_request = again
        client.pay()
        done = client.advance(until="idle")
        assert done["idle"] is False
        assert re.match(r"stopped after \d+ events, with 1 pending .* a receiver makes for each", done["reason"])
        assert (len(done["fired"]), done["left_out"] >= 40) == (10, True)


def test_until_idle_stops_before_an_item_of_a_distant_year_and_says_how_to_continue() -> None:
    distant = {"at": "400d", "deposit": {"reseller": "RS001", "amount": "1.00"}}
    with running({"schedule": [distant]}) as client:
        for _ in range(2):  # an advance that is only repeated goes no further
            done = client.advance(until="idle")
            assert (done["fired"], done["idle"]) == ([], False)
        due = client.sim("GET", "/sandboxes/default/clock").json["next_due"]
        shown = datetime.fromisoformat(due).isoformat()
        assert done["reason"] == f"what is next is due at {shown}, over 366 days after this began; advance to then"
        assert [one["kind"] for one in client.advance(to=due)["fired"]] == ["deposit"]
        assert client.advance(until="idle")["idle"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"seconds": 1, "until": "idle"},
        {"seconds": -1},
        {"seconds": "1"},
        {"seconds": 1e30},
        {"seconds": None},
        {"until": "later"},
        {"to": "tomorrow"},
        {"to": "2026-11-21T12:00:00"},
        {"to": "2020-01-01T00:00:00Z"},
        {"to": "9999-12-31T23:59:59-23:00"},
        {"minutes": 1},
    ],
)
def test_an_invalid_advance_is_refused_and_leaves_the_clock(body: Any) -> None:
    with running() as client:
        client.pay()
        refused = client.sim("POST", "/sandboxes/default/clock/advance", body)
        assert refused.status == 400, refused.body
        assert client.sim("GET", "/sandboxes/default/clock").json["now"] == "2026-11-21T04:00:00.000000Z"


def test_callbacks_dropped_doubled_and_reversed_by_a_rule() -> None:
    rules = [
        {"when": {"amount": 5}, "then": TWO_STEPS, "callbacks": {"drop": True}},
        {"when": {"amount": 10}, "then": TWO_STEPS, "callbacks": {"duplicate": 2}},
        {"when": {"amount": 20}, "then": TWO_STEPS, "callbacks": {"reverse": True, "delay": "1h"}},
    ]
    with running({"payments": rules}) as client:
        for amount in ("5", "10", "20"):
            client.pay(f"r{amount}", amount)
        client.advance(10)
        reported = [(item["json"]["data"]["refid"], item["json"]["data"]["status"]) for item in client.inbox()]
        assert reported == [("r10", "Processing")] * 3 + [("r10", "Succesful")] * 3
        client.advance(3600)
        assert [item["json"]["data"]["status"] for item in client.inbox()[6:]] == ["Succesful", "Processing"]


def test_a_story_has_every_event_of_a_payment() -> None:
    with receiving(500, 200) as (client, _):
        trxid_of = client.pay(headers={}).data
        client.advance(until="idle")
        client.pay()
        found = client.sim("GET", "/sandboxes/default/transactions?refid=ref-1").json["transactions"]
        assert [one["refid"] for one in found] == ["ref-1"]
        story = client.sim("GET", f"/sandboxes/default/transactions/{found[0]['trxid']}").json
        assert [status["status"] for status in story["statuses"]] == ["Accepted", "Succesful"]
        assert [entry["type"] for entry in story["entries"]] == ["TRANSACTION"]
        assert story["entries"][0]["amount"] == -trxid_of["cost"]
        assert [request["path"] for request in story["requests"]] == ["/v2/topup", "/v2/topup"]
        (callback,) = story["callbacks"]
        assert callback["state"] == "delivered"
        assert [(tried["status"], tried["body"]) for tried in callback["attempts"]] == [(500, "ok"), (200, "ok")]


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/",
        "example.com/hook",
        "http://",
        "http:///x",
        "javascript:alert(1)",
        "http://user:secret@example.com/",
        "http://example.com:99999/",
        "http://exa mple.com/",
        "inbox:",
        "inbox:a/b",
        "",
        "http://" + "a" * 3000,
    ],
)
def test_an_address_that_cannot_be_called_is_refused_and_the_old_one_stays(url: str) -> None:
    from urllib.parse import quote

    with running() as client:
        refused = client.call("POST", f"/v2/callback-url?url={quote(url, safe='')}&method=POST")
        assert (refused.status, list(refused.json["errors"])) == (400, ["url"])
        assert client.call("GET", "/v2/callback-url").data["CallbackUrl"] == "inbox:callbacks"


def test_the_callback_url_is_read_back_unchanged() -> None:
    with running() as client:
        set_ = client.call("POST", "/v2/callback-url?url=https%3A%2F%2Fshop.example%2Fcb%3Fa%3D1&method=GET")
        assert set_.json == {
            "data": {"Status": "Success", "CallbackUrl": "https://shop.example/cb?a=1", "Method": "GET"},
            "@metadata": {"status_code": 200, "last_updated": "21-11-2026 12:00:00"},
        }
        client.advance(3600)
        assert client.call("GET", "/v2/callback-url").json == set_.json


@pytest.mark.parametrize(
    "query",
    [
        "",
        "url=https://a.example/",
        "method=GET",
        "url=https://a.example/&method=PUT",
        "url=https://a.example/&method=get",
    ],
)
def test_url_and_method_are_both_needed(query: str) -> None:
    with running() as client:
        refused = client.call("POST", f"/v2/callback-url?{query}")
        assert refused.status == 400
        assert refused.json["errors"]


def test_metadata_addresses_are_refused_when_set_and_never_called() -> None:
    reseller = {"code": "RS001", "callback": {"url": "http://metadata.test/latest", "method": "POST"}}
    scenario = {"payments": [{"when": {}, "then": FAST}], "resellers": [reseller]}
    with running(scenario, is_repeatable=False) as client:
        set_ = client.call("POST", "/v2/callback-url?url=http%3A%2F%2F169.254.169.254%2Flatest&method=POST")
        assert (set_.status, list(set_.json["errors"])) == (400, ["url"])
        client.live.core.state.resellers["RS001"].callback = CallbackConfig("http://169.254.169.254/latest", "POST")
        client.pay()
        client.advance(until="idle")
        (row,) = attempts(client)
        assert (row["ending"], row["state"]) == ("blocked", "failed")


def test_advance_under_a_running_clock_finishes_and_reports_everything_even_with_a_slow_receiver() -> None:
    # At 100 times the wall's pace a slow machine has seconds to get from the payment to the advance.
    steps = [{"status": "Accepted"}, {"after": "10m", "status": "Processing"}, {"after": "15m", "status": "Succesful"}]
    scenario = {"clock": {"mode": "xN", "rate": 100}, "payments": [{"when": {}, "then": steps}]}
    with running(scenario, wall=wall_clock) as client:
        client.sim(
            "PUT", "/sandboxes/default/inbox/callbacks", {"replies": [{"status": 500, "delay": 3}, {"status": 200}]}
        )
        client.pay()
        done = client.advance(1800)
        happened = [(one["kind"], one["status"]) for one in done["fired"]]
        assert sorted(happened) == sorted(
            [("status", "Processing"), ("status", "Succesful")]
            + [("callback", "Processing")] * 2
            + [("callback", "Succesful")]
        )
        assert {row["ending"] for row in attempts(client)} == {"answered"}
        assert done["idle"]


CALLBACK = ("/v2/callback-url", "post", "transactionCallback")
EVENT = ("/v2/balance-webhook", "put", "balanceAdded")
OF_HTTP = {"host", "user-agent", "content-type", "content-length"}


def documented_headers(path: str, method: str, callback: str, sent_by: str) -> set[str]:
    document = bundled()
    (item,) = document["paths"][path][method]["callbacks"][callback].values()
    names = document["components"]["parameters"]
    parameters = [
        names[each["$ref"].rpartition("/")[2]] if "$ref" in each else each for each in item[sent_by]["parameters"]
    ]
    return {each["name"].lower() for each in parameters if each["in"] == "header"}


def test_the_contract_documents_each_header_of_a_delivery() -> None:
    with receiving() as (client, receiver):
        client.call("PUT", "/v2/balance-webhook", {"url": receiver.url})
        client.pay("by-post")
        client.advance(1)
        point_at(client, receiver.url, "GET")
        client.pay("by-get")
        client.advance(1)
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": 5})
        client.advance(0)
        by_post, by_get, event = [got.headers.keys() - OF_HTTP for got in receiver.got]
        assert by_post == documented_headers(*CALLBACK, "post")
        assert by_get == documented_headers(*CALLBACK, "get")
        assert event == documented_headers(*EVENT, "post")


@pytest.mark.parametrize("is_public_only", [False, True])
def test_private_addresses_are_called_back_unless_only_public_ones_may_be(is_public_only: bool) -> None:
    rules = {"payments": [{"when": {}, "then": FAST}]}
    with running(rules, public_callbacks_only=is_public_only) as client:
        receiver = client.run(Receiver([200]).start())
        point_at(client, receiver.url)
        client.pay()
        client.advance(until="idle")
        client.run(receiver.stop())
        (row,) = attempts(client)  # a refused address is not tried again
        assert len(receiver.got) == (not is_public_only)
        assert (row["state"], row["ending"]) == (("failed", "blocked") if is_public_only else ("delivered", "answered"))
        assert ("loopback" in row["error"]) is is_public_only
        point_at(client, "inbox:callbacks")
        client.pay("to-the-inbox")
        client.advance(until="idle")
        assert len(client.inbox()) == 1


def test_a_story_says_that_callbacks_were_evicted() -> None:
    with running({"limits": {"callbacks_bytes": 1024}}) as client:
        client.sim("PUT", "/sandboxes/default/inbox/callbacks", {"replies": [{"status": 200, "body": "x" * 9000}]})
        assert client.pay().status == 200
        trxid = client.live.core.state.resellers["RS001"].refids["ref-1"].trxid
        client.advance()
        story = client.sim("GET", f"/sandboxes/default/transactions/{trxid}").json
        assert [one["payment_status"] for one in story["callbacks"]] == ["Succesful"]
        assert story["callbacks_left_out"] == 1
        assert client.sim("GET", "/sandboxes/default/callbacks").json["left_out"] == 1
        assert len(client.inbox()) == 2
