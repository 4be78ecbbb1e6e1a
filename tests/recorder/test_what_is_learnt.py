"""What a recorder makes of times, accounts, failures and money, and what it never writes."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from simulator.recorder.recorder import Recorder
from simulator.scenario.library import load_scenario
from simulator.traffic.seen import Call, Notification
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
    recorder = Recorder()
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
    assert "- { when: { product: P }, nth: 3, then: P 2 }" in text
    assert "one_of: [{ weight: 2, then: P 1 }, { weight: 1, then: P 2 }]" in text


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


def test_a_deposit_that_a_webhook_told_is_in_the_schedule(tmp_path: Path) -> None:
    event = {"type": "balance.added", "id": "e1", "data": {"amount": 250.5, "balance": 300, "resellerCode": "X"}}
    recorder = Recorder()
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


def test_nothing_private_is_written() -> None:
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
