"""Ten files that a tester wrote from the page on scenario files alone: `check` finds nothing in them, and each of them
does what its first line says."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from simulator.scenario.library import problems
from tests.support.client import Client, running
from tests.support.play import balance, callback_statuses, settle, status

HERE = Path(__file__).parent / "newcomer"
NEXT = {"key": "next_key", "secret": "bm90LWEtc2VjcmV0LWJ1dC1sb25nLWVub3VnaA=="}


def file(name: str) -> str:
    return str(HERE / f"{name}.yaml")


def expectations(client: Client) -> dict[str, bool]:
    found = client.sim("GET", "/sandboxes/default/expectations").json["expectations"]
    return {one["name"]: one["ok"] for one in found}


@pytest.mark.parametrize("path", sorted(HERE.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_check_reports_no_problem(path: Path) -> None:
    assert problems(path) == []


def test_a_gateway_answers_every_night_between_two_times() -> None:
    with running(file("01-night")) as client:
        asked: list[int] = []
        for seconds in (0, 30, 1800, 86_400 - 1799, 1799):
            client.advance(seconds)
            answer = client.call("GET", "/v2/balance")
            asked.append(answer.status)
            if answer.status == 503:
                assert (answer.headers["retry-after"], answer.headers["server"]) == ("1800", "nginx")
                assert answer.headers["content-type"].startswith("text/html")
        assert asked == [200, 503, 200, 503, 200]


def test_the_fourth_payment_to_one_account_is_refused_and_others_are_not() -> None:
    with running(file("02-fourth")) as client:
        assert [client.pay(refid).status for refid in ("a", "b", "c", "c")] == [200] * 4  # the last one is a re-query
        assert client.pay("x", account="0198765432").status == 200
        refused = client.pay("d")
        assert (refused.status, refused.data["remarks"]) == (400, "Insufficient_Balance")
        assert client.pay("e").status == 200
        assert balance(client) == 4951.25


def test_a_mixture_is_drawn_by_weight_and_what_hung_is_done_at_six() -> None:
    with running(file("03-mixture")) as client:
        for at in range(30):
            client.pay(f"r{at}")
        client.advance(10)
        counts = Counter(status(client, f"r{at}") for at in range(30))
        assert counts["Succesful"] > counts["Failed"] > counts["Processing"] > 0
        client.advance(to="2027-01-10T18:00:00+08:00")
        ended = Counter(status(client, f"r{at}") for at in range(30))
        assert ended == {"Succesful": counts["Succesful"] + counts["Processing"], "Failed": counts["Failed"]}


def test_page_two_times_out_once_for_each_reseller() -> None:
    with running(file("04-page2"), mode="xN", rate=1000) as client:  # under a manual clock the 29 seconds are real ones

        def page(number: int, **more: Any) -> int:
            return client.call("GET", f"/v2/balance-statement?date=2026-11-21&page={number}", **more).status

        assert [page(1), page(2), page(2)] == [200, 504, 200]
        other = {**NEXT, "key": "key_two"}
        assert [page(2, **other), page(2, **other)] == [504, 200]


def test_the_final_callback_comes_twice_and_a_stale_one_an_hour_later() -> None:
    with running(file("05-twice-stale")) as client:
        client.pay("r1")
        client.advance(60)
        assert callback_statuses(client, "r1") == ["Processing", "Succesful", "Succesful"]
        settle(client)
        assert callback_statuses(client, "r1")[3:] == ["Processing"]
        assert set(expectations(client).values()) == {True}


def test_a_receiver_closes_connections_for_ten_minutes_and_flaps_afterwards() -> None:
    with running(file("06-receiver")) as client:
        client.pay("r1")
        client.advance(300)
        assert [item["status"] for item in client.inbox()] == [200, 200]
        client.pay("r2")
        client.advance(599)
        rows = client.sim("GET", "/sandboxes/default/callbacks").json["callbacks"]
        assert {row["ending"] for row in rows if row["refid"] == "r2"} == {"connection"}
        client.advance(1)
        client.pay("r3")
        settle(client)
        assert [item["status"] for item in client.inbox() if item["json"]["data"]["refid"] == "r3"] == [
            500,
            200,
            500,
            200,
        ]


def test_a_connection_is_refused_where_nothing_listens_for_ten_minutes() -> None:
    with running(file("06b-really-refused")) as client:
        client.advance(300)
        client.pay("r1")
        client.advance(200)
        rows = client.sim("GET", "/sandboxes/default/callbacks").json["callbacks"]
        assert {(row["url"], row["ending"]) for row in rows} == {("http://127.0.0.1:1/", "connection")}
        client.advance(400)
        client.pay("r2")
        settle(client)
        assert [item["status"] for item in client.inbox()] == [500, 200, 500, 200]
        assert callback_statuses(client, "r1") == []


def test_keys_change_a_network_breaks_for_a_minute_and_an_allowlist_comes_last() -> None:
    with running(file("07-keys")) as client:

        def network() -> Any:
            return client.call("GET", "/v2/networkstatus?product=ELECTRIC", **NEXT).data["network_status"]

        def both() -> list[int]:
            return [client.call("GET", "/v2/balance").status, client.call("GET", "/v2/balance", **NEXT).status]

        assert both() == [200, 401]
        client.advance(540)
        assert both() == [200, 200]
        client.advance(60)
        assert both() == [401, 200]
        client.advance(120)
        assert network() == "Interruption"
        client.advance(60)
        assert network() == "Healthy"
        client.advance(420)
        assert both()[1] == 403


def test_more_than_the_bill_is_refused_and_odd_payments_are_slow() -> None:
    with running(file("08-amounts")) as client:
        billed = {"product": "ELECTRIC", "account": "210012345678"}
        client.pay("b1", "100", **billed)
        client.advance()
        assert client.pay("b2", "20.51", **billed).data["remarks"] == "more than what is outstanding"
        assert client.pay("b3", "20.50", **billed).status == 200
        # Each account has a bill, which the product generates where no rule of `bills` sets one.
        assert client.pay("b4", "1000", product="ELECTRIC", account="210012345677").status == 400
        slow = "games and large amounts"
        assert client.pay("g", "100", product="GAME").headers["x-sim-rule"] == slow
        assert client.pay("r", account="0123456777").headers["x-sim-rule"] == "suffix 77"
        client.advance(600)
        assert (status(client, "g"), callback_statuses(client, "g")) == ("Succesful", ["Processing", "Succesful"])
        assert callback_statuses(client, "r") == ["Processing"] * 2 + ["Succesful"] * 2


def test_rules_of_two_bases_are_replaced_removed_and_inherited() -> None:
    with running(file("09-extends")) as client:
        client.pay("r1", account="0123456748")
        client.advance(3599)
        assert status(client, "r1") == "Accepted"
        client.advance(1)
        assert status(client, "r1") == "Failed"
        assert client.call("GET", "/v2/catalog").status == 200
        rules = client.sim("GET", "/sandboxes/default/rules").json["rules"]
        assert [
            rule["name"] for rule in rules if rule["section"] == "faults" and not rule["id"].startswith("magic")
        ] == ["balance slow"]


def test_missing_events_are_distinguished_from_forbidden_events() -> None:
    with running(file("10-expect")) as client:
        client.pay("order-1")
        settle(client)
        assert set(expectations(client).values()) == {True}
        client.pay("order-1")
        client.pay("bad", "1")
        assert [name for name, ok in expectations(client).items() if not ok] == ["each refid once", "no 4xx"]
