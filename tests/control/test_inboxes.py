"""An inbox is read page by page, and what strangers sent is decoded no further than a page may take."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.contract import body as contract_body
from simulator.control import message_origin
from simulator.control.http import AT_ONCE_BYTES_MAX
from tests.support.client import Client, Response, running

MEBIBYTE = 1024 * 1024


@pytest.fixture(scope="module")
def shared() -> Iterator[Client]:
    with running() as client:
        yield client


@pytest.fixture
def client(shared: Client) -> Iterator[Client]:
    yield shared
    shared.sim("DELETE", "/sandboxes/default/inbox/mine")


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of all bodies that were decoded for an inbox."""
    lengths: list[int] = []

    def decode(body: bytes) -> Any:
        lengths.append(len(body))
        return contract_body.decode_any(body)

    monkeypatch.setattr(message_origin, "decode_any", decode)
    return lengths


def post(client: Client, *bodies: bytes, query: str = "") -> None:
    for body in bodies:
        assert client.send("POST", "/_sim/inbox/default/mine", query, body).status == 200


def read(client: Client, query: str = "") -> Any:
    answer = client.sim("GET", f"/sandboxes/default/inbox/mine{query}")
    assert answer.status == 200, answer.body
    return answer.json


def numbers(page: Any) -> list[int]:
    return [item["n"] for item in page["items"]]


def test_a_short_inbox_is_one_page(client: Client) -> None:
    post(client, b'{"a": [1, 2.50]}', b"text", query="a=1&b=")
    page = read(client)
    assert (page["count"], page["left_out"], page["complete"]) == (2, 0, True)
    assert (page["cursor"], page["has_more"]) == (None, False)
    assert [(item["n"], item["body"], item["json"], item["query"]) for item in page["items"]] == [
        (1, '{"a": [1, 2.50]}', {"a": [1, 2.5]}, {"a": "1", "b": ""}),
        (2, "text", None, {"a": "1", "b": ""}),
    ]


def test_a_long_inbox_is_read_to_its_end_in_pages_of_a_hundred_or_of_a_limit(client: Client) -> None:
    post(client, *(b"%d" % number for number in range(250)))
    pages = [
        read(client),
        read(client, "?cursor=100"),
        read(client, "?cursor=200&limit=1000"),
        read(client, "?limit=3"),
    ]
    assert [numbers(page) for page in pages] == [
        list(range(1, 101)),
        list(range(101, 201)),
        list(range(201, 251)),
        [1, 2, 3],
    ]
    assert [(page["count"], page["cursor"], page["has_more"]) for page in pages] == [
        (250, "100", True),
        (250, "200", True),
        (250, None, False),
        (250, "3", True),
    ]


def test_messages_that_come_and_go_between_pages_are_neither_repeated_nor_skipped() -> None:
    with running({"limits": {"inbox": 10}}) as client:
        post(client, *[b""] * 10)
        first = read(client, "?limit=4")
        post(client, *[b""] * 6)
        second = read(client, f"?limit=4&cursor={first['cursor']}")
        assert (numbers(first), numbers(second)) == ([1, 2, 3, 4], [7, 8, 9, 10])
        assert (second["count"], second["left_out"]) == (10, 6), "5 and 6 were evicted, and it says so"


def test_a_cursor_at_or_beyond_the_end_lists_no_messages(client: Client) -> None:
    post(client, b"", b"")
    for cursor in (2, 3, 2**53):
        page = read(client, f"?cursor={cursor}")
        assert (page["items"], page["cursor"], page["has_more"], page["count"]) == ([], None, False, 2)


def test_a_page_of_large_messages_is_short_but_never_empty(client: Client) -> None:
    post(client, b"b" * 100_000, b"c" * MEBIBYTE, b"d")
    found, cursor = [], "0"
    while cursor:
        page = read(client, f"?limit=1000&cursor={cursor}")
        found.append(numbers(page))
        cursor = page["cursor"]
    assert found == [[1, 2], [3]]


