"""`conform` against the simulator: everything passes, it spends no more than is allowed, and leaves no trace."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import pytest

from simulator.contract.register import assumptions
from simulator.staging.conform.context import CHECKS, QUESTIONS
from simulator.staging.conform.payment_runner import BadOrder, Order, PaymentRunner
from simulator.staging.conform.run import ORDER, all_checks, all_questions, report
from simulator.staging.service import Answer, NoAnswer, Request
from tests.support.client import Client, running
from tests.support.conforming import BILL, DATA, FAILING, GAME, LOAN, RELOAD, InProcess, Sender, conformed, run_of
from tests.support.damages import HISTORY, TOPUP, edited, lost_idempotency, put
from tests.support.tokens import USER

READS = {"GET"}
HARMLESS = {"/v2/token", "/v2/token/refresh", "/v2/transactions/check"}  # the last one with a signature of another body


@pytest.fixture
def client() -> Iterator[Client]:
    with running({}) as made:
        yield made


def test_every_check_is_in_the_order_and_has_a_title() -> None:
    assert len(all_checks()) == len(CHECKS)
    assert {module.__name__ for module in ORDER} == {check.function.__module__ for check in CHECKS.values()}
    assert [check.id for check in CHECKS.values() if not check.title or not check.section] == []


def test_every_question_is_about_a_knob_of_assume() -> None:
    knobs = {one.id for one in assumptions() if one.knob == f"assume.{one.id}"}
    assert set(QUESTIONS) <= knobs
    assert len(all_questions()) == len(QUESTIONS)


def test_the_simulator_has_no_departures_with_everything_allowed(client: Client) -> None:
    made = conformed(client, RELOAD, DATA, BILL, FAILING, LOAN, GAME)
    assert made.departed == ()
    assert made.of("not exercised") == ()
    assert [note for result in made.results for note in result.notes] == []


@pytest.mark.parametrize(("unit", "last"), [("transactions", 6), ("pages", 2)])
def test_a_record_that_a_later_page_leaves_out_is_found(unit: str, last: int) -> None:
    damage = edited(HISTORY, put("data", lambda rows: rows[1:]), query=f"offset={last}")
    with running({"assume": {"history-offset": unit}}) as other:
        for number in range(7):
            other.pay(f"before-{number}")
        assert not conformed(other, only={"history-pages"}).departed
        (result,) = conformed(other, only={"history-pages"}, damage=damage).departed
    assert [found.field for found in result.departures] == ["data of all pages"]


def test_a_date_that_is_none_is_no_departure(client: Client) -> None:
    def undated(send: Sender, request: Request) -> Answer:
        answer = send(request)
        return replace(answer, headers={**answer.headers, "date": "yesterday"})

    made = conformed(client, only={"times-zone", "times-clock"}, damage=undated)
    assert [result.outcome for result in made.results] == ["passed", "not exercised"]


@pytest.mark.parametrize(("knob", "value"), [("history-offset", "pages"), ("repeated-query-keys", "sorted")])
def test_another_assumption_is_no_departure(knob: str, value: str) -> None:
    with running({"assume": {knob: value}}) as other:
        for number in range(4):
            other.pay(f"before-{number}")
        made = conformed(other, only={"history-pages", "history-status"})
    assert len(made.of("passed")) == 2, made.results


def test_wrong_accounts_and_passwords_of_the_caller_are_no_departures(client: Client) -> None:
    run = run_of(client, Order.parse("RELOAD:1:10"), Order.parse("DATA:1:30:subproduct_code=D30"))
    run.login, run.bills = (USER, "wrong"), (Order("ELECTRIC", "1"),)
    made = report(run, "x")
    assert made.departed == ()
    why = {result.id: result.why for result in made.of("not exercised")}
    assert why["token-answer"] == "the login was refused with 401: look at --username and --password"
    assert why["bill-answer"] == "the bill of ELECTRIC was refused: Invalid account no"
    refused = {"pay-created", "refuse-amount", "refuse-plan", "refuse-plan-amount"}
    assert {why[id_] for id_ in refused} == {"every payment was refused or lost: see the notes of pay-created"}


def test_without_permission_it_only_reads(client: Client) -> None:
    run = run_of(client, configuration=False)
    made = report(run, "x")
    assert made.departed == ()
    service = run.session._service
    assert isinstance(service, InProcess)
    others = [request for request in service.sent if request.method not in READS]
    assert {request.path for request in others} <= HARMLESS
    assert client.sim("GET", "/sandboxes/default/transactions").json["transactions"] == []


def test_the_configuration_is_as_before(client: Client) -> None:
    before = [client.call("GET", path).json for path in ("/v2/callback-url", "/v2/balance-webhook")]
    assert conformed(client, only={"callback-url-set", "webhook-create", "webhook-update"}).departed == ()
    after = [client.call("GET", path).json for path in ("/v2/callback-url", "/v2/balance-webhook")]
    assert [one.get("data", one) for one in before] == [one.get("data", one) for one in after]


def test_changed_settings_are_restored_beyond_the_limit_of_requests(client: Client) -> None:
    before = client.call("GET", "/v2/callback-url").data["Method"]
    made = conformed(client, only={"callback-url-set"}, requests_max=2)
    assert made.results[0].outcome == "not exercised"
    assert client.call("GET", "/v2/callback-url").data["Method"] == before


def test_requests_are_bounded_in_total(client: Client) -> None:
    made = conformed(client, requests_max=7, configuration=False)
    assert made.requests == 7
    assert sum("limit of 7 requests" in result.why for result in made.results) > 50


def debited(client: Client) -> Decimal:
    entries = client.call("GET", "/v2/balance-statement?date=2026-11-01%20-%202026-11-30&limit=1000").data
    return -sum((Decimal(str(row["amount"])) for row in entries if row["type"] == "TRANSACTION"), Decimal(0))


@pytest.mark.parametrize("limit", ["20.02", "31", "55.5", "100"])
def test_no_more_is_spent_than_is_allowed(limit: str, client: Client) -> None:
    conformed(client, RELOAD, RELOAD, FAILING, GAME, limit=limit)
    assert 0 < debited(client) <= Decimal(limit)


@pytest.mark.parametrize("every", [2, 3])
def test_no_more_is_spent_when_answers_are_lost(every: int, client: Client) -> None:
    count = Counter[str]()

    def losing(send: Sender, request: Request) -> Answer:
        answer = send(request)
        count[request.path] += 1
        if request.path == TOPUP and count[TOPUP] % every == 0:
            raise NoAnswer("the connection was closed")
        return answer

    conformed(client, RELOAD, RELOAD, RELOAD, limit="45", damage=losing)
    assert 0 < debited(client) <= Decimal(45)


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["20.02", "45", "200"])
@pytest.mark.parametrize("lose", [0, 1, 2, 3, 100])
def test_no_more_is_spent_by_a_service_that_pays_every_request_and_loses_answers(
    limit: str, lose: int, client: Client
) -> None:
    lost: list[Request] = []

    def worst(send: Sender, request: Request) -> Answer:
        answer = lost_idempotency(send, request)
        if request.path == TOPUP and len(lost) < lose:
            lost.append(request)
            raise NoAnswer("the connection was closed")
        return answer

    conformed(client, RELOAD, RELOAD, GAME, limit=limit, damage=worst)
    assert 0 < debited(client) <= Decimal(limit)


def test_a_service_that_stops_answering_is_not_asked_for_ever(client: Client) -> None:
    def dead(send: Sender, request: Request) -> Answer:
        raise NoAnswer("timed out")

    made = conformed(client, damage=dead)
    assert made.requests < 20
    assert "got no answer" in made.results[-1].why


def test_a_payment_whose_answer_is_lost_is_queried_and_not_repeated(client: Client) -> None:
    lost: list[Request] = []

    def losing(send: Sender, request: Request) -> Answer:
        answer = send(request)
        if request.path == TOPUP and not lost:
            lost.append(request)
            raise NoAnswer("the connection was closed")
        return answer

    made = conformed(client, RELOAD, only={"pay-created", "pay-wallet"}, damage=losing)
    assert [result.outcome for result in made.results] == ["passed", "passed"]
    assert "the connection was closed" in made.results[0].notes[0]
    (paid,) = client.sim("GET", "/sandboxes/default/transactions").json["transactions"]
    assert paid["refid"] == json.loads(lost[0].body)["refid"]


def test_a_server_error_is_no_reason_to_pay_again(client: Client) -> None:
    def failing(send: Sender, request: Request) -> Answer:
        answer = send(request)
        return replace(answer, status=504, body=b"") if request.path == TOPUP else answer

    made = conformed(client, RELOAD, only={"pay-created"}, damage=failing)
    assert made.results[0].outcome == "departs"
    assert len(client.sim("GET", "/sandboxes/default/transactions").json["transactions"]) == 1


def test_a_plan_beyond_the_limit_is_refused_before_it_starts(client: Client) -> None:
    run = run_of(client)

    def plan(*orders: Order) -> PaymentRunner:
        return PaymentRunner(run.session, orders, Decimal(29), run.products, 0)

    with pytest.raises(BadOrder, match="--spend-at-most allows 29"):
        plan(RELOAD, RELOAD).check_plan()
    with pytest.raises(BadOrder, match="no product 'NOTHING'"):
        plan(Order.parse("NOTHING:1:1")).check_plan()


@pytest.mark.parametrize("text", ["", "A", "A:B", "A:B:x", "A:B:-1", "A:B:0", "A:B:NaN", ":B:1", "A::1", "A:B:1:c"])
def test_an_order_that_cannot_be_understood_is_refused(text: str) -> None:
    with pytest.raises(BadOrder, match="is not PRODUCT:ACCOUNT:AMOUNT"):
        Order.parse(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "body", [b"[]", b"7", b'"x"', b"null", b"{}", b'{"data":7}', b'{"data":[7]}', b'{"data":null}', b"\xff", b""]
)
def test_no_answer_whatsoever_ends_a_run(body: bytes, client: Client) -> None:
    def odd(send: Sender, request: Request) -> Answer:
        answer = send(request)
        return answer if request.path == "/v2/catalog" else replace(answer, body=body)

    made = conformed(client, RELOAD, damage=odd)
    assert len(made.results) == len(CHECKS)
    assert made.departed


def test_a_catalog_of_nonsense_ends_no_run_either(client: Client) -> None:
    made = conformed(
        client, damage=lambda send, request: replace(send(request), body=b'{"products":{"A":{}},"tree":3}')
    )
    assert len(made.results) == len(CHECKS)


def test_unknown_members_are_notes_and_no_departures(client: Client) -> None:
    def more(send: Sender, request: Request) -> Answer:
        answer = send(request)
        return replace(answer, body=answer.body.replace(b'{"data":{', b'{"more":1,"data":{"another":2,', 1))

    (result,) = conformed(client, only={"balance-answer"}, damage=more).of("passed")
    assert sorted(result.notes) == [
        "GET /v2/balance: data.another is not in the contract",
        "GET /v2/balance: more is not in the contract",
    ]


def test_a_departure_from_an_assumption_alone_is_a_note(client: Client) -> None:
    def other(send: Sender, request: Request) -> Answer:
        return replace(send(request), body=b'{"wallet":{"amount":"5000.00"}}')

    (result,) = (one for one in conformed(client, only={"balance-answer"}, damage=other).results if one.id)
    assert result.outcome == "passed"
    assert "balance-record" in result.notes[0]


def test_secrets_are_in_no_result(client: Client) -> None:
    def telling(send: Sender, request: Request) -> Answer:
        body = json.dumps({"message": f"your secret is {client.secret}", "password": "test_password_RS001"}).encode()
        answer = send(request)
        return replace(answer, status=500, body=body) if request.path != "/v2/catalog" else answer

    made = conformed(client, RELOAD, damage=telling)
    assert made.departed
    for secret in (client.secret, "test_password_RS001"):
        assert secret not in repr(made)
