"""Rules that apply at certain times only, by the time of the sandbox."""

import pytest

from tests.support.client import running

SUNDAY_BEFORE_NOON = {"mode": "manual", "start": "2027-01-10T11:59:00+08:00"}
OUTAGE = {"time": {"from": "12:00", "to": "12:10"}, "weekday": ["Sun"]}
DAY = 24 * 60 * 60
REASON: dict[str, dict[str, int]] = {"voids": {"refund_type": 1}, "disputes": {}}


def test_a_fault_holds_at_its_time_of_day_and_day_alone() -> None:
    outage = {"name": "outage", "when": OUTAGE, "then": {"status": 502}}
    with running({"clock": SUNDAY_BEFORE_NOON, "faults": [outage]}) as client:
        answers = [client.call("GET", "/v2/balance").status]
        for seconds in (60, 599, 1, DAY - 600, 6 * DAY):
            client.advance(seconds)
            answers.append(client.call("GET", "/v2/balance").status)
        assert answers == [200, 502, 502, 200, 200, 502]


def test_a_window_alone_is_known_before_authentication_and_the_body() -> None:
    with running({"faults": [{"until": "1m", "then": {"status": 502}}]}) as client:
        assert client.send("POST", "/v2/topup", body=b"{").status == 502
        client.advance(60)
        assert client.send("POST", "/v2/topup", body=b"{").status != 502


@pytest.mark.parametrize("beside", [True, False])
def test_a_span_counts_from_the_start_and_again_after_a_reset(beside: bool) -> None:
    span = {"since": "10m", "until": "20m"}
    rule = {**(span if beside else {"when": span}), "then": {"refuse": "Invalid_Request"}}
    with running({"payments": [rule]}) as client:
        for run in range(2):
            answers = []
            for place, seconds in enumerate((0, 599, 1, 599, 1)):
                client.advance(seconds)
                answers.append(client.pay(f"{run}-{place}").status)
            assert answers == [200, 200, 400, 400, 200]
            client.sim("POST", "/sandboxes/default/reset")


@pytest.mark.parametrize("section", ["bills", "voids", "disputes"])
def test_rules_of_every_section_have_windows(section: str) -> None:
    then = {"error": "closed"} if section == "bills" else {"status": "Failed", "message": "closed"}
    with running({section: [{"when": {"since": "5m"}, "until": "10m", "name": "closed", "then": then}]}) as client:
        for seconds, is_closed in ((60, False), (240, True), (300, False)):
            client.advance(seconds)
            if section == "bills":
                answer = client.call("GET", "/v2/bill-presentment?product=ELECTRIC&account=210012345678")
            else:
                client.pay(f"{seconds}", product="ELECTRIC", account="210012345678")
                client.advance(5)
                path = "/v2/transactions/void" if section == "voids" else "/v2/transactions/check"
                answer = client.call("POST", path, {"refid": f"{seconds}"} | REASON[section])
            assert (answer.headers.get("x-sim-rule") == "closed") is is_closed, answer.body


def test_a_rule_that_is_added_in_mid_run_counts_from_the_start_of_the_sandbox() -> None:
    with running() as client:
        client.advance(600)
        rule = {"section": "faults", "rule": {"since": "5m", "until": "15m", "then": {"status": 502}}}
        assert client.sim("POST", "/sandboxes/default/rules", rule).status == 201
        assert client.call("GET", "/v2/balance").status == 502
        client.advance(300)
        assert client.call("GET", "/v2/balance").status == 200
