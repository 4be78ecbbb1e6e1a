"""`/_sim/events` and `/_sim/sandboxes/{id}/events`: contents, filters, positions, gaps, ends."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from typing import Any, cast

import pytest

from simulator.control.event_endpoints import EventQuery, EventSource, data_of, event_content
from simulator.redaction import MASKED
from simulator.runtime import event_reader, events
from simulator.runtime.events import Action, NumberedEvent
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import Sandboxes
from tests.support.client import Client, running
from tests.support.following import Following, told_in

PATH = "/sandboxes/default/events"
PLAIN = {"scenario": "plain", "extends": "default", "clock": "manual"}
PAID_KINDS = ["action", "request", "entry", "status"]


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client of the default scenario, or of the scenario that `having` gives a test."""
    with running(getattr(request, "param", "default")) as client:
        yield client


def having(**scenario: Any) -> pytest.MarkDecorator:
    """The scenario of a test's client."""
    return pytest.mark.parametrize("client", [scenario], indirect=True, ids=[""])


def told(client: Client, query: str = "", path: str = PATH, **headers: str) -> list[Any]:
    """The events that there are now."""
    begin = "" if "after=" in query or headers else "after=0&"
    return told_in(client.sim("GET", f"{path}?timeout=0&{begin}{query}", **headers))


def kinds(found: list[Any]) -> list[str]:
    return [event["kind"] for event in found]


def test_the_events_of_a_payment_run_from_its_request_to_its_status(client: Client) -> None:
    client.pay("e1")
    _, request, entry, status = found = told(client)
    assert kinds(found) == PAID_KINDS
    assert [event["number"] for event in found] == [1, 2, 3, 4]
    assert {event["sandbox"] for event in found} == {"default"}
    assert (entry["refid"], entry["entry"]["amount"], entry["entry"]["type"]) == ("e1", -9.75, "TRANSACTION")
    assert (status["refid"], status["status"], status["cause"]) == ("e1", "Accepted", "creation")
    assert (request["refid"], request["n"], request["path"], request["status"]) == ("e1", 1, "/v2/topup", 200)
    assert request["trxid"] == status["trxid"] == entry["trxid"]


def test_timed_events_include_the_attempts_of_callbacks(client: Client) -> None:
    client.pay("e1")
    client.advance()
    found = told(client, "only=status,callback,action")
    assert [event["status"] for event in found if event["kind"] == "status"] == ["Accepted", "Processing", "Succesful"]
    last = [event for event in found if event["kind"] == "callback"][-1]
    assert (last["refid"], last["status"], last["attempt"]) == ("e1", "Succesful", 1)
    assert (last["state"], last["ending"], last["answered"], last["next_due"]) == ("delivered", "answered", 200, None)
    assert "sent" not in last
    assert last["duration_us"] >= 0
    assert found[-1]["action"] == "clock_advanced"


@having(resellers=[{"code": "RS001", "balance_webhook": {"url": "inbox:hooks"}}])
def test_a_webhook_event_includes_the_sent_body_when_requested(client: Client) -> None:
    client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "5.00"})
    client.advance()
    entry, action, webhook = told(client, "only=webhook,entry,action&with=bodies")[1:4]
    received = client.inbox("hooks")[0]
    assert (entry["entry"]["type"], entry["refid"], action["action"]) == ("DEPOSIT", "", "deposited")
    assert (webhook["type"], webhook["attempt"], webhook["answered"]) == ("balance.added", 1, 200)
    sent = webhook["sent"]
    assert (sent["method"], sent["url"]) == ("POST", "inbox:hooks")
    assert json.loads(sent["body"]) == received["json"]
    names = {name.lower(): value for name, value in sent["headers"]}
    assert MASKED not in names.values()
    assert names.items() <= dict(received["headers"]).items()


@having(inboxes={"callbacks": {"replies": [{"status": 500}, {"status": 200}]}})
def test_an_attempt_that_fails_says_when_the_next_is_due(client: Client) -> None:
    client.pay("e1")
    client.advance()
    first, second = [event for event in told(client, "only=callback") if event["status"] == "Processing"]
    assert (first["state"], first["answered"], first["attempt"]) == ("pending", 500, 1)
    assert first["next_due"] is not None
    assert first["at"] < first["next_due"] == second["at"]
    assert (second["state"], second["attempt"]) == ("delivered", 2)


