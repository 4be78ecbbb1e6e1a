"""Payments in the control API: their order, and a story that stays small."""

from typing import Any

from simulator.control.transaction_endpoints import SHOWN_MAX
from tests.support.client import Client, running

PATH = "/sandboxes/default/transactions"


def listed(client: Client, query: str = "") -> list[tuple[str, str]]:
    rows = client.sim("GET", PATH + query).json["transactions"]
    return [(row["reseller"], row["refid"]) for row in rows]


def story_of(client: Client, refid: str = "ref-1") -> Any:
    return client.sim("GET", f"{PATH}/{client.live.core.state.resellers['RS001'].refids[refid].trxid}").json


def test_payments_of_an_instant_are_listed_latest_first() -> None:
    codes = ["RS002", "RS003", "RS001"]
    secret = "bm90LWEtc2VjcmV0LWF0LWFsbA=="
    rows = [{"code": code, "balance": 100, "api_keys": [{"key": f"key-{code}", "secret": secret}]} for code in codes]
    with running({"resellers": rows}) as client:
        resellers = client.live.core.state.resellers
        for code in codes:
            assert client.pay("same", key=f"key-{code}", secret=secret).status == 200
        assert len({resellers[code].refids["same"].created for code in codes}) == 1
        expected = [(code, "same") for code in reversed(codes)]
        assert listed(client) == listed(client, "?refid=same") == expected
        assert listed(client, "?refid=same&reseller=RS001") == [("RS001", "same")]


def test_a_story_has_the_latest_requests_and_counts_the_others() -> None:
    with running() as client:
        for _ in range(SHOWN_MAX):
            client.pay()
        client.pay("another")
        whole = story_of(client)
        assert (len(whole["requests"]), whole["requests_left_out"]) == (SHOWN_MAX, 0)
        client.pay()
        client.pay()
        story = story_of(client)
        assert story["requests_left_out"] == 2
        assert [one["n"] for one in story["requests"]] == [*range(3, SHOWN_MAX + 1), SHOWN_MAX + 2, SHOWN_MAX + 3]
        page = client.sim("GET", f"/sandboxes/default/requests?trxid={story['trxid']}&limit=1000").json["requests"]
        assert len(page) == SHOWN_MAX + 2


def test_a_story_has_the_latest_callbacks_and_counts_the_others() -> None:
    steps = [{"status": "Accepted"}, {"after": "1s", "status": "Processing"}, {"after": "2s", "status": "Succesful"}]
    rule = {"then": steps, "callbacks": {"duplicate": SHOWN_MAX - 1}}
    with running({"payments": [rule]}) as client:
        client.pay()
        client.advance()
        story = story_of(client)
        assert {one["payment_status"] for one in story["callbacks"]} == {"Succesful"}
        assert [one["copy"] for one in story["callbacks"]] == list(range(SHOWN_MAX))
        assert story["callbacks_left_out"] == SHOWN_MAX


def test_a_story_has_a_line_for_each_event_after_its_cause() -> None:
    with running("default") as client:
        client.call("POST", "/v2/callback-url?url=inbox:callbacks&method=POST")
        client.pay()
        client.pay()
        client.advance()
        events = story_of(client)["events"]
        assert [one["text"].split(",")[0] for one in events] == [
            "#2 POST /v2/topup → 200",
            "status Accepted (1) by creation",
            "wallet -9.75 MYR (TRANSACTION)",
            "#3 POST /v2/topup → 200",
            "status Processing (2) by step",
            "callback Processing to inbox:callbacks",
            "status Succesful (20) by step",
            "callback Succesful to inbox:callbacks",
        ]
        assert [one["at"] for one in events] == sorted(one["at"] for one in events)
