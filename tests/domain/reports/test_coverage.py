"""Coverage in the domain: each outcome is recognised when it happens, rules are counted, coverage add up."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.commands import Credit, OpenCase, PassTime, ReplayDelivery, SetWebhook
from simulator.domain.model.cases import CaseKind, CaseThen
from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult
from simulator.domain.model.outcomes import IDS, OUTCOMES, DomainOutcome
from simulator.domain.model.rules import Rule, RuleCount
from simulator.domain.model.scenario import Limits
from simulator.domain.model.transactions import Distortion, Status, Step
from simulator.domain.reports.coverage import Coverage, RuleKey, coverage
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import (
    ACCEPTED,
    after,
    delivered,
    fire_due,
    order,
    pay,
    refused,
    rule,
    sandbox,
    seconds,
)

PROCESSING, SUCCESSFUL, FAILED = Status.PROCESSING, Status.SUCCESSFUL, Status.FAILED
OK = AttemptResult(AttemptEnd.ANSWERED, 200)
BUSY = AttemptResult(AttemptEnd.ANSWERED, 503)
NO = AttemptResult(AttemptEnd.ANSWERED, 400)


def met(box: Sandbox, answers: dict[tuple[str, str, int, str, str], int] | None = None) -> set[str]:
    return set(coverage(box.state, answers or {}).outcomes)


def run(box: Sandbox, *endings: AttemptResult, until: float = 100_000) -> None:
    """Let all happen; deliveries end as given, the last one stays."""
    left = list(endings)
    while happened := box.apply(PassTime(1), seconds(until)):
        [fired] = happened
        if fired.send is not None:
            delivered(box, fired.send, left.pop(0) if len(left) > 1 else left[0], fired.at)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((ACCEPTED, after(1, PROCESSING), after(2, SUCCESSFUL)), {"payment-successful-after-processing"}),
        ((ACCEPTED, after(1, SUCCESSFUL)), set()),
        ((ACCEPTED, after(1, FAILED)), {"payment-failed-after-accepted"}),
        ((ACCEPTED, after(1, PROCESSING), after(2, FAILED)), {"payment-failed-after-processing"}),
        ((Step(PROCESSING), after(2, FAILED)), {"payment-failed-after-processing"}),
        ((Step(SUCCESSFUL),), {"payment-successful-at-once"}),
        ((Step(FAILED),), {"payment-failed-at-once"}),
        ((ACCEPTED, after(1, PROCESSING)), {"payment-stuck"}),
        ((Step(PROCESSING), Step(SUCCESSFUL, requery=1)), set()),
    ],
)
def test_a_payment_is_known_by_the_statuses_it_went_through(steps: tuple[Step, ...], expected: set[str]) -> None:
    box = sandbox(rule(*steps), url="")
    pay(box)
    fire_due(box, seconds(10))
    assert met(box) == expected


def test_a_payment_is_not_stuck_while_a_step_is_to_come() -> None:
    box = sandbox(rule(ACCEPTED, after(60, SUCCESSFUL)))
    pay(box)
    fire_due(box, seconds(59))
    assert met(box) == set()


def test_a_re_query_counts_while_the_payment_is_not_settled() -> None:
    box = sandbox(rule(ACCEPTED, after(60, SUCCESSFUL)))
    pay(box)
    pay(box, at=1)
    assert met(box) == {"payment-requeried"}


@pytest.mark.parametrize(
    ("plan", "endings", "expected"),
    [
        (Distortion(), [OK], {DomainOutcome.CALLBACK_DELIVERED}),
        (
            Distortion(),
            [BUSY, OK],
            {DomainOutcome.CALLBACK_RETRIED, DomainOutcome.CALLBACK_DELIVERED, DomainOutcome.CALLBACK_DELIVERED_LATE},
        ),
        (Distortion(), [BUSY], {DomainOutcome.CALLBACK_RETRIED, DomainOutcome.CALLBACK_FAILED}),
        (Distortion(), [NO], {DomainOutcome.CALLBACK_FAILED}),
        (Distortion(duplicates=2), [OK], {DomainOutcome.CALLBACK_DELIVERED, DomainOutcome.CALLBACK_DUPLICATED}),
        (Distortion(drop=True), [OK], {DomainOutcome.CALLBACK_DROPPED}),
        (
            Distortion(again_after=timedelta(seconds=1)),
            [OK],
            {DomainOutcome.CALLBACK_DELIVERED, DomainOutcome.CALLBACK_DUPLICATED},
        ),
        (Distortion(reverse=True), [OK], {DomainOutcome.CALLBACK_DELIVERED, DomainOutcome.CALLBACKS_REVERSED}),
    ],
)
def test_results_of_callbacks_are_counted(plan: Distortion, endings: list[AttemptResult], expected: set[str]) -> None:
    box = sandbox(rule(ACCEPTED, after(1, FAILED), callbacks=plan))
    pay(box)
    run(box, *endings)
    assert met(box) == {"payment-failed-after-accepted", *expected}


def test_a_repeated_callback_is_stale_after_a_later_status() -> None:
    box = sandbox(
        rule(ACCEPTED, after(1, PROCESSING), after(2, FAILED), callbacks=Distortion(again_after=timedelta(minutes=1)))
    )
    pay(box)
    run(box, OK)
    outcomes = coverage(box.state, {}).outcomes
    assert (outcomes[DomainOutcome.CALLBACK_STALE], outcomes[DomainOutcome.CALLBACK_DUPLICATED]) == (1, 1)


def test_a_repeated_callback_of_a_payment_that_was_voided_meanwhile_is_stale() -> None:
    again = Distortion(again_after=timedelta(minutes=10))
    box = sandbox(rule(ACCEPTED, after(1, Status.SUCCESSFUL), callbacks=again))
    pay(box)
    fire_due(box, seconds(1))
    box.apply(OpenCase(CaseKind.VOID, "R1", "ref-1"), seconds(5))
    run(box, OK)
    outcomes = coverage(box.state, {}).outcomes
    assert (outcomes[DomainOutcome.CALLBACK_STALE], outcomes[DomainOutcome.CALLBACK_DUPLICATED]) == (1, 1)


def test_counts_are_kept_when_the_callbacks_are_evicted() -> None:
    box = sandbox(rule(ACCEPTED, after(1, FAILED)), limits=Limits(callbacks=1))
    for number in range(5):
        pay(box, order(f"ref-{number}"))
    run(box, OK)
    assert len(box.state.callbacks) == 1
    assert coverage(box.state, {}).outcomes[DomainOutcome.CALLBACK_DELIVERED] == 5


def case(box: Sandbox, kind: CaseKind) -> None:
    box.apply(OpenCase(kind, "R1", "ref-1"), seconds(1))


@pytest.mark.parametrize(
    ("kind", "then", "expected"),
    [
        (CaseKind.VOID, CaseThen(True, refund_after=timedelta(0)), {DomainOutcome.VOID_TAKEN, "payment-refunded"}),
        (
            CaseKind.VOID,
            CaseThen(True, refused_after=timedelta(0)),
            {DomainOutcome.VOID_TAKEN, DomainOutcome.VOID_REFUSED_LATER},
        ),
        (CaseKind.VOID, CaseThen(False), {DomainOutcome.VOID_REFUSED}),
        (CaseKind.DISPUTE, CaseThen(True), {DomainOutcome.DISPUTE_TAKEN}),
        (CaseKind.DISPUTE, CaseThen(False), {DomainOutcome.DISPUTE_REFUSED}),
    ],
)
def test_results_of_cases_are_counted(kind: CaseKind, then: CaseThen, expected: set[str]) -> None:
    decided: Rule[Any] = Rule("c1", lambda facts: True, then)
    sections = {"voids": (decided,)} if kind is CaseKind.VOID else {"disputes": (decided,)}
    box = sandbox(rule(Step(SUCCESSFUL)), url="", **sections)
    pay(box)
    case(box, kind)
    fire_due(box, seconds(2))
    assert met(box) == {"payment-successful-at-once", *expected}


def test_a_request_that_the_rules_never_saw_is_refused_too() -> None:
    box = sandbox(rule(Step(FAILED)), url="")
    pay(box)
    case(box, CaseKind.VOID)
    case(box, CaseKind.DISPUTE)
    assert {DomainOutcome.VOID_REFUSED, DomainOutcome.DISPUTE_REFUSED} < met(box)


def test_results_of_webhook_deliveries_are_counted() -> None:
    box = sandbox()
    box.apply(SetWebhook("R1", "https://receiver.example/hook"), seconds(0))
    box.apply(Credit("R1", Decimal(10), "one"), seconds(0))
    run(box, BUSY)
    [job] = box.state.deliveries.ended()
    assert met(box) == {DomainOutcome.WEBHOOK_RETRIED, DomainOutcome.WEBHOOK_FAILED}
    box.apply(ReplayDelivery(reseller="R1", job=job.id), seconds(200_000))
    box.apply(ReplayDelivery(reseller="R1", job="nothing"), seconds(200_000))
    run(box, OK, until=300_000)
    assert met(box) >= {DomainOutcome.WEBHOOK_REPLAYED, DomainOutcome.WEBHOOK_DELIVERED, DomainOutcome.REPLAY_REFUSED}


@pytest.mark.parametrize(
    ("answered", "expected"),
    [
        (("POST", "/v2/topup", 200, "", ""), set()),
        (("POST", "/v2/topup", 400, "Insufficient_Balance", ""), {"insufficient-balance", "status-400"}),
        (("POST", "/v2/topup", 400, "Unknown_Plan_Code", ""), {"invalid-plan-code", "status-400"}),
        (("GET", "/v2/balance", 401, "nonce_reused", ""), {"nonce-reused", "status-401"}),
        (("GET", "/v2/balance", 403, "ip_blocked", ""), {"ip-blocked", "status-403"}),
        (("GET", "/v2/bill-presentment", 200, "", ""), {"bill-found"}),
        (("GET", "/v2/bill-presentment", 400, "Invalid account no", ""), {"bill-refused", "status-400"}),
        (("GET", "/v2/balance", 503, "nonce_service_unavailable", ""), {"nonce-service-down", "status-503"}),
        (("POST", "/v2/topup", 429, "", ""), {"status-429"}),
        (("POST", "/v2/topup", 504, "", "abort"), {"connection-closed"}),
        (("POST", "/v2/topup", 504, "", "cut"), {"answer-cut", "status-504"}),
        (("*", "*", 404, "", ""), {"status-404"}),
    ],
)
def test_an_answer_counts_its_outcomes(answered: tuple[str, str, int, str, str], expected: set[str]) -> None:
    assert met(sandbox(), {answered: 3}) == expected


def test_rules_are_counted_by_section_in_the_order_of_evaluation() -> None:
    last = rule(Step(FAILED), id_="last", fallback=True)
    first = rule(Step(SUCCESSFUL), id_="first", name="once", times=1)
    box = sandbox(last, first)
    for number in range(3):
        pay(box, order(f"ref-{number}"))
    rules = coverage(box.state, {}).rules
    assert [(key.section, key.id, key.name, count.matched, count.chosen) for key, count in rules.items()] == [
        ("payments", "first", "once", 3, 1),
        ("payments", "last", "", 2, 2),
    ]


def test_figures_add_up() -> None:
    total = Coverage()
    for _ in range(2):
        box = sandbox(rule(Step(SUCCESSFUL)), url="")
        pay(box)
        refused(box, order("ref-2", product="NONE"))
        total.add(coverage(box.state, {("POST", "/v2/topup", 200, "", ""): 1}))
    assert total.sandboxes == 2
    assert total.rules == {RuleKey("test", "payments", "r1", ""): RuleCount(2, 2)}
    assert list(total.answers.values()) == [2]
    assert total.outcomes == {"payment-successful-at-once": 2}


def test_the_catalogue_names_each_outcome_once_and_all_that_is_noted() -> None:
    assert len(IDS) == len(OUTCOMES)
    untested = {one.id for one in OUTCOMES if one.of_answer is None}
    assert untested == set(DomainOutcome)
