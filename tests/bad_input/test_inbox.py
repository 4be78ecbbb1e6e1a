"""The inbox's own address, which is open to any sender: unknown names, any method, any body."""

import json

import pytest

from tests.support import processes
from tests.support.bad_requests import ask, ids, said
from tests.support.bad_values import NOT_AN_OBJECT
from tests.support.client import Client
from tests.support.processes import serving

NAMES: list[tuple[str, str, str]] = [
    ("a blank", "default/ ", "400 bad_inbox_name"),
    ("a blank within", "default/a b", "400 bad_inbox_name"),
    ("two dots", "default/..", "400 bad_inbox_name"),
    ("a dash in front", "default/-a", "400 bad_inbox_name"),
    ("NUL", "default/\x00", "400 bad_inbox_name"),
    ("a line feed", "default/a\n", "400 bad_inbox_name"),
    ("markup", "default/<b>", "400 bad_inbox_name"),
    ("Cyrillic", "default/\u0430", "400 bad_inbox_name"),
    ("65 characters", "default/" + "n" * 65, "400 bad_inbox_name"),
    ("50,000 characters", "default/" + "n" * 50_000, "400 bad_inbox_name"),
    ("an unknown sandbox", "nobody/callbacks", "404 unknown_sandbox"),
    ("a sandbox of a dictionary's own", "__class__/callbacks", "404 unknown_sandbox"),
    ("a sandbox of 50,000 characters", "s" * 50_000 + "/callbacks", "404 unknown_sandbox"),
    ("no sandbox", "/callbacks", "404 unknown_path"),
    ("no name", "default/", "404 unknown_path"),
    ("neither", "", "404 unknown_path"),
    ("a slash behind", "default/callbacks/", "404 unknown_path"),
    ("a part more", "default/callbacks/more", "404 unknown_path"),
]


@pytest.mark.parametrize(("what", "path", "expected"), NAMES, ids=ids(NAMES))
def test_an_address_without_an_inbox_is_404(client: Client, what: str, path: str, expected: str) -> None:
    for method in ("POST", "GET", "DELETE"):
        answer = ask(client, method, f"/_sim/inbox/{path}", b"{}")
        assert said(answer) == expected
        assert len(answer.body) < 3000


def test_an_inbox_takes_up_to_a_mebibyte(client: Client) -> None:
    assert said(ask(client, "POST", "/_sim/inbox/default/large", b" " * (1024 * 1024 + 1))) == "400 bad_request"
    assert (
        said(ask(client, "POST", "/_sim/inbox/default/large", b"", {"Content-Length": "9" * 400})) == "400 bad_request"
    )
    client.sim("DELETE", "/sandboxes/default/inbox/large")


@pytest.mark.parametrize(
    "method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"]
)
def test_an_inbox_takes_any_method(client: Client, method: str) -> None:
    assert ask(client, method, "/_sim/inbox/default/any", b"x").status == 200
    (item,) = client.inbox("any")
    assert (item["method"], item["body"]) == (method, "x")
    client.sim("DELETE", "/sandboxes/default/inbox/any")


def test_an_inbox_takes_any_body_and_any_query_and_shows_them(client: Client) -> None:
    queries = ["", "&", "=", "%ff=%zz", "a=1&a=2", "a" * 50_000, "%00"]
    for _, body in NOT_AN_OBJECT:
        assert ask(client, "POST", f"/_sim/inbox/default/any?{queries[len(body) % 7]}", body).status == 200
    assert len(client.inbox("any")) == len(NOT_AN_OBJECT)
    client.sim("DELETE", "/sandboxes/default/inbox/any")


def test_a_sender_from_anywhere_may_reach_an_inbox_and_nothing_else(client: Client) -> None:
    foreign = {"Host": "evil.example", "Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert ask(client, "POST", "/_sim/inbox/default/any", b"x", foreign).status == 200
    client.sim("DELETE", "/sandboxes/default/inbox/any")
    for path in ("/_sim/inbox", "/_sim/inboxes/default/any", "/_sim/inbox/../sandboxes", "/_sim/sandboxes"):
        assert ask(client, "GET", path, b"", foreign).status in (403, 404)


@pytest.mark.slow
def test_strangers_on_the_wire_fill_no_more_than_the_budget_and_the_owner_reads_it_in_short_pages() -> None:
    limits = {"inboxes": 50, "inboxes_bytes": 4 * 1024 * 1024}
    scenario = {"extends": "default", "clock": "manual", "limits": limits, "inboxes": {"mine": [{"status": 500}]}}
    nested = b"[" * 400_000 + b"]" * 400_000
    with serving("--port", "0", "--json") as server:
        control = f"{server.ready['url']}/_sim"
        made = processes.ask(f"{control}/sandboxes", "POST", json.dumps({"id": "mine", "scenario": scenario}).encode())
        assert made.status == 201, made.body
        for number in range(120):
            assert processes.ask(f"{control}/inbox/mine/n{number}", "POST", b"b" * 1000).status == 200
        for _ in range(8):
            assert processes.ask(f"{control}/inbox/mine/mine", "POST", nested).status == 500
        assert processes.ask(f"{control}/sandboxes/mine/inbox/n119").json["count"] == 0
        kept, cursor = [], "0"
        while cursor:
            page = processes.ask(f"{control}/sandboxes/mine/inbox/mine?limit=1000&cursor={cursor}").json
            assert {(item["body"], item["json"]) for item in page["items"]} == {(nested.decode(), None)}
            assert len(page["items"]) <= 2  # the item that fills a MiB is the last
            kept += page["items"]
            cursor = page["cursor"]
        assert (page["count"], page["left_out"], [item["n"] for item in kept]) == (5, 3, [4, 5, 6, 7, 8])
        assert processes.ask(f"{control}/inbox/mine/late", "POST").status == 200
        late = processes.ask(f"{control}/sandboxes/mine/inbox/late").json
        assert (late["count"], late["left_out"]) == (1, 120)