@having(resellers=[{"code": "RS001", "balance": "10.00", "low_balance_threshold": "5.00"}])
def test_a_low_balance_is_published_as_a_notification(client: Client) -> None:
    client.pay("e1")
    (mail,) = told(client, "only=notification")
    assert (mail["notification"]["kind"], mail["reseller"]) == ("low_balance", "RS001")


@having(
    resellers=[
        {
            "code": "RS001",
            "balance": "10.00",
            "low_balance_threshold": "5.00",
            "email": "sesame-open-1234@example.test",
            "users": [{"username": "ann", "password": "sesame-open-1234"}],
        }
    ]
)
def test_a_secret_in_an_address_of_a_notification_is_masked(client: Client) -> None:
    client.pay("e1")
    (mail,) = told(client, "only=notification")
    assert mail["notification"]["to"] == [f"{MASKED}@example.test"]


def test_changes_of_a_sandbox_are_published(client: Client) -> None:
    rule = {"section": "payments", "rule": {"when": {}, "then": {"refuse": "Invalid_Account"}}}
    added = client.sim("POST", "/sandboxes/default/rules", rule)
    assert added.status == 201, added.body
    client.sim("DELETE", f"/sandboxes/default/rules/{added.json['id']}")
    client.sim("PUT", "/sandboxes/default/clock", {"mode": "real"})
    client.sim("PUT", "/sandboxes/default/network/RELOAD", {"status": "Interruption"})
    client.sim("POST", "/sandboxes/default/deliveries/unknown/replay")
    assert told(client, "only=action")[1]["about"] == added.json["id"]
    done = [event["action"] for event in told(client)]
    assert done == ["created", "rule_added", "rule_removed", "clock_set", "network_set"]


def test_a_refused_payment_is_found_by_the_refid_of_its_body(client: Client) -> None:
    body = {"refid": "e1", "product": "RELOAD", "account": "0123456789"}
    assert client.call("POST", "/v2/topup", body=body | {"amount": 1_000_000}).status == 400
    assert client.call("POST", "/v2/topup", body=body).status == 400
    assert client.call("POST", "/v2/topup", body=body | {"refid": "x" * 51}).status == 400
    assert client.call("POST", "/v2/topup", body=body | {"refid": 5}).status == 400
    assert [event["n"] for event in told(client, "refid=e1")] == [1, 2]
    rows = client.sim("GET", "/sandboxes/default/requests?refid=e1").json["requests"]
    assert [row["n"] for row in rows] == [2, 1]
    assert [event["refid"] for event in told(client, "only=request")] == ["e1", "e1", "", ""]


def test_events_are_filtered_by_kind_and_refid(client: Client) -> None:
    client.pay("e1")
    client.pay("e2")
    assert [event["refid"] for event in told(client, "only=status,request")] == ["e1", "e1", "e2", "e2"]
    assert {event["refid"] for event in told(client, "refid=e2")} == {"e2"}
    assert kinds(told(client, "refid=e2&only=entry,action")) == ["entry"]


@pytest.mark.parametrize(
    "query",
    [
        "only=nothing",
        "only=",
        "with=all",
        "after=x",
        "after=1",
        "heartbeat=0",
        "timeout=-1",
        "since=1",
        "only=status&only=entry",
    ],
)
def test_a_query_that_no_stream_has_is_refused(client: Client, query: str) -> None:
    assert client.sim("GET", f"{PATH}?timeout=0&{query}").status == 400


def test_a_stream_begins_with_new_events_or_resumes_after_any_event(client: Client) -> None:
    client.pay("e1")
    assert told_in(client.sim("GET", f"{PATH}?timeout=0")) == []
    found = told(client)
    client.pay("e2")
    behind = told(client, last_event_id=found[1]["id"])
    assert behind[:2] == found[2:]
    assert [event["refid"] for event in behind[2:]] == ["e2", "e2", "e2"]
    assert told(client, f"after={found[1]['id']}") == behind
    refused = client.sim("GET", f"{PATH}?timeout=0", last_event_id="mine")
    assert refused.status == 400
    assert "Last-Event-ID" in refused.json["message"]


