"""A recorder's scenario: times, accounts, failures, money, and values that it never writes."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from simulator.scenario.library import load_scenario
from simulator.staging.recorder.recorder import TrafficRecorder
from simulator.wire.traffic import Call, Notification
from tests.support.client import running
from tests.support.traffic import Ask, Step, checked, get, pay, play

START = datetime(2026, 11, 21, 4, 0, tzinfo=UTC)
OPENING: list[Step] = [get("/v2/catalog"), get("/v2/options?product_code=RELOAD&field_id=amount")]


def topup(refid: str, seconds: float, status: str, since: float, http: int = 200) -> Call:
    """A payment at `seconds`, whose status began at `since`."""
    at = START + timedelta(seconds=since, hours=8)
    data = {"status": status, "refid": refid, "remarks": "", "timestamp": f"{at:%Y-%m-%d %H:%M:%S}"}
    body = {"refid": refid, "product": "P", "account": "0123456789", "amount": 10}
    sent, said = json.dumps(body).encode(), json.dumps({"data": data}).encode()
    moment = START + timedelta(seconds=seconds)
    answer = said if http == 200 else b""
    return Call(n=1, at=moment, method="POST", path="/v2/topup", body=sent, status=http, answer=answer)


def recorded(*calls: Call) -> str:
    recorder = TrafficRecorder()
    for one in calls:
        recorder.note_call(one)
    return recorder.scenario_text()


def test_times_that_are_alike_are_one_timeline_at_the_median() -> None:
    calls = []
    for n, took in enumerate([10, 11, 13]):
        begun = 100 * n
        calls += [topup(f"r{n}", begun, "Accepted", begun), topup(f"r{n}", begun + 50, "Succesful", begun + took)]
    text = recorded(*calls)
    assert "# 3 payments: Accepted, Succesful after 11 s (10 s to 13 s)" in text
    assert 'then: [{ status: Accepted }, { after: "11s", status: Succesful }]' in text


def test_times_that_are_not_alike_are_played_in_their_order() -> None:
    calls = []
    for n, took in enumerate([10, 11, 300]):
        begun = 1000 * n
        calls += [topup(f"r{n}", begun, "Accepted", begun), topup(f"r{n}", begun + 500, "Succesful", begun + took)]
    text = recorded(*calls)
    third = next(rule for rule in text.split("\n  - ") if "nth: 3" in rule)
    assert 'then: [{ status: Accepted }, { after: "5m", status: Succesful }]' in third
    assert ("- weight: 2" in text, "- weight: 1" in text) == (True, True)


def told_of(refid: str, seconds: float, status: str, since: float, answered: int = 200) -> Notification:
    """A callback that arrives at `seconds`, of a status that began at `since`."""
    body = topup(refid, seconds, status, since).answer
    return Notification(
        n=1,
        at=START + timedelta(seconds=seconds),
        kind="callback",
        method="POST",
        url="https://shop.example.com/",
        body=body,
        status=answered,
    )


def recorded_with(*seen: Call | Notification) -> str:
    recorder = TrafficRecorder()
    for one in seen:
        if isinstance(one, Call):
            recorder.note_call(one)
        else:
            recorder.note_notification(one)
    return recorder.scenario_text()


def moved_on(refid: str, begun: float, arrived: float, stamp: float) -> list[Call | Notification]:
    """A payment, and its callbacks when the service's clock advances."""
    return [
        topup(refid, begun, "Accepted", stamp),
        told_of(refid, arrived, "Processing", stamp + 2),
        told_of(refid, arrived + 0.01, "Succesful", stamp + 5),
    ]


def test_a_status_whose_callback_is_late_begins_at_the_time_of_the_service(tmp_path: Path) -> None:
    text = recorded_with(*moved_on("a", 0, 30, 0), *moved_on("b", 40, 70, 40))
    checked(text, tmp_path)
    assert '{ after: "2s", status: Processing }, { after: "5s", status: Succesful }]' in text


def test_a_payment_from_before_the_record_is_left_out() -> None:
    text = recorded(
        topup("new", 10, "Accepted", 10), topup("old", 11, "Succesful", -3600), topup("new", 20, "Failed", 15)
    )
    assert "# - 1 request about payments from before the record: left out" in text
    assert "# 1 payment: Accepted, Failed after 5 s" in text


def test_an_account_is_named_when_its_outcome_differs_and_only_then(tmp_path: Path) -> None:
    scenario = {"payments": [{"when": {"account": {"suffix": "42"}}, "then": {"refuse": "Invalid_Account"}}]}
    numbers = ["0123456789", "0123456742", "0123456788", "0123456742"]
    with running(scenario) as client:
        seen = play(client, [*OPENING, *(pay(f"r{n}", account=one) for n, one in enumerate(numbers)), 10])
    text = seen.recorded()
    checked(text, tmp_path)
    assert 'when: { product: RELOAD, account: "0123456742" }, then: { refuse: Invalid_Account }' in text
    assert text.count("012345674") == 1
    assert "0123456788" not in text
    assert "0123456742" not in seen.recorded(names_accounts=False)


