"""Disputes and voids of payments that this run made (SPEC 4.12, 4.13)."""

from collections.abc import Iterator
from decimal import Decimal
from secrets import token_hex
from typing import Any

from simulator.staging.conform.checks.payments import paid
from simulator.staging.conform.context import Run, check
from simulator.staging.conform.findings import Departs, Departure, NotExercised, differ, unless
from simulator.staging.conform.payments import STATUSES, PlannedPayment
from simulator.staging.service import Answer, target

DISPUTE, VOID = "/v2/transactions/check", "/v2/transactions/void"
WRONG_AMOUNT, OTHER_REASON = 1, 3


def trxid_of(run: Run, payment: PlannedPayment) -> str:
    """Return the id of a payment in the history. Raises `NotExercised` without a record."""
    rows = run.runner.records(payment)
    if not rows:
        raise NotExercised("the history has no record of the payment: see pay-history")
    return str(rows[0]["trxid"])


@check("4.12", "A dispute is opened once; trxid wins over refid", needs="payments")
def dispute(run: Run) -> Iterator[Departure]:
    payment = paid(run)[0]
    before = run.runner.balance()
    body = {"trxid": trxid_of(run, payment), "refid": f"conform-{token_hex(8)}", "user_email": []}
    for time, wanted in (("first", "Success"), ("second", "Failed")):
        answer = run.session.call("POST", DISPUTE, body)
        yield from run.expected(answer, 200)
        yield from differ(f"data.refid of the {time} dispute", payment.refid, answer.at("data.refid"))
        yield from differ(f"data.status of the {time} dispute", wanted, answer.at("data.status"))
    yield from differ("the wallet, which a dispute does not change", before, run.runner.balance())


def voided(run: Run) -> tuple[PlannedPayment, list[Answer], Decimal]:
    """Return a voided payment, the answers to its first and second void, and the balance before. The void is made once,
    and followed until the refund. Raises `NotExercised`."""
    if run.voided is None:
        rows = run.good("/v2/product-list").rows()
        refundable = {row["product_code"] for row in rows if row["is_refundable"]}
        payment = next((one for one in paid(run) if one.order.product in refundable), None)
        if payment is None:
            raise NotExercised("--pay names no product that the product list calls refundable")
        before = run.runner.balance()
        body: dict[str, Any] = {"refid": payment.refid, "refund_type": WRONG_AMOUNT, "user_email": []}
        run.voided = (payment, answers := [], before)  # also when an answer is lost, so that it is sent once
        for _ in range(2):
            answers.append(run.session.call("POST", VOID, body))
        if (fall := before - run.runner.balance()) > 0:
            raise Departs("the wallet after a void", before, before - fall)
        if answers[0].status == 200 and answers[0].at("data.status") == "Success":
            known = len(payment.lost)
            run.runner.follow([payment], lambda one: one.last.get("status") == STATUSES["refunded"])
            for text in dict.fromkeys(payment.lost[known:]):
                run.note(text)
        run.session.forget()
    if len(run.voided[1]) < 2:
        raise NotExercised("the answer of the void was lost")
    return run.voided


@check("4.13", "A void is taken once", needs="payments")
def void(run: Run) -> Iterator[Departure]:
    payment, answers, _ = voided(run)
    for time, answer in zip(("first", "second"), answers, strict=True):
        yield from run.expected(answer, 200)
        yield from differ(f"data.refid of the {time} void", payment.refid, answer.at("data.refid"))
    if answers[0].at("data.status") == "Failed":
        raise NotExercised(f"the void was refused: {answers[0].at('data.message')}")
    yield from differ("data.status of the second void", "Failed", answers[1].at("data.status"))


@check("4.13", "A voided payment has status Refund and code 53, and the wallet gets its cost back", needs="payments")
def void_refund(run: Run) -> Iterator[Departure]:
    payment, _, before = voided(run)
    if payment.last.get("status") != STATUSES["refunded"]:
        raise NotExercised(f"the void was not completed within {run.runner.wait_s:.0f} s")
    yield from differ("data.statusCode", 53, payment.last["statusCode"])
    yield from differ("the wallet", before + payment.cost, run.runner.balance())
    row = next(iter(run.runner.records(payment)), {})
    yield from differ("status_name in the history", "Refund", row.get("status_name"))
    answer = run.session.call("GET", target("/v2/balance-statement", date=run.days, limit=100, type="REFUND"))
    amounts = [Decimal(entry["amount"]) for entry in answer.rows()]
    yield from unless(payment.cost in amounts, "a REFUND entry of the statement", str(payment.cost), amounts)
