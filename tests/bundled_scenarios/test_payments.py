"""slow-provider, mixed-results, provider-failures, stuck-processing, refused-payments, low-balance, interruption."""

from collections import Counter

import pytest

from tests.support.client import running
from tests.support.play import (
    balance,
    buy,
    callback_statuses,
    settle,
    status,
)

DAY = 86_400
# scenario, product, the account's ending, the first answer, then after how many seconds which status
PLAYS: list[tuple[str, str, str, str, list[tuple[int, str]]]] = [
    ("default", "RELOAD", "", "Accepted", [(2, "Processing"), (5, "Succesful")]),
    ("slow-provider", "RELOAD", "", "Accepted", [(10, "Processing"), (119, "Processing"), (120, "Succesful")]),
    ("slow-provider", "ELECTRIC", "", "Processing", [(1799, "Processing"), (1800, "Succesful")]),
    ("slow-provider", "RELOAD", "0000001", "Accepted", [(5, "Failed")]),  # magic accounts keep working
    ("provider-failures", "RELOAD", "", "Accepted", [(5, "Succesful")]),
    ("provider-failures", "RELOAD", "48", "Accepted", [(2, "Processing"), (5, "Failed")]),
    ("provider-failures", "RELOAD", "62", "Processing", [(5, "Failed")]),
    ("provider-failures", "RELOAD", "12", "Failed", [(5, "Failed")]),
    ("provider-failures", "RELOAD", "11", "Succesful", [(5, "Succesful")]),
    ("provider-failures", "RELOAD", "03", "Processing", [(DAY, "Processing")]),
    ("stuck-processing", "RELOAD", "", "Accepted", [(2, "Processing"), (30 * DAY, "Processing")]),
    ("stuck-processing", "ELECTRIC", "", "Accepted", [(DAY - 1, "Processing"), (DAY, "Failed")]),
    ("stuck-processing", "WATER", "", "Processing", [(DAY, "Processing")]),
    ("stuck-processing", "GIFTCARD", "", "Accepted", [(DAY, "Accepted")]),
    ("stuck-processing", "RELOAD", "0000000", "Accepted", [(5, "Succesful")]),
]


@pytest.mark.parametrize(("scenario", "product", "ending", "first", "later"), PLAYS)
def test_a_payment_goes_as_the_scenario_says(
    scenario: str, product: str, ending: str, first: str, later: list[tuple[int, str]]
) -> None:
    with running(scenario) as client:
        refid, answer = buy(client, product, ending)
        assert answer.data["status"] == first
        passed = 0
        for seconds, expected in later:
            client.advance(seconds - passed)
            passed = seconds
            assert status(client, refid) == expected
        settle(client)


@pytest.mark.parametrize(("scenario", "asked"), [("slow-provider", 3), ("stuck-processing", 10)])
def test_a_water_bill_moves_when_it_was_asked_about(scenario: str, asked: int) -> None:
    with running(scenario) as client:
        refid, _ = buy(client, "WATER")
        answers = [buy(client, "WATER", refid=refid)[1].data["status"] for _ in range(asked)]
        assert answers == ["Processing"] * (asked - 1) + ["Succesful"]


def test_small_reloads_fail_after_a_long_wait_with_a_slow_provider() -> None:
    with running("slow-provider") as client:
        refid, _ = buy(client, amount="5")
        client.advance(299)
        assert status(client, refid) == "Processing"
        client.advance(1)
        assert status(client, refid) == "Failed"


@pytest.mark.parametrize(("ending", "code"), [("48", 48), ("62", 62), ("12", 48)])
def test_a_provider_fails_with_its_code_and_the_money_comes_back(ending: str, code: int) -> None:
    with running("provider-failures") as client:
        refid, _ = buy(client, ending=ending)
        settle(client)
        assert buy(client, ending=ending, refid=refid)[1].data["statusCode"] == code
        assert balance(client) == 5000