def test_refusals_that_catalog_or_wallet_cause_need_no_rule() -> None:
    with running({"resellers": [{"code": "RS001", "balance": "15"}]}) as client:
        steps = [
            *OPENING,
            pay("a"),
            pay("b", amount="50"),
            pay("c", amount="7"),
            pay("d", account="x"),
            pay("e", product="NO"),
        ]
        seen = play(client, [*steps, 10])
    assert [one.status for one in seen.answers[2:]] == [200, 400, 400, 400, 400]
    text = seen.recorded()
    assert "# - 4 refusals of a payment: catalog or wallet say so, which needs no rule" in text
    assert "refuse:" not in text
    assert 'balance: "15' in text or "balance: 15" in text


def test_a_deposit_that_a_webhook_reported_is_in_the_schedule(tmp_path: Path) -> None:
    event = {"type": "balance.added", "id": "e1", "data": {"amount": 250.5, "balance": 300, "resellerCode": "X"}}
    recorder = TrafficRecorder()
    recorder.note_call(topup("a", 0, "Accepted", 0))
    for again in range(2):
        recorder.note_notification(
            Notification(
                n=1,
                at=START + timedelta(seconds=90 + again),
                kind="webhook",
                method="POST",
                url="https://shop.example.com/hook?token=s3cr3t",
                body=json.dumps(event).encode(),
            )
        )
    text = recorder.scenario_text()
    [deposit] = load_scenario(checked(text, tmp_path)).document["schedule"]
    assert deposit == {"at": "90s", "deposit": {"reseller": "RECORDED", "amount": Decimal("250.5")}}
    assert "s3cr3t" not in text


@pytest.mark.parametrize(("url", "wanted"), [("https://a.example/x", True), ("", False)])
def test_a_webhook_is_recorded_when_the_account_has_one(url: str, wanted: bool, tmp_path: Path) -> None:
    answer = json.dumps({"webhook_url": url, "enabled": bool(url)}).encode()
    call = Call(n=1, at=START, method="GET", path="/v2/balance-webhook", status=200, answer=answer)
    [reseller] = load_scenario(checked(recorded(call), tmp_path)).document["resellers"]
    assert ("balance_webhook" in reseller) is wanted


def said(method: str, path: str, data: Any, seconds: float = 0, status: int = 200) -> Call:
    """An answer with this `data`."""
    answer = json.dumps({"data": data}).encode()
    return Call(n=1, at=START + timedelta(seconds=seconds), method=method, path=path, status=status, answer=answer)


RECEIVER = {"CallbackUrl": "https://a.example/", "Method": "GET"}


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ([said("POST", "/v2/callback-url", RECEIVER, status=201)], "GET"),
        ([said("GET", "/v2/callback-url", RECEIVER)], "GET"),
        (
            [
                said("POST", "/v2/callback-url", RECEIVER),
                said("GET", "/v2/callback-url", {"CallbackUrl": "", "Method": ""}),
            ],
            None,
        ),
    ],
)
def test_the_receiver_of_callbacks_has_its_latest_state(calls: list[Call], wanted: str | None, tmp_path: Path) -> None:
    [reseller] = load_scenario(checked(recorded(*calls), tmp_path)).document["resellers"]
    assert reseller.get("callback", {}).get("method") == wanted


def test_the_history_supplies_times_that_were_not_observed() -> None:
    calls = [topup("a", 0, "Accepted", 0), topup("a", 500, "", 500, http=0)]
    row = {
        "refid": "a",
        "trxid": "T1",
        "status_name": "Failed",
        "status_code": "48",
        "remarks": "",
        "date": "2026-11-21 12:00:00.000",
        "response_date": "2026-11-21 12:00:07.250",
    }
    assert "Failed" not in recorded(*calls)
    text = recorded(*calls, said("GET", "/v2/transactions", [row], 600))
    assert 'then: [{ status: Accepted }, { after: "7.25s", status: Failed }]' in text


def test_a_code_that_is_not_the_usual_one_of_its_status_is_kept() -> None:
    failed = topup("a", 5, "Failed", 5)
    answer = json.loads(failed.answer)
    for code, wanted in ((48, "status: Failed }"), (62, "status: Failed, statusCode: 62 }")):
        answer["data"]["statusCode"] = code
        text = recorded(
            topup("a", 0, "Accepted", 0), msgspec.structs.replace(failed, answer=json.dumps(answer).encode())
        )
        assert f'{{ after: "5s", {wanted}' in text


def test_no_private_value_is_written() -> None:
    steps: list[Step] = [
        *OPENING,
        Ask("POST", "/v2/callback-url?url=https%3A%2F%2Fshop.example.com%2Fcb%3Ftoken%3Dabc&method=POST"),
        Ask("POST", "/v2/low-balance-threshold?amount=50"),
        Ask("PUT", "/v2/balance-webhook", {"url": "https://shop.example.com/w"}),
        Ask("GET", "/v2/balance-webhook"),
        get("/v2/bill-presentment?product=ELECTRIC&account=210012345678"),
        pay("private-refid", account="0123456789", remarks="for Ali"),
        10,
        pay("private-refid", account="0123456789"),
    ]
    with running("default") as client:
        seen = play(client, steps)
    assert {one.status for one in seen.answers} <= {200, 201}
    text = seen.recorded()
    secrets = [seen.answers[4].json["webhook_secret"], seen.answers[6].data["CustomerName"]]
    secrets += [seen.answers[6].data["Address"], seen.answers[-1].data["sn"], client.key, client.secret]
    for private in (*secrets, "shop.example.com", "token", "private-refid", "Ali", "RS001@"):
        assert private not in text
