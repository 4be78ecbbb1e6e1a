"""An answer that is empty although something was done says why, in `X-Sim-Diagnosis` and the journal."""

import pytest

from tests.support.client import Client, running

PATHS = {"transactions": "/v2/transactions", "entries": "/v2/balance-statement"}
NIGHT = {"mode": "manual", "start": "2026-11-29T20:00:00Z"}  # the 30th in GMT+8
DAY = {"mode": "manual", "start": "2026-11-29T04:00:00Z"}  # the 29th in both


def diagnosis(client: Client, target: str) -> str:
    return client.call("GET", target).headers.get("x-sim-diagnosis", "")


@pytest.mark.parametrize("what", PATHS)
def test_a_day_of_utc_differs_from_a_day_of_the_service(what: str) -> None:
    with running({"clock": NIGHT}) as client:
        client.pay()
        found = diagnosis(client, f"{PATHS[what]}?limit=9&date=2026-11-29")
        assert found == f"no {what} of 2026-11-29: days are in GMT+8, where it is 2026-11-30 (2026-11-29 in UTC)"
        assert diagnosis(client, f"{PATHS[what]}?limit=9&date=2026-11-30") == ""


@pytest.mark.parametrize("what", PATHS)
def test_other_days_without_a_record_are_reported_too(what: str) -> None:
    with running({"clock": DAY}) as client:
        client.pay()
        found = diagnosis(client, f"{PATHS[what]}?limit=9&date=2026-11-01%20-%202026-11-28")
    assert found == f"no {what} of 2026-11-01 to 2026-11-28: days are in GMT+8, where it is 2026-11-29"


@pytest.mark.parametrize(("what", "beyond"), [("transactions", "offset=100"), ("entries", "page=9")])
def test_a_page_after_the_end_says_how_many_pages_exist(what: str, beyond: str) -> None:
    with running({"clock": DAY}) as client:
        client.pay()
        found = diagnosis(client, f"{PATHS[what]}?limit=9&date=2026-11-29&{beyond}")
    assert found.startswith("this page begins after the end: there are ")


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("/v2/transactions?limit=9&date=2026-11-29&account=+60123456789", "account"),
        ("/v2/bill-presentment?product=ELECTRIC&account=+60123456789", "account"),
    ],
)
def test_a_plus_that_arrives_as_a_blank_is_reported(target: str, name: str) -> None:
    with running({"clock": DAY}) as client:
        assert f"{name} begins with a blank, since + in a query means a blank: write %2B" in diagnosis(client, target)
        assert "begins with a blank" not in diagnosis(client, target.replace("+", "%2B"))


def test_a_plus_within_an_address_is_said() -> None:
    with running({"clock": DAY}) as client:
        found = client.call("POST", "/v2/callback-url?url=http://127.0.0.1:9/a+b&method=POST").headers[
            "x-sim-diagnosis"
        ]
    assert "url has a blank, since + in a query means a blank: write %2B" in found


@pytest.mark.parametrize(
    ("status", "said"),
    [("PENDING,SUCCESSFUL", "; send status once for each value"), ("Succesful", "; did you mean SUCCESSFUL?")],
)
def test_a_status_that_is_not_one_is_led_to_the_right_form(status: str, said: str) -> None:
    with running({"clock": DAY}) as client:
        assert diagnosis(client, f"/v2/transactions?limit=9&date=2026-11-29&status={status}").endswith(said)


def test_deliveries_that_no_filter_admits_are_counted() -> None:
    webhook = {"code": "RS001", "balance_webhook": {"url": "inbox:webhooks"}}
    with running({"clock": DAY, "resellers": [webhook]}) as client:
        client.sim("POST", "/sandboxes/default/resellers/RS001/deposits", {"amount": "10.00"})
        client.advance()
        path = "/v2/balance-webhook/deliveries"
        assert len(client.call("GET", path).json["deliveries"]) == 1
        said = "no delivery matches from and search; without a filter there are 1"
        assert diagnosis(client, f"{path}?from=2027-01-01&search=zzz") == said
        assert diagnosis(client, path) == ""


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("/v2/transactions?status=REFUND", "no transaction matches status; without a filter there are 1"),
        (
            "/v2/transactions?product=DATA&account=999",
            "no transaction matches product and account; without a filter there are 1",
        ),
        (
            "/v2/transactions?account=%2B60123456789",
            "no transaction has the account +60123456789; did you mean 0123456789?",
        ),
        (
            "/v2/transactions?account=0123456789&status=REFUND",
            "no transaction matches status and account; without a filter there are 1",
        ),
        ("/v2/balance-statement?type=COMMISSION", "no entry matches type; without a filter there are 1"),
    ],
)
def test_a_filter_that_leaves_nothing_of_the_days_is_said(target: str, said: str) -> None:
    with running({"clock": DAY}) as client:
        assert diagnosis(client, f"{target}&limit=9&date=2026-11-29") == ""
        client.pay()
        assert diagnosis(client, f"{target}&limit=9&date=2026-11-29") == said


def test_an_amount_that_the_older_catalog_does_not_map_is_said() -> None:
    with running({"clock": DAY}) as client:
        order = {"refid": "a", "product": "DATA", "account": "0123456789"}
        answer = client.call("POST", "/v2/topup", order)
        assert answer.headers["x-sim-diagnosis"] == (
            "amount is required; the catalog maps an amount of DATA only for requests with X-API-Version: 2026-09-16"
        )
        answer = client.call("POST", "/v2/topup", order, headers={"X-API-Version": "2026-09-16"})
        assert answer.headers["x-sim-diagnosis"] == "amount is required"


def test_a_code_that_the_older_catalog_does_not_map_is_said() -> None:
    extras = {"ic_number": "900101145678"}
    order = {"refid": "a", "product": "STUDENTLOAN", "account": "12345678", "amount": "50", "extras": extras}
    missing = "extras.subproduct_code is missing, STUDENTLOAN requires it"
    with running({"clock": DAY}) as client:
        answer = client.call("POST", "/v2/topup", order)
        assert answer.headers["x-sim-diagnosis"] == (
            f"{missing}; the catalog maps extras.subproduct_code of STUDENTLOAN only for requests with "
            "X-API-Version: 2026-09-16"
        )
        answer = client.call("POST", "/v2/topup", order, headers={"X-API-Version": "2026-09-16"})
        assert answer.headers["x-sim-diagnosis"] == missing


def test_blanks_around_an_amount_are_said() -> None:
    with running({"clock": DAY}) as client:
        assert client.pay("a", "10.00 ").headers["x-sim-diagnosis"] == "amount has blanks around it, which were ignored"
        assert "x-sim-diagnosis" not in client.pay("b", "10.00").headers


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (
            "/v2/options?product_code=DATA&field_id=plan&account_number=0123456789&page=90",
            "options, page 1 is the last",
        ),
        ("/v1/interbank/billers?page=99&limit=5", "billers, page 9 is the last"),
    ],
)
def test_a_page_after_the_last_page_says_so(path: str, said: str) -> None:
    with running() as client:
        found = diagnosis(client, path)
    assert " begins after the end: there are " in found
    assert found.endswith(said)


@pytest.mark.parametrize("account", ["60123456789", "%2B60123456789", "123456789", "012-3456789"])
def test_an_account_that_is_written_otherwise_is_suggested(account: str) -> None:
    with running({"clock": DAY}) as client:
        client.pay()
        found = diagnosis(client, f"/v2/transactions?limit=9&date=2026-11-29&account={account}")
    assert found.endswith("; did you mean 0123456789?")