def test_a_heartbeat_moves_the_place_past_what_was_filtered_out(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.pay("e1")
    last = told(client)[-1]["id"]
    waits: list[float] = []

    async def wait(reader: event_reader.EventReader, timeout_s: float) -> bool:
        """Pass a heartbeat's time at once, and end the stream the next time."""
        waits.append(timeout_s)
        reader.is_last = len(waits) > 1
        return reader.is_last

    monkeypatch.setattr(event_reader.EventReader, "wait", wait)
    answer = client.sim("GET", f"{PATH}?after=0&only=webhook&heartbeat=60").body.decode()
    assert answer.endswith(f": still here\nid: {last}\n\n")
    assert waits == [60, 60]


def test_evicted_events_are_reported_as_a_gap(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "EVENTS_MAX", 5)
    client.sandbox(PLAIN, "small")
    path = "/sandboxes/small/events"
    begin = told(client, path=path)[0]["id"]
    for n in range(3):
        client.pay(f"e{n}", sandbox="small")
    gap, *rest = told(client, path=path, last_event_id=begin)
    assert (gap["kind"], gap["missing"]) == ("gap", 4)
    assert [event["number"] for event in rest] == [6, 7, 8, 9, 10]
    assert told(client, path=path, last_event_id=gap["id"]) == rest
    assert told(client, "only=webhook", path=path, last_event_id=begin)[0]["missing"] == 4


@having(limits={"journal": 1})
def test_requests_that_the_journal_evicted_are_a_gap_too(client: Client) -> None:
    for _ in range(3):
        client.call("GET", "/v2/balance")
    assert [(event["kind"], event.get("missing")) for event in told(client)[1:]] == [("gap", 2), ("request", None)]


def test_an_id_of_another_server_or_of_a_deleted_sandbox_is_an_unknown_gap(client: Client) -> None:
    client.sandbox(PLAIN, "twice")
    path = "/sandboxes/twice/events"
    old = told(client, path=path)[0]["id"]
    client.sim("DELETE", "/sandboxes/twice")
    client.sandbox(PLAIN, "twice")
    for id_ in (old, "00000000.1.1"):
        gap, created = told(client, path=path, last_event_id=id_)
        assert (gap["missing"], created["action"]) == (None, "created")


def test_an_id_of_another_sandbox_is_a_place_in_time(client: Client) -> None:
    for _ in range(3):
        client.call("GET", "/v2/balance")
    client.sandbox(PLAIN, "gb")
    path = "/sandboxes/gb/events"
    for name in ("gb",) * 9 + ("default", "gb", "default", "gb"):
        client.call("GET", "/v2/balance", sandbox=name)
    everything = told(client, path="/events")
    own = told(client, path=path)
    for at, event in enumerate(everything):
        rest = told(client, path=path, last_event_id=event["id"])
        known = [other for other in rest if other["kind"] != "gap"]
        assert len(known) == sum(other["sandbox"] == "gb" for other in everything[at + 1 :])
        assert not [other for other in rest if other.get("missing")]
    for event in told(client):
        rest = [other for other in told(client, path=path, last_event_id=event["id"]) if other["kind"] != "gap"]
        assert rest == own[len(own) - len(rest) :]


def test_a_place_of_all_sandboxes_that_was_evicted_is_an_unknown_gap(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "EVENTS_MAX", 5)
    client.sandbox(PLAIN, "small")
    begin = told(client, path="/events")[-1]["id"]
    for n in range(3):
        client.pay(f"e{n}", sandbox="small")
    gap, *rest = told(client, path="/sandboxes/small/events", last_event_id=begin)
    assert (gap["kind"], gap["missing"]) == ("gap", None)
    assert [event["number"] for event in rest] == [6, 7, 8, 9, 10]


def test_a_place_that_is_not_reached_yet_is_an_unknown_gap(client: Client) -> None:
    client.pay("e1")
    boot, serial, number = told(client)[-1]["id"].split(".")
    ahead = f"{boot}.{int(serial) + 1}.{int(number) + 1}"
    for path in (PATH, "/events"):
        found = told(client, path=path, last_event_id=ahead)
        assert [event.get("missing", event["kind"]) for event in found] == [None, *PAID_KINDS]


def test_a_position_of_another_server_is_rejected(client: Client) -> None:
    client.pay("e1")
    last = told(client)[-1]["id"]
    assert told(client, last_event_id=last) == []
    boot, _, place = last.partition(".")
    other = f"{int(boot, 16) ^ 1:08x}.{place}"
    assert [event.get("missing", event["kind"]) for event in told(client, last_event_id=other)] == [None, *PAID_KINDS]


def test_the_header_of_an_interrupted_stream_wins_over_where_it_began(client: Client) -> None:
    client.pay("e1")
    found = told(client)
    assert told(client, "after=0", last_event_id=found[2]["id"]) == found[3:]


def test_events_of_all_sandboxes_come_in_a_single_order_and_a_deleted_sandbox_is_a_gap(client: Client) -> None:
    client.sandbox(PLAIN, "one")
    client.sandbox(PLAIN, "two")
    for name in ("one", "two", "one"):
        client.call("GET", "/v2/balance", sandbox=name)
    found = told(client, path="/events")
    assert [(event["sandbox"], event["number"]) for event in found] == [
        ("default", 1), ("one", 1), ("two", 1), ("one", 2), ("two", 2), ("one", 3),
    ]  # fmt: skip
    client.sim("DELETE", "/sandboxes/one")
    client.call("GET", "/v2/balance", sandbox="two")
    rest = told(client, path="/events", last_event_id=found[2]["id"])
    assert [event.get("missing", event.get("number")) for event in rest] == [1, 2, 2, 3]


def test_a_secret_is_masked_in_all_content_of_a_client(client: Client) -> None:
    client.call("GET", f"/v2/transactions?refid={client.secret}")
    client.send("POST", "/v2/topup", f"key={client.secret}")
    client.pay(client.secret)
    shown = client.sim("GET", f"{PATH}?timeout=0&after=0&with=bodies").body.decode()
    assert client.secret not in shown
    assert MASKED in shown


def test_a_secret_is_masked_in_the_objects_of_an_event_too(client: Client) -> None:
    client.sandbox(PLAIN, "clean")
    deposit = {"amount": "5.00", "description": f"for {client.secret}"}
    client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", deposit)
    client.call("GET", "/v2/balance", sandbox="clean")
    events = told_in(client.sim("GET", "/events?timeout=0&after=0"))
    assert [event["entry"]["remarks"] for event in events if event["kind"] == "entry"] == [f"for {MASKED}"]
    assert [event["path"] for event in events if event["kind"] == "request"] == ["/v2/balance"]


@pytest.mark.parametrize("path", ["/events", PATH])
def test_the_head_of_a_stream_alone_ends_at_once_and_takes_no_place(client: Client, path: str) -> None:
    stream = Following(client, path, method="HEAD")
    client.run(asyncio.wait_for(stream.run(), 10))
    assert stream.body == b""
    assert client.app.sandboxes.events.readers == []


def test_only_so_many_streams_are_open_at_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "READERS_MAX", 0)
    answer = client.sim("GET", f"{PATH}?timeout=0")
    assert (answer.status, answer.json["error"]) == (429, "too_many_waiting")
    assert client.app.sandboxes.events.readers == []


