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


def test_delays_of_callbacks_are_learnt(tmp_path: Path) -> None:
    seen = [*moved_on("a", 0, 30, 0), *moved_on("b", 40, 70, 40), *moved_on("c", 110, 140, 110)]
    old: list[Call | Notification] = [topup("old", -1, "Succesful", -3600)]
    text = recorded_with(*old, *seen)
    checked(text, tmp_path)
    assert '{ status: Processing, delay: "28s" }' in text


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


def test_failures_at_the_wire_are_a_section_in_comments_that_passes_check(tmp_path: Path) -> None:
    calls = [topup(f"r{n}", n, "Accepted", n) for n in range(8)]
    calls += [topup("x", 20, "", 20, http=503), topup("y", 21, "", 21, http=0)]
    text = recorded(*calls)
    assert "chance: 0.1000, then: { status: 503 } }    # 1 of 10" in text
    assert "chance: 0.1000, then: { disconnect: true } }    # 1 of 10" in text
    head, _, faults = text.partition("# faults:\n")
    checked(head + "faults:\n" + faults.replace("#   - ", "  - "), tmp_path)


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


def hook(method: str, status: int, answer: Any = None, path: str = "/v2/balance-webhook") -> Call:
    """A request about the webhook."""
    body = b"" if answer is None else json.dumps(answer).encode()
    return Call(n=1, at=START, method=method, path=path, status=status, answer=body)


PUT = hook("PUT", 201, {"webhook_url": "https://a.example/x", "enabled": True})
PAUSED = hook("PATCH", 200, {"enabled": False}, "/v2/balance-webhook/enabled")
RESUMED = hook("PATCH", 200, {"enabled": True}, "/v2/balance-webhook/enabled")
DELETED = hook("DELETE", 204)


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ([PUT], True),
        ([hook("PUT", 200, {"webhook_url": "https://a.example/x"})], True),
        ([hook("PUT", 400, {"webhook_url": "https://a.example/x"})], None),
        ([PUT, PAUSED], False),
        ([PUT, hook("PATCH", 404, {"enabled": False}, "/v2/balance-webhook/enabled")], True),
        ([PUT, PAUSED, RESUMED], True),
        ([PAUSED], False),
        ([PUT, DELETED], None),
        ([PUT, hook("DELETE", 200, {})], None),
        ([PUT, hook("DELETE", 401, {"error": "x"})], True),
        ([PUT, DELETED, PUT], True),
        ([PUT, hook("GET", 200, {"webhook_url": "", "enabled": False})], None),
        ([PUT, hook("GET", 200)], True),
    ],
)
def test_the_webhook_has_its_latest_state(calls: list[Call], wanted: bool | None, tmp_path: Path) -> None:
    [reseller] = load_scenario(checked(recorded(*calls), tmp_path)).document["resellers"]
    assert reseller.get("balance_webhook", {}).get("enabled") is wanted


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (Ask("PATCH", "/v2/balance-webhook/enabled", {"enabled": False}), False),
        (Ask("DELETE", "/v2/balance-webhook"), None),
    ],
)
def test_a_webhook_that_the_client_changed_is_recorded_so(change: Ask, wanted: bool | None, tmp_path: Path) -> None:
    with running("default") as client:
        seen = play(client, [Ask("PUT", "/v2/balance-webhook", {"url": "https://a.example/x"}), change])
    [reseller] = load_scenario(checked(seen.recorded(), tmp_path)).document["resellers"]
    assert reseller.get("balance_webhook", {}).get("enabled") is wanted


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


@pytest.mark.parametrize(
    ("thresholds", "wanted"), [([50], 50), ([50, "20.5"], Decimal("20.5")), ([50, None], None), ([50, 0], None)]
)
def test_the_threshold_has_its_latest_value(thresholds: list[Any], wanted: Any, tmp_path: Path) -> None:
    calls = [said("POST", "/v2/low-balance-threshold", {"BalanceThreshold": one}) for one in thresholds]
    [reseller] = load_scenario(checked(recorded(*calls), tmp_path)).document["resellers"]
    assert reseller.get("low_balance_threshold") == wanted


def test_the_balance_comes_from_the_latest_entry_of_a_statement(tmp_path: Path) -> None:
    entries = [
        {"date": "2026-11-21 11:00:00.000", "balance": "70.25"},
        {"date": "2026-11-21 10:00:00.000", "balance": "80"},
    ]
    for rows in (entries, entries[::-1]):
        text = recorded(said("GET", "/v2/balance-statement", rows))
        [reseller] = load_scenario(checked(text, tmp_path)).document["resellers"]
        assert reseller["balance"] == Decimal("70.25")
        assert "the balance comes from GET /v2/balance-statement" in text


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
    assert 'then: [{ status: Accepted }, { after: "7250ms", status: Failed }]' in text


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
