"""Each obligation of the audit: a client that sins is found, one that comes as near as it may is not."""

from collections.abc import Iterator
from datetime import UTC, datetime
from types import FunctionType, ModuleType
from typing import Any, get_type_hints

import msgspec
import pytest

from simulator.audit.clauses import Occasion
from simulator.audit.client_traffic import Traffic
from simulator.audit.obligations import SUBJECTS, all_clauses, audited
from simulator.wire.traffic import Call
from tests.support.audited import (
    BALANCE,
    BILLERS,
    CATALOG,
    DOWN,
    FEW,
    HISTORY,
    LOAN,
    LOST,
    PELICAN,
    PLAYED,
    PROCESSING,
    SHORT_HISTORY,
    STATEMENT,
    SUCCEEDING,
    Play,
    again,
    answering,
    calling,
    failing,
    in_order,
    judged,
    passing,
    paying,
    paying_often,
    played,
    reading,
    reading_deliveries,
    reading_options,
    with_api_key_as,
)
from tests.support.client import Client, running
from tests.support.webhooks import DELIVERIES

IDS = [clause.id for clause in all_clauses()]


def seven_orders(client: Client) -> None:
    """Seven equal orders on purpose; what is not answered is sent again."""
    for number in range(7):
        while client.pay(f"order-{number}").status != 200:
            client.advance(5)


@pytest.mark.parametrize("id_", IDS)
def test_a_client_that_sins_is_found(id_: str) -> None:
    with played(id_, sins=True) as client:
        found = judged(client, id_)
    assert found["state"] == "violated"
    assert found["findings"]
    assert found["evidence"]
    assert found["violations"] >= len(found["findings"])


@pytest.mark.parametrize("id_", IDS)
def test_a_client_that_does_not_sin_has_met_the_obligation(id_: str) -> None:
    with played(id_, sins=False) as client:
        found = judged(client, id_)
    assert found["state"] == "met", found["findings"]
    assert (found["evidence"], found["findings"], found["violations"]) == ([], [], 0)


def is_judge(subject: ModuleType, name: str, one: object) -> bool:
    is_public = isinstance(one, FunctionType) and one.__module__ == subject.__name__ and not name.startswith("_")
    return is_public and get_type_hints(one)["return"] == Iterator[Occasion]


def test_every_obligation_is_reported_and_played() -> None:
    judges = {one for subject in SUBJECTS for name, one in vars(subject).items() if is_judge(subject, name, one)}
    assert sorted(IDS) == sorted(PLAYED)
    assert {clause.judge for clause in all_clauses()} == judges
    assert len(judges) == len(IDS)
    assert len(IDS) >= 25


HALF_ANSWERED = {"faults": [{"when": {"path": "/v2/topup", "nth": 1}, "then": {"after_commit": True, "status": 504}}]}
BUSY = {"faults": [{"when": {"path": "/v2/topup", "nth": 1}, "then": {"nonce_service": "down"}}]}
FAILING = [{"status": "Accepted"}, {"after": "1s", "status": "Failed", "statusCode": 48}]
LATE = {"payments": [{"then": FAILING, "callbacks": {"delay": "5s"}}]}
NOTHING_MADE = "0130000013"