def followed(
    client: Client, path: str, happens: Callable[[Following], Awaitable[object]], query: str = ""
) -> list[Any]:
    """The events of a stream that is open while something happens."""

    async def follow() -> list[Any]:
        async with Following(client, path, query) as stream:
            await happens(stream)
            return stream.events

    return client.run(follow())


def test_events_come_as_they_happen_and_the_stream_ends_with_the_sandbox(client: Client) -> None:
    client.sandbox(PLAIN, "live")

    async def happens(stream: Following) -> None:
        await client.acall("GET", "/v2/balance", sandbox="live")
        await stream.until('"kind":"request"')
        await client.asim("POST", "/sandboxes/live/reset")
        await client.acall("GET", "/v2/balance", sandbox="live")
        await client.acall("GET", "/v2/balance", sandbox="live")
        await client.asim("DELETE", "/sandboxes/live")
        await stream.task

    found = followed(client, "/sandboxes/live/events", happens, "only=request")
    assert [event.get("action") or event["n"] for event in found] == [1, "reset", 1, 2, "deleted"]
    assert client.app.sandboxes.events.readers == []


def test_what_ends_after_the_deletion_of_its_sandbox_leaves_the_streams_of_all_sandboxes_open(client: Client) -> None:
    """An advance whose last turn comes after the deletion still has an event, of a sandbox that cannot be shown."""
    client.sandbox(PLAIN, "live")
    live = client.app.sandboxes.get("live")

    async def happens(stream: Following) -> None:
        await client.asim("DELETE", "/sandboxes/live")
        live.events.note(Action("clock_advanced", live.clock.now()))
        await client.acall("GET", "/v2/balance")
        await stream.until('"kind":"request"')

    assert [event.get("action", event["kind"]) for event in followed(client, "/events", happens)] == [
        "deleted",
        "request",
    ]


