"""Disputes and voids in the domain: who may open one, which refusal comes first, how a refund works."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from simulator.domain.commands import OpenCase
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.cases import CaseAnswer, CaseKind, CaseState, CaseThen, NoSuchTransaction
from simulator.domain.model.catalog import Catalog, Fulfillment, Source
from simulator.domain.model.details import Detail, DetailKind, detail
from simulator.domain.model.domain_events import DomainEvent, StatusChange
from simulator.domain.model.outcomes import DomainOutcome
from simulator.domain.model.rules import Rule
from simulator.domain.model.transactions import Distortion, Status, Step, Transaction
from simulator.domain.sandbox import Sandbox
from tests.support.worlds import (
    ACCEPTED,
    after,
    fire_due,
    money_product,
    order,
    pay,
    rule,
    sandbox,
    seconds,
    text,
)

VOID, DISPUTE = CaseKind.VOID, CaseKind.DISPUTE
PAID = rule(Step(Status.SUCCESSFUL))


def case_rule(then: CaseThen, id_: str = "c1", **more: Any) -> Rule[CaseThen]:
    return Rule(id_, more.pop("when", lambda facts: True), then, **more)


def ask(box: Sandbox, kind: CaseKind = VOID, refid: str = "ref-1", at: float = 0, **more: Any) -> CaseAnswer:
    answer = box.apply(OpenCase(kind, more.pop("reseller", "R1"), refid, **more), seconds(at))
    assert isinstance(answer, CaseAnswer), answer
    return answer


def unknown(box: Sandbox, **more: Any) -> NoSuchTransaction:
    answer = box.apply(OpenCase(VOID, more.pop("reseller", "R1"), **more), seconds(0))
    assert isinstance(answer, NoSuchTransaction), answer
    return answer


def paid(**more: Any) -> tuple[Sandbox, Transaction]:
    box = sandbox(more.pop("rule", PAID), **more)
    return box, pay(box).transaction


def balance(box: Sandbox) -> Decimal:
    return box.state.resellers["R1"].wallet.balance


def test_a_void_that_is_taken_refunds_the_wallet_once_a_minute_later() -> None:
    box, transaction = paid()
    before, told = balance(box), list[DomainEvent]()
    box.watch(told.append)
    assert ask(box, at=1).is_accepted
    fire_due(box, seconds(60.9))
    assert (transaction.result.status, balance(box)) == (Status.SUCCESSFUL, before)
    fire_due(box, seconds(61))
    result = box.state.transactions[transaction.trxid].result
    assert (result.status, result.kind.code, result.kind.cost, result.at) == (
        Status.REFUNDED,
        53,
        Decimal(0),
        seconds(61),
    )
    assert (result.kind.cause, result.balance) == ("void", Decimal("1000.00"))
    assert StatusChange(transaction.number, len(transaction.results) - 1) in told
    entry = box.state.resellers["R1"].wallet.entries[-1]
    assert (entry.type.value, entry.amount, entry.trxid) == ("REFUND", transaction.cost, transaction.trxid)
    fire_due(box, seconds(10_000))
    assert balance(box) == Decimal("1000.00")
    assert box.violations() == []


def test_a_voided_payment_keeps_its_delivered_texts() -> None:
    box, transaction = paid(rule=rule(Step(Status.SUCCESSFUL, texts={"sn": text("SN-1"), "remarks": text("done")})))
    ask(box)
    fire_due(box, seconds(60))
    result = box.state.transactions[transaction.trxid].result
    assert (result.status, result.texts.sn, result.texts.remarks) == (Status.REFUNDED, "SN-1", "done")


@pytest.mark.parametrize(("choice", "cost"), [(None, "0"), ("zero", "0"), ("keep", "97.00")])
def test_the_cost_of_a_voided_payment_is_a_choice(choice: str | None, cost: str) -> None:
    box, transaction = paid(assume={"voided-cost": choice} if choice else {})
    ask(box)
    fire_due(box, seconds(60))
    assert box.state.transactions[transaction.trxid].result.kind.cost == Decimal(cost)
    assert balance(box) == Decimal("1000.00")
    assert box.violations() == []


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((ACCEPTED,), "still being processed"),
        ((Step(Status.PROCESSING),), "still being processed"),
        ((Step(Status.FAILED),), "has failed"),
    ],
)
@pytest.mark.parametrize("kind", [VOID, DISPUTE])
def test_only_a_payment_that_succeeded_has_cases(steps: tuple[Step, ...], expected: str, kind: CaseKind) -> None:
    box, transaction = paid(rule=rule(*steps))
    answer = ask(box, kind)
    assert not answer.is_accepted
    assert expected in answer.message
    assert transaction.trxid not in box.state.cases


def test_a_pending_payment_can_be_voided_when_it_has_succeeded() -> None:
    box, _ = paid(rule=rule(ACCEPTED, after(5, Status.SUCCESSFUL)))
    assert not ask(box).is_accepted
    fire_due(box, seconds(5))
    assert ask(box, at=5).is_accepted


@pytest.mark.parametrize("kind", [VOID, DISPUTE])
def test_a_second_request_is_refused(kind: CaseKind) -> None:
    box, transaction = paid()
    assert ask(box, kind).is_accepted
    again = ask(box, kind, at=1)
    assert (again.is_accepted, again.rule) == (False, "")
    assert "already" in again.message
    assert len(box.state.cases[transaction.trxid]) == 1


def test_a_dispute_and_a_void_do_not_stand_in_each_others_way() -> None:
    box, transaction = paid()
    assert ask(box, DISPUTE).is_accepted
    assert ask(box, VOID).is_accepted
    fire_due(box, seconds(60))
    cases = box.state.cases[transaction.trxid]
    assert [(case.id, case.state) for case in cases] == [("case-1", CaseState.OPEN), ("case-2", CaseState.REFUNDED)]


@pytest.mark.parametrize("kind", [VOID, DISPUTE])
def test_a_refunded_payment_accepts_no_more_cases(kind: CaseKind) -> None:
    box, _ = paid()
    ask(box)
    fire_due(box, seconds(60))
    answer = ask(box, kind, at=61)
    assert (answer.is_accepted, "refunded" in answer.message) == (False, True)


@pytest.mark.parametrize(
    ("then", "at"),
    [(CaseThen(is_accepted=False), 1), (CaseThen(is_accepted=True, refused_after=timedelta(seconds=30)), 31)],
)
@pytest.mark.parametrize(("choice", "taken_again"), [("once", False), ("again_after_refusal", True)])
def test_whether_a_refused_void_can_be_requested_again_is_a_choice(
    then: CaseThen, at: float, choice: str, taken_again: bool
) -> None:
    box, transaction = paid(voids=(case_rule(then, times=1),), assume={"case-lifecycle": choice})
    before = balance(box)
    assert ask(box).is_accepted is then.is_accepted
    fire_due(box, seconds(at))
    assert box.state.cases[transaction.trxid][0].state is CaseState.REFUSED
    assert ask(box, at=at).is_accepted is taken_again
    fire_due(box, seconds(at + 60))
    assert (balance(box) > before) is taken_again
    assert box.violations() == []


def test_while_the_biller_has_not_decided_a_void_cannot_be_requested_again() -> None:
    then = CaseThen(is_accepted=True, refused_after=timedelta(seconds=30))
    box, _ = paid(voids=(case_rule(then),), assume={"case-lifecycle": "again_after_refusal"})
    ask(box)
    assert not ask(box, at=29).is_accepted


def test_refused_cases_are_kept_within_bounds() -> None:
    rules = (case_rule(CaseThen(is_accepted=False)),)
    box, transaction = paid(voids=rules, assume={"case-lifecycle": "again_after_refusal"})
    assert ask(box, DISPUTE).is_accepted
    for _ in range(30):
        ask(box)
    cases = box.state.cases[transaction.trxid]
    assert (len(cases), cases[0].kind) == (20, DISPUTE)


def test_a_product_that_cannot_be_voided_refuses_before_any_rule() -> None:
    box = sandbox(PAID, voids=(case_rule(CaseThen(is_accepted=True, refund_after=timedelta(0))),))
    trxid = pay(box, order(product="CARD", amount=5)).transaction.trxid
    answer = ask(box)
    assert (answer.is_accepted, "cannot be voided" in answer.message, trxid in box.state.cases) == (False, True, False)
    assert answer.detail is not None
    assert answer.detail.facts == {"product": "CARD", "able": ("BILL",)}
    assert ask(box, DISPUTE).is_accepted, "it can be disputed"


def test_trxid_wins_over_refid_and_both_belong_to_the_reseller() -> None:
    box = sandbox(PAID)
    first = pay(box, order("a")).transaction
    pay(box, order("b"))
    foreign = pay(box, order("c", reseller="R2")).transaction
    assert ask(box, refid="b", trxid=first.trxid).transaction.trxid == first.trxid
    assert unknown(box, refid="b", trxid="none").named_by == "trxid"
    assert unknown(box, trxid=foreign.trxid).named_by == "trxid"
    assert unknown(box, refid="c").named_by == "refid"
    assert unknown(box).named_by == "refid"
    assert ask(box, refid="c", reseller="R2").transaction.trxid == foreign.trxid


def test_an_unknown_reference_is_explained_by_its_kind() -> None:
    box = sandbox(PAID)
    own = pay(box, order("order-1")).transaction
    foreign = pay(box, order("order-2", reseller="R2")).transaction
    other = {"owner": "R2", "reseller": "R1"}
    explanations: list[tuple[dict[str, str], Detail]] = [
        ({"trxid": "none"}, detail(DetailKind.NO_TRANSACTION, field="trxid", reference="none", nearest="")),
        ({"trxid": "order-2"}, detail(DetailKind.NO_TRANSACTION, field="trxid", reference="order-2", nearest="")),
        (
            {"refid": "order-3"},
            detail(DetailKind.NO_TRANSACTION, field="refid", reference="order-3", nearest="order-1"),
        ),
        ({"trxid": "order-1"}, detail(DetailKind.OTHER_REFERENCE, reference="order-1", field="refid")),
        ({"refid": own.trxid}, detail(DetailKind.OTHER_REFERENCE, reference=own.trxid, field="trxid")),
        ({"trxid": foreign.trxid}, detail(DetailKind.OTHER_RESELLER, reference=foreign.trxid, **other)),
        ({"refid": foreign.trxid}, detail(DetailKind.OTHER_RESELLER, reference=foreign.trxid, **other)),
    ]
    for reference, expected in explanations:
        assert unknown(box, **reference).detail == expected


def test_a_refid_beside_a_trxid_is_named_when_it_is_another_transactions() -> None:
    for refid, expected in (
        ("", None),
        ("a", None),
        ("b", detail(DetailKind.REFID_IGNORED, refid="b", kept="a")),
    ):
        box = sandbox(PAID)
        trxid = pay(box, order("a")).transaction.trxid
        assert ask(box, DISPUTE, refid=refid, trxid=trxid).detail == expected


def test_rules_see_the_payment_and_the_reason() -> None:
    seen: list[dict[str, object]] = []

    def when(facts: Any) -> bool:
        seen.append(dict(facts))
        return False

    mapped = Fulfillment(Source("account"), Source("amount"), {"biller_code": Source("account")})
    catalog = Catalog(products={"BILL": money_product(voidable=True, fulfillment=mapped)})
    box = sandbox(PAID, voids=(case_rule(CaseThen(is_accepted=False), when=when),), catalog=catalog)
    transaction = pay(box, order(extras={"biller_code": "7"})).transaction
    ask(box, refund_type=3, sender="::1", key="rk")
    assert seen == [
        {
            "now": box.state.now,
            "start": box.state.started,
            "reseller": "R1",
            "product": "BILL",
            "account": "123456",
            "amount": Decimal(100),
            "extras": {"biller_code": "7"},
            "refid": "ref-1",
            "trxid": transaction.trxid,
            "refund_type": "3",
            "key": "rk",
            "address": "::1",
        }
    ]


def test_a_rule_words_the_answer_and_a_request_may_name_it() -> None:
    words = text("no to {refid} of {account}")
    rules = (case_rule(CaseThen(is_accepted=False, message=words), when=lambda facts: False, name="stubborn"),)
    box, transaction = paid(voids=rules)
    answer = ask(box, rule="stubborn")
    message = "no to ref-1 of 123456"
    assert (answer.is_accepted, answer.message, answer.rule, answer.detail) == (False, message, "stubborn", None)
    assert answer.transaction.trxid == transaction.trxid
    assert box.state.cases[transaction.trxid][0].rule == "stubborn"


def mails(box: Sandbox) -> list[tuple[str, float, tuple[str, ...]]]:
    return [(one.kind.value, (one.at - seconds(0)).total_seconds(), one.to) for one in box.state.notifications]


def test_each_news_of_a_case_is_written_to_the_user_and_to_the_registered_address() -> None:
    box, _ = paid()
    ask(box, DISPUTE, user_email=("user@example.com", "R1@example.com"))
    ask(box, VOID, at=1)
    fire_due(box, seconds(100))
    assert mails(box) == [
        ("dispute", 0, ("user@example.com", "R1@example.com")),
        ("void", 1, ("R1@example.com",)),
        ("void", 61, ("R1@example.com",)),
    ]


def test_an_immediate_refusal_sends_no_mail_and_a_later_one_does() -> None:
    later = case_rule(CaseThen(is_accepted=True, refused_after=timedelta(seconds=5)))
    box, _ = paid(voids=(later,), disputes=(case_rule(CaseThen(is_accepted=False), "d1"),))
    ask(box, DISPUTE)
    ask(box, VOID)
    fire_due(box, seconds(5))
    assert [(kind, at) for kind, at, _ in mails(box)] == [("void", 0), ("void", 5)]


def statuses_sent(box: Sandbox, until: float) -> list[Status]:
    fired = fire_due(box, seconds(until))
    return [one.send.job.result.status for one in fired if one.send and isinstance(one.send.job, Callback)]


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (Distortion(), [Status.PROCESSING, Status.SUCCESSFUL, Status.REFUNDED]),
        (Distortion(reverse=True), [Status.SUCCESSFUL, Status.PROCESSING, Status.REFUNDED]),
        (Distortion(drop=True), []),
        (
            Distortion(by_status={Status.REFUNDED: Distortion(drop=True)}),
            [Status.PROCESSING, Status.SUCCESSFUL],
        ),
        (
            Distortion(duplicates=1),
            [*[Status.PROCESSING] * 2, *[Status.SUCCESSFUL] * 2, *[Status.REFUNDED] * 2],
        ),
    ],
)
def test_a_void_causes_one_callback_after_all_others(plan: Distortion, expected: list[Status]) -> None:
    box, _ = paid(rule=rule(ACCEPTED, after(1, Status.PROCESSING), after(2, Status.SUCCESSFUL), callbacks=plan))
    sent = statuses_sent(box, 2)
    ask(box, at=2)
    assert sent + statuses_sent(box, 100) == expected


@pytest.mark.parametrize(
    ("kind", "is_accepted", "message", "outcome"),
    [
        (DISPUTE, True, "The case was created.", DomainOutcome.DISPUTE_TAKEN),
        (DISPUTE, False, "The dispute was refused.", DomainOutcome.DISPUTE_REFUSED),
        (
            VOID,
            True,
            "The request was submitted; the refund follows when the biller approves.",
            DomainOutcome.VOID_TAKEN,
        ),
        (VOID, False, "The biller refused the void.", DomainOutcome.VOID_REFUSED),
    ],
)
def test_an_answer_has_the_words_of_its_outcome_which_is_counted(
    kind: CaseKind, is_accepted: bool, message: str, outcome: DomainOutcome
) -> None:
    then = CaseThen(is_accepted=is_accepted)
    box, _ = paid(voids=(case_rule(then),), disputes=(case_rule(then, "d1"),))
    assert ask(box, kind).message == message
    assert box.state.noted[outcome] == 1
    assert not ask(box, kind).is_accepted, "a second one is refused, and counted so"
    assert sum(box.state.noted[one] for one in CASE_OUTCOMES) == 2


CASE_OUTCOMES = (
    DomainOutcome.DISPUTE_TAKEN,
    DomainOutcome.DISPUTE_REFUSED,
    DomainOutcome.VOID_TAKEN,
    DomainOutcome.VOID_REFUSED,
)


def test_a_void_that_ends_later_is_counted_once_more() -> None:
    later = case_rule(CaseThen(is_accepted=True, refused_after=timedelta(seconds=5)), times=1)
    box, _ = paid(voids=(later,), assume={"case-lifecycle": "again_after_refusal"})
    ask(box)
    fire_due(box, seconds(5))
    ask(box, at=5)
    fire_due(box, seconds(65))
    outcomes = (DomainOutcome.VOID_TAKEN, DomainOutcome.VOID_REFUSED_LATER, DomainOutcome.REFUNDED)
    assert [box.state.noted[one] for one in outcomes] == [2, 1, 1]


@pytest.mark.parametrize(
    ("environment", "choice", "is_refunded"),
    [
        ("staging", None, True),
        ("staging", "responses_only", False),
        ("production", "responses_only", True),
    ],
)
def test_whether_a_void_has_effects_in_staging_is_a_choice(
    environment: str, choice: str | None, is_refunded: bool
) -> None:
    box, transaction = paid(environment=environment, assume={"staging-cases": choice} if choice else {})
    assert ask(box).is_accepted
    fire_due(box, seconds(60))
    assert (transaction.result.status is Status.REFUNDED) is is_refunded
    assert bool(mails(box)) is is_refunded