@pytest.mark.parametrize(
    ("id_", "play", "scenario"),
    [
        ("no-double-payment", in_order(paying(), paying(), passing(30), paying("ref-2")), PROCESSING),
        ("no-double-payment", in_order(paying(), paying("ref-2")), HALF_ANSWERED),
        *(  # nothing was done in three of them, which the client cannot know
            ("no-double-payment", in_order(paying(), paying("ref-2")), failing("/v2/topup", 1, then))
            for then in ({"disconnect": True}, {"status": 500}, {"status": 504}, {"disconnect": "body"})
        ),
        ("refid-keeps-its-order", in_order(paying(account=LOST), paying(amount="20", account=LOST)), {}),
        ("refid-keeps-its-order", in_order(paying(), paying(product="GAME")), {}),
        ("polling-to-the-end", in_order(paying(account=NOTHING_MADE), passing(300)), {}),
        ("no-credentials-in-query", with_api_key_as("page"), {}),
        ("no-credentials-in-query", calling("GET", "/v2/balance?Access_Token=x"), {}),
        ("well-formed-headers", calling("GET", "/v2/balance", timestamp=1795233600123), {}),
        ("refusal-not-repeated", in_order(paying(amount="11"), passing(60), paying(amount="11.0")), {}),
        ("amount-in-range", in_order(calling("GET", BILLERS), paying(**LOAN, amount="49", extras=PELICAN)), {}),
        ("receiver-accepts", answering(503), {}),
        ("below-rate-limit", again(11, BALANCE), FEW),
        ("final-status-learned", answering(404, method="GET"), SUCCEEDING),
        ("all-pages-read", reading_options(1, 2), failing("/v2/options", 2, {"disconnect": "body"})),
        ("history-pages-read", in_order(paying_often(5), reading(SHORT_HISTORY, "offset", 0, 1, 2, 4)), {}),
        *(
            ("history-pages-read", in_order(paying_often(3), reading(SHORT_HISTORY, "offset", 0, 1, 2)), failing_at_2)
            for failing_at_2 in (failing("/v2/transactions", 2, {"disconnect": how}) for how in (True, "body"))
        ),
        ("statement-pages-read", in_order(paying_often(5), reading(STATEMENT, "page", 1, 2, 3, 5)), {}),
        ("biller-pages-read", reading(f"{BILLERS}?limit=1", "page", 1, 2, 3, 5), {}),
    ],
)
def test_other_sins_are_found_too(id_: str, play: Play, scenario: dict[str, Any]) -> None:
    with running(dict(scenario)) as client:
        play(client)
        assert judged(client, id_)["state"] == "violated"


@pytest.mark.parametrize(
    ("id_", "play", "scenario"),
    [
        ("no-double-payment", in_order(paying(), passing(10), paying(), paying("ref-2")), {}),
        ("no-double-payment", in_order(paying(), paying("ref-2"), passing(60), paying("ref-3")), PROCESSING),
        ("no-double-payment", in_order(paying(account=LOST), paying("ref-2", amount="20", account=LOST)), {}),
        ("no-double-payment", in_order(paying(account=LOST), passing(3601), paying("ref-2", account=LOST)), {}),
        ("no-double-payment", in_order(paying(), paying("ref-2")), BUSY),
        *(
            ("no-double-payment", seven_orders, PROCESSING | failing("/v2/topup", 3, then))
            for then in ({"after_commit": True, "status": 504}, {"status": 504}, {"disconnect": True})
        ),
        ("no-double-payment", answering(200, play=paying("ref-2")), SUCCEEDING),
        ("polling-pace", in_order(paying(), paying(), paying()), PROCESSING),
        ("polling-pace", in_order(paying(), passing(1), paying()), PROCESSING),
        ("refusal-not-repeated", in_order(paying(amount="11"), paying("ref-2", amount="11")), {}),
        ("new-refid-after-failure", in_order(paying(), passing(1), paying(), passing(5), paying()), LATE),
        ("polling-to-the-end", in_order(paying(account=LOST), passing(300)), {}),
        ("refused-key-not-retried", again(3, BALANCE), {}),
        ("all-pages-read", reading_options(1, limit=100), {}),
        ("all-pages-read", in_order(reading_options(1, limit=100), reading_options(2, limit=2)), {}),
        ("catalog-cached", again(60, CATALOG, seconds=11), {}),
        ("receiver-accepts", again(2, paying()), SUCCEEDING),
        ("final-status-learned", answering(404, play=calling("GET", HISTORY)), SUCCEEDING),
        ("back-off-on-503", again(3, BALANCE, seconds=1), DOWN),
        ("plan-code-exact", paying(product="DATA", amount="5", extras={"subproduct_code": "d5"}), {}),
        ("clock-in-step", in_order(passing(10**7), BALANCE), {}),
        ("history-pages-read", in_order(paying_often(3), calling("GET", SHORT_HISTORY)), {}),
        ("history-pages-read", in_order(paying_often(3), reading(SHORT_HISTORY, "offset", 0, 2)), {}),
        (  # the last page has no next page
            "history-pages-read",
            in_order(paying_often(2), reading(SHORT_HISTORY, "offset", 0, 1, 2)),
            failing("/v2/transactions", 3),
        ),
        (  # with other pages
            "history-pages-read",
            in_order(paying_often(3), reading(SHORT_HISTORY, "offset", 0, 1), reading(HISTORY, "offset", 0)),
            failing("/v2/transactions", 2),
        ),
        ("history-pages-read", reading(SHORT_HISTORY, "offset", 0), failing("/v2/transactions", 1)),
        ("statement-pages-read", in_order(paying_often(5), reading(STATEMENT, "page", 1, 2, 5)), {}),
        ("statement-pages-read", reading(STATEMENT, "page", 1, 2, 0), {}),
        ("delivery-pages-read", reading_deliveries(begins_anew=True), failing(DELIVERIES, 2)),
    ],
)
def test_a_client_that_comes_near_a_violation_is_not_reported(id_: str, play: Play, scenario: dict[str, Any]) -> None:
    with running(dict(scenario)) as client:
        play(client)
        assert judged(client, id_)["findings"] == []


