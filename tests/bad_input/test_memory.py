"""Floods: journal, inbox, nonces, addresses and inboxes stay within their limits."""

from typing import Any

import pytest

from simulator.runtime.journal import Exchange
from tests.support.client import Client, running

LARGE = 50_000
BOUND = 1024 * 1024


@pytest.fixture(scope="module", autouse=True)
def client() -> None:
    """The tables' client has no part here."""


@pytest.fixture(autouse=True)
def unharmed() -> None:
    """Each test has a simulator of its own."""


def kept_bytes(one: Exchange) -> int:
    parts = (one.packed_headers, one.path, one.query, one.body, one.content, one.diagnosis, one.selected_rule)
    return sum(map(len, parts))


FLOODS: list[tuple[str, dict[str, Any]]] = [
    ("headers", {"path": "/v2/balance", "headers": {"X-Fill": "h" * LARGE}}),
    ("rules", {"path": "/v2/balance", "headers": {"X-Sim-Rule": "r" * LARGE}}),
    ("keys", {"path": "/v2/balance", "headers": {"X-Api-Key": "k" * LARGE}}),
    ("paths", {"path": "/" + "p" * LARGE}),
    ("queries", {"path": "/v2/balance", "query": "q=" + "q" * LARGE}),
    ("sandboxes", {"path": "/s/" + "s" * LARGE}),
]


@pytest.mark.parametrize(("what", "request_"), FLOODS, ids=[what for what, _ in FLOODS])
def test_a_flood_does_not_fill_the_journal_beyond_its_bytes(what: str, request_: dict[str, Any]) -> None:
    with running({"limits": {"journal_bytes": BOUND}}) as client:
        for _ in range(60):
            client.send("GET", **request_)
        assert len(client.live.journal) > 5
        assert sum(map(kept_bytes, client.live.journal)) <= BOUND


def test_a_flood_of_bodies_does_not_fill_the_journal_beyond_its_bytes() -> None:
    with running({"limits": {"journal_bytes": BOUND}}) as client:
        for _ in range(60):
            client.call("POST", "/v2/topup", b" " * LARGE)
        assert sum(map(kept_bytes, client.live.journal)) <= BOUND


@pytest.mark.parametrize(
    "request_",
    [
        {"headers": {"X-Fill": "h" * LARGE}},
        {"headers": {str(number): "h" * 500 for number in range(99)}},
        {"query": "q" * LARGE},
        {"body": b"b" * LARGE},
    ],
    ids=["header", "headers", "query", "body"],
)
def test_a_flood_does_not_fill_an_inbox_beyond_its_bytes(request_: dict[str, Any]) -> None:
    with running({"limits": {"inbox_bytes": BOUND}}) as client:
        for _ in range(60):
            assert client.send("POST", "/_sim/inbox/default/flood", **request_).status == 200
        items = client.inbox("flood")
        assert len(items) > 5
        sizes = [len(item["body"]) + sum(len(name) + len(value) for name, value in item["headers"]) for item in items]
        assert sum(sizes) <= BOUND
        received = client.live.inboxes.peek("flood").received
        assert sum(len(one.query) for one in received) <= BOUND


def test_a_flood_of_names_does_not_fill_a_sandbox_beyond_its_bytes() -> None:
    with running({"limits": {"inboxes_bytes": BOUND}}) as client:
        for number in range(300):
            assert client.send("POST", f"/_sim/inbox/default/flood-{number}", body=b"b" * LARGE).status == 200
        counts = client.live.inboxes.counts()
        assert len(counts) > 5
        assert sum(counts.values()) * LARGE <= BOUND
        page = client.sim("GET", "/sandboxes/default/inbox/flood-0").json
        assert (page["count"], page["items"], page["left_out"]) == (0, [], 300 - sum(counts.values()))


def test_a_sandbox_has_so_many_inboxes_and_the_one_used_longest_ago_goes_first() -> None:
    with running({"limits": {"inboxes": 100}}) as client:
        client.sim("PUT", "/sandboxes/default/inbox/mine", {"replies": [{"status": 500}]})
        statuses = {client.send("POST", f"/_sim/inbox/default/flood-{number}").status for number in range(502)}
        assert statuses == {200}
        names = [f"flood-{number}" for number in range(402, 502)]
        assert client.live.inboxes.counts() == {"mine": 0, **dict.fromkeys(names, 1)}
        assert client.send("POST", "/_sim/inbox/default/mine").status == 500


def test_replies_are_set_for_so_many_inboxes_and_no_more() -> None:
    with running({"limits": {"inboxes": 3}}) as client:
        replies = {"replies": [{"status": 500}]}
        answers = [client.sim("PUT", f"/sandboxes/default/inbox/mine-{number}", replies) for number in range(4)]
        assert [answer.status for answer in answers] == [200, 200, 200, 409]
        assert answers[3].json["error"] == "too_many_inboxes"


def test_nonces_and_addresses_are_forgotten_with_time() -> None:
    with running(trust_forwarded=True) as client:
        for number in range(200):
            client.call("GET", "/v2/balance", headers={"X-Forwarded-For": f"192.0.2.{number}"})
        assert _known(client) == (200, 200)
        client.advance(601)
        client.call("GET", "/v2/balance")
        assert _known(client) == (201, 1), "the timestamps of the nonces could still be accepted"
        client.pass_time(301)
        client.call("GET", "/v2/balance")
        assert _known(client)[0] == 2, "of those, none can"


def _known(client: Client) -> tuple[int, int]:
    state = client.live.core.state
    assert state.rates is not None
    return len(state.nonces), len(state.rates)