def test_every_tenth_ordinary_payment_fails_by_itself() -> None:
    with running("provider-failures") as client:
        refids = [buy(client)[0] for _ in range(20)]
        settle(client)
        assert [n for n, refid in enumerate(refids, 1) if status(client, refid) == "Failed"] == [10, 20]


def test_most_of_a_hundred_payments_succeed_some_fail_and_a_few_are_slow_alike_in_every_run() -> None:
    seen: list[list[str]] = []
    for _ in range(2):
        with running("mixed-results") as client:
            refids = [client.pay(f"mixed-{at}").json["data"]["refid"] for at in range(100)]
            client.advance(10)
            seen.append([status(client, refid) for refid in refids])
            settle(client)
            late = [status(client, refid) for refid, then in zip(refids, seen[0], strict=True) if then == "Processing"]
            assert set(late) == {"Succesful"}
    assert seen[0] == seen[1]
    counts = Counter(seen[0])
    assert counts["Succesful"] > 55
    assert 10 <= counts["Failed"] <= 30
    assert 3 <= counts["Processing"] <= 20


def test_the_cost_of_a_stuck_payment_comes_back_a_day_late() -> None:
    with running("stuck-processing") as client:
        refid, _ = buy(client, "ELECTRIC")
        client.advance(DAY - 1)
        assert balance(client) == 4900.30
        client.advance(1)
        assert balance(client) == 5000
        assert callback_statuses(client, refid) == ["Processing", "Failed"]


REFUSALS = [
    ("40", 40, "Insufficient_Balance"),
    ("41", 41, "Invalid_Product"),
    ("42", 42, "Invalid_Account"),
    ("43", 43, "Invalid_Extras"),
    ("44", 44, "Unknown plan code D99"),
    ("58", 58, "Invalid_Denomination"),
    ("99", 77, "Something_New"),
]


@pytest.mark.parametrize(("ending", "code", "remarks"), REFUSALS)
def test_a_payment_is_refused_and_its_refid_stays_free(ending: str, code: int, remarks: str) -> None:
    with running("refused-payments") as client:
        refid, answer = buy(client, ending=ending)
        data = answer.data
        assert (answer.status, data["status"], data["statusCode"], data["remarks"]) == (400, "Failed", code, remarks)
        assert balance(client) == 5000
        assert buy(client, refid=refid)[1].data["status"] == "Accepted"


def test_a_wallet_runs_dry_alerts_and_is_filled() -> None:
    with running("low-balance") as client:
        answers = [buy(client, amount="50") for _ in range(3)]
        assert [answer.data["remarks"] for _, answer in answers][2] == "Insufficient_Balance"
        assert [answer.status for _, answer in answers] == [200, 200, 400]
        assert balance(client) == 2.50
        [alert] = client.sim("GET", "/sandboxes/default/notifications").json["notifications"]
        assert alert["kind"] == "low_balance"
        client.advance(3600)
        assert balance(client) == 502.50
        [event] = client.inbox("webhooks")
        assert (event["json"]["type"], event["json"]["data"]["amount"]) == ("balance.added", 500)
        assert buy(client, amount="50", refid=answers[2][0])[1].status == 200


def test_a_network_is_interrupted_and_recovers() -> None:
    def network(product: str) -> str:
        shown: str = client.call("GET", f"/v2/networkstatus?product={product}").data["network_status"]
        return shown

    with running("interruption") as client:
        refids = [buy(client, "ELECTRIC")[0] for _ in range(4)]
        seen = [network("ELECTRIC")]
        for seconds in (60, 539, 1):
            client.advance(seconds)
            seen.append(network("ELECTRIC"))
        assert seen == ["Healthy", "Interruption", "Interruption", "Healthy"]
        assert network("FP") == "Interruption"
        settle(client)
        assert [status(client, refid) for refid in refids] == ["Failed"] * 3 + ["Succesful"]
        assert buy(client, "ELECTRIC", refid=refids[0])[1].data["remarks"] == "Provider unavailable"