def seen(n: int, minute: int, path: str, answer: str, status: int = 200) -> Call:
    """A payment or a void of an order, and its answer."""
    at = datetime(2026, 11, 21, 12, minute, tzinfo=UTC)
    body = b'{"refid":"a1","product":"RELOAD","account":"0123456789","amount":"10","refund_type":1}'
    return Call(n=n, at=at, method="POST", path=path, body=body, status=status, answer=answer.encode())


@pytest.mark.parametrize("status", [0, 408, 500, 504])
def test_a_payment_without_any_effect_does_not_excuse_a_new_refid(status: int) -> None:
    key = ((b"x-api-key", b"key"),)
    first = msgspec.structs.replace(seen(1, 0, "/v2/topup", "", status), headers=key)  # the owner of the key is unknown
    second = msgspec.structs.replace(
        first, n=2, body=first.body.replace(b"a1", b"a2"), status=200, answer=PENDING.encode(), reseller="RS001"
    )
    judged = {one.id: one for one in audited(Traffic([first, second], []))}
    assert judged["no-double-payment"].evidence == (1, 2)


PENDING = '{"data":{"statusCode":1,"status":"Accepted","refid":"a1"}}'


@pytest.mark.parametrize(
    ("sees_callbacks", "found"), [(True, ["polling-to-the-end", "cases-after-success"]), (False, [])]
)
def test_a_client_that_an_unseen_callback_may_have_informed_is_not_reported(
    sees_callbacks: bool, found: list[str]
) -> None:
    calls = [seen(1, 0, "/v2/topup", PENDING), seen(2, 1, "/v2/transactions/void", '{"data":{}}')]
    until = datetime(2026, 11, 21, 13, tzinfo=UTC)
    judged = {one.id: one for one in audited(Traffic(calls, [], until=until, sees_callbacks=sees_callbacks))}
    names = ("polling-to-the-end", "cases-after-success", "no-double-payment")
    assert [id_ for id_ in names if judged[id_].is_violated] == found


@pytest.mark.parametrize(
    ("answer", "status", "outcome"),
    [(PENDING, 200, "Accepted"), ("", 0, "unknown"), ('{"error":"product"}', 400, "refused")],
)
def test_a_case_too_early_is_reported_with_the_last_answer_about_its_payment(
    answer: str, status: int, outcome: str
) -> None:
    calls = [seen(4, 0, "/v2/topup", answer, status), seen(7, 1, "/v2/transactions/void", '{"data":{}}')]
    judged = {one.id: one for one in audited(Traffic(calls, []))}
    assert judged["cases-after-success"].findings == (f"request 7 is about 'a1', which was {outcome} as of request 4",)


def test_a_timestamp_in_milliseconds_is_called_that_as_in_the_diagnosis() -> None:
    with running({}) as client:
        calling("GET", "/v2/balance", timestamp=1795233600123)(client)
        (found,) = judged(client, "well-formed-headers")["findings"]
    assert "the timestamp is in milliseconds; send seconds" in str(found)