HOSTILE: list[tuple[str, bytes, bool]] = [
    ("a mebibyte of lists", b"[" * (MEBIBYTE // 2) + b"]" * (MEBIBYTE // 2), False),
    ("a mebibyte of numbers", b"[" + b"1," * (MEBIBYTE // 2 - 2) + b"1]", False),
    ("33 levels", b"[" * 33 + b"]" * 33, False),
    ("32 levels", b"[" * 32 + b"1" + b"]" * 32, True),
    ("33 levels of objects", b'{"a":' * 33 + b"1" + b"}" * 33, False),
    ("32 levels of objects", b'{"a":' * 32 + b"1" + b"}" * 32, True),
    ("5,000 members", b"{" + b",".join(b'"%d":1' % one for one in range(5000)) + b"}", True),
    ("more than 64 KiB", b'"' + b"t" * 65_535 + b'"', False),
    ("64 KiB", b'"' + b"t" * 65_534 + b'"', True),
]


@pytest.mark.parametrize(("what", "body", "is_decoded"), HOSTILE, ids=[what for what, _, _ in HOSTILE])
def test_json_that_is_large_or_deep_is_shown_as_text(
    client: Client, decoded: list[int], what: str, body: bytes, is_decoded: bool
) -> None:
    post(client, body)
    assert decoded == []
    (item,) = read(client)["items"]
    assert item["body"] == body.decode()
    assert item["json"] == (json.loads(body) if is_decoded else None)
    assert sum(decoded) <= AT_ONCE_BYTES_MAX


def test_twenty_mebibytes_of_nested_json_are_never_decoded_and_a_page_shows_one_of_them(
    client: Client, decoded: list[int]
) -> None:
    post(client, *[b"[" * (MEBIBYTE // 2) + b"]" * (MEBIBYTE // 2)] * 20)
    page = read(client, "?limit=1000")
    assert (numbers(page), page["count"], page["has_more"], decoded) == ([1], 20, True, [])


def test_only_the_messages_of_a_page_are_decoded(client: Client, decoded: list[int]) -> None:
    post(client, *(b'{"number": %d}' % number for number in range(10, 60)))
    read(client, "?limit=5&cursor=20")
    assert decoded == [len(b'{"number": 10}')] * 5


def test_a_query_shows_all_its_parameters(client: Client) -> None:
    post(client, b"", query="&".join(f"p{one}={one}" for one in range(2000)))
    (item,) = read(client)["items"]
    assert item["query"] == {f"p{one}": str(one) for one in range(2000)}


def test_waiting_with_a_cursor_counts_the_messages_after_it(client: Client) -> None:
    post(client, b"1", b"2")

    async def main() -> list[Response]:
        path = "/sandboxes/default/inbox/mine?timeout=10"
        waits = [
            asyncio.create_task(client.asim("GET", f"{path}&{query}"))
            for query in ("cursor=2&wait_for=1", "cursor=1&wait_for=3&limit=2", "wait_for=4")
        ]
        await asyncio.sleep(0)
        for body in (b"3", b"4"):
            await client.asend("POST", "/_sim/inbox/default/mine", "", body, {})
        return await asyncio.wait_for(asyncio.gather(*waits), 60)

    pages = [answer.json for answer in client.run(main())]
    assert [page["complete"] for page in pages] == [True] * 3
    assert [numbers(page) for page in pages[1:]] == [[2, 3], [1, 2, 3, 4]]
    assert numbers(pages[0])[0] == 3
    late = read(client, "?cursor=3&wait_for=2&timeout=0")
    assert (late["complete"], numbers(late)) == (False, [4])


def statuses(client: Client, count: int) -> list[int]:
    return [client.send("POST", "/_sim/inbox/default/mine").status for _ in range(count)]


FLAPPING = {"replies": [{"status": 500}, {"disconnect": True}, {"status": 200}], "repeat": True}


def test_an_inbox_that_repeats_begins_again_and_a_closed_connection_is_a_message_too() -> None:
    with running({"clock": "manual", "inboxes": {"mine": FLAPPING}}) as client:
        assert statuses(client, 7) == [500, 0, 200, 500, 0, 200, 500]
        assert [item["status"] for item in read(client)["items"]] == [500, 0, 200, 500, 0, 200, 500]


def test_a_list_and_an_object_of_replies_without_repeat_stay_at_the_last() -> None:
    replies = [{"status": 500}, {"status": 404}]
    for program in (replies, {"replies": replies}):
        with running({"inboxes": {"mine": program}}) as client:
            assert statuses(client, 4) == [500, 404, 404, 404]


OUTAGES = {
    "replies": [{"status": 201}, {"status": 202}],
    "during": [
        {"since": "10m", "until": "20m", "status": 503},
        {"time": {"from": "12:15", "to": "12:30"}, "disconnect": True},
    ],
}


def test_a_reply_by_time_answers_while_its_window_lasts_and_uses_up_no_other() -> None:
    noon = {"mode": "manual", "start": "2027-01-10T12:00:00+08:00"}
    with running({"clock": noon, "inboxes": {"mine": OUTAGES}}) as client:
        assert statuses(client, 1) == [201]
        client.advance(600)
        assert statuses(client, 2) == [503, 503]
        client.advance(599)
        assert statuses(client, 1) == [503], "12:19:59 lies in both windows, and the first one wins"
        client.advance(1)
        assert statuses(client, 2) == [0, 0]
        client.advance(600)
        assert statuses(client, 2) == [202, 202]


def test_a_put_programs_an_inbox_as_a_file_does(client: Client) -> None:
    path = "/sandboxes/default/inbox/mine"
    for program, expected in (
        (FLAPPING, [500, 0, 200, 500]),
        ({"during": [{"since": "0s", "status": 418, "headers": {"X-Pot": "1"}}]}, [418, 418]),
        ({"replies": [{"status": 204, "delay": 0.001}]}, [204]),
        ({"replies": [{"status": 203, "delay": {"median": "1ms", "p99": "2ms"}}]}, [203, 203]),
        ({"replies": [{"status": 202, "delay": "1ms"}], "during": [{"until": "0s", "status": 418}]}, [202, 202]),
        ({"during": []}, [200, 200]),
        ({"repeat": True}, [200, 200]),
    ):
        answer = client.sim("PUT", path, program)
        assert (answer.status, answer.json) == (200, program | {"warnings": []})
        assert statuses(client, len(expected)) == expected


def test_the_list_of_inboxes_shows_both_points_of_a_distribution(client: Client) -> None:
    client.sim("PUT", "/sandboxes/default/inbox/mine", {"replies": [{"delay": {"median": "80ms", "p99": "2s"}}]})
    (row,) = client.sim("GET", "/sandboxes/default/inbox").json["inboxes"]
    assert [(one["delay"], one["p99"]) for one in row["replies"]["replies"]] == [(0.08, 2.0)]


@pytest.mark.parametrize(
    ("program", "path"),
    [
        ({}, ""),
        ({"replies": [{"disconnect": True, "status": 500}]}, "replies.0.status"),
        ({"replies": [{"disconnect": True, "body": "b"}]}, "replies.0.body"),
        ({"replies": [{"disconnect": False}]}, "replies.0.disconnect"),
        ({"replies": [{}, {"headers": {"X-Sim-Rule": "a"}}]}, "replies.1.headers"),
        ({"replies": [{"headers": {"Age": "1", "age": "2"}}]}, "replies.0.headers"),
        ({"replies": [{"delay": "6m"}]}, "replies.0.delay"),
        ({"replies": [{"delay": {"median": "2s", "p99": "1s"}}]}, "replies.0.delay.p99"),
        ({"replies": [{"delay": {"median": "1s"}}]}, "replies.0.delay.p99"),
        ({"during": [{"since": "0s", "delay": {"median": "1s", "p99": "6m"}}]}, "during.0.delay"),
        ({"replies": [{"since": "1m"}]}, "replies.0.since"),
        ({"replies": [], "repeat": "yes"}, "repeat"),
        ({"during": [{"status": 500}]}, "during.0"),
        ({"during": [{"since": "soon"}]}, "during.0.since"),
        ({"during": [{"until": "9999999d"}]}, "during.0.until"),
        ({"during": [{"time": {"from": "25:00"}}]}, "during.0.time.from"),
        ({"during": [{"weekday": ["Mo"]}]}, "during.0.weekday.0"),
        ({"during": {}}, "during"),
    ],
)
def test_a_put_refuses_content_that_a_file_may_not_have(client: Client, program: Any, path: str) -> None:
    refused = client.sim("PUT", "/sandboxes/default/inbox/mine", program)
    assert (refused.status, refused.json["error"], refused.json["path"]) == (400, "bad_request", path), refused.json
    assert statuses(client, 1) == [200]


def test_a_delivery_into_a_closed_connection_is_attempted_again() -> None:
    callbacks = {"replies": [{"disconnect": True}, {"status": 200}]}
    with running({"clock": "manual", "inboxes": {"callbacks": callbacks}}) as client:
        client.pay()
        client.advance(2)
        client.advance(60)
        rows = client.sim("GET", "/sandboxes/default/callbacks").json["callbacks"]
        tried = [(one["ending"], one["status"]) for one in rows if one["callback"] == rows[0]["callback"]]
        assert tried == [("connection", None), ("answered", 200)]


def test_a_reset_begins_a_program_and_its_windows_again() -> None:
    program = {"replies": [{"status": 201}, {"status": 202}], "during": [{"since": "1m", "status": 503}]}
    with running({"clock": "manual", "inboxes": {"mine": program}}) as client:
        assert statuses(client, 2) == [201, 202]
        client.advance(60)
        assert statuses(client, 1) == [503]
        assert client.sim("POST", "/sandboxes/default/reset").status < 300
        assert statuses(client, 2) == [201, 202]


@pytest.mark.parametrize(("clock", "delay", "count"), [("manual", "20s", 1), ("manual", "1s", 0), ("real", "20s", 0)])
def test_replies_that_wait_long_under_a_manual_clock_are_a_warning(clock: str, delay: str, count: int) -> None:
    with running() as client:
        client.sim("POST", "/sandboxes", {"id": "mine", "clock": {"mode": clock}})
        answer = client.sim("PUT", "/sandboxes/mine/inbox/callbacks", {"replies": [{"delay": delay}]}).json
    text = "inboxes.callbacks.replies[0].delay: each message waits 5 s of real time, although the clock is manual; "
    text += "then the attempt fails, as it does at once with `disconnect: true`"
    assert answer == {"replies": [{"delay": delay}], "warnings": [text] * count}