def test_a_stream_ends_when_its_sandbox_is_deleted_before_its_first_piece_is_sent(client: Client) -> None:
    client.sandbox(PLAIN, "live")
    live = client.app.sandboxes.get("live")
    reader = EventSource(client.app.sandboxes, EventQuery(), live.events).reader()

    client.sim("DELETE", "/sandboxes/live")

    with reader:
        assert reader.is_over


def test_events_unread_before_a_reset_come_before_it(client: Client) -> None:
    async def happens(stream: Following) -> None:
        stream.may_read.clear()
        for _ in range(5):
            await client.acall("GET", "/v2/balance")
        await client.asim("POST", "/sandboxes/default/reset")
        stream.may_read.set()
        await stream.until('"reset"')

    assert [event.get("n") or event["action"] for event in followed(client, PATH, happens, "only=request")] == [
        1,
        2,
        3,
        4,
        5,
        "reset",
    ]


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the events that are rendered."""
    numbers: list[int] = []

    def counted(
        sandboxes: Sandboxes, live: LiveSandbox, event: NumberedEvent, *, with_bodies: bool
    ) -> event_reader.EventContent:
        numbers.append(event.number)
        return event_content(sandboxes, live, event, with_bodies=with_bodies)

    monkeypatch.setattr("simulator.control.event_endpoints.event_content", counted)
    return numbers


def test_two_streams_render_an_event_once(client: Client, rendered: list[int]) -> None:
    async def follow() -> None:
        async with Following(client, PATH) as one, Following(client, PATH) as other:
            await client.acall("GET", "/v2/balance")
            for stream in (one, other):
                await stream.until("/v2/balance")

    client.run(follow())
    assert rendered == [2]


def test_an_event_that_no_stream_wants_is_not_rendered(client: Client, rendered: list[int]) -> None:
    client.pay("e1")
    numbers = [event["number"] for event in told(client)]
    rendered.clear()
    wanted = [event["number"] for event in told(client, "only=status,callback")]
    assert set(rendered) == set(wanted) < set(numbers)


def test_under_load_a_reader_is_woken_for_many_events_at_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "WAKE_EVERY_S", 1000.0)

    async def woken() -> tuple[bool, bool]:
        reader = EventSource(client.app.sandboxes, EventQuery(), client.live.events).reader()
        with reader:
            waiting = asyncio.ensure_future(reader.wait(60))
            await client.acall("GET", "/v2/balance")
            first = await waiting
            assert len(reader.take()) == 1
            waiting = asyncio.ensure_future(reader.wait(60))
            for _ in range(3):
                await client.acall("GET", "/v2/balance")
                await asyncio.sleep(0)
            second = waiting.done()
            client.live.events.hub.wake()
            assert await waiting
            assert len(reader.take()) == 3
            return first, second

    assert client.run(woken()) == (True, False)


def test_readers_that_are_behind_a_reset_miss_no_events(client: Client) -> None:
    async def follow() -> list[list[Any]]:
        async with AsyncExitStack() as stack:
            stalled = [Following(client, "/events", "only=request") for _ in range(10)]
            for stream in stalled:
                await stack.enter_async_context(stream)
                stream.may_read.clear()
            for _ in range(100):
                await client.acall("GET", "/v2/balance")
            await client.asim("POST", "/sandboxes/default/reset")
            for stream in stalled:
                stream.may_read.set()
                await stream.until('"reset"')
            return [stream.events for stream in stalled]

    for found in client.run(follow()):
        assert [event.get("n") or event["action"] for event in found] == [*range(1, 101), "reset"]


@pytest.mark.parametrize("resets", [1, 5])
def test_a_reader_that_is_far_behind_keeps_a_bounded_number_of_events_over_resets(
    client: Client, monkeypatch: pytest.MonkeyPatch, resets: int
) -> None:
    monkeypatch.setattr(event_reader, "UNREAD_MAX", 3)
    kept: list[int] = []

    async def happens(stream: Following) -> None:
        stream.may_read.clear()
        for _ in range(resets):
            for _ in range(5):
                await client.acall("GET", "/v2/balance")
            await client.asim("POST", "/sandboxes/default/reset")
            kept.extend(len(cast(Any, reader).first) for reader in client.app.sandboxes.events.readers)
        await client.acall("GET", "/v2/transactions")
        stream.may_read.set()
        await stream.until("/v2/transactions")

    found = followed(client, PATH, happens, "only=request")
    assert 0 < max(kept) <= 2 * 3 + 1
    missing = sum(event["missing"] for event in found if event["kind"] == "gap")
    told = [event for event in found if event["kind"] != "gap"]
    assert missing > 0
    assert missing + len(told) == told[-1]["number"] - 1


def test_the_lines_of_the_server_itself_are_no_stream_of_a_client(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "READERS_MAX", 1)
    own = EventSource(client.app.sandboxes, EventQuery()).reader()
    own.is_own = True
    with own:
        assert client.sim("GET", f"{PATH}?timeout=0").status == 200


def test_an_idle_reader_takes_no_memory_and_learns_how_much_it_missed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "EVENTS_MAX", 10)
    client.sandbox(PLAIN, "busy")

    async def happens(stream: Following) -> None:
        stream.may_read.clear()
        for _ in range(100):
            await client.acall("GET", "/v2/balance", sandbox="busy")
        (reader,) = client.app.sandboxes.events.readers
        assert [log.sandbox for log in reader.logs] == ["busy"]
        stream.may_read.set()
        await stream.until('"number":101')

    found = followed(client, "/sandboxes/busy/events", happens)
    read = [event["number"] for event in found if event["kind"] == "request"]
    (gap,) = [event for event in found if event["kind"] == "gap"]
    assert read[-10:] == list(range(92, 102))
    assert gap["missing"] + len(read) == 100


def test_a_stream_of_all_sandboxes_includes_new_sandboxes_and_ends_with_the_server(client: Client) -> None:
    async def happens(stream: Following) -> None:
        await client.asim("POST", "/sandboxes", {"id": "later"})
        await client.acall("GET", "/v2/balance", sandbox="later")
        await client.asim("DELETE", "/sandboxes/later")
        await stream.until('"deleted"')
        client.app.sandboxes.end_waits()
        await stream.task

    found = followed(client, "/events", happens, "only=action,request")
    assert [event.get("action") or event["path"] for event in found] == ["created", "/v2/balance", "deleted"]


def test_a_sandbox_whose_events_are_read_is_not_idle(client: Client) -> None:
    client.sandbox(PLAIN, "watched")

    async def follow() -> list[bool]:
        live = client.app.sandboxes.get("watched")
        async with Following(client, "/events"):
            alone = live.is_busy
        async with Following(client, "/sandboxes/watched/events"):
            return [alone, live.is_busy]

    assert client.run(follow()) == [False, True]


def test_a_long_history_is_sent_in_turns_between_other_work(client: Client) -> None:
    for _ in range(300):
        client.call("GET", "/v2/balance")

    async def follow() -> tuple[int, int]:
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        answer = await client.asim("GET", f"{PATH}?after=0&timeout=0")
        counting.cancel()
        return turns, len(told_in(answer))

    turns, count = client.run(follow())
    assert count == 301
    assert turns > count / event_reader.TAKEN_MAX


def test_a_filtered_history_is_read_to_its_end_without_waiting(client: Client) -> None:
    for number in range(40):
        client.call("GET", "/v2/balance" if number < 39 else "/v2/nowhere")
    client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "5.00"})
    answer = client.sim("GET", f"{PATH}?after=0&timeout=0&only=entry")
    assert answer.body.count(b"event: entry") == 1


def test_a_reader_of_all_sandboxes_misses_no_event_of_one_that_it_was_not_yet_woken_for(client: Client) -> None:
    client.sandbox(PLAIN, "other")

    async def read() -> list[dict[str, Any]]:
        sandboxes = client.app.sandboxes
        one, other = client.live.events, sandboxes.get("other").events
        with EventSource(sandboxes, EventQuery()).reader() as reader:
            reader.take()
            one.note(Action("first", one.clock.latest))
            one.hub.wake()
            other.note(Action("second", one.clock.latest))
            one.note(Action("third", one.clock.latest))
            return [json.loads(data_of(piece)) for piece in reader.take()]

    assert [event.get("action") for event in client.run(read())] == ["first", "second", "third"]


def test_streams_take_a_batch_once_and_each_its_own_events_when_they_begin_elsewhere(client: Client) -> None:
    client.pay("e1")

    async def read() -> list[list[bytes]]:
        source = EventSource(client.app.sandboxes, EventQuery(), client.live.events)
        only = EventSource(client.app.sandboxes, EventQuery(frozenset({"status"})), client.live.events)
        streams = [source.reader("0"), source.reader("0"), only.reader("0"), source.reader(None, 1)]
        with ExitStack() as stack:
            readers = [stack.enter_context(stream) for stream in streams]
            taken = [reader.take() for reader in readers]
            assert taken[1] is taken[0]
            client.live.events.note(Action("next", client.live.clock.latest))
            return taken + [reader.take() for reader in readers]

    whole, _, statuses, last, *after = client.run(read())
    assert len(whole) == len(PAID_KINDS)
    assert statuses == [piece for piece in whole if b"event: status" in piece]
    assert last == whole[-1:]
    assert [len(pieces) for pieces in after] == [1, 1, 0, 1]


@pytest.mark.parametrize("is_woken", [False, True])
def test_a_stream_that_begins_where_a_batch_did_goes_on_with_what_came_after_it(client: Client, is_woken: bool) -> None:
    client.pay("e1")

    async def read() -> list[int]:
        source = EventSource(client.app.sandboxes, EventQuery(), client.live.events)
        with source.reader("0") as early, source.reader("0"):
            early.take()
        client.live.events.note(Action("next", client.live.clock.latest))
        if is_woken:
            client.live.events.hub.wake()
        with source.reader("0") as late:
            taken = [len(late.take())]
            return [*taken, len(late.take())] if late.is_behind else taken

    assert sum(client.run(read())) == len(PAID_KINDS) + 1


def test_a_stream_that_begins_where_a_batch_did_has_no_event_that_was_evicted(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "EVENTS_MAX", 3)
    other = client.sandbox(PLAIN, "other")

    async def read() -> list[list[bytes]]:
        source = EventSource(client.app.sandboxes, EventQuery(), other.events)
        with source.reader("0") as early, source.reader("0"):
            before = early.take()
        for number in range(4):
            other.events.note(Action(f"action-{number}", other.clock.latest))
        other.events.hub.wake()
        with source.reader("0") as late:
            return [before, late.take()]

    before, after = client.run(read())
    assert len(before) >= 1
    assert [b"event: gap" in piece for piece in after] == [True, False, False, False]
